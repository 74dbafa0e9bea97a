"""This commit beside a former one: ratios of time, and whether the answers are the same.

    .venv/bin/python -m bench.former TREE --data FOLDER        # a clone with a .venv of its own

Both serve an index that they built themselves, with one worker and a Redis, over HTTP. They take
turns, and each query is sent once to each; mistyped ones once more in another search, whose words
are known then. An answer is the same if it has the same posts in the same order, counts and marks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import click
import requests

from bench.relevance import corpora
from bench.results import echo_header, echo_row, p95
from bench.service import Json, getting, indexed, lines, serving
from bench.turns import alternate, timed
from bench.workload import MISTYPED, TYPED, corpus_of, queries_of, typed_of
from devstack.servers import REPOSITORY, redis_server

_AGAIN = "mistyped, known by now"
_SHOWN = 10  # answers that differ
_OTHERS = ("&size=25", "&sort=newest", "&page=2", "&typos=off", "%20-python", "%20%22go%22")
"""What makes another search of a query."""


def measure(trees: Sequence[Path], data: Path | None, number: int) -> None:
    """Print a row for each kind of query."""
    corpus, files = corpus_of(data)
    queries = queries_of(files, 2 * number)
    warm_up, measured = queries[1::2], queries[::2]
    measured = [*measured, *typed_of(measured)]
    paths = [(query.kind, _path(query.q, query.kind == TYPED)) for query in measured]
    again = [(_AGAIN, f"{path}&size=9") for kind, path in paths if kind == MISTYPED]
    first = [("", _path(query.q)) for query in warm_up]
    with ExitStack() as stack:
        urls = _serve(stack, trees, corpus)
        gets = [stack.enter_context(getting(url)) for url in urls]

        def rounds() -> Iterator[dict[tuple[str, int], Callable[[], float]]]:
            for kind, path in [*first, *paths, *again]:
                yield {(kind, nth): timed(partial(get, path)) for nth, get in enumerate(gets)}

        times = alternate(rounds(), len(first))
    for kind in dict.fromkeys(kind for kind, _ in [*paths, *again]):
        now, former = times[kind, 0], times[kind, 1]
        figures = [f"{median(now):.1f}", f"{median(former):.1f}", f"{p95(now):.1f}"]
        ratios = [median(now) / median(former), p95(now) / p95(former)]
        echo_row(
            [kind, str(len(now)), *figures, f"{p95(former):.1f}", *map("{:.2f}".format, ratios)]
        )


def compare(trees: Sequence[Path], data: Path, number: int) -> None:
    """Print how many answers are the same, and some that are not."""
    for corpus, files in corpora(data):
        asked = [(line["q"], line["kind"]) for path in files for line in lines(path)]
        step = max(1, len(asked) // number)
        with ExitStack() as stack:
            urls = _serve(stack, trees, corpus)
            session = stack.enter_context(requests.Session())
            equal: defaultdict[str, list[bool]] = defaultdict(list)
            shown = 0
            for nth, (q, kind) in enumerate(asked[::step]):
                # Once more in another search: then the words are known.
                for path in (_path(q, nth % 5 == 0), _path(q) + _OTHERS[nth % len(_OTHERS)]):
                    now, former = (_shown(session.get(url + path).json()) for url in urls)
                    equal[kind].append(now == former)
                    if now != former and (shown := shown + 1) <= _SHOWN:
                        click.echo(f"{path}\n  now    {now}\n  former {former}", err=True)
        same = sum(sum(of) for of in equal.values())
        click.echo(f"{corpus.name}: {same} of {sum(map(len, equal.values()))} answers are the same")
        click.echo({kind: f"{sum(of)}/{len(of)}" for kind, of in equal.items()})


def _serve(stack: ExitStack, trees: Sequence[Path], corpus: Path) -> list[str]:
    urls = []
    store = stack.enter_context(redis_server())
    for tree in trees:
        alias = stack.enter_context(indexed(corpus, tree=tree))
        served = stack.enter_context(serving(alias, redis_url=store.url, tree=tree))
        urls.append(served.url)
    return urls


def _path(q: str, typing: bool = False) -> str:
    return f"/search?q={quote(q)}{'&typing=on' if typing else ''}"


def _shown(answer: Json) -> Json:
    """The order, counts and marks of an answer."""
    hits: list[dict[str, Any]] = answer.get("hits", [])
    counts = {name: answer.get(name) for name in ("count", "tier", "matches", "dropped")}
    return {**counts, "corrected": answer.get("corrected"), "hits": list(map(_marks, hits))}


def _marks(hit: Json) -> Json:
    sections = [(one["highlight"], one["snippet"]) for one in hit.get("sections", ())]
    return {name: hit.get(name) for name in ("oid", "highlight", "missing")} | {"in": sections}


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--number", default=150, help="Queries of each kind, or of each corpus.")
@click.option("--answers", is_flag=True, help="Compare the answers instead of the time.")
def main(tree: Path, data: Path | None, number: int, answers: bool) -> None:
    """Measure this commit beside that of TREE."""
    trees = [REPOSITORY, tree.resolve()]
    if answers:
        compare(trees, data or Path(), number)
        return
    echo_header(["kind", "queries", "p50", "former", "p95", "former", "p50 ratio", "p95 ratio"])
    measure(trees, data, number)


if __name__ == "__main__":
    main()
