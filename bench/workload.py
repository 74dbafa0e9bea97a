"""Chooses the queries and posts of the benchmark, and has the bare request."""

import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.relevance import SAMPLE, corpora
from bench.service import Json, lines

CORRECT = "correct, 1 to 3 words"
MISTYPED = "mistyped"
OWN_WORDS = "five own words"
TYPED = "being typed"
_CORRECT = ("exact", "phrase", "multi_nophrase")
_MISTYPED = ("typo1", "typo2", "typo_first", "multi_typo")


@dataclass(frozen=True, slots=True)
class Query:
    """A query as a visitor types it, and as it is meant."""

    kind: str
    q: str
    meant: str


def queries_of(files: Sequence[Path], number: int) -> list[Query]:
    """Return at most `number` queries of each kind, in random order; the same in every run."""
    by_kind: dict[str, list[Query]] = defaultdict(list)
    seen: set[str] = set()
    for line in (line for path in files for line in lines(path)):
        kind, q, meant = line["kind"], line["q"], line.get("intent") or line["q"]
        if q in seen or len(q.split()) > 5:
            continue
        seen.add(q)
        if kind in _CORRECT and len(q.split()) <= 3:
            by_kind[CORRECT].append(Query(CORRECT, q, meant))
        elif kind in _MISTYPED:
            by_kind[MISTYPED].append(Query(MISTYPED, q, meant))
        elif kind == "words" and "oid" in line:
            by_kind[OWN_WORDS].append(Query(OWN_WORDS, q, meant))
    chosen = random.Random(14)
    taken = [
        query for some in by_kind.values() for query in chosen.sample(some, min(number, len(some)))
    ]
    return chosen.sample(taken, len(taken))


def typed_of(queries: Sequence[Query]) -> list[Query]:
    """Return the correct queries with only the first half of their last words typed."""
    typed_queries = []
    for query in queries:
        before, space, last = query.meant.rpartition(" ")
        if query.kind == CORRECT and len(last) > 3:
            typed = f"{before}{space}{last[: max(2, len(last) // 2)]}"
            typed_queries.append(Query(TYPED, typed, query.meant))
    return typed_queries


def different(corpus: Path, number: int) -> Iterator[str]:
    """Yield `number` searches for two words of titles; in every other one the second is mistyped.
    They are the same in every run."""
    chosen = random.Random(14)
    words = sorted({word for post in lines(corpus) for word in post["title"].split()})
    for nth in range(number):
        first, second = chosen.sample(words, 2)
        at = chosen.randrange(len(second)) if nth % 2 else len(second)
        yield f"{first} {second[:at]}{second[at + 1 :]}"


def corpus_of(folder: Path | None) -> tuple[Path, list[Path]]:
    """Return the posts and files of queries of a folder's first corpus with known items, or of its
    first corpus; without a folder, of the sample."""
    if folder is None:
        return SAMPLE
    candidates = list(corpora(folder))
    known = [corpus for corpus in candidates if any(".known." in path.name for path in corpus[1])]
    return (known or candidates)[0]


def bare_body(q: str) -> Json:
    """Return the least request for a search page: ten hits of BM25 with highlights."""
    return {
        "query": {"combined_fields": {"query": q, "fields": ["title^8", "text^2"]}},
        "size": 10,
        "_source": ["oid", "title", "url", "pub_date"],
        "highlight": {
            "fragment_size": 160,
            "number_of_fragments": 2,
            "fields": {"title": {"number_of_fragments": 0}, "text": {}},
        },
    }


@contextmanager
def combined(corpus: Path, number: int) -> Iterator[Path]:
    """Yield a file of `number` posts made from a corpus: the halves of two titles, and two
    paragraphs of each of two posts. It is the same in every run."""
    chosen = random.Random(14)
    posts = list(lines(corpus))
    paragraphs = [re.split(r"(?<=</p>)", post["text"]) for post in posts]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        with path.open("w") as file:
            for nth in range(number):
                first, second = (chosen.choice(posts)["title"].split() for _ in range(2))
                text = ""
                for source in chosen.choices(paragraphs, k=2):
                    start = chosen.randrange(len(source))
                    text += "".join(source[start : start + 2])
                post = {
                    "oid": f"post-{nth}",
                    "title": " ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :]),
                    "text": text,
                    "url": f"/post-{nth}/",
                    "pub_date": chosen.choice(posts)["pub_date"],
                }
                file.write(json.dumps(post) + "\n")
        yield path
