"""Manages generations of the index: their names, their states, and every change of them.

The searched index is an alias. It points to one generation, `<alias>-000001` and so on; numbers
are never reused. The state of each generation follows from aliases alone, because Elasticsearch
changes several aliases in one atomic step:

    <alias>                      what is searched; points to the live generation
    <alias>-000003-live          exactly while it is live, and the only way to write to it
    <alias>-previous             the generation that was live before; `rollback` returns to it
    <alias>-000004-building      while a build or a rollback writes to it: then the only way
    <alias>-000003-sync-9f2c…    the way of one `sync`, until another process has the lock

A generation that only has the `-building` alias is deleted by the next command: an unfinished one,
and, at each swap, the one before the previous one. A generation without any of these aliases, such
as one restored from a snapshot, is left alone.

Writers name `-live`, `-building` or `-sync-…`, with `require_alias`, and a swap fails without these
aliases. A process that takes over the lock deletes the unfinished index, or removes the alias. So a
process that was suspended and lost the lock can change nothing when it goes on.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import ENGLISH
from indexer import SCHEMA
from indexer.errors import IndexingError, NoIndex, NotBuilt, other_schema
from indexer.store.state import Lock

_SHOWN = "*.aliases,*.mappings._meta,*.settings.index.blocks,*.settings.index.creation_date"

State = Literal["live", "previous", "building", "unknown"]


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation. `built` is an ISO 8601 date.

    `analysis` is the digest of the analysis of its language. `model` is the name of the model of
    its passages' vectors; "" without vectors. `read_only`: Elasticsearch itself blocks writes,
    because its disk was nearly full. `written`: a build or a rollback writes to it, or was killed
    meanwhile.
    """

    name: str
    number: int
    state: State
    rules: str | None
    language: str
    schema: int | None
    analysis: str | None
    model: str
    built: str
    write_blocked: bool
    read_only: bool
    written: bool
    sync_aliases: tuple[str, ...] = field(default=(), compare=False)


def building_alias(name: str) -> str:
    """Return the alias through which a build or a rollback writes to a generation."""
    return f"{name}-building"


def sync_alias(name: str, token: str) -> str:
    """Return the alias through which the `sync` with this lock writes to a generation."""
    return f"{name}-sync-{token}"


def live_alias(name: str) -> str:
    """Return the alias through which documents are written while a generation is live."""
    return f"{name}-live"


# -- which there are ---------------------------------------------------------------------------


def list_generations(client: Elasticsearch, alias: str) -> list[Generation]:
    """Return every generation of an alias, oldest first.

    Raises:
        IndexingError: the name of the alias is used by something else.
    """
    response = client.indices.get(
        index=[alias, f"{alias}-*"],
        expand_wildcards=["open", "closed", "hidden"],
        ignore_unavailable=True,
        features=["aliases", "mappings", "settings"],
        filter_path=_SHOWN,
    )
    return parse_generations(alias, response.body)


def parse_generations(alias: str, indices: Mapping[str, Any]) -> list[Generation]:
    """Return the generations among these indices, as `indices.get` describes them."""
    generations = []
    for name, body in indices.items():
        numbered = re.fullmatch(re.escape(alias) + r"-(\d{6,})", name)
        if numbered:
            generations.append(_generation(alias, name, int(numbered[1]), body))
        elif name == alias or alias in body.get("aliases", {}):
            raise IndexingError(
                f"{alias!r} is an index, or leads to one, that this service did not create: "
                f"{name}.",
                f"Delete it (`curl -X DELETE $ELASTICSEARCH_URL/{name}`) if nothing needs it, or "
                "set BLOGSEARCH_INDEX to another name.",
            )
    searched = sorted(name for name, body in indices.items() if alias in body.get("aliases", {}))
    if len(searched) > 1:  # restored from a snapshot, for instance
        raise IndexingError(
            f"{alias!r} leads to several indices: {', '.join(searched)}. Searches find each post "
            "several times.",
            "Take the aliases from all but one, such as "
            f'`curl -X DELETE "$ELASTICSEARCH_URL/{searched[0]}/_alias/*"`.',
        )
    return sorted(generations, key=lambda generation: generation.number)


def _generation(alias: str, name: str, number: int, body: Mapping[str, Any]) -> Generation:
    meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    settings = body.get("settings", {}).get("index", {})
    aliases, blocks = body.get("aliases", {}), settings.get("blocks", {})
    state: State = "unknown"
    if live_alias(name) in aliases:
        state = "live"
    elif f"{alias}-previous" in aliases:
        state = "previous"
    elif building_alias(name) in aliases:
        state = "building"
    created = datetime.fromtimestamp(int(settings.get("creation_date", 0)) // 1000, UTC)
    return Generation(
        name=name,
        number=number,
        state=state,
        rules=meta.get("rules"),
        language=meta.get("language", ENGLISH.name),
        schema=meta.get("schema"),
        analysis=meta.get("analysis"),
        model=meta.get("model", ""),
        built=created.isoformat(),
        write_blocked=str(blocks.get("write", "false")) == "true",
        read_only=str(blocks.get("read_only_allow_delete", "false")) == "true",
        written=building_alias(name) in aliases,
        sync_aliases=tuple(each for each in aliases if each.startswith(sync_alias(name, ""))),
    )


def live(client: Elasticsearch, alias: str) -> Generation | None:
    """Return the live generation; None before the first build."""
    return live_of(list_generations(client, alias))


def live_of(generations: Iterable[Generation]) -> Generation | None:
    """Return the live one of an alias's generations."""
    return next((generation for generation in generations if generation.state == "live"), None)


def require_live(client: Elasticsearch, alias: str) -> Generation:
    """Return the live generation.

    Raises:
        NoIndex: there is none.
    """
    if generation := live(client, alias):
        return generation
    raise NoIndex(
        f"There is no index {alias!r} yet.", "Build one with `blogsearch reindex SOURCE`."
    )


def check_writable(generation: Generation) -> None:
    """Check that documents of this version can be written to a generation.

    Raises:
        OutdatedIndex: it has a former or a future schema.
    """
    if generation.schema != SCHEMA:
        raise other_schema(generation.schema)


# -- changes -----------------------------------------------------------------------------------


def open_sync(client: Elasticsearch, name: str, lock: Lock) -> str:
    """Create the alias through which a `sync` writes, in place of that of the `sync` before.

    Raises:
        LockLost: another process has the lock. It has removed the alias, or will do so.
    """
    own, others = sync_alias(name, lock.token), sync_alias(name, "*")
    remove = {"remove": {"index": name, "alias": others, "must_exist": False}}
    add = {"add": {"index": name, "alias": own, "is_hidden": True}}
    client.indices.update_aliases(actions=[remove, add])
    lock.check()
    return own


def swap(client: Elasticsearch, alias: str, new: str, replaces: str | None) -> str | None:
    """Make a generation live, and the live one, whose name is returned, the previous one.

    One atomic step. It fails if the live one is no longer live, or if the new one has lost its
    building alias: then another process has taken over the lock. If there is no live one, the
    previous one stays: it alone has what came over HTTP.

    Args:
        replaces: the live generation when the build began; None: there was none.

    Raises:
        NotBuilt: another one is live, of which the new one has no data.
    """
    previous, former = f"{alias}-previous", None
    existing = list_generations(client, alias)
    replaced = live_of(existing)
    actions: list[dict[str, Any]] = [
        {"remove": {"index": new, "alias": building_alias(new), "must_exist": True}},
        {"add": {"index": new, "alias": alias}},
        {"add": {"index": new, "alias": live_alias(new), "is_hidden": True}},
    ]
    for generation in existing:
        name = generation.name
        if generation.state == "live":
            if name != replaces:
                raise NotBuilt(f"{name} became live during the build", "Run it again.")
            former = name
            actions += [
                {"remove": {"index": name, "alias": live_alias(name), "must_exist": True}},
                {"remove": {"index": name, "alias": alias, "must_exist": False}},
                {"add": {"index": name, "alias": previous, "is_hidden": True}},
            ]
        elif generation.state == "previous" and not (replaced or name == new):
            former = name
        elif generation.state == "previous":
            actions.append({"remove": {"index": name, "alias": previous}})
            if name != new:
                over = {"index": name, "alias": building_alias(name), "is_hidden": True}
                actions.append({"add": over})
    try:
        client.indices.update_aliases(actions=actions)
    except (ApiError, TransportError):  # it may have succeeded, with only the response lost
        now = live(client, alias)
        if now is None or now.name != new:
            raise
    return former


def recover(client: Elasticsearch, alias: str, *, for_sync: bool = False) -> list[Generation]:
    """Clean up after a killed build or rollback, and remove the live generation's write block; also
    remove the alias of a suspended `sync`, unless `open_sync` will do so.

    The caller must hold the lock, so that no other process is building. A process that lost the
    lock cannot swap afterwards: its generation is deleted, or has lost the alias it needs.

    Returns:
        The remaining generations, oldest first.
    """
    existing = list_generations(client, alias)
    for generation in existing:
        name = generation.name
        for suspended in () if for_sync else generation.sync_aliases:
            client.options(ignore_status=404).indices.delete_alias(index=name, name=suspended)
        if generation.state == "building":
            client.indices.delete(index=name, ignore_unavailable=True)
        elif generation.state != "live" and generation.written:
            without = client.options(ignore_status=404).indices
            without.delete_alias(index=name, name=building_alias(name))
            client.indices.add_block(index=name, block="write")
    # Last: from now on there are writes that a swap would lose.
    if (current := live_of(existing)) and current.write_blocked:
        client.indices.put_settings(index=current.name, settings={"index.blocks.write": None})
    return [generation for generation in existing if generation.state != "building"]
