"""Generations of the index: their names, and which of them is what.

The index searches go to is an alias. Behind it stands one generation, `<alias>-000001` and so on;
numbers are never used twice. Which generation is what can be read from aliases alone, because
Elasticsearch changes several aliases in one atomic step:

    <alias>                      the live generation: searches and writes
    <alias>-previous             the one that was live before; `rollback` goes there
    <alias>-000003-building      while it is built, and the only way to write to it

A build writes through its own alias with `require_alias`: an orphan that was deleted under a
process that only seemed dead cannot be conjured up again by that process's next bulk request.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from elasticsearch import Elasticsearch

from indexer.errors import IndexingError, NoGeneration

_NUMBERED = re.compile(r"-(\d{6,})\Z")

State = Literal["live", "previous", "building", "kept"]


class NameTaken(IndexingError):
    """An index that is none of ours stands where the alias should."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One index as it was found. `built` is an ISO moment; None where the index does not say."""

    name: str
    number: int
    state: State
    rules: str | None
    schema: int | None
    built: str | None
    write_blocked: bool


def building_alias(name: str) -> str:
    """The alias a build writes through."""
    return f"{name}-building"


def previous_alias(alias: str) -> str:
    """The alias of the generation that was live before."""
    return f"{alias}-previous"


def generations(client: Elasticsearch, alias: str) -> list[Generation]:
    """Every generation of this alias, oldest first.

    Raises:
        NameTaken: the alias's name belongs to something else.
    """
    found = client.indices.get(
        index=[alias, f"{alias}-*"],
        expand_wildcards=["open", "hidden"],
        ignore_unavailable=True,
        allow_no_indices=True,
        features=["aliases", "mappings", "settings"],
        filter_path=["*.aliases", "*.mappings._meta", "*.settings.index.blocks"],
    ).body
    _refuse_strangers(alias, found)
    ours = [_generation(alias, name, body) for name, body in found.items() if _number(alias, name)]
    return sorted(ours, key=lambda generation: generation.number)


def live(client: Elasticsearch, alias: str) -> Generation | None:
    """The generation that answers searches; None before the first build."""
    return next((one for one in generations(client, alias) if one.state == "live"), None)


def require_live(client: Elasticsearch, alias: str) -> Generation:
    """The generation that answers searches.

    Raises:
        NoGeneration: nothing was built yet.
    """
    found = live(client, alias)
    if found is None:
        raise NoGeneration(
            f"There is no index {alias!r} yet.",
            "Build one with `blogsearch reindex POSTS.jsonl`.",
        )
    return found


def _number(alias: str, name: str) -> int | None:
    match = _NUMBERED.fullmatch(name.removeprefix(alias)) if name.startswith(alias) else None
    return int(match[1]) if match else None


def _generation(alias: str, name: str, body: Mapping[str, Any]) -> Generation:
    meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    blocks = body.get("settings", {}).get("index", {}).get("blocks", {})
    return Generation(
        name=name,
        number=_number(alias, name) or 0,
        state=_state(alias, name, body.get("aliases", {}), meta),
        rules=meta.get("rules"),
        schema=meta.get("schema"),
        built=meta.get("built"),
        write_blocked=str(blocks.get("write", "false")) == "true",
    )


def _state(alias: str, name: str, aliases: Mapping[str, Any], meta: Mapping[str, Any]) -> State:
    if alias in aliases:
        return "live"
    if building_alias(name) in aliases or meta.get("state") == "building":
        return "building"
    return "previous" if previous_alias(alias) in aliases else "kept"


def _refuse_strangers(alias: str, found: Mapping[str, Any]) -> None:
    if alias in found:
        raise NameTaken(
            f"An index called {alias!r} stands where the alias should be.",
            f"Delete it (`curl -X DELETE $ELASTICSEARCH_URL/{alias}`) if nothing needs it, "
            "or set BLOGSEARCH_INDEX to another name.",
        )
    holders = [name for name, body in found.items() if alias in body.get("aliases", {})]
    strangers = [name for name in holders if _number(alias, name) is None]
    if strangers or len(holders) > 1:
        raise NameTaken(
            f"The alias {alias!r} points to {', '.join(sorted(holders))}, "
            "which this service did not set up.",
            "Remove the alias there, or set BLOGSEARCH_INDEX to another name.",
        )
