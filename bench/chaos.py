"""Kills commands that change the index at random points, during a stream of writes and searches.

    python -m bench.chaos [--kills 50] [--minutes 60] [reindex|sync|synonyms|rollback …]

Needs ELASTICSEARCH_URL; the index is its own. Prints for each command how many writes were
acknowledged, how many of them are missing, and how many searches failed. Exits with 1 if a write
is missing or a search failed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.cli import main as main_command
from app.commands.tools import Tools
from app.settings import Settings
from indexer.generations import list_generations

WRITERS = 3
COMMANDS = ("reindex", "sync", "synonyms", "rollback")
_TOKEN = uuid.uuid4().hex
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


@dataclass
class Stream:
    """Writers and a searcher; what was acknowledged, and what failed.

    `stored` has the last acknowledged text of each path, None if it was deleted. After a response
    other than 2xx its state is not known, and it is left out.
    """

    settings: Settings
    posts: int
    comments_only: bool
    stored: dict[str, str | None] = field(default_factory=dict)
    acknowledged: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    searches: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        app = create_app(self.settings)
        work: list[Callable[[], None]] = [
            lambda number=number: self._write(app.test_client(), number, stop)  # type: ignore[misc]
            for number in range(WRITERS)
        ]
        work.append(lambda: self._search(app.test_client(), stop))
        threads = [threading.Thread(target=one) for one in work]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def missing(self, elastic: Elasticsearch) -> list[str]:
        """The acknowledged writes that are not in the index as they were acknowledged."""
        index = self.settings.index
        elastic.indices.refresh(index=index)
        found = []
        for path, text in self.stored.items():
            oid, _, comment = path.partition("/comments/")
            id_ = f"comment:{oid}:{comment}" if comment else f"post:{oid}"
            answer = elastic.options(ignore_status=404).get(index=index, id=id_, routing=oid)
            source = answer.get("_source", {})
            if source.get("comment" if comment else "text") != text:
                found.append(path)
            elif comment and text:
                post = elastic.get(index=index, id=f"post:{oid}", routing=oid)["_source"]
                if text not in post.get("comments", []):
                    found.append(f"{path} (in its post)")
        return found

    def _write(self, client: FlaskClient, writer: int, stop: threading.Event) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            path = f"base-{number % 20}/comments/{writer}-{number % 60}"
            if not self.comments_only and number % 2:
                path = f"new-{writer}-{number % 40}"
            text = None if number % 7 == 0 and self.stored.get(path) else f"text {number}"
            body = {"title": "New", "text": text, "comment": text} if text else None
            response = client.open(
                f"/documents/{path}?refresh=false",
                method="PUT" if text else "DELETE",
                json=body,
                headers={"Authorization": f"Bearer {_TOKEN}"},
            )
            if response.status_code < 300:
                self.acknowledged += 1
                self.stored[path] = text
            else:
                self.refused[response.status_code] += 1
                # Nobody else writes this path: it was there.
                if response.status_code == 404:
                    self.failures.append(f"404 for {path}: {response.get_data()[:200]!r}")
                self.stored.pop(path, None)
            time.sleep(0.02)

    def _search(self, client: FlaskClient, stop: threading.Event) -> None:
        while not stop.is_set():
            started = time.monotonic()
            response = client.get("/search?q=unchanging")
            self.slowest = max(self.slowest, time.monotonic() - started)
            self.searches += 1
            if response.status_code != 200 or response.get_json()["count"] < self.posts:
                self.failures.append(f"{response.status_code}: {response.get_data()[:200]!r}")
            time.sleep(0.02)


def run(command: str, kills: int, posts: int = 3_000, minutes: float = 60.0) -> bool:
    """Kill a command `kills` times at random points; whether nothing was lost and none failed.

    It ends after `minutes` with fewer kills.
    """
    with tempfile.TemporaryDirectory() as folder, _engine() as elastic:
        alias = f"chaos-{uuid.uuid4().hex[:8]}"
        settings = Settings(
            elasticsearch_url=os.environ["ELASTICSEARCH_URL"],
            redis_url="",
            index=alias,
            synonyms_dir=Path(folder),
            write_tokens=_TOKEN,
        )
        source = Path(folder) / "posts.jsonl"
        source.write_text("".join(_line(number) for number in range(posts)))
        try:
            return _run(command, kills, posts, minutes, settings, source, elastic)
        finally:
            for name in elastic.indices.get(index=f"{alias}*", expand_wildcards="all"):
                elastic.indices.delete(index=name)


def _run(
    command: str,
    kills: int,
    posts: int,
    minutes: float,
    settings: Settings,
    source: Path,
    elastic: Elasticsearch,
) -> bool:
    rules = source.with_suffix(".synonyms")
    arguments = {
        "reindex": ["reindex", str(source), "--force"],  # it drops the comments before it
        "sync": ["sync", str(source)],
        "synonyms": ["synonyms", "load", str(rules)],
        "rollback": ["rollback"],
    }[command]
    for _ in range(2):  # `rollback` needs two generations
        built = CliRunner().invoke(main_command, ["reindex", str(source)], obj=Tools(settings))
        if built.exit_code:
            raise RuntimeError(built.output)
    # `reindex` and `sync` make the posts equal to the source.
    stream = Stream(settings, posts, comments_only=command in {"reindex", "sync"})

    def attempt(limit: float | None) -> float | None:
        """The seconds that the command took; None if it was killed after `limit` seconds."""
        # What the command reads, so that it has something to do.
        rules.write_text(f"reactjs, react, r{uuid.uuid4().hex[:6]}\n")
        if command == "sync":
            text = uuid.uuid4().hex
            source.write_text("".join(_line(number, text) for number in range(posts)))
        process = _start(settings, *arguments)
        if command == "reindex":
            # It keeps what is written from its start.
            _wait_for_build(elastic, settings.index, process)
            stream.stored.clear()
        began = time.monotonic()
        with stream.running():
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return None
            took = time.monotonic() - began
        if status:
            raise RuntimeError(f"{command} ended with {status}")
        return took

    ends = time.monotonic() + 60 * minutes
    # How long it takes during writes; some runs shall be longer than that, and complete.
    usual = attempt(None) or 0.0
    killed, completed = 0, 1
    while killed < kills and time.monotonic() < ends:
        if attempt(random.uniform(0.3, usual * 1.2)) is None:
            killed += 1
        else:
            completed += 1
    missing = stream.missing(elastic)
    cells = [
        f"`{command}`",
        f"{killed}",
        f"{completed}",
        f"{stream.acknowledged:,}",
        f"{sum(stream.refused.values())}",
        f"{len(missing)}",
        f"{stream.searches:,}",
        f"{len(stream.failures)}",
        f"{stream.slowest:.2f} s",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)
    for line in [*missing[:5], *stream.failures[:5]]:
        print(f"    {line}", file=sys.stderr)
    return not missing and not stream.failures


def _wait_for_build(elastic: Elasticsearch, alias: str, process: "subprocess.Popen[bytes]") -> None:
    def building() -> set[str]:
        found = list_generations(elastic, alias)
        return {one.name for one in found if one.state == "building"}

    before = building()  # left by the one that was killed
    while process.poll() is None and not building() - before:
        time.sleep(0.05)


def _line(number: int, text: str = "") -> str:
    fields = {"oid": f"base-{number}", "title": "Unchanging", "text": f"<p>{text} {number}</p>"}
    return json.dumps({**fields, "pub_date": "2024-01-01"}) + "\n"


def _start(settings: Settings, *arguments: str) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "REDIS_URL": "",
        "BLOGSEARCH_INDEX": settings.index,
        "BLOGSEARCH_SYNONYMS_DIR": str(settings.synonyms_dir),
    }
    command = [sys.executable, "-c", "from app.cli import main; main()", *arguments]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@contextmanager
def _engine() -> Iterator[Elasticsearch]:
    with Elasticsearch(os.environ["ELASTICSEARCH_URL"], request_timeout=60) as elastic:
        yield elastic


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", choices=[[], *COMMANDS], default=[])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=60.0, help="for each command")
    parser.add_argument("--posts", type=int, default=3_000)
    arguments = parser.parse_args()
    print(f"| {' | '.join(_COLUMNS)} |")
    print("| --- " * len(_COLUMNS) + "|", flush=True)
    good = True
    for command in arguments.commands or COMMANDS:
        try:
            good &= run(command, arguments.kills, arguments.posts, arguments.minutes)
        except Exception:  # noqa: BLE001 -- the other commands are tried in any case
            traceback.print_exc()
            good = False
    sys.exit(not good)


if __name__ == "__main__":
    main()
