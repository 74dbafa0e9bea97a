"""Compares two revisions, side by side in one run.

    make bench-compare REV=HEAD~5
    .venv/bin/python -m bench.compare BEFORE [AFTER] [--data FOLDER]

Each revision is checked out into a worktree of its own, indexes the posts with its own code, and is
served by gunicorn with its own configuration. A revision with another requirements.lock gets a
virtual environment of its own. Searches that are not cached and cached ones alternate between the
two; medians and ratios are printed. AFTER is HEAD unless it is given; uncommitted changes are left
out.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import requests

from bench.cached import Turn, alternate
from bench.results import Table, milliseconds
from bench.service import delete, elasticsearch_url, get_search, index, serving
from bench.workload import Query, corpus_of, queries_of
from devstack.servers import REPOSITORY, redis_server

_HEARTBEAT = "/__lbheartbeat__"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A revision in a folder, and the Python that has its packages."""

    name: str
    folder: Path
    python: str


@contextmanager
def checkout(revision: str, name: str) -> Iterator[Checkout]:
    """A worktree of the revision; removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as parent:
        folder = Path(parent) / "revision"
        _git("worktree", "add", "--quiet", "--detach", str(folder), revision)
        try:
            yield Checkout(name, folder, _python(folder))
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=REPOSITORY, check=True)


def _python(folder: Path) -> str:
    """This Python, or if the revision locks other packages, one with these."""
    locked = folder / "requirements.lock"
    if locked.read_bytes() == (REPOSITORY / "requirements.lock").read_bytes():
        return sys.executable
    click.echo("  another requirements.lock: making a virtual environment …", err=True)
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    python = str(folder / ".venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", locked], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", folder], check=True)
    return python


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
    queries = queries_of(files, number)
    with ExitStack() as stack:
        checkouts = [
            stack.enter_context(checkout(revision, f"{side} ({revision})"))
            for side, revision in (("before", before), ("after", after))
        ]
        aliases = {}
        for revision in checkouts:
            click.echo(f"indexing with {revision.name} …", err=True)
            aliases[revision.name] = f"bench-x{uuid.uuid4().hex[:10]}"
            stack.callback(delete, aliases[revision.name])
            index(corpus, aliases[revision.name], revision.folder, revision.python)
        click.echo("searches that are not cached …", err=True)
        click.echo(_uncached(checkouts, aliases, queries))
        click.echo("cached searches …", err=True)
        click.echo(_cached(checkouts, aliases, seconds, rounds))


def _uncached(
    checkouts: Sequence[Checkout], aliases: dict[str, str], queries: Sequence[Query]
) -> str:
    """Each query is sent once to each revision, in random order."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    chosen = random.Random(14)
    with ExitStack() as stack, requests.Session() as session:
        urls = {
            revision.name: stack.enter_context(
                serving(aliases[revision.name], folder=revision.folder, python=revision.python)
            ).url
            for revision in checkouts
        }
        for warming in (True, False):
            for query in queries[:30] if warming else queries:
                for name in chosen.sample(list(urls), 2):
                    started = time.perf_counter()
                    get_search(session, urls[name], query.q)
                    if not warming:
                        spent = (time.perf_counter() - started) * 1000
                        times[query.kind, name].append(spent)
    before, after = (revision.name for revision in checkouts)
    rows = []
    for kind in sorted({kind for kind, _ in times}):
        revision, other = times[kind, before], times[kind, after]
        ratio = statistics.median(other) / statistics.median(revision)
        rows.append([kind, *milliseconds(revision), *milliseconds(other), f"{ratio:.2f}"])
    header = ["not cached, HTTP", f"{before}: median ms", "p95", f"{after}: median ms", "p95"]
    return "\n" + Table([*header, "after / before"], rows).markdown()


def _cached(
    checkouts: Sequence[Checkout], aliases: dict[str, str], seconds: float, rounds: int
) -> str:
    with redis_server() as store, ExitStack() as stack:
        turns: dict[str, Turn] = {}
        for revision in checkouts:
            served = stack.enter_context(
                serving(
                    aliases[revision.name],
                    workers=2,
                    redis_url=store.url,
                    folder=revision.folder,
                    python=revision.python,
                )
            )
            path = "/search?q=python"
            for _ in range(2):
                answer = requests.get(served.url + path, timeout=30)
            if answer.headers["X-Cache"] != "HIT":
                raise AssertionError(f"not cached: {answer.headers['X-Cache']}")
            turns[revision.name] = (served.url, [path], {})
            turns[f"heartbeat {revision.name}"] = (served.url, [_HEARTBEAT], {})
        rates = alternate(turns, seconds, rounds)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    before, after = (revision.name for revision in checkouts)
    rows = [
        [
            kind,
            f"{medians[prefix + before]:,.0f}",
            f"{medians[prefix + after]:,.0f}",
            f"{medians[prefix + after] / medians[prefix + before]:.2f}",
        ]
        for kind, prefix in (("cached search", ""), ("heartbeat", "heartbeat "))
    ]
    header = ["requests a second", before, after, "after / before"]
    return "\n" + Table(header, rows).markdown()


if __name__ == "__main__":
    main()
