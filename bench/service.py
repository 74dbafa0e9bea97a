"""Builds, serves and removes indices for measurements."""

import gzip
import http.client
import json
import os
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any
from urllib.parse import urlsplit

import click
import requests
from elasticsearch import ApiError, Elasticsearch, TransportError

from app.settings import Settings, load_settings
from devstack.servers import REPOSITORY, Gunicorn, gunicorn, python_of

BARE_APP = "bench.bare_app:create_app()"
TOKEN = "a-token-of-the-bench"

Json = dict[str, Any]
_NONE: Mapping[str, str] = MappingProxyType({})


def lines(path: Path) -> Iterator[Json]:
    """Yield the objects of a JSON Lines file, gzip-compressed or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from map(json.loads, file)


def elasticsearch_url() -> str:
    """Return the address of Elasticsearch, after checking that it answers.

    Raises:
        click.UsageError: ELASTICSEARCH_URL is not set.
        click.ClickException: the engine does not answer.
    """
    if "ELASTICSEARCH_URL" not in os.environ:
        raise click.UsageError('ELASTICSEARCH_URL is not set; run: eval "$(make -s services)"')
    url = os.environ["ELASTICSEARCH_URL"]
    with Elasticsearch(url, request_timeout=10, max_retries=0) as client:
        try:
            client.info()
        except (ApiError, TransportError) as error:
            raise click.ClickException(
                f"Elasticsearch does not answer: {error}. Start it, or check ELASTICSEARCH_URL."
            ) from None
    return url


def settings_for(alias: str, **changed: Any) -> Settings:
    """Return the settings of the environment with these changes, for the index `alias`."""
    return replace(load_settings(), index=alias, **changed)


# -- an index ----------------------------------------------------------------------------------


@contextmanager
def temporary_alias() -> Iterator[str]:
    """Yield an alias, and delete its indices afterwards."""
    alias = f"bench-x{uuid.uuid4().hex[:10]}"
    elasticsearch_url()  # before the caller starts anything
    try:
        yield alias
    finally:
        delete(alias)


@contextmanager
def indexed(
    source: Path | str, variables: Mapping[str, str] = _NONE, tree: Path = REPOSITORY
) -> Iterator[str]:
    """Yield the alias of a source, indexed with `blogsearch reindex`; delete it afterwards."""
    with temporary_alias() as alias:
        index(source, alias, variables=variables, tree=tree)
        yield alias


def index(
    source: Path | str,
    alias: str,
    variables: Mapping[str, str] = _NONE,
    tree: Path = REPOSITORY,
) -> None:
    """Index a source under an alias.

    Raises:
        click.ClickException: `reindex` failed.
    """
    spec = str(source.resolve()) if isinstance(source, Path) else source
    process = start_command(alias, "reindex", spec, variables=variables, tree=tree)
    if process.wait() not in (0, 3):  # 3: some posts were rejected
        raise click.ClickException(f"{source} could not be indexed; see above.")


def start_command(
    alias: str,
    *words: str,
    variables: Mapping[str, str] = _NONE,
    stderr: IO[bytes] | int | None = None,
    tree: Path = REPOSITORY,
) -> "subprocess.Popen[bytes]":
    """Start a command of the service without a cache; `variables` are for its environment."""
    return subprocess.Popen(
        [python_of(tree), "-c", "from app.cli import main; main()", *words],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": str(tree),
            "BLOGSEARCH_INDEX": alias,
            "REDIS_URL": "",
            **variables,
        },
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )


def delete(alias: str) -> None:
    """Delete the indices of an alias of the bench."""
    with Elasticsearch(elasticsearch_url(), request_timeout=60) as client:
        names = client.indices.get(
            index=f"{alias}-0*,{alias}-state", expand_wildcards="all", ignore_unavailable=True
        )
        for name in names:
            client.indices.delete(index=name)


# -- a service ----------------------------------------------------------------------------------


@contextmanager
def serving(
    alias: str,
    strategy: str = "blended",
    *,
    redis_url: str = "",
    workers: int = 1,
    variables: Mapping[str, str] = _NONE,
    **options: Any,
) -> Iterator[Gunicorn]:
    """Run a service with limits that are not reached; without a Redis it has no cache.

    `variables` override its other environment variables; `options` are passed to `gunicorn`.
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


def get_search(
    session: requests.Session, url: str, q: str, size: int = 10, language: str = ""
) -> Json:
    """Return the answer of `GET /search` with `size` hits for a visitor with this language.

    Raises:
        requests.HTTPError: the service refused the query.
    """
    headers = {"Accept-Language": language} if language else {}
    parameters = {"q": q, "size": str(size)}
    response = session.get(f"{url}/search", params=parameters, headers=headers, timeout=30)
    response.raise_for_status()
    answer: Json = response.json()
    return answer


def fill_cache(url: str, path: str, headers: Mapping[str, str] = _NONE) -> requests.Response:
    """Request a path twice, and return the second answer.

    Raises:
        AssertionError: that is not from the cache.
    """
    for _ in range(2):
        answer = requests.get(url + path, headers=headers, timeout=30)
    if answer.headers.get("X-Cache") != "HIT":
        raise AssertionError(f"{path} is not cached: {answer.status_code} {answer.headers}")
    return answer


@contextmanager
def getting(url: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that gets paths, or URLs of this server, over one connection at least cost.

    It raises AssertionError for any status except 200.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    with closing(http.client.HTTPConnection(host, port, timeout=30)) as connection:

        def get(path: str) -> None:
            connection.request("GET", path.removeprefix(f"{parts.scheme}://{parts.netloc}"))
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise AssertionError(f"{path}: {response.status}")

        yield get
