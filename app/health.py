"""The health checks of `/__heartbeat__` and `blogsearch doctor`."""

import math
import threading
import time
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from elasticsearch import Elasticsearch, TransportError

from app.cache import AnswerCache
from app.elastic import translated
from app.errors import BlogsearchError, NoIndex
from app.settings import Settings
from indexer import SCHEMA
from indexer.errors import IndexingError, other_schema
from indexer.generations import require_live
from indexer.refusals import DISK_FULL
from indexer.state import read_runs, state_index

_MAX_AGE = 1.0  # seconds
_TIMEOUT = 2.0  # seconds for each request of a shared check
_OLD_ERROR = 7 * 86_400.0  # seconds after which the error of a run that was repeated is not told
_OLD_SYNC = 2 * 86_400.0  # seconds; a daily schedule may miss a day
_MAJOR = "9"  # of Elasticsearch
_START_ELASTICSEARCH = (
    "Start Elasticsearch (`docker compose up -d elasticsearch`, or `make services`), or correct "
    "ELASTICSEARCH_URL."
)
_PROBLEMS = {
    "WRONG_VERSION_NUMBER": "Write http:// instead of https:// in ELASTICSEARCH_URL.",
    "Connection aborted": "If it uses TLS, as a new Elasticsearch does, write https:// in "
    "ELASTICSEARCH_URL and set BLOGSEARCH_CA_FILE.",
    "CERTIFICATE_VERIFY_FAILED": "Set BLOGSEARCH_CA_FILE to the certificate of its authority, "
    "config/certs/http_ca.crt of Elasticsearch, and use a host name that the certificate has.",
}
"""Parts of the client's message, and what to do then."""
_DISK_FULL = "index.blocks.read_only_allow_delete"
COMMANDS = ("reindex", "sync")
"""The commands that read sources, whose last runs are recorded."""

Status = Literal["ok", "warning", "error"]


class CheckReport(TypedDict):
    """The result of a check, as JSON. `seen` and `remedy` are for operators only."""

    status: Status
    seen: NotRequired[str]
    remedy: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: what was seen, and what to do about it."""

    name: str
    status: Status
    seen: str
    remedy: str = ""

    def report(self) -> CheckReport:
        """For JSON, without an empty remedy."""
        report: CheckReport = {"status": self.status, "seen": self.seen}
        if self.remedy:
            report["remedy"] = self.remedy
        return report


class SharedChecks:
    """The checks of a process, made at most once a second, however often a visitor asks for them.

    Threads may share it; those that ask while a check runs get its result.
    """

    def __init__(self, elastic: Elasticsearch, cache: AnswerCache, settings: Settings) -> None:
        self._parts = elastic.options(request_timeout=_TIMEOUT), cache, settings
        self._lock = threading.Lock()
        self._checked = -math.inf
        self._available = True
        self._checks: list[Check] = []

    def current(self, *, available: bool) -> list[Check]:
        """The checks, at most a second old, and not from before an outage began or ended."""
        with self._lock:
            old = time.monotonic() - self._checked >= _MAX_AGE
            if old or available != self._available:
                self._checks = checks(*self._parts, available=available)
                self._checked, self._available = time.monotonic(), available
            return self._checks


def checks(
    elastic: Elasticsearch, cache: AnswerCache, settings: Settings, *, available: bool = True
) -> list[Check]:
    """Check Elasticsearch, the index behind the alias, and Redis, in this order; never raises.

    When Elasticsearch is known not to be `available`, it is sent no request.
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
        with translated():
            # Not `info()`: an Elasticsearch of another major version refuses its content type.
            headers = {"accept": "*/*"}
            version = elastic.perform_request("GET", "/", headers=headers).body["version"]["number"]
            if version.partition(".")[0] != _MAJOR:
                remedy = f"This service needs Elasticsearch {_MAJOR}: see docs/operations.md."
                return Check("elasticsearch", "error", f"is version {version}", remedy)
            health = elastic.cluster.health()
    except BlogsearchError as error:
        cause = error.__cause__
        if not isinstance(cause, TransportError):
            return Check("elasticsearch", "error", str(cause or error), str(error))
        message = str(cause.message)
        remedies = [remedy for part, remedy in _PROBLEMS.items() if part in message]
        return Check("elasticsearch", "error", message, (remedies or [_START_ELASTICSEARCH])[0])
    seen = f"{version}, {health['number_of_nodes']} node(s), cluster {health['status']}"
    if health["status"] == "red":
        remedy = "A shard is missing: see _cluster/allocation/explain."
        return Check("elasticsearch", "warning", seen, remedy)
    return Check("elasticsearch", "ok", seen)


def _index(elastic: Elasticsearch, settings: Settings) -> Check:
    alias = settings.index
    try:
        with translated():
            count = elastic.count(index=alias)
            generation = require_live(elastic, alias)
            full = _full(elastic, alias)
    except IndexingError as error:
        return Check("index", "error", error.message, error.remedy)
    except NoIndex as error:
        seen = f"there is no index behind the alias {alias!r}"
        return Check("index", "error", seen, error.message)
    except BlogsearchError as error:
        cause = error.__cause__
        # Otherwise the message may say to run doctor, which this is.
        remedy = "Try again soon." if isinstance(cause, TransportError) else error.message
        return Check("index", "error", str(cause or error), remedy)
    seen = f"{generation.name}: {count['count']:,} documents"
    if count["_shards"]["failed"]:
        return Check("index", "error", f"{seen}, {count['_shards']['failed']} shard(s) failed")
    if full:
        seen = f"{seen}; Elasticsearch accepts no writes to {', '.join(full)}, its disk is full"
        return Check("index", "warning", seen, DISK_FULL.remedy)
    if (schema := generation.schema) != SCHEMA:
        wrong = other_schema(schema)
        return Check("index", "error", f"{seen}. {wrong.message}", wrong.remedy)
    if not count["count"]:
        return Check("index", "warning", seen, "Fill it with `blogsearch reindex POSTS.jsonl`.")
    if generation.language != settings.language:
        seen = f"{seen}, in {generation.language}; BLOGSEARCH_LANGUAGE is {settings.language}"
        remedy = (
            "Run `blogsearch rebuild`: it builds the index from its own posts with the present "
            "language and rules. Or change the setting."
        )
        return Check("index", "warning", seen, remedy)
    return Check("index", "ok", seen)


def _full(elastic: Elasticsearch, alias: str) -> list[str]:
    """The indices that Elasticsearch made read-only because its disk is nearly full."""
    indices = elastic.indices.get_settings(
        index=[alias, state_index(alias)],
        name=_DISK_FULL,
        flat_settings=True,
        ignore_unavailable=True,
    )
    return [name for name, body in indices.items() if body["settings"].get(_DISK_FULL) == "true"]


def last_run(elastic: Elasticsearch, alias: str) -> Check:
    """Whether the last command that read sources succeeded, and a `sync` is not long ago."""
    try:
        with translated():
            runs = read_runs(elastic, alias, COMMANDS)
    except BlogsearchError:
        return Check("sources", "warning", "the last run is not known: Elasticsearch did not tell")
    if not runs:
        return Check("sources", "ok", "nothing was indexed from a source yet")
    run = max(runs, key=lambda run: run.ended)
    outcome = "ended" if run.succeeded else "failed"
    seen = f"`blogsearch {run.command}` {outcome} {_ago(run.ended)}"
    if run.rejected:
        seen += f", {run.rejected:,} posts and comments rejected"
    if not run.succeeded:
        seen += f": {run.error}"
    for other in runs:
        repeated = other.succeeded or other is not run
        if repeated and other.error_at and time.time() - other.error_at < _OLD_ERROR:
            seen += f"; `blogsearch {other.command}` failed {_ago(other.error_at)}: {other.error}"
    if not run.succeeded:
        remedy = (
            "`journalctl -u blogsearch-sync` or `docker compose logs index` have the whole output "
            "of scheduled runs."
        )
        return Check("sources", "warning", seen, remedy)
    if run.command == "sync" and time.time() - run.ended > _OLD_SYNC:
        remedy = (
            "If it should run on a schedule, check that: `systemctl list-timers blogsearch-sync` "
            "or `docker compose ps index`."
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
