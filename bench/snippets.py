"""How many hits hide a word of the query that their post has.

    .venv/bin/python -m bench.snippets POSTS.jsonl QUERIES.jsonl [--every 10]

POSTS as for `blogsearch reindex`; each line of QUERIES has a `q`. A word is hidden if the post has
it as it was typed, and title, sections, snippets and comments of the hit show no word with the same
first letters. Words that say little are not counted. Lists the hits that hide one.
"""

import re
from itertools import islice
from pathlib import Path
from typing import Any

import click
from werkzeug.datastructures import MultiDict

from analyzers.languages import LANGUAGES
from app.search.query_parser import parse_query
from app.search.request import MAX_QUERY, SearchRequest
from bench.service import indexed, lines, searching, settings_for
from indexer.html_text import readable

_WORD = re.compile(r"\w+(?:['’]\w+)*")


_ALIKE = 5
"""Words that begin with so many letters alike are inflections of one."""


def words(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return set(_WORD.findall(text.casefold()))


def shown(hit: dict[str, Any]) -> set[str]:
    """The words that a visitor sees of a hit."""
    sections = hit.get("sections", [])
    comments = [snippet for comment in hit.get("comments", []) for snippet in comment["highlight"]]
    parts = [hit["title"], *hit["highlight"]["text"], *comments]
    for section in sections:
        parts += [section["heading"], section["snippet"], *section.get("above", [])]
    return words(re.sub(r"</?mark>", "", " ".join(parts)))


@click.command()
@click.argument("posts", type=click.Path(exists=True, path_type=Path))
@click.argument("queries", type=click.Path(exists=True, path_type=Path))
@click.option("--every", default=10, show_default=True, help="Use every n-th query only.")
def main(posts: Path, queries: Path, every: int) -> None:
    """Count the hits of QUERIES in POSTS that hide a word."""
    texts = {post["oid"]: readable(post.get("text") or "") for post in lines(posts)}
    of_post = {oid: words(f"{text.prose} {text.code}") for oid, text in texts.items()}
    asked = [line["q"][:MAX_QUERY] for line in islice(lines(queries), None, None, every)]
    hits = hiding = 0
    with indexed(posts) as alias, searching(alias) as search:
        language = LANGUAGES[settings_for(alias).language]
        for q in asked:
            terms = parse_query(q, language).examined
            matter = {term.text.casefold() for term in terms if not term.light}
            for hit in search(SearchRequest.parse(MultiDict([("q", q)]))).body["hits"]:
                hits += 1
                alike = {word[:_ALIKE] for word in shown(dict(hit))}
                in_post = matter & of_post[hit["oid"]]
                if hidden := {word for word in in_post if word[:_ALIKE] not in alike}:
                    hiding += 1
                    click.echo(f"{hit['oid']} hides {', '.join(sorted(hidden))}")
    click.echo(f"{hiding} of {hits} hits ({hiding / max(1, hits):.1%}) hide a word that they have")


if __name__ == "__main__":
    main()
