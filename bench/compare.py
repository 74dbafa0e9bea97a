"""Compares two revisions, side by side in one run.

    make bench-compare REV=HEAD~5
    .venv/bin/python -m bench.compare BEFORE [AFTER] [--data FOLDER]

Each revision is checked out into a worktree of its own, indexes the posts with its own code, and is
served by gunicorn with its own configuration. A revision with another uv.lock gets a
virtual environment of its own. Searches that are not cached and cached ones alternate between the
two; medians and ratios are printed. AFTER is HEAD unless it is given; uncommitted changes are left
out.
"""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import click
import requests

from bench.load_generator import highest_rate
from bench.results import Table, milliseconds
from bench.service import (
    elasticsearch_url,
    fill_cache,
    get_search,
    index,
    serving,
    temporary_alias,
)
from bench.speed import HEARTBEAT
from bench.turns import alternate, timed
from bench.workload import Query, corpus_of, queries_of
from devstack.servers import REPOSITORY, Gunicorn, redis_server

_WARM_UP = 30  # queries
_PATH = "/search?q=python"


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision that is checked out into a folder, the Python that has its packages, and the
    alias that it has indexed."""

    name: str
    folder: Path
    python: str
    alias: str

    def serving(self, **options: Any) -> AbstractContextManager[Gunicorn]:
        """A service with its code; `options` are those of `bench.service.serving`."""
        return serving(self.alias, folder=self.folder, python=self.python, **options)


@contextmanager
def indexed_revision(revision: str, name: str, corpus: Path) -> Iterator[Revision]:
    """A worktree of the revision and its index; removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as parent, temporary_alias() as alias:
        folder = Path(parent) / "revision"
        _git("worktree", "add", "--quiet", "--detach", str(folder), revision)
        try:
            python = _python(folder)
            click.echo(f"indexing with {name} …", err=True)
            index(corpus, alias, folder, python)
            yield Revision(name, folder, python, alias)
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=REPOSITORY, check=True)


def _python(folder: Path) -> str:
    """This Python, or if the revision locks other packages, one with these."""
    locked = folder / "uv.lock"
    if locked.exists() and locked.read_bytes() == (REPOSITORY / "uv.lock").read_bytes():
        return sys.executable
    click.echo("  it locks other packages: making a virtual environment …", err=True)
    subprocess.run(["make", "--silent", "setup"], cwd=folder, check=True)
    return str(folder / ".venv" / "bin" / "python")


@click.command()
@click.argument("before")
@click.argument("after", default="HEAD")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder as for bench.relevance; without it the sample.",
)
@click.option("--number", default=100, show_default=True, help="Queries of each kind.")
@click.option("--rounds", default=8, show_default=True, help="Rounds of cached searches.")
@click.option("--seconds", default=2, show_default=True, help="Seconds of each turn of a round.")
def main(
    before: str, after: str, data: Path | None, number: int, rounds: int, seconds: int
) -> None:
    """Measure the revisions BEFORE and AFTER."""
    elasticsearch_url()
    corpus, files = corpus_of(data)
    with ExitStack() as stack:
        revisions = [
            stack.enter_context(indexed_revision(revision, f"{side} ({revision})", corpus))
            for side, revision in (("before", before), ("after", after))
        ]
        click.echo("searches that are not cached …", err=True)
        click.echo(_uncached(revisions, queries_of(files, number)))
        click.echo("cached searches …", err=True)
        click.echo(_cached(revisions, seconds, rounds))


def _uncached(revisions: Sequence[Revision], queries: Sequence[Query]) -> str:
    """Each query is sent once to each revision, in random order."""
    with ExitStack() as stack, requests.Session() as session:
        urls = {
            revision.name: stack.enter_context(revision.serving()).url for revision in revisions
        }
        warm_up = queries[:_WARM_UP]
        times = alternate(
            (
                {
                    (query.kind, name): timed(partial(get_search, session, url, query.q))
                    for name, url in urls.items()
                }
                for query in [*warm_up, *queries]
            ),
            len(warm_up),
        )
    before, after = urls
    rows = []
    for kind in sorted({kind for kind, _ in times}):
        old, new = times[kind, before], times[kind, after]
        ratio = statistics.median(new) / statistics.median(old)
        rows.append([kind, *milliseconds(old), *milliseconds(new), f"{ratio:.2f}"])
    header = ["not cached, HTTP", f"{before}: median ms", "p95", f"{after}: median ms", "p95"]
    return "\n" + Table([*header, "after / before"], rows).markdown()


def _cached(revisions: Sequence[Revision], seconds: float, rounds: int) -> str:
    with redis_server() as store, ExitStack() as stack:
        turns: dict[tuple[str, str], Callable[[], float]] = {}
        for revision in revisions:
            url = stack.enter_context(revision.serving(workers=2, redis_url=store.url)).url
            fill_cache(url, _PATH)
            for kind, path in (("cached search", _PATH), ("heartbeat", HEARTBEAT)):
                turns[kind, revision.name] = partial(highest_rate, url, [path], seconds)
        rates = alternate(repeat(turns, rounds + 1))
    before, after = (revision.name for revision in revisions)
    rows = []
    for kind in ("cached search", "heartbeat"):
        old, new = statistics.median(rates[kind, before]), statistics.median(rates[kind, after])
        rows.append([kind, f"{old:,.0f}", f"{new:,.0f}", f"{new / old:.2f}"])
    header = ["requests a second", before, after, "after / before"]
    return "\n" + Table(header, rows).markdown()


if __name__ == "__main__":
    main()
