"""Titles of which a searcher gives one word in another inflection, against plain BM25.

    .venv/bin/python -m bench.inflections shared/data/blogs.jsonl.gz

A query is two neighbouring words of a title, the second one in the other inflection that most
posts have: `heroku value` for "My Heroku Values". Posts with the two words side by side in their
title, in either inflection, are expected. Prints the mean reciprocal rank of the first of them.
"""

import random
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from analyzers.languages import LANGUAGES, Language
from app.elastic import connect
from app.search import search
from app.search.request import SearchRequest
from bench.service import indexed, lines, settings_for

_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"<[^>]+>")
_SHORTEST = 4  # letters
_CUT = 10

Json = dict[str, Any]


def queries(posts: Sequence[Json], language: Language) -> Iterator[tuple[str, frozenset[str]]]:
    """Each query with the oids of the posts that are expected."""
    chosen = random.Random(7)
    counts = Counter[str]()
    for post in posts:
        counts.update(set(_words(f"{post['title']} {_TAG.sub(' ', post.get('text') or '')}")))
    families: dict[str, set[str]] = defaultdict(set)
    for word in counts:
        families[language.stem(word)].add(word)
    ignored = language.stop_words | language.function_words
    for post in posts:
        words = _words(post["title"])
        pairs = [
            (first, second)
            for first, second in pairwise(words)
            if min(len(first), len(second)) >= _SHORTEST
            and not {first, second} & ignored
            and f"{first} {second}" in post["title"].lower()
        ]
        if not pairs:
            continue
        first, second = chosen.choice(pairs)
        others = [
            word
            for word in sorted(families[language.stem(second)] - {second})
            if language.akin(word, second)
        ]
        if others:
            other = max(others, key=counts.__getitem__)
            phrase = re.compile(rf"\b{first}\W+({second}|{other})\b")
            expected = [one["oid"] for one in posts if phrase.search(one["title"].lower())]
            yield f"{first} {other}", frozenset(map(str, expected))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def reciprocal_rank(oids: Sequence[str], expected: frozenset[str]) -> float:
    """One over the rank of the first expected post; 0 without one."""
    return next((1 / rank for rank, oid in enumerate(oids, 1) if oid in expected), 0.0)


def main(path: Path) -> None:
    posts = list(lines(path))
    with indexed(path) as alias:
        settings = settings_for(alias)
        with connect(settings, timeout=30) as client:

            def blended(q: str) -> list[str]:
                hits = search(client, alias, SearchRequest(q), settings).body["hits"]
                return [hit["oid"] for hit in hits]

            def bm25(q: str) -> list[str]:
                query = {"multi_match": {"query": q, "fields": ["title", "text"]}}
                response = client.search(
                    index=alias,
                    query={"bool": {"must": query, "filter": {"term": {"kind": "post"}}}},
                    size=_CUT,
                    source_includes=["oid"],
                )
                return [hit["_source"]["oid"] for hit in response["hits"]["hits"]]

            asked = list(queries(posts, LANGUAGES[settings.language]))
            ways: dict[str, Callable[[str], list[str]]] = {"blended": blended, "BM25": bm25}
            for name, way in ways.items():
                ranks = [reciprocal_rank(way(q), expected) for q, expected in asked]
                first = sum(rank == 1 for rank in ranks)
                mean = statistics.mean(ranks)
                print(f"{name:8} {mean:.3f} of {len(asked)} queries, {first} with one first")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
