"""Where the time of a search that is not cached goes: its requests with parts left out.

    .venv/bin/python -m bench.parts [FOLDER] [--posts 100000]
    .venv/bin/python -m bench.parts FOLDER --alias bench-100k       # an index that exists already

FOLDER is as in `bench.relevance`. Each body that a search sends is sent again without one of its
keys (`highlight`, `aggs`, …) and without one kind of clause of its query, seven times each, and
the shortest time counts: other work on the machine only adds to it. The CPU time of Python follows.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import click
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search import blended, search
from app.search.known import Known
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
            times: dict[str, list[float]] = defaultdict(list)
            for query in [query for query in queries if query.kind == kind][:number]:
                for name, spent in _parts(client, alias, settings, query):
                    times[name].append(spent)
            columns[kind] = {name: statistics.median(spent) for name, spent in times.items()}
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
    session, known = SearchSession(client, alias), Known()
    blended.answer(session, request, settings, known)
    variants = {"bare": bare_body(query.meant)}
    for sent in session.sent:
        for nth, body in enumerate(sent.bodies, 1):
            variants |= dict(_variants(f"{sent.kind} request, {nth}", body))
    for name, body in variants.items():
        # Without the request cache, which would answer from the second time on.
        searches = [{"index": alias, "request_cache": False}, body]
        yield name, _shortest(partial(client.msearch, searches=searches))
    bare = partial(client.search, index=alias, body=bare_body(query.meant))
    yield "Python: bare", _shortest(bare, time.thread_time)
    whole = partial(search, client, alias, request, settings)
    yield "Python: whole search", _shortest(whole, time.thread_time)


def _variants(name: str, body: Json) -> Iterator[tuple[str, Json]]:
    """The body, and the body without each part."""
    yield name, body
    for key in body:
        if key not in ("query", "size"):
            yield f"{name}, no {key}", {name: body[name] for name in body if name != key}
    clauses = body.get("query", {}).get("bool", {}).get("should", [])
    for kind in dict.fromkeys(next(iter(clause)) for clause in clauses):
        less = deepcopy(body)
        less["query"]["bool"]["should"] = [clause for clause in clauses if kind not in clause]
        yield f"{name}, no {kind} clauses", less


def _shortest(do: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(_ROUNDS):
        started = clock()
        do()
        times.append((clock() - started) * 1000)
    return min(times)


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
