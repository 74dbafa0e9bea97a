"""The time of a search that is not cached, against one bare request to Elasticsearch.

    make bench-speed DATA=FOLDER
    .venv/bin/python -m bench.speed FOLDER --posts 100000
    .venv/bin/python -m bench.speed FOLDER --alias bench-100k       # an index that exists already

FOLDER is as in `bench.relevance`; of its corpora the first with known items is used, and without a
FOLDER the sample. With `--posts` the index has that many posts made of the given ones.

Each query is sent once: to the service over HTTP, or to `app.search.search` in this process, never
to both, because Elasticsearch keeps some results. Right before or after it, in random order, the
same client sends the bare request: `combined_fields` on title and text with the right spelling,
ten hits, and highlights. The kinds of queries take turns. Medians and 95th percentiles are printed,
and their ratios to those of the bare request; then the parts of the first request one by one.
"""

import json
import math
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import requests
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search import blended, first_request, search
from app.search.blended import plan_first
from app.search.request import SearchRequest
from app.search.session import SearchSession
from app.settings import Settings
from bench.relevance import SAMPLE, corpora
from bench.service import (
    combined_posts,
    elasticsearch_url,
    get_search,
    indexed,
    lines,
    serving,
    settings_for,
)

Json = dict[str, Any]
CORRECT = ("exact", "phrase", "multi_nophrase")
MISTYPED = ("typo1", "typo2", "typo_first", "multi_typo")
_WARM_UP = 60  # searches that are not counted


@dataclass(frozen=True, slots=True)
class Query:
    """What a visitor types, and what was meant."""

    kind: str
    q: str
    meant: str


def queries_of(files: Sequence[Path], number: int) -> list[Query]:
    """At most `number` queries of each kind, in random order; the same for every run."""
    found: dict[str, list[Query]] = defaultdict(list)
    seen: set[str] = set()
    for line in (line for path in files for line in lines(path)):
        kind, q, meant = line["kind"], line["q"], line.get("intent") or line["q"]
        if q in seen or len(q.split()) > 5:
            continue
        seen.add(q)
        if kind in CORRECT and len(q.split()) <= 3:
            found["correct, 1 to 3 words"].append(Query("correct, 1 to 3 words", q, meant))
        elif kind in MISTYPED:
            found["mistyped"].append(Query("mistyped", q, meant))
        elif kind == "words" and "oid" in line:
            found["five own words"].append(Query("five own words", q, meant))
    chosen = random.Random(14)
    taken = [
        query for some in found.values() for query in chosen.sample(some, min(number, len(some)))
    ]
    return chosen.sample(taken, len(taken))


def bare_body(q: str) -> Json:
    """The least that a search page needs: ten hits of BM25 on title and text, with highlights."""
    return {
        "query": {
            "bool": {
                "must": {"combined_fields": {"query": q, "fields": ["title^8", "text^2"]}},
                "filter": {"term": {"kind": "post"}},
            }
        },
        "size": 10,
        "_source": ["oid", "title", "url", "pub_date"],
        "highlight": {
            "fragment_size": 160,
            "number_of_fragments": 2,
            "fields": {"title": {"number_of_fragments": 0}, "text": {}},
        },
    }


Times = dict[tuple[str, str, str], list[float]]
"""Milliseconds by kind of query, way (`in process`, `HTTP`) and request (`search`, `bare`)."""


def measure(alias: str, url: str, settings: Settings, queries: Sequence[Query]) -> Times:
    """The times of all queries; every other one goes over HTTP."""
    chosen = random.Random(14)
    times: Times = defaultdict(list)
    with connect(settings, timeout=60) as client, requests.Session() as session:
        client.indices.clear_cache(index=alias)
        for nth, query in enumerate(queries):
            way = ("in process", "HTTP")[nth % 2]
            turns = {
                "bare": partial(client.search, index=alias, body=bare_body(query.meant)),
                "search": partial(get_search, session, url, query.q)
                if way == "HTTP"
                else partial(search, client, alias, SearchRequest(q=query.q), settings),
            }
            for name in chosen.sample(list(turns), 2):
                spent = _milliseconds(turns[name])
                if nth >= _WARM_UP:
                    times[query.kind, way, name].append(spent)
    return times


def _milliseconds(
    do: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    started = clock()
    do()
    return (clock() - started) * 1000


def p95(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


def report(times: Times) -> str:
    """The times and their ratios, as a table in Markdown."""
    rows = [
        "| queries | | n | bare, median ms | search | times | bare, p95 ms | search | times |",
        "| --- | --- " + "| ---: " * 7 + "|",
    ]
    for kind, path in sorted({(kind, path) for kind, path, _ in times}):
        bare, ours = times[kind, path, "bare"], times[kind, path, "search"]
        cells = [kind, path, str(len(ours))]
        for figure in (statistics.median, p95):
            one, other = figure(bare), figure(ours)
            cells += [f"{one:.1f}", f"{other:.1f}", f"{other / one:.1f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


# -- where the time goes ---------------------------------------------------------------------------

_ROUNDS = 7


def parts(alias: str, settings: Settings, queries: Sequence[Query], number: int) -> str:
    """The time of the first request as it is, and without some of its parts; then the CPU time that
    Python takes. Milliseconds, medians over `number` queries of each kind, as a table in Markdown.

    A query is sent seven times in each variant, and the shortest time counts: other work on the
    machine only adds to it.
    """
    columns: dict[str, dict[str, float]] = {}
    with connect(settings, timeout=60) as client:
        for kind in sorted({query.kind for query in queries}):
            found: dict[str, list[float]] = defaultdict(list)
            for query in [query for query in queries if query.kind == kind][:number]:
                for name, spent in _parts(client, alias, settings, query):
                    found[name].append(spent)
            columns[kind] = {name: statistics.median(times) for name, times in found.items()}
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [f"| | {' | '.join(columns)} |", "| --- " + "| ---: " * len(columns) + "|"]
    for name in names:
        cells = [f"{column[name]:.2f}" if name in column else "" for column in columns.values()]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _parts(
    client: Elasticsearch, alias: str, settings: Settings, query: Query
) -> Iterator[tuple[str, float]]:
    request = SearchRequest(q=query.q)
    session = SearchSession(client, alias)
    blended.answer(session, request, settings)
    variants = dict(_variants({one.kind: one.bodies for one in session.sent}, query.meant))
    best = dict.fromkeys(variants, math.inf)
    # Without the request cache, which would answer the lookup from the second time on.
    header = {"index": alias, "request_cache": False}
    for _ in range(_ROUNDS):
        for name, sent in variants.items():
            searches = [line for body in sent for line in (header, body)]
            spent = _milliseconds(partial(client.msearch, searches=searches))
            best[name] = min(best[name], spent)
    yield from best.items()

    def build() -> None:
        for one in first_request.build(plan_first(request, settings)):
            one.to_dict()

    steps: dict[str, Callable[[], object]] = {
        "Python: bare": partial(client.search, index=alias, body=bare_body(query.meant)),
        "Python: whole search": partial(search, client, alias, request, settings),
        "Python: building the first request": build,
    }
    for name, step in steps.items():
        yield name, min(_milliseconds(step, time.thread_time) for _ in range(_ROUNDS))


def _variants(
    sent: Mapping[str, Sequence[Json]], meant: str
) -> Iterator[tuple[str, Sequence[Json]]]:
    """The requests of a search, with a part left out, or one part alone."""
    posts, *lookup = sent["first"]
    bare = bare_body(meant)
    yield "bare", [bare]
    yield "bare, no highlights", [_without(bare, "highlight")]
    yield "first request", [posts, *lookup]
    yield "posts alone", [posts]
    yield "posts, no highlights", [_without(posts, "highlight")]
    yield "posts, highlights of title and text only", [_highlighting(posts, ("title", "text"))]
    yield "posts, no aggregations", [_without(posts, "aggs")]
    yield "posts, no unstemmed fields", [_scored(posts, _unstemmed)]
    yield "posts, no title match", [_scored(posts, lambda one: "match" in one)]
    yield "posts, no neighbours or phrases", [_scored(posts, lambda one: "match_phrase" in one)]
    yield "posts, no all-words clauses", [_scored(posts, lambda one: "must" in one.get("bool", {}))]
    yield "posts, no scoring", [_scored(posts, lambda _: True)]
    if lookup:
        yield "lookup alone", lookup
        yield "lookup, no suggester", [_without(lookup[0], "suggest")]
    if "second" in sent:
        likeliest = sent["second"][0]
        yield "second request", sent["second"]
        yield "second, posts with enough words", [likeliest]
        yield "second, the same, no highlights", [_without(likeliest, "highlight")]
        yield "second, the same, no scoring", [_scored(likeliest, lambda _: True)]


def _without(body: Json, key: str) -> Json:
    return {name: value for name, value in body.items() if name != key}


def _scored(body: Json, left_out: Callable[[Json], bool]) -> Json:
    """A body without some of the clauses that score words."""
    found = deepcopy(body)
    query = found["query"]["bool"]
    query["should"] = [one for one in query["should"] if not left_out(one)]
    for clause in query["should"]:
        inner = clause.get("bool", {})
        if any("combined_fields" in one for one in inner.get("should", ())):
            inner["should"] = [one for one in inner["should"] if not left_out(one)]
    return found


def _unstemmed(clause: Json) -> bool:
    return "title.forms^8" in clause.get("combined_fields", {}).get("fields", ())


def _highlighting(body: Json, fields: Sequence[str]) -> Json:
    found = deepcopy(body)
    kept = found["highlight"]["fields"]
    found["highlight"]["fields"] = {name: kept[name] for name in fields if name in kept}
    return found


# -- the command -----------------------------------------------------------------------------------


@contextmanager
def prepared(corpus: Path, posts: int, alias: str) -> Iterator[str]:
    """An alias for the posts; deleted afterwards if it was made here."""
    if alias:
        yield alias
        return
    if not posts:
        with indexed(corpus) as made:
            yield made
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "combined.jsonl"
        with path.open("w") as file:
            for post in combined_posts(list(lines(corpus)), posts):
                file.write(json.dumps(post) + "\n")
        with indexed(path) as made:
            yield made


@click.command()
@click.argument("folder", required=False, type=click.Path(True, file_okay=False, path_type=Path))
@click.option("--posts", default=0, help="Index so many posts, made of the given ones.")
@click.option("--alias", default="", help="Use this index, which has the posts already.")
@click.option("--number", default=300, show_default=True, help="Queries of each kind.")
@click.option(
    "--part-queries", default=40, show_default=True, help="Queries for the parts; 0: none."
)
def main(folder: Path | None, posts: int, alias: str, number: int, part_queries: int) -> None:
    """Measure searches on a corpus of FOLDER, and without a FOLDER on the sample."""
    elasticsearch_url()
    corpus, files = SAMPLE
    if folder:
        found = list(corpora(folder))
        known = [one for one in found if any(".known." in path.name for path in one[1])]
        corpus, files = (known or found)[0]
    queries = queries_of(files, number)
    with prepared(corpus, posts, alias) as name:
        settings = settings_for(name)
        with serving(name) as url:
            click.echo(report(measure(name, url, settings, queries)))
        if part_queries:
            click.echo("\n" + parts(name, settings, queries, part_queries))


if __name__ == "__main__":
    main()
