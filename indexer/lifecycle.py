"""Every change of the generations: create, open up, swap, close, remove."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from elasticsearch import Elasticsearch

from indexer.generations import (
    Generation,
    building_alias,
    generations,
    live,
    previous_alias,
    require_live,
)

__all__ = [
    "Generation",
    "allow_writes",
    "block_writes",
    "building_alias",
    "create",
    "discard",
    "generations",
    "live",
    "make_ready",
    "previous_alias",
    "prune",
    "recover",
    "require_live",
    "swap",
]


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
    if replicas and client.cluster.health()["number_of_data_nodes"] > 1:
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
