"""Kills commands that change the index at random points, during a stream of writes and searches.

Prints for each command how many writes were acknowledged, how many of them are missing, and how
many requests failed: a search fails, too, if it does not find every post.
"""

import json
import random
import subprocess
import tempfile
import time
import traceback
import uuid
from collections import Counter
from pathlib import Path

from elasticsearch import Elasticsearch

from bench.results import echo_header, echo_row
from bench.service import index, serving, start_command, temporary_alias
from bench.stream import TOKEN, Kind, Response, Stream, missing
from indexer.generations import list_generations

COMMANDS = ("reindex", "sync", "synonyms", "rollback")
_COLUMNS = [
    *("command", "killed", "completed", "writes acknowledged", "refused", "missing"),
    *("searches", "failed", "slowest"),
]
_POSTS = 3_000


class Trial:
    """A command that is killed again and again, on an index and a service of its own."""

    def __init__(self, elastic: Elasticsearch, alias: str, command: str, folder: Path) -> None:
        self.killed = self.completed = self.acknowledged = 0
        self.responses: list[Response] = []
        self.missing: list[str] = []
        self._stored: dict[str, str | None] = {}
        self._elastic, self._alias, self._command = elastic, alias, command
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

    def run(self, kills: int) -> None:
        """Kill the command so often."""
        self._write_source("")
        variables = {**self._variables, "BLOGSEARCH_WRITE_TOKENS": TOKEN}
        for _ in range(2):  # `rollback` needs two generations
            index(self._source, self._alias, variables=self._variables)
        with serving(self._alias, workers=2, variables=variables) as served:
            # How long it takes during writes; some runs shall be longer, and complete.
            usual = self._attempt(served.url, None)
            while self.killed < kills:
                self._attempt(served.url, random.uniform(0.3, usual * 1.2))
        self.missing = missing(self._stored, self._elastic, self._alias)

    def _attempt(self, url: str, limit: float | None) -> float:
        """Run the command, and kill it after `limit` seconds; the seconds that it took."""
        # What the command reads, so that it has something to do.
        self._rules.write_text(f"reactjs, react, r{uuid.uuid4().hex[:6]}\n")
        if self._command == "sync":
            self._write_source(uuid.uuid4().hex)
        process = start_command(self._alias, *self._words, variables=self._variables, quiet=True)
        if self._command == "reindex":
            self._wait_for_build(process)
            self._stored.clear()  # it keeps what is written from its start
        began = time.monotonic()
        stream = Stream(url, clients=self._clients, stored=self._stored, posts=_POSTS)
        try:
            if status := process.wait(limit):
                raise RuntimeError(f"{self._command} ended with {status}")
            self.completed += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.killed += 1
        finally:
            took = time.monotonic() - began
            stream.end()
            self.responses += stream.responses
            self.acknowledged += stream.acknowledged
        return took

    def _wait_for_build(self, process: "subprocess.Popen[bytes]") -> None:
        def building() -> set[str]:
            generations = list_generations(self._elastic, self._alias)
            return {generation.name for generation in generations if generation.state == "building"}

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
            for number in range(_POSTS)
        )
        self._source.write_text("".join(json.dumps(post) + "\n" for post in posts))


def _row(command: str, trial: Trial) -> list[str]:
    searches = [response for response in trial.responses if response.kind == "all"]
    refused = sum(response.status == 503 for response in trial.responses)
    return [
        *(f"`{command}`", str(trial.killed), str(trial.completed)),
        *(f"{trial.acknowledged:,}", str(refused), str(len(trial.missing))),
        f"{len(searches):,}",
        str(sum(response.failed for response in trial.responses)),
        f"{max(response.seconds for response in searches):.2f} s",
    ]


def run(only: str, kills: int, url: str) -> list[str]:
    """Print the rows of the commands whose name contains `only`; what was missed."""
    echo_header(_COLUMNS)
    missed: list[str] = []
    with Elasticsearch(url, request_timeout=60) as elastic:
        for command in (command for command in COMMANDS if only in command):
            with tempfile.TemporaryDirectory() as folder, temporary_alias() as alias:
                trial = Trial(elastic, alias, command, Path(folder))
                try:
                    trial.run(kills)
                except Exception as error:  # noqa: BLE001 -- the other commands are tried, too
                    traceback.print_exc()
                    missed.append(f"{command}: {type(error).__name__}: {error}")
                    continue
            echo_row(_row(command, trial))
            failed = [response for response in trial.responses if response.failed]
            wrong = Counter(f"{response.status} {response.state}" for response in failed)
            missed += [f"{command}: missing: {path}" for path in trial.missing[:5]]
            missed += [f"{command}: {count} x {what}" for what, count in wrong.items()]
    return missed
