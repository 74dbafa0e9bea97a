"""An index and a service of the bench's own: made, measured and removed."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import requests
from elasticsearch import Elasticsearch

from app.settings import Settings, load_settings
from devstack.servers import free_port

ROOT = Path(__file__).resolve().parent.parent
_START = 120.0  # seconds a service may take to answer, on a busy machine

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


def settings_for(alias: str, **changed: Any) -> Settings:
    """The settings of the environment with these changes, for a search of `alias`."""
    return replace(load_settings(), index=alias, **changed)


@contextmanager
def indexed(corpus: Path) -> Iterator[str]:
    """An alias for the corpus, indexed with `blogsearch reindex`; deleted afterwards."""
    alias = f"bench-{uuid.uuid4().hex[:10]}"
    try:
        index(corpus, alias)
        yield alias
    finally:
        delete(alias)


def index(corpus: Path, alias: str, folder: Path = ROOT, python: str = sys.executable) -> None:
    """Index a corpus under an alias, with the code in `folder`.

    Raises:
        click.ClickException: `reindex` failed.
    """
    command = [python, "-c", "from app.cli import main; main()", "reindex", str(corpus.resolve())]
    environment = environment_for(alias, folder) | {"REDIS_URL": ""}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise click.ClickException(f"{corpus} could not be indexed; see above.")


def delete(alias: str) -> None:
    """Delete the indices of an alias of the bench."""
    with Elasticsearch(elasticsearch_url(), request_timeout=60) as client:
        found = client.indices.get(
            index=f"{alias}-0*,{alias}-state", expand_wildcards="all", ignore_unavailable=True
        )
        for name in found:
            client.indices.delete(index=name)


@dataclass(frozen=True, slots=True)
class Served:
    """A running service: its URL, and the process id of gunicorn's master."""

    url: str
    pid: int


@contextmanager
def serving(
    alias: str,
    strategy: str = "blended",
    *,
    workers: int = 1,
    redis_url: str = "",
    folder: Path = ROOT,
    python: str = sys.executable,
    app: str = "app:create_app()",
    ready: str = "/__lbheartbeat__",
    interval: float = 0.05,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Served]:
    """A service with gunicorn.conf.py, stopped afterwards; without a Redis it has no cache.

    `folder` is the checkout to serve, with the packages of `python`, and `app` its WSGI
    application. It counts as started when `ready` answers, which is tried every `interval` seconds.
    Its log goes to a file, as the log of a real service does. `variables` of the environment win
    over the others.
    """
    port = free_port()
    command = [python, "-c", "from gunicorn.app.wsgiapp import run; run()"]
    command += ["--config", "gunicorn.conf.py", app]
    environment = environment_for(alias, folder) | {
        "BLOGSEARCH_STRATEGY": strategy,
        "BLOGSEARCH_CACHE_TIMEOUT": "10",  # a busy machine is not a fault of Redis
        "BLOGSEARCH_MAX_COMPUTATIONS": "32",  # no search is refused
        "REDIS_URL": redis_url,
        "PORT": str(port),
        "WEB_CONCURRENCY": str(workers),
        **(variables or {}),
    }
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            try:
                _await(url + ready, process, interval)
            except requests.RequestException:
                log.seek(0)
                click.echo(log.read()[-4000:].decode("utf-8", "replace"), err=True)
                raise
            yield Served(url, process.pid)
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
    """`number` posts made of the given ones: the halves of two titles, and two paragraphs of each
    of two posts; a third of them have a comment or two. The same for every run."""
    chosen = random.Random(14)
    paragraphs = [re.split(r"(?<=</p>)", post["text"]) for post in posts]
    sentences = [
        found.group()
        for post in posts
        if (found := re.search(r"[A-Z][\w ,']{20,200}", post["text"]))
    ]
    for nth in range(number):
        first, second = chosen.choice(posts)["title"].split(), chosen.choice(posts)["title"].split()
        title = " ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :])
        text = ""
        for _ in range(2):
            source = chosen.choice(paragraphs)
            start = chosen.randrange(len(source))
            text += "".join(source[start : start + 2])
        date = chosen.choice(posts)["pub_date"]
        comments = [
            {
                "oid": f"comment-{nth}-{number}",
                "author": "Reader",
                "comment": chosen.choice(sentences),
                "pub_date": date,
            }
            for number in range(chosen.choice((0, 0, 0, 0, 1, 2)))
        ]
        yield {
            "oid": f"post-{nth}",
            "title": title,
            "text": text,
            "url": f"/post-{nth}/",
            "pub_date": date,
            "comments": comments,
        }


def environment_for(alias: str, folder: Path = ROOT) -> dict[str, str]:
    """The environment of a process that runs the code in `folder` on this alias.

    The process may write bytecode: the first round, which is dropped, then compiles what has
    changed since `make setup`.
    """
    variables = {**os.environ, "BLOGSEARCH_INDEX": alias, "PYTHONPATH": str(folder)}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def _await(url: str, process: "subprocess.Popen[bytes]", interval: float) -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            requests.get(url, timeout=5).raise_for_status()
            return
        except requests.RequestException:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(interval)
