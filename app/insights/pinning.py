"""Pins a post for a search on the page of insights, by rules in the pin file `insights.pins`."""

import re

from analyzers.languages import LANGUAGES
from app.elastic import translated
from app.errors import BadRequest
from app.pins import SUFFIX, PinFile, parse
from app.service import Service
from indexer.generations import require_live

_FILE = f"insights{SUFFIX}"


def pinned(service: Service) -> list[str]:
    """The rules in the pin file `insights.pins`."""
    with translated():
        files = service.pins.files()
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
            service.pins.save([file])
        else:
            service.pins.remove([_FILE])
        live = require_live(service.elastic, service.settings.index)
    service.cache.new_generation(live.name, live.rules or "")
