"""Generations of the index: their names, and every change of what the aliases point to.

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
from datetime import UTC, datetime
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


def create(client: Elasticsearch, alias: str, number: int, body: Mapping[str, Any]) -> str:
    """Create generation `number` to be filled, without refresh and replicas; return its name."""
    name = f"{alias}-{number:06d}"
    mappings = dict(body["mappings"])
    mappings["_meta"] = _meta(mappings.get("_meta"), state="building")
    client.indices.create(
        index=name,
        mappings=mappings,
        # Neither helps before the index is searched, and both cost time on every bulk request.
        settings={**body["settings"], "refresh_interval": "-1", "number_of_replicas": 0},
        aliases={building_alias(name): {"is_hidden": True}},
        wait_for_active_shards=1,
    )
    return name


def make_ready(client: Elasticsearch, name: str, replicas: int) -> None:
    """Set a filled generation up for being searched, and wait a while for its replicas."""
    client.indices.put_settings(
        index=name,
        # Said outright: by default an index nobody searches for 30 s stops refreshing, and the
        # first search after a write would wait for it.
        settings={"refresh_interval": "1s", "number_of_replicas": replicas},
    )
    found = client.indices.get_mapping(index=name)[name]["mappings"]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    meta = _meta(found.get("_meta"), state="ready", built=now)
    client.indices.put_mapping(index=name, meta=meta)
    if replicas:
        # A cluster that cannot place them still answers; `blogsearch doctor` tells.
        client.options(ignore_status=408).cluster.health(
            index=name, wait_for_status="green", timeout="30s"
        )


def swap(client: Elasticsearch, alias: str, new: str, old: str | None) -> None:
    """Move the alias to `new` in one atomic step; it fails when `old` is not live any more."""
    actions: list[dict[str, Any]] = [{"add": {"index": new, "alias": alias}}]
    former = previous_alias(alias)
    for generation in generations(client, alias):
        if generation.name != old and generation.state == "previous":
            actions.append({"remove": {"index": generation.name, "alias": former}})
        if generation.name == new and generation.state == "building":
            actions.append({"remove": {"index": new, "alias": building_alias(new)}})
    if old is not None:
        actions += [
            {"remove": {"index": old, "alias": alias, "must_exist": True}},
            {"add": {"index": old, "alias": former, "is_hidden": True}},
        ]
    client.indices.update_aliases(actions=actions)


def block_writes(client: Elasticsearch, name: str) -> None:
    """Refuse writes to an index from now on; returns when those under way are done."""
    client.indices.add_block(index=name, block="write")


def allow_writes(client: Elasticsearch, name: str) -> None:
    """Take writes again."""
    client.indices.put_settings(index=name, settings={"index.blocks.write": None})


def discard(client: Elasticsearch, name: str) -> None:
    """Delete one generation, if it is still there."""
    client.indices.delete(index=name, ignore_unavailable=True)


def recover(client: Elasticsearch, alias: str) -> list[str]:
    """Clean up after a build that was killed: its index, and the write block on the live one.

    Only for the holder of the lock, who knows that nobody is building.

    Returns:
        The names of the orphans that were removed.
    """
    orphans = []
    for generation in generations(client, alias):
        if generation.state == "building":
            discard(client, generation.name)
            orphans.append(generation.name)
        elif generation.state == "live" and generation.write_blocked:
            allow_writes(client, generation.name)
    return orphans


def prune(client: Elasticsearch, alias: str, keep: int) -> list[str]:
    """Delete generations that are not live, but for the `keep` newest; the previous one goes last.

    Returns:
        The names of what was deleted, oldest first.
    """
    spare = [one for one in generations(client, alias) if one.state in {"previous", "kept"}]
    spare.sort(key=lambda generation: (generation.state == "previous", generation.number))
    doomed = spare[: len(spare) - keep] if keep else spare
    for generation in doomed:
        discard(client, generation.name)
    return [generation.name for generation in doomed]


def _meta(found: Mapping[str, Any] | None, **changes: str) -> dict[str, Any]:
    found = found or {}
    return {**found, "blogsearch": {**found.get("blogsearch", {}), **changes}}


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
