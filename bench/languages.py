"""LANGUAGE_BOOST on a site in several languages: `python -m bench.languages SOURCE`.

A query is the title of a page that exists in several languages. It is searched by visitors of each
of these languages. *Same title*: other languages have a page with this very title, such as the name
of a product; the page in the visitor's language should be first. *Other title*: the title is in
another language than the visitor's; its own page should stay first, however large the boost.
"""

import random
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from elasticsearch import Elasticsearch

from analyzers.rules import NO_RULES
from app.search import scoring, search
from app.search.request import SearchRequest
from app.settings import load_settings
from indexer.build.builder import IndexSettings
from indexer.build.reindex import reindex
from indexer.ingest import IngestOptions, MaxRejects
from indexer.records import RawPost, SourceItem
from indexer.sources import SourceOptions, open_source

BOOSTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
QUERIES = 100
Pages = dict[str, dict[str, RawPost]]
"""By the path without its language: the page in each language."""


def translated_pages(posts: list[RawPost]) -> Pages:
    """The pages that exist in at least two languages."""
    pages: Pages = defaultdict(dict)
    for post in posts:
        if isinstance(post.language, str) and isinstance(post.oid, str):
            parts = [part for part in post.oid.split("/") if part.lower() != post.language.lower()]
            pages["/".join(parts)][post.language.lower()] = post
    return {path: language for path, language in pages.items() if len(language) > 1}


def queries(pages: Pages) -> Iterator[tuple[bool, str, str, str]]:
    """Whether the title is the same, the title, the visitor's language, and the expected oid."""
    for versions in pages.values():
        for language, post in versions.items():
            for other, translation in versions.items():
                if other == language:
                    continue
                is_same = translation.title == post.title
                expected = translation if is_same else post
                yield is_same, str(post.title), other, str(expected.oid)


def measure(elastic: Elasticsearch, alias: str, pages: Pages) -> Mapping[str, list[str]]:
    """The share of queries whose expected page is first, and the mean reciprocal rank."""
    settings = replace(load_settings(), index=alias)
    chosen = random.Random(1)
    every = list(dict.fromkeys(queries(pages)))
    rows: dict[str, list[str]] = {}
    for is_same, name in ((True, "same title"), (False, "other title")):
        some = [language for language in every if language[0] is is_same]
        some = chosen.sample(some, min(QUERIES, len(some)))
        for boost in BOOSTS:
            scoring.LANGUAGE_BOOST = boost
            ranks = []
            for _, title, language, expected in some:
                request = SearchRequest(q=title[:150], size=10, prefer=language if boost else "")
                hits = search(elastic, alias, request, settings).body["hits"]
                oids = [hit["oid"] for hit in hits]
                ranks.append(1 / (oids.index(expected) + 1) if expected in oids else 0.0)
            first = sum(rank == 1 for rank in ranks)
            total = max(1, len(ranks))
            rows[f"{name}, boost {boost:g}"] = [
                f"{first / total:.2f}",
                f"{sum(ranks) / total:.3f}",
                str(len(ranks)),
            ]
    return rows


def main(spec: str) -> None:
    settings = load_settings()
    alias = f"bench-languages-x{uuid.uuid4().hex[:8]}"
    posts: list[RawPost] = []

    def read() -> Iterator[SourceItem]:
        for item in open_source(spec, None, SourceOptions()).read():
            if isinstance(item, RawPost):
                posts.append(item)
            yield item

    with Elasticsearch(settings.elasticsearch_url, request_timeout=60) as elastic:
        options = IngestOptions(MaxRejects(share=1.0))
        try:
            reindex(elastic, alias, read(), IndexSettings(NO_RULES, 1, 0), lambda _: None, options)
            pages = translated_pages(posts)
            print(f"{len(posts):,} posts, {len(pages):,} pages in several languages")
            print("| queries | first | mean reciprocal rank | number |\n| --- | --- | --- | --- |")
            for name, cells in measure(elastic, alias, pages).items():
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
        finally:
            for index in elastic.indices.get(index=f"{alias}*", expand_wildcards="all"):
                elastic.indices.delete(index=index)


if __name__ == "__main__":
    main(sys.argv[1])
