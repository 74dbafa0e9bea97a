"""Where the time of a search that is not cached goes: the first request with parts left out.

    .venv/bin/python -m bench.parts [FOLDER] [--posts 100000]
    .venv/bin/python -m bench.parts FOLDER --alias bench-100k       # an index that exists already

FOLDER is as in `bench.relevance`. A query is sent seven times in each variant, and the shortest
time counts: other work on the machine only adds to it. The CPU time that Python takes follows.
"""

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import click
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search import blended, first_request, search
from app.search.blended import plan_first
from app.search.request import SearchRequest
from app.search.session import SearchSession
from app.settings import Settings
from bench.results import Table
from bench.service import elasticsearch_url, settings_for
from bench.workload import Query, bare_body, corpus_of, index_of, queries_of

Json = dict[str, Any]

_ROUNDS = 7


def parts(alias: str, settings: Settings, queries: Sequence[Query], number: int) -> str:
    """Medians over `number` queries of each kind, in milliseconds, as a table in Markdown."""
    columns: dict[str, dict[str, float]] = {}
    with connect(settings, timeout=60) as client:
        for kind in sorted({query.kind for query in queries}):
            found: dict[str, list[float]] = defaultdict(list)
            for query in [query for query in queries if query.kind == kind][:number]:
                for name, spent in _parts(client, alias, settings, query):
                    found[name].append(spent)
            columns[kind] = {name: statistics.median(times) for name, times in found.items()}
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [
        [name, *(f"{column[name]:.2f}" if name in column else "" for column in columns.values())]
        for name in names
    ]
    return Table(["milliseconds", *columns], rows).markdown()


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
        first_request.build(plan_first(request, settings))

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


def _milliseconds(
    do: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    started = clock()
    do()
    return (clock() - started) * 1000


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


@click.command()
@click.argument("folder", required=False, type=click.Path(True, file_okay=False, path_type=Path))
@click.option("--posts", default=0, help="Index so many posts, made of the given ones.")
@click.option("--alias", default="", help="Use this index, which has the posts already.")
@click.option("--number", default=40, show_default=True, help="Queries of each kind.")
def main(folder: Path | None, posts: int, alias: str, number: int) -> None:
    """Measure the parts of searches on a corpus of FOLDER, and without a FOLDER on the sample."""
    elasticsearch_url()
    corpus, files = corpus_of(folder)
    queries = queries_of(files, number)
    with nullcontext(alias) if alias else index_of(corpus, posts) as name:
        click.echo(parts(name, settings_for(name), queries, number))


if __name__ == "__main__":
    main()
