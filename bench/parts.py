"""What the parts of a search that is not cached take.

    eval "$(make -s services)"; .venv/bin/python -m bench.parts [--data FOLDER]

For each query the request that a search begins with is sent as it is and without some of its
parts, in turn with a bare request. Every query has been sent before, so that all turns find the
same in the caches of the engine. Prints median milliseconds by kind of query, and what a search
takes beside Elasticsearch: building requests, reading responses and cutting snippets.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search.blended import answer
from app.search.known import Known
from app.search.query_builder import ALL, ANY, MOST
from app.search.request import SearchRequest
from app.search.session import SearchSession
from bench.results import Table
from bench.service import Json, index, settings_for, temporary_alias
from bench.turns import alternate, timed
from bench.workload import (
    CORRECT,
    MISTYPED,
    OWN_WORDS,
    TYPED,
    Query,
    bare_body,
    corpus_of,
    queries_of,
    typed_of,
)

_EMPTY: Json = {"query": {"match_none": {}}, "size": 0}
_COUNTS = (ANY, MOST, ALL)

Bodies = Sequence[Json]


def without(body: Json, *names: str) -> Json:
    """A search without some of its parts."""
    return {name: part for name, part in body.items() if name not in names}


def _posts(*names: str) -> Callable[[Bodies], Bodies]:
    return lambda bodies: [without(bodies[0], *names)]


def _lookup(*names: str) -> Callable[[Bodies], Bodies]:
    def part(bodies: Bodies) -> Bodies:
        lookup = without(bodies[1], *names)
        return [{**lookup, "aggs": without(lookup["aggs"], *names)}]

    return part


PARTS: dict[str, Callable[[Bodies], Bodies]] = {
    "the first request": lambda bodies: bodies,
    "its search for posts": _posts(),
    "the same without highlights": _posts("highlight"),
    "… and without rescoring": _posts("highlight", "rescore"),
    "… and without hits": lambda bodies: [without(bodies[0], "highlight", "rescore") | {"size": 0}],
    "its lookup": _lookup(),
    "the same without counts of matches": _lookup(*_COUNTS),
    "… and without the suggester": _lookup(*_COUNTS, "suggest"),
}


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--queries", default=60, show_default=True, help="Of each kind.")
def main(data: Path | None, queries: int) -> None:
    """Measure the parts of searches of the posts in a folder; without one, of the sample."""
    posts, files = corpus_of(data)
    chosen = queries_of(files, queries)
    chosen += typed_of(chosen)[:queries]
    kinds = [kind for kind in (CORRECT, OWN_WORDS, MISTYPED, TYPED) if _of_kind(chosen, kind)]
    rows: dict[str, list[str]] = defaultdict(list)
    with temporary_alias() as alias, connect(settings_for(alias), timeout=60) as client:
        index(posts, alias)
        for kind in kinds:
            for name, times in alternate(_rounds(client, alias, _of_kind(chosen, kind)), 5).items():
                rows[name].append(f"{statistics.median(times):.2f}")
    table = Table(["", *kinds], [[name, *figures] for name, figures in rows.items()])
    click.echo(table.markdown())


def _of_kind(queries: Sequence[Query], kind: str) -> list[Query]:
    return [query for query in queries if query.kind == kind]


def _rounds(
    client: Elasticsearch, alias: str, queries: Sequence[Query]
) -> Iterator[dict[str, Callable[[], float]]]:
    settings, known = settings_for(alias), Known()
    for query in queries:
        request = SearchRequest(query.q, typing=query.kind == TYPED)

        def search(request: SearchRequest = request) -> tuple[SearchSession, float]:
            session = SearchSession(client, alias)
            spent = timed(partial(answer, session, request, settings, known))()
            return session, spent - sum(sent.total_ms for sent in session.sent)

        session, _ = search()
        sent, bare = session.sent[0].bodies, bare_body(query.meant)
        bodies = {
            "a search that matches nothing": [_EMPTY],
            "a bare request": [bare],
            "… without highlights": [without(bare, "highlight")],
            **{name: part(sent) for name, part in PARTS.items()},
        }
        turns = {name: _sending(client, alias, parts) for name, parts in bodies.items()}
        yield {**turns, "a search, beside Elasticsearch": lambda: search()[1]}


def _sending(client: Elasticsearch, alias: str, bodies: Bodies) -> Callable[[], float]:
    lines = [line for body in bodies for line in ({"index": alias}, body)]
    return timed(partial(client.msearch, searches=lines, search_type="dfs_query_then_fetch"))


if __name__ == "__main__":
    main()
