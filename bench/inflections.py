"""Titles of which a searcher gives one word in another inflection, against plain BM25.

    .venv/bin/python -m bench.inflections shared/data/blogs.jsonl.gz

A query is two neighbouring words of a title, the second one in the other inflection that most
posts have: `heroku value` for "My Heroku Values". Posts with the two words side by side in their
title, in either inflection, are expected. Prints the mean reciprocal rank of the first of them.
"""

import random
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import click
from elasticsearch import Elasticsearch

from analyzers.languages import LANGUAGES, Language
from app.search.request import SearchRequest
from bench.relevance import CUT, reciprocal_rank
from bench.service import Json, elasticsearch_url, indexed, lines, searching, settings_for

_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"<[^>]+>")
_SHORTEST = 4  # letters


def queries(posts: Sequence[Json], language: Language) -> Iterator[tuple[str, dict[str, int]]]:
    """Each query with the oids of the posts that are expected, all of the same grade."""
    chosen = random.Random(7)
    counts = Counter[str]()
    for post in posts:
        counts.update(set(_words(f"{post['title']} {_TAG.sub(' ', post.get('text') or '')}")))
    families: dict[str, set[str]] = defaultdict(set)
    for word in counts:
        families[language.stem(word)].add(word)
    ignored = language.stop_words | language.function_words
    for post in posts:
        pairs = [
            (first, second)
            for first, second in pairwise(_words(post["title"]))
            if min(len(first), len(second)) >= _SHORTEST
            and not {first, second} & ignored
            and f"{first} {second}" in post["title"].lower()
        ]
        if not pairs:
            continue
        first, second = chosen.choice(pairs)
        inflections = [
            word
            for word in sorted(families[language.stem(second)] - {second})
            if language.akin(word, second)
        ]
        if inflections:
            other = max(inflections, key=counts.__getitem__)
            phrase = re.compile(rf"\b{first}\W+({second}|{other})\b")
            expected = [post["oid"] for post in posts if phrase.search(post["title"].lower())]
            yield f"{first} {other}", dict.fromkeys(map(str, expected), 1)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


@click.command()
@click.argument("posts", type=click.Path(exists=True, path_type=Path))
def main(posts: Path) -> None:
    """Measure the titles of POSTS."""
    with (
        indexed(posts) as alias,
        searching(alias) as search,
        Elasticsearch(elasticsearch_url(), request_timeout=60) as client,
    ):

        def blended(q: str) -> list[str]:
            return [hit["oid"] for hit in search(SearchRequest(q)).body["hits"]]

        def bm25(q: str) -> list[str]:
            query = {"multi_match": {"query": q, "fields": ["title", "text"]}}
            response = client.search(
                index=alias,
                query={"bool": {"must": query, "filter": {"term": {"kind": "post"}}}},
                size=CUT,
                source_includes=["oid"],
            )
            return [hit["_source"]["oid"] for hit in response["hits"]["hits"]]

        asked = list(queries(list(lines(posts)), LANGUAGES[settings_for(alias).language]))
        ways: dict[str, Callable[[str], list[str]]] = {"blended": blended, "BM25": bm25}
        for name, rank in ways.items():
            ranks = [reciprocal_rank(rank(q), expected) for q, expected in asked]
            first = sum(rank == 1 for rank in ranks)
            mean = statistics.mean(ranks)
            click.echo(f"{name:8} {mean:.3f} of {len(asked)} queries, {first} with one first")


if __name__ == "__main__":
    main()
