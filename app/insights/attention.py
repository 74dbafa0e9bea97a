"""What the owner of the blog does about searches: pin a post, or dismiss a search from the list."""

import re
from datetime import timedelta
from typing import Any

import redis

from analyzers.languages import LANGUAGES
from app.elastic import translated
from app.errors import BadRequest
from app.pins.files import SUFFIX, PinFile, parse
from app.pins.store import PinStore
from app.service import Service
from indexer.generations import require_live

_FILE = f"insights{SUFFIX}"
_TIMEOUT = 2.0  # seconds for Redis


def pinned(service: Service) -> list[str]:
    """The rules in the pin file `insights.pins`."""
    with translated():
        files = _store(service).files()
    texts = [file.text for file in files if file.name == _FILE]
    return texts[0].splitlines() if texts else []


def pin(service: Service, query: str, oid: str) -> None:
    """Put a post first for a search, by a rule in `insights.pins`.

    Raises:
        BadRequest: the search or the oid cannot be written as a rule.
        Conflict: another process changed the pins at the same time.
    """
    rule = f"{query} => " + re.sub(r"^-|[\\,]", r"\\\g<0>", oid)
    _save(service, [*(text for text in pinned(service) if text != rule), rule])


def unpin(service: Service, rule: str) -> None:
    """Remove a rule from `insights.pins`.

    Raises:
        Conflict: another process changed the pins at the same time.
    """
    _save(service, [text for text in pinned(service) if text != rule])


def _save(service: Service, lines: list[str]) -> None:
    file = PinFile(_FILE, "".join(f"{text}\n" for text in lines))
    rules, errors = parse([file], LANGUAGES[service.settings.language])
    if errors or len(rules) != len(lines) or any(len(rule.searches) > 1 for rule in rules):
        raise BadRequest("This search cannot be pinned here. Write a rule in a file of your own.")
    with translated():
        if lines:
            _store(service).save([file])
        else:
            _store(service).remove([_FILE])
        live = require_live(service.elastic, service.settings.index)
    service.cache.new_generation(live.name, live.rules or "")


def _store(service: Service) -> PinStore:
    language = LANGUAGES[service.settings.language]
    return PinStore(service.elastic, service.settings.index, language)


def dismissed(service: Service) -> list[str]:
    """The searches that are not listed.

    Raises:
        Unavailable: Redis does not answer.
    """
    client, name = service.cache.client, service.cache.keys.insights("dismissed")
    queries: Any = client.require(_TIMEOUT, redis.Redis.zrange, name, 0, -1)
    return [query.decode("utf-8", "replace") for query in queries]


def dismiss(service: Service, query: str) -> None:
    """List a search no longer, until its counts expire.

    Raises:
        Unavailable: Redis does not answer.
    """
    name = service.cache.keys.insights("dismissed")

    def command(client: "redis.Redis") -> None:
        client.zadd(name, {query.casefold(): 0})
        client.expire(name, timedelta(days=service.settings.insights_days))

    service.cache.client.require(_TIMEOUT, command)


def restore(service: Service, query: str) -> None:
    """List a dismissed search again.

    Raises:
        Unavailable: Redis does not answer.
    """
    client, name = service.cache.client, service.cache.keys.insights("dismissed")
    client.require(_TIMEOUT, redis.Redis.zrem, name, query)
