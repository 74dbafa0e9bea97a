"""Compares the answers of this commit with those of a former one; `make bench FORMER=TREE` compares
their times.

    .venv/bin/python -m bench.former TREE --data FOLDER        # a clone with its own .venv

Each builds its own index, and serves it over HTTP with one worker and a Redis. Two answers are the
same if they have the same posts in the same order, counts and marks.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import requests

from bench.relevance import corpora
from bench.service import Json, indexed, lines, serving
from devstack.servers import REPOSITORY, redis_server

_SHOWN = 10  # answers that differ
_OTHERS = ("&size=25", "&sort=newest", "&page=2", "&typos=off", "%20-python", "%20%22go%22")
"""Additions that turn a query into another search."""


def compare(trees: Sequence[Path], data: Path, number: int) -> None:
    """Print how many answers are the same, and some of those that differ."""
    for corpus, files in corpora(data):
        asked = [(line["q"], line["kind"]) for path in files for line in lines(path)]
        step = max(1, len(asked) // number)
        with ExitStack() as stack:
            urls = _serve(stack, trees, corpus)
            session = stack.enter_context(requests.Session())
            equal: defaultdict[str, list[bool]] = defaultdict(list)
            shown = 0
            for nth, (q, kind) in enumerate(asked[::step]):
                # Then in another search, when the words are known.
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
    """Return the order, counts and marks of an answer."""
    hits: list[dict[str, Any]] = answer.get("hits", [])
    counts = {name: answer.get(name) for name in ("count", "tier", "matches", "dropped")}
    return {**counts, "corrected": answer.get("corrected"), "hits": list(map(_marks, hits))}


def _marks(hit: Json) -> Json:
    sections = [(one["highlight"], one["snippet"]) for one in hit.get("sections", ())]
    return {name: hit.get(name) for name in ("oid", "highlight", "missing")} | {"in": sections}


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--number", default=150, help="Queries of each corpus.")
def main(tree: Path, data: Path, number: int) -> None:
    """Compare the answers of this commit with those of TREE."""
    compare([REPOSITORY, tree.resolve()], data, number)


if __name__ == "__main__":
    main()
