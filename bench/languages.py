"""LANGUAGE_BOOST on a site in several languages: `python -m bench.languages SOURCE`.

A query is the title of a page that exists in several languages. It is searched by visitors of each
of these languages. *Same title*: other languages have a page with this very title, such as the name
of a product; the page in the visitor's language should be first. *Other title*: the title is in
another language than the visitor's; its own page should stay first, however large the boost.
"""

import random
import statistics
from collections import defaultdict
from collections.abc import Iterator

import click

from app.search import scoring
from app.search.request import SearchRequest
from bench.relevance import reciprocal_rank
from bench.results import echo_header, echo_row
from bench.service import indexed, searching
from indexer.records import RawPost
from indexer.sources import SourceOptions, open_source

BOOSTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
QUERIES = 100
Pages = dict[str, dict[str, RawPost]]
"""By the path without its language: the page in each language."""

_WITHOUT_RULES = {"BLOGSEARCH_SYNONYMS_WITHOUT": "british-american,misspellings,tech"}


def translated_pages(spec: str) -> Pages:
    """The pages of a source that exist in at least two languages."""
    pages: Pages = defaultdict(dict)
    for post in open_source(spec, None, SourceOptions()).read():
        if (
            isinstance(post, RawPost)
            and isinstance(post.language, str)
            and isinstance(post.oid, str)
        ):
            language = post.language.lower()
            parts = [part for part in post.oid.split("/") if part.lower() != language]
            pages["/".join(parts)][language] = post
    return {path: versions for path, versions in pages.items() if len(versions) > 1}


def queries(pages: Pages) -> Iterator[tuple[bool, str, str, str]]:
    """Whether the title is the same, the title, the visitor's language, and the expected oid."""
    for versions in pages.values():
        for language, post in versions.items():
            for other, translation in versions.items():
                if other != language:
                    is_same = translation.title == post.title
                    expected = translation if is_same else post
                    yield is_same, str(post.title), other, str(expected.oid)


@click.command()
@click.argument("source")
def main(source: str) -> None:
    """Print the share of queries whose expected page is first, and the mean reciprocal rank."""
    pages = translated_pages(source)
    click.echo(f"{len(pages):,} pages in several languages")
    listed = list(dict.fromkeys(queries(pages)))
    chosen = random.Random(1)
    with (
        indexed(source, _WITHOUT_RULES) as alias,
        searching(alias) as search,
    ):
        echo_header(["queries", "first", "mean reciprocal rank", "number"])
        for is_same, name in ((True, "same title"), (False, "other title")):
            of_kind = [query for query in listed if query[0] is is_same]
            of_kind = chosen.sample(of_kind, min(QUERIES, len(of_kind)))
            for boost in BOOSTS if of_kind else ():
                scoring.LANGUAGE_BOOST = boost
                ranks = []
                for _, title, language, expected in of_kind:
                    prefer = language if boost else ""
                    hits = search(SearchRequest(q=title[:150], prefer=prefer)).body["hits"]
                    ranks.append(reciprocal_rank([hit["oid"] for hit in hits], {expected: 1}))
                first = sum(rank == 1 for rank in ranks) / len(ranks)
                mean = statistics.fmean(ranks)
                label = f"{name}, boost {boost:g}"
                echo_row([label, f"{first:.2f}", f"{mean:.3f}", str(len(ranks))])


if __name__ == "__main__":
    main()
