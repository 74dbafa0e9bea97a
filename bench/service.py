"""An index and a service of the bench's own: made, measured and removed."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import requests
from elasticsearch import Elasticsearch

from app.settings import Settings, load_settings
from bench.servers import free_port

ROOT = Path(__file__).resolve().parent.parent
_START = 30.0  # seconds a service may take to answer

Json = dict[str, Any]


def lines(path: Path) -> Iterator[Json]:
    """The objects of a JSON Lines file, gzip-compressed or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from map(json.loads, file)


def elasticsearch_url() -> str:
    """The address of the engine.

    Raises:
        click.UsageError: it is not set.
    """
    if "ELASTICSEARCH_URL" not in os.environ:
        raise click.UsageError('ELASTICSEARCH_URL is not set; run: eval "$(make -s services)"')
    return os.environ["ELASTICSEARCH_URL"]


def settings_for(alias: str, strategy: str = "blended") -> Settings:
    """The settings of the environment, for a search of `alias`."""
    return load_settings().model_copy(update={"index": alias, "strategy": strategy})


@contextmanager
def indexed(corpus: Path) -> Iterator[str]:
    """An alias for the corpus, indexed with `blogsearch reindex`; deleted afterwards."""
    alias = f"bench-{uuid.uuid4().hex[:10]}"
    try:
        index(corpus, alias)
        yield alias
    finally:
        delete(alias)


def index(corpus: Path, alias: str) -> None:
    """Index a corpus under an alias.

    Raises:
        click.ClickException: `reindex` failed.
    """
    command = [sys.executable, "-c", "from app.cli import main; main()", "reindex", str(corpus)]
    done = subprocess.run(command, cwd=ROOT, env=_environment(alias), stdout=sys.stderr)
    if done.returncode:
        raise click.ClickException(f"{corpus} could not be indexed; see above.")


def delete(alias: str) -> None:
    """Delete the indices of an alias of the bench."""
    with Elasticsearch(elasticsearch_url(), request_timeout=60) as client:
        found = client.indices.get(
            index=f"{alias}-0*", expand_wildcards="all", ignore_unavailable=True
        )
        for name in found:
            client.indices.delete(index=name)


@contextmanager
def serving(alias: str, strategy: str = "blended") -> Iterator[str]:
    """The URL of a service with one worker and no cache; stopped afterwards."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "1"]
    command += ["--log-level", "warning", "app:create_app()"]
    environment = _environment(alias) | {"BLOGSEARCH_STRATEGY": strategy, "REDIS_URL": ""}
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        _await(f"http://127.0.0.1:{port}/__lbheartbeat__", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_START)


def get_search(session: requests.Session, url: str, q: str) -> Json:
    """The answer of `GET /search`.

    Raises:
        requests.HTTPError: the service refused the query.
    """
    response = session.get(f"{url}/search", params={"q": q}, timeout=30)
    response.raise_for_status()
    found: Json = response.json()
    return found


def combined_posts(posts: Sequence[Mapping[str, Any]], number: int) -> Iterator[Json]:
    """`number` posts made of the given ones: the halves of two titles, and two runs of paragraphs
    of three posts each. The same for every run."""
    chosen = random.Random(14)
    paragraphs = [re.split(r"(?<=</p>)", post["text"]) for post in posts]
    for nth in range(number):
        first, second = chosen.choice(posts)["title"].split(), chosen.choice(posts)["title"].split()
        title = " ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :])
        text = ""
        for _ in range(3):
            source = chosen.choice(paragraphs)
            start = chosen.randrange(len(source))
            text += "".join(source[start : start + 2])
        date = chosen.choice(posts)["pub_date"]
        yield {"oid": f"post-{nth}", "title": title, "text": text, "pub_date": date}


def _environment(alias: str) -> dict[str, str]:
    return {**os.environ, "BLOGSEARCH_INDEX": alias, "PYTHONPATH": str(ROOT)}


def _await(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            requests.get(url, timeout=1).raise_for_status()
            return
        except requests.RequestException:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
