"""Implements the health checks of `/__heartbeat__` and `blogsearch doctor`."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from elasticsearch import Elasticsearch, TransportError

from app.cache import AnswerCache
from app.engines.elastic import translate_errors
from app.errors import BlogsearchError, NoIndex
from app.index.last_runs import read_runs
from app.search.view import read_view
from app.settings import Settings
from indexer import SCHEMA
from indexer.errors import other_schema
from indexer.posts.records import quantity
from indexer.store.generations import list_generations

_TIMEOUT = 2.0  # seconds for each request of a shared check
_OLD_ERROR = 7 * 86_400.0  # seconds until the error of a run that was repeated is left out
_OLD_SYNC = 2 * 86_400.0  # seconds; a daily schedule may miss a day
_MAJOR = "9"  # of Elasticsearch
_START_ELASTICSEARCH = (
    "Start Elasticsearch (`docker compose up -d elasticsearch`, or `make services`), or correct "
    "ELASTICSEARCH_URL."
)
_TLS_ALERT = "\x15\x03"  # the beginning of a TLS response
_PROBLEMS = {
    "Failed to resolve": "There is no host of this name. Correct ELASTICSEARCH_URL.",
    "WRONG_VERSION_NUMBER": "Write http:// instead of https:// in ELASTICSEARCH_URL.",
    _TLS_ALERT: "Write https:// instead of http:// in ELASTICSEARCH_URL, and set "
    "BLOGSEARCH_CA_FILE.",
    "Connection aborted": "If it uses TLS, as a new Elasticsearch does, write https:// in "
    "ELASTICSEARCH_URL and set BLOGSEARCH_CA_FILE.",
    "CERTIFICATE_VERIFY_FAILED": (
        "Set BLOGSEARCH_CA_FILE to Elasticsearch's config/certs/http_ca.crt, and use a host name "
        "that is in the server's certificate."
    ),
}
"""Parts of the client's message, and the remedy for each."""
COMMANDS = ("reindex", "sync", "add")
"""The commands that read sources; their last runs are recorded."""

Status = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: what was seen, and the remedy."""

    name: str
    status: Status
    seen: str
    remedy: str = ""


def shared_checks(
    elastic: Elasticsearch, cache: AnswerCache, settings: Settings
) -> Callable[[bool], list[Check]]:
    """Return a function of `available` that runs `checks` at most once a second for all visitors.

    Threads may share it; calls during a check get its result.
    """
    client, lock = elastic.options(request_timeout=_TIMEOUT), threading.Lock()

    @lru_cache(maxsize=1)
    def made(second: int, available: bool) -> list[Check]:
        return checks(client, cache, settings, available=available)

    def current(available: bool) -> list[Check]:
        with lock:
            return made(int(time.monotonic()), available)

    return current


def checks(
    elastic: Elasticsearch, cache: AnswerCache, settings: Settings, *, available: bool = True
) -> list[Check]:
    """Check Elasticsearch, the index behind the alias, and Redis, in this order; never raises.

    If Elasticsearch is known not to be `available`, no request is sent to it.
    """
    if available:
        engine = _elasticsearch(elastic)
    else:
        engine = Check("elasticsearch", "error", "does not respond", _START_ELASTICSEARCH)
    if engine.status == "error":
        index = Check("index", "error", "not checked: Elasticsearch does not answer")
    else:
        index = _index(elastic, settings)
    return [engine, index, _redis(cache, settings)]


def _elasticsearch(elastic: Elasticsearch) -> Check:
    try:
        with translate_errors():
            # Not `info()`: another major version of Elasticsearch refuses its content type.
            headers = {"accept": "*/*"}
            version = elastic.perform_request("GET", "/", headers=headers).body["version"]["number"]
            if version.partition(".")[0] != _MAJOR:
                remedy = f"This service needs Elasticsearch {_MAJOR}: see docs/operations.md."
                return Check("elasticsearch", "error", f"is version {version}", remedy)
            health = elastic.cluster.health()
    except NoIndex:  # Elasticsearch takes the path in the URL for the name of an index
        remedy = "Correct the path in ELASTICSEARCH_URL, or what a proxy makes of it."
        return Check("elasticsearch", "error", "does not know this path", remedy)
    except BlogsearchError as error:
        cause = error.__cause__
        if not isinstance(cause, TransportError):
            seen = str(getattr(cause, "message", error))
            return Check("elasticsearch", "error", seen, str(error))
        message = str(cause.message)
        remedies = [remedy for part, remedy in _PROBLEMS.items() if part in message]
        seen = message if message.isprintable() else "does not answer in HTTP"
        return Check("elasticsearch", "error", seen, (remedies or [_START_ELASTICSEARCH])[0])
    seen = f"{version}, {quantity(health['number_of_nodes'], 'node')}, cluster {health['status']}"
    if health["status"] == "red":
        remedy = "A shard is missing: see _cluster/allocation/explain."
        return Check("elasticsearch", "warning", seen, remedy)
    return Check("elasticsearch", "ok", seen)


def _index(elastic: Elasticsearch, settings: Settings) -> Check:
    alias = settings.index
    try:
        with translate_errors():
            view = read_view(elastic, alias)
    except NoIndex as error:
        seen = f"there is no index behind the alias {alias!r}"
        return Check("index", "error", seen, _without_index(elastic, alias) or error.message)
    except BlogsearchError as error:
        cause = error.__cause__
        # The message of a transport error may say to run `blogsearch doctor`, which this is.
        remedy = "Try again soon." if isinstance(cause, TransportError) else error.message
        return Check("index", "error", str(cause or error), remedy)
    seen = f"{view.name}: {quantity(view.posts, 'post')}"
    if view.schema != SCHEMA:
        wrong = other_schema(view.schema)
        return Check("index", "error", f"{seen}. {wrong.message}", wrong.remedy)
    if len(view.names) > 1:
        seen = f"{alias!r} leads to several indices: {', '.join(sorted(view.names))}"
        return Check("index", "warning", seen, "Run `blogsearch indices`, which says what to do.")
    if not view.posts:
        return Check("index", "warning", seen, "Fill it with `blogsearch reindex POSTS.jsonl`.")
    if settings.language not in ("", view.language.name):
        seen = f"{seen}, in {view.language.name}; BLOGSEARCH_LANGUAGE is {settings.language}"
        remedy = (
            "Run `blogsearch rebuild`: it builds the index from its own posts with the present "
            "language and rules. Or correct the setting."
        )
        return Check("index", "warning", seen, remedy)
    return Check("index", "ok", seen)


def _without_index(elastic: Elasticsearch, alias: str) -> str:
    """Return the remedy if the live index was deleted; "" if there is no previous one."""
    with suppress(BlogsearchError), translate_errors():
        for generation in list_generations(elastic, alias):
            if generation.state == "previous":
                return (
                    f"`blogsearch rollback` makes {generation.name} live again, but loses what was "
                    "written since it was replaced."
                )
    return ""


def last_run(elastic: Elasticsearch, alias: str) -> Check:
    """Check that the last command that read sources succeeded, and that a `sync` is recent."""
    try:
        with translate_errors():
            runs = read_runs(elastic, alias, COMMANDS)
    except BlogsearchError:
        return Check("sources", "warning", "the last run is unknown: Elasticsearch did not answer")
    if not runs:
        return Check("sources", "ok", "nothing was indexed from a source yet")
    # The last one that may have made up for failures of others; `add` reads only some posts.
    run = max(runs, key=lambda run: (run.command != "add", run.ended))
    outcome = "ended" if run.succeeded else "failed"
    seen = f"`blogsearch {run.command} {run.sources}` {outcome} {_ago(run.ended)}"
    if run.rejected:
        seen += f", rejected: {run.rejected:,} (posts and comments)"
    if run.left_out:
        seen += f", left out: {run.left_out:,} (files or pages)"
    if not run.succeeded:
        seen += f": {run.error}"
    for other in runs:
        repeated = other.succeeded or other is not run
        if repeated and other.error_at and time.time() - other.error_at < _OLD_ERROR:
            seen += f"; `blogsearch {other.command}` failed {_ago(other.error_at)}: {other.error}"
    failed = any(not other.succeeded and other.ended >= run.ended for other in runs)
    if failed or (run.command == "sync" and time.time() - run.ended > _OLD_SYNC):
        remedy = (
            "`journalctl -u blogsearch-sync` or `docker compose logs index` show the output of "
            "scheduled runs."
        )
        return Check("sources", "warning", seen, remedy)
    return Check("sources", "ok", seen)


def _ago(at: float) -> str:
    seconds = time.time() - at
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return "a moment ago"


def _redis(cache: AnswerCache, settings: Settings) -> Check:
    if not settings.redis_url:
        return Check("redis", "ok", "no cache, because REDIS_URL is empty")
    version = cache.ping()
    if version is None:
        remedy = "Searches work, but are not cached. Start Redis, or check REDIS_URL."
        return Check("redis", "warning", "does not answer", remedy)
    if not cache.accepts_writes():
        return Check(
            "redis",
            "warning",
            f"{version}, refuses writes: it is full, a replica, or its user may not write",
            "Searches work, but are not cached. Raise `maxmemory` or set `maxmemory-policy "
            "allkeys-lru`, and connect to the primary with the rules of docs/redis.acl.",
        )
    return Check("redis", "ok", version)
