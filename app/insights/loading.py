"""Loads a proposed rule in the background: a new index takes longer than a request may.

A thread of the worker does it. If the worker ends first, the status says so a few minutes later.
The rule is live only if the swap was made by then, as after a `synonyms load` that was killed.
"""

import json
import logging
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import redis
from elasticsearch import ApiError, TransportError

from app.cache.redis_client import RedisUnavailable, TimeLimit
from app.errors import BlogsearchError, Conflict, Unavailable
from app.insights.proposals import write
from app.service import Service
from app.synonyms.folder import SynonymFolder
from app.synonyms.loader import Loader
from indexer.progress import Progress

_TIMEOUT = 2.0  # seconds for Redis
_ENGINE_TIMEOUT = 120.0  # seconds for a request to Elasticsearch
_RUNNING_TTL = 300  # seconds without progress after which a load counts as interrupted
_RENEWAL = 10.0  # seconds between two renewals of the key `loading`
_STATUS_TTL = 86_400  # seconds

State = Literal["running", "done", "failed", "interrupted"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadStatus:
    """How the last load of a rule went; `message` is for people."""

    state: State
    rule: str
    message: str


def start(service: Service, rule: str) -> None:
    """Begin to load a rule.

    Raises:
        Conflict: a rule is being loaded.
        Unavailable: Redis, where the status is kept, does not answer.
    """
    running = service.cache.keys.insights("loading")
    if not _call(service, redis.Redis.set, running, rule, nx=True, ex=_RUNNING_TTL):
        raise Conflict("A rule is being loaded. Wait until it is live.")
    _save(service, LoadStatus("running", rule, "A new index with the rule is being built."))
    threading.Thread(target=_run, args=(service, rule), daemon=True).start()


def status(service: Service) -> LoadStatus | None:
    """How the last load went; None if there was none today or Redis does not answer."""
    names = [service.cache.keys.insights(name) for name in ("load", "loading")]
    try:
        found, running = _call(service, redis.Redis.mget, names)
    except Unavailable:
        return None
    if not found:
        return None
    kept = LoadStatus(**json.loads(found))
    if kept.state == "running" and not running:
        message = (
            "The process that was loading it has ended. If the rule is not live (`blogsearch "
            "synonyms list`), load it again."
        )
        return LoadStatus("interrupted", kept.rule, message)
    return kept


def _run(service: Service, rule: str) -> None:
    try:
        result = LoadStatus("done", rule, _load(service, rule))
    except (BlogsearchError, ApiError, TransportError) as error:
        result = LoadStatus("failed", rule, str(error))
    except Exception as error:
        log.exception("the rule %r could not be loaded", rule)
        result = LoadStatus("failed", rule, f"{type(error).__name__}; the log says more.")
    with suppress(Unavailable):
        _save(service, result)
        _call(service, redis.Redis.delete, service.cache.keys.insights("loading"))


def _load(service: Service, rule: str) -> str:
    """Check, build and swap; what to say about it."""
    settings, client = service.settings, service.elastic.options(request_timeout=_ENGINE_TIMEOUT)
    beat = time.monotonic()

    def on_progress(progress: Progress) -> None:
        nonlocal beat
        if time.monotonic() - beat > _RENEWAL:
            beat = time.monotonic()
            with suppress(Unavailable):
                name = service.cache.keys.insights("loading")
                _call(service, redis.Redis.expire, name, _RUNNING_TTL)

    with tempfile.TemporaryDirectory() as temporary:
        file = write(SynonymFolder.of(settings), [rule], Path(temporary))
        loaded = Loader(settings, client, service.cache, on_progress).load([file])
    if loaded.checked.rules is None:
        found = "; ".join(str(finding) for finding in loaded.checked.errors)
        raise BlogsearchError(f"The rule files have errors, and nothing was changed: {found}")
    if loaded.built is None:
        return "The live index has the rule."
    live = f"{loaded.built.index} is live with the rule, built in {loaded.built.seconds:.1f} s."
    with suppress(Unavailable):
        _save(service, LoadStatus("done", rule, live))  # what follows takes some seconds
    return f"{live} {service.after_swap().warning}".rstrip()


def _save(service: Service, result: LoadStatus) -> None:
    name = service.cache.keys.insights("load")
    _call(service, redis.Redis.set, name, json.dumps(asdict(result)), ex=_STATUS_TTL)


def _call(service: Service, command: Any, *args: Any, **options: Any) -> Any:
    try:
        return service.cache.client.call(TimeLimit(_TIMEOUT), command, *args, **options)
    except (RedisUnavailable, redis.ResponseError) as error:
        raise Unavailable("Redis does not answer. Try again in some seconds.") from error
