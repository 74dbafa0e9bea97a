"""An index and a service of the bench's own: built, measured and removed."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import requests
from elasticsearch import Elasticsearch

from app.settings import Settings, load_settings
from devstack.servers import REPOSITORY, Gunicorn, gunicorn

BARE_APP = "bench.bare_app:create_app()"

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
    alias = f"bench-x{uuid.uuid4().hex[:10]}"
    try:
        index(corpus, alias)
        yield alias
    finally:
        delete(alias)


def index(
    corpus: Path,
    alias: str,
    folder: Path = REPOSITORY,
    python: str = sys.executable,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Index a corpus under an alias, with the code in `folder`.

    Raises:
        click.ClickException: `reindex` failed.
    """
    process = start_command(
        alias, "reindex", str(corpus.resolve()), folder=folder, python=python, variables=variables
    )
    if process.wait():
        raise click.ClickException(f"{corpus} could not be indexed; see above.")


def start_command(
    alias: str,
    *words: str,
    folder: Path = REPOSITORY,
    python: str = sys.executable,
    variables: Mapping[str, str] = MappingProxyType({}),
    quiet: bool = False,
) -> "subprocess.Popen[bytes]":
    """A started command of the service, without a cache; `variables` are for its environment."""
    return subprocess.Popen(
        [python, "-c", "from app.cli import main; main()", *words],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "BLOGSEARCH_INDEX": alias,
            "REDIS_URL": "",
            **variables,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
    )


def delete(alias: str) -> None:
    """Delete the indices of an alias of the bench."""
    with Elasticsearch(elasticsearch_url(), request_timeout=60) as client:
        names = client.indices.get(
            index=f"{alias}-0*,{alias}-state", expand_wildcards="all", ignore_unavailable=True
        )
        for name in names:
            client.indices.delete(index=name)


@contextmanager
def serving(
    alias: str,
    strategy: str = "blended",
    *,
    redis_url: str = "",
    workers: int = 1,
    variables: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Iterator[Gunicorn]:
    """A service whose limits do not show; without a Redis it has no cache.

    `variables` of the environment win over the others; `options` are those of `gunicorn`.
    """
    environment = {
        "BLOGSEARCH_INDEX": alias,
        "BLOGSEARCH_STRATEGY": strategy,
        "BLOGSEARCH_CACHE_TIMEOUT": "10",  # a busy machine is not a fault of Redis
        "BLOGSEARCH_MAX_COMPUTATIONS": "32",  # no search is refused
        "REDIS_URL": redis_url,
        **variables,
    }
    with (
        tempfile.TemporaryDirectory() as logs,
        gunicorn(environment, Path(logs) / "log", workers=workers, **options) as served,
    ):
        yield served


def get_search(session: requests.Session, url: str, q: str, size: int = 10) -> Json:
    """The answer of `GET /search` with this number of hits.

    Raises:
        requests.HTTPError: the service refused the query.
    """
    response = session.get(f"{url}/search", params={"q": q, "size": str(size)}, timeout=30)
    response.raise_for_status()
    answer: Json = response.json()
    return answer
