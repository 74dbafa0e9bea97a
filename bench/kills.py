"""Kills commands that change the index at random points, during a stream of writes and searches.

    make chaos-commands KILLS=50
    python -m bench.kills [--kills 50] [--minutes 60] [reindex|sync|synonyms|rollback …]

Needs ELASTICSEARCH_URL; the index is its own. Prints for each command how many writes were
acknowledged, how many of them are missing, and how many requests failed: a search fails, too, if
it does not find every post. Exits with 1 if a write is missing or a request failed.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from elasticsearch import Elasticsearch

from bench.results import Table
from bench.service import delete, elasticsearch_url, index, serving, start_command
from bench.stream import TOKEN, Kind, Response, Stream
from indexer.generations import list_generations

COMMANDS = ("reindex", "sync", "synonyms", "rollback")
_COLUMNS = [
    "command",
    "killed",
    "completed",
    "writes acknowledged",
    "refused",
    "missing",
    "searches",
    "failed",
    "slowest",
]


class Trial:
    """A command that is killed again and again, on an index and a service of its own."""

    def __init__(self, elastic: Elasticsearch, command: str, posts: int, folder: Path) -> None:
        self.responses: list[Response] = []
        self.stored: dict[str, str | None] = {}
        self.acknowledged = 0
        self._elastic, self._command, self._posts = elastic, command, posts
        self._alias = f"bench-x{uuid.uuid4().hex[:8]}"
        self._source = folder / "posts.jsonl"
        self._rules = folder / "own.synonyms"
        self._variables = {"BLOGSEARCH_SYNONYMS_DIR": str(folder)}
        # `reindex` and `sync` make the posts equal to the source, so only comments are written.
        writes: Kind = "comment" if command in ("reindex", "sync") else "write"
        self._clients: dict[Kind, int] = {writes: 3, "all": 1}
        self._words = {
            "reindex": ["reindex", str(self._source), "--force"],  # drops the comments before it
            "sync": ["sync", str(self._source)],
            "synonyms": ["synonyms", "load", str(self._rules)],
            "rollback": ["rollback"],
        }[command]

    def run(self, kills: int, minutes: float) -> tuple[int, int]:
        """Kill the command so often, or for so long; how often it was killed and completed."""
        self._write_source("")
        killed, completed = 0, 1
        variables = {**self._variables, "BLOGSEARCH_WRITE_TOKENS": TOKEN}
        try:
            for _ in range(2):  # `rollback` needs two generations
                index(self._source, self._alias, variables=self._variables)
            with serving(self._alias, workers=2, variables=variables) as served:
                ends = time.monotonic() + 60 * minutes
                # How long it takes during writes; some runs shall be longer, and complete.
                usual = self._attempt(served.url, None) or 0.0
                while killed < kills and time.monotonic() < ends:
                    if self._attempt(served.url, random.uniform(0.3, usual * 1.2)) is None:
                        killed += 1
                    else:
                        completed += 1
            self.missing = self._last.missing(self._elastic, self._alias)
        finally:
            delete(self._alias)
        return killed, completed

    def _attempt(self, url: str, limit: float | None) -> float | None:
        """The seconds that the command took; None if it was killed after `limit` seconds."""
        # What the command reads, so that it has something to do.
        self._rules.write_text(f"reactjs, react, r{uuid.uuid4().hex[:6]}\n")
        if self._command == "sync":
            self._write_source(uuid.uuid4().hex)
        process = start_command(self._alias, *self._words, variables=self._variables, quiet=True)
        if self._command == "reindex":
            self._wait_for_build(process)
            self.stored.clear()  # it keeps what is written from its start
        began = time.monotonic()
        self._last = Stream([url], clients=self._clients, stored=self.stored, posts=self._posts)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None
        finally:
            self._last.end()
            self.responses += self._last.responses
            self.acknowledged += self._last.acknowledged
        if status:
            raise RuntimeError(f"{self._command} ended with {status}")
        return time.monotonic() - began

    def _wait_for_build(self, process: "subprocess.Popen[bytes]") -> None:
        def building() -> set[str]:
            generations = list_generations(self._elastic, self._alias)
            return {one.name for one in generations if one.state == "building"}

        before = building()  # left by the one that was killed
        while process.poll() is None and not building() - before:
            time.sleep(0.05)

    def _write_source(self, text: str) -> None:
        posts = (
            {
                "oid": f"base-{number}",
                "title": "Unchanging",
                "text": f"<p>{text} {number}</p>",
                "pub_date": "2024-01-01",
            }
            for number in range(self._posts)
        )
        self._source.write_text("".join(json.dumps(post) + "\n" for post in posts))


def _row(command: str, trial: Trial, killed: int, completed: int) -> list[str]:
    searches = [one for one in trial.responses if one.kind == "all"]
    refused = sum(one.status == 503 for one in trial.responses)
    return [
        *(f"`{command}`", str(killed), str(completed)),
        *(f"{trial.acknowledged:,}", str(refused), str(len(trial.missing))),
        f"{len(searches):,}",
        str(sum(one.failed for one in trial.responses)),
        f"{max(one.seconds for one in searches):.2f} s",
    ]


@click.command()
@click.argument("commands", nargs=-1, type=click.Choice(COMMANDS))
@click.option("--kills", default=50, show_default=True)
@click.option("--minutes", default=60.0, show_default=True, help="At most, for each command.")
@click.option("--posts", default=3_000, show_default=True)
def main(commands: Sequence[str], kills: int, minutes: float, posts: int) -> None:
    """Kill commands during writes, and exit with 1 if a write is lost or a request fails."""
    click.echo(Table(_COLUMNS, []).markdown())
    failed = False
    with Elasticsearch(elasticsearch_url(), request_timeout=60) as elastic:
        for command in commands or COMMANDS:
            with tempfile.TemporaryDirectory() as folder:
                trial = Trial(elastic, command, posts, Path(folder))
                try:
                    killed, completed = trial.run(kills, minutes)
                except Exception:  # noqa: BLE001 -- the other commands are tried in any case
                    traceback.print_exc()
                    failed = True
                    continue
            click.echo(f"| {' | '.join(_row(command, trial, killed, completed))} |")
            wrong = Counter(f"{one.status} {one.state}" for one in trial.responses if one.failed)
            for line in [*trial.missing[:5], *wrong]:
                click.echo(f"    {line}", err=True)
            failed = failed or bool(trial.missing or wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
