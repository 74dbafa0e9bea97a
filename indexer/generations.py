"""Generations of the index: their names, their states, and every change of them.

The index that is searched is an alias. It points to one generation, `<alias>-000001` and so on;
numbers are never reused. The state of each generation follows from aliases alone, because
Elasticsearch changes several aliases in one atomic step:

    <alias>                      the live generation: searches and writes
    <alias>-000003-live          exactly while it is live, and the only way to write to it
    <alias>-previous             the one that was live before; `rollback` returns to it
    <alias>-000004-building      while it is built, or a rollback writes to it: the only way then

Whoever writes names `-live` or `-building`, with `require_alias`, and a swap fails without the
alias of its build. A process that takes over the lock deletes the unfinished index, or removes the
alias. So one that was suspended and lost the lock can change nothing when it goes on.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import ENGLISH
from analyzers.meaning import MODEL_NAME
from indexer import SCHEMA
from indexer.errors import Damaged, IndexingError, NoGeneration, OtherSchema, other_schema
from indexer.retry import Retry
from indexer.state import forget_swap

_NUMBERED = re.compile(r"-(\d{6,})\Z")

_DOCUMENTS_PER_SEGMENT = 200_000
_RECOVERY = "10s"  # after a start Elasticsearch needs some seconds to open its indices
_LOST_RESPONSE = Retry(total=10.0, first_pause=0.5, longest_pause=0.5)

State = Literal["live", "previous", "building", "kept"]


class NameTaken(IndexingError):
    """The name of the alias is used by an index or alias that this service did not create."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation. `built` is an ISO 8601 date, that of its creation.

    `model`: names the model of the vectors of its passages; "" without vectors.
    `written`: a build or a rollback writes to it, or was killed while it did.
    `aliased`: the alias leads to it; to others than the live one only if somebody added it there.
    """

    name: str
    number: int
    state: State
    rules: str | None
    language: str
    schema: int | None
    built: str | None
    write_blocked: bool
    written: bool = False
    model: str = ""
    closed: bool = False
    aliased: bool = False


def generation_name(alias: str, number: int) -> str:
    """The name of generation `number`."""
    return f"{alias}-{number:06d}"


def building_alias(name: str) -> str:
    """The alias through which a build or a rollback writes to the generation of this name."""
    return f"{name}-building"


def live_alias(name: str) -> str:
    """The alias through which documents are written while the generation of this name is live."""
    return f"{name}-live"


def previous_alias(alias: str) -> str:
    """The alias of the previous generation."""
    return f"{alias}-previous"


# -- which there are ---------------------------------------------------------------------------


def list_generations(client: Elasticsearch, alias: str) -> list[Generation]:
    """Every generation of this alias, oldest first.

    Raises:
        NameTaken: the name of the alias is used by something else.
    """
    response = client.indices.get(
        index=[alias, f"{alias}-*"],
        expand_wildcards=["open", "closed", "hidden"],
        ignore_unavailable=True,
        allow_no_indices=True,
        features=["aliases", "mappings", "settings"],
        filter_path=[
            "*.aliases",
            "*.mappings._meta",
            "*.settings.index.blocks",
            "*.settings.index.creation_date",
            "*.settings.index.verified_before_close",
        ],
    )
    return parse_generations(alias, response.body)


def parse_generations(alias: str, indices: Mapping[str, Any]) -> list[Generation]:
    """Every generation of this alias, oldest first.

    Args:
        indices: index name to its aliases, mappings and settings, as `indices.get` returns them.

    Raises:
        NameTaken: the name of the alias is used by something else.
    """
    _check_alias(alias, indices)
    generations = sorted(
        (_generation(alias, name, body) for name, body in indices.items() if _number(alias, name)),
        key=lambda generation: generation.number,
    )
    # If several have the alias: the generation that no swap has made the previous one.
    live = max(
        (generation for generation in generations if generation.aliased),
        key=lambda generation: (generation.state != "previous", *_newest(generation)),
        default=None,
    )
    return [
        replace(generation, state="live") if generation is live else generation
        for generation in generations
    ]


def live(client: Elasticsearch, alias: str) -> Generation | None:
    """The live generation; None before the first build.

    If somebody has added the alias to others, the newest of them.
    """
    return live_of(list_generations(client, alias))


def live_of(generations: Iterable[Generation]) -> Generation | None:
    """The live one of all generations of an alias."""
    return next((generation for generation in generations if generation.state == "live"), None)


def require_live(client: Elasticsearch, alias: str) -> Generation:
    """The live generation.

    Raises:
        NoGeneration: there is none.
    """
    generation = live(client, alias)
    if generation is None:
        raise NoGeneration(
            f"There is no index {alias!r} yet.",
            "Build one with `blogsearch reindex POSTS.jsonl`.",
        )
    return generation


def require_schema(client: Elasticsearch, alias: str) -> None:
    """Check that the live index has the present schema, before something is written to it.

    Without an index nothing is checked.

    Raises:
        OtherSchema: it has a former or a future one, or the vectors of another model.
        Damaged: the alias leads to several indices.
    """
    response = client.options(ignore_status=404).indices.get_mapping(
        index=alias, filter_path=["*.mappings._meta.blogsearch"]
    )
    indices = response.body if response.meta.status == 200 else {}
    check_single(alias, indices)
    for body in indices.values():
        meta = body["mappings"]["_meta"]["blogsearch"]
        check_schema(meta.get("schema"), meta.get("model", ""))


def check_schema(schema: int | None, model: str) -> None:
    """Check that documents of this version can be written to an index.

    Raises:
        OtherSchema: it has a former or a future schema, or the vectors of another model.
    """
    if schema != SCHEMA:
        raise other_schema(schema)
    if model and model != MODEL_NAME:
        raise OtherSchema(
            "The index was built with the vectors of another model.",
            "Run `blogsearch rebuild`, which loses nothing.",
        )


# -- damage ------------------------------------------------------------------------------------


def damage(client: Elasticsearch, generation: Generation) -> str:
    """Why a generation cannot be read, such as "blog-000003 is closed"; empty if it can."""
    if generation.closed:
        return f"{generation.name} is closed"
    health = client.options(ignore_status=408).cluster.health(
        index=generation.name,
        expand_wildcards="all",
        wait_for_status="yellow",
        timeout=_RECOVERY,
    )
    if health["status"] == "red":
        return f"{generation.name} has lost a part of its documents (its health is red)"
    return ""


def check_single(alias: str, names: Iterable[str]) -> None:
    """Check that an alias leads to at most one index.

    Raises:
        Damaged: it leads to several.
    """
    names = sorted(names)
    if len(names) > 1:
        raise damaged(f"The alias {alias!r} leads to {' and '.join(names)}")


def damaged(reason: str) -> Damaged:
    """The error for a live index that cannot be read, or is not one."""
    return Damaged(
        f"{reason}.",
        "Repair it, or run `blogsearch rollback` or `blogsearch reindex SOURCE --force`, which say "
        "what is lost.",
    )


def require_writable(client: Elasticsearch, alias: str) -> Generation:
    """The live generation, before a long write: the alias leads to it alone, and it can be read.

    Raises:
        NoGeneration: there is none.
        Damaged: it cannot be read, or the alias leads to several.
    """
    generations = list_generations(client, alias)
    live = live_of(generations) or require_live(client, alias)
    check_single(alias, [generation.name for generation in generations if generation.aliased])
    if reason := damage(client, live):
        raise damaged(reason)
    return live


# -- changes -----------------------------------------------------------------------------------


def create(client: Elasticsearch, name: str, body: Mapping[str, Any]) -> None:
    """Create a generation, to be filled with few refreshes and without replicas.

    Both cost time on every bulk request. Without any refresh the last one takes longer than all.
    """
    client.indices.create(
        index=name,
        mappings=body["mappings"],
        settings={**body["settings"], "refresh_interval": "5s", "number_of_replicas": 0},
        aliases={building_alias(name): {"is_hidden": True}},
        wait_for_active_shards=1,
    )


def prepare_for_search(
    client: Elasticsearch, name: str, replicas: int, documents_per_shard: int
) -> None:
    """Give a filled generation its settings for searching; wait up to 30 s for its replicas.

    Its segments are merged in the background: every part of a search is repeated for each. Large
    indices keep several, so that more than one thread can search them.
    """
    segments = max(1, documents_per_shard // _DOCUMENTS_PER_SEGMENT)
    client.indices.forcemerge(index=name, max_num_segments=segments, wait_for_completion=False)
    client.indices.put_settings(
        index=name,
        # Set explicitly: by default an index not searched for 30 s stops refreshing, and the first
        # search after a write has to wait for a refresh.
        settings={"refresh_interval": "1s", "number_of_replicas": replicas},
    )
    if replicas and client.cluster.health()["number_of_data_nodes"] > 1:
        # A cluster that cannot allocate replicas still answers; `blogsearch doctor` reports it.
        client.options(ignore_status=408).cluster.health(
            index=name, wait_for_status="green", timeout="30s"
        )


def reopen(client: Elasticsearch, name: str) -> None:
    """Accept writes to an old generation through its building alias, for a rollback."""
    action = {"add": {"index": name, "alias": building_alias(name), "is_hidden": True}}
    client.indices.update_aliases(actions=[action])
    allow_writes(client, name)


def swap(client: Elasticsearch, alias: str, new: str, old: str | None) -> None:
    """Move the alias to `new` in one atomic step; any other index loses it.

    Fails if `old` is no longer live, or if `new` has lost its building alias, which `recover`
    removes: then another process has taken over the lock. If the response is lost, looks whether it
    happened.
    """
    actions: list[dict[str, Any]] = [
        {"add": {"index": new, "alias": alias}},
        {"add": {"index": new, "alias": live_alias(new), "is_hidden": True}},
        {"remove": {"index": new, "alias": building_alias(new), "must_exist": True}},
    ]
    for generation in list_generations(client, alias):
        name = generation.name
        if generation.state == "previous":
            actions.append({"remove": {"index": name, "alias": previous_alias(alias)}})
        if name == new:
            continue
        if name == old:
            actions.append({"remove": {"index": name, "alias": alias, "must_exist": True}})
            actions.append(
                {"add": {"index": name, "alias": previous_alias(alias), "is_hidden": True}}
            )
        elif generation.aliased:
            actions.append({"remove": {"index": name, "alias": alias}})
        if generation.aliased:
            actions.append({"remove": {"index": name, "alias": live_alias(name)}})
    try:
        client.indices.update_aliases(actions=actions)
    except (ApiError, TransportError):
        swapped = None
        with suppress(ApiError, TransportError):
            swapped = _LOST_RESPONSE.call(lambda: live(client, alias))
        if swapped is None or swapped.name != new:
            raise


def restore_alias(client: Elasticsearch, alias: str) -> Generation | None:
    """Make the generation live again that lost its alias; None if there is none.

    That is the newest one that accepts writes.
    """
    restored = max(
        (
            generation
            for generation in list_generations(client, alias)
            if generation.state in {"previous", "kept"}
        ),
        key=lambda generation: (not generation.closed, *_newest(generation)),
        default=None,
    )
    if restored is None:
        return None
    allow_writes(client, restored.name)
    actions: list[dict[str, Any]] = [
        {"add": {"index": restored.name, "alias": alias}},
        {"add": {"index": restored.name, "alias": live_alias(restored.name), "is_hidden": True}},
    ]
    if restored.state == "previous":
        actions.append({"remove": {"index": restored.name, "alias": previous_alias(alias)}})
    client.indices.update_aliases(actions=actions)
    return restored


def _newest(generation: Generation) -> tuple[bool, int]:
    """A key for `max`: those that accept writes first, because a swap blocks the old one."""
    return (not generation.write_blocked, generation.number)


def block_writes(client: Elasticsearch, name: str) -> None:
    """Refuse writes to an index; returns once the writes in progress are complete."""
    client.indices.add_block(index=name, block="write")


def allow_writes(client: Elasticsearch, name: str) -> None:
    """Remove the write block of an index."""
    client.indices.put_settings(index=name, settings={"index.blocks.write": None})


def delete_generation(client: Elasticsearch, alias: str, name: str) -> None:
    """Delete one generation, if it exists, and what is kept of its swap."""
    client.indices.delete(index=name, ignore_unavailable=True)
    forget_swap(client, alias, name)


def recover(client: Elasticsearch, alias: str) -> tuple[list[Generation], list[str]]:
    """Clean up after a killed build or rollback, and remove the live generation's write block.

    The caller must hold the lock, so that no other process is building. A process that lost the
    lock cannot swap afterwards: what it wrote to is deleted, or has lost the alias it needs.

    Returns:
        The generations that there are, oldest first, and the names of the deleted stale builds.
    """
    existing = list_generations(client, alias)
    stale_builds = [generation.name for generation in existing if generation.state == "building"]
    for name in stale_builds:
        delete_generation(client, alias, name)
    existing = [generation for generation in existing if generation.state != "building"]
    for generation in existing:
        if generation.written and generation.state != "live":
            name = generation.name
            client.options(ignore_status=404).indices.delete_alias(
                index=name, name=building_alias(name)
            )
            block_writes(client, name)
    # Last: from now on there are writes that a swap would lose.
    for generation in existing:
        if generation.state == "live" and generation.write_blocked:
            allow_writes(client, generation.name)
    return existing, stale_builds


def prune(client: Elasticsearch, alias: str, keep: int = 1) -> list[str]:
    """Delete all but the `keep` newest generations besides the live one; the previous one last.

    Returns:
        The names of the deleted generations, oldest first.
    """
    old = [
        generation
        for generation in list_generations(client, alias)
        if generation.state in {"previous", "kept"} and not generation.aliased
    ]
    old.sort(key=lambda generation: (generation.state == "previous", generation.number))
    deleted = old[: max(0, len(old) - keep)]
    for generation in deleted:
        delete_generation(client, alias, generation.name)
    return [generation.name for generation in deleted]


# -- as Elasticsearch tells them ----------------------------------------------------------------


def _number(alias: str, name: str) -> int | None:
    match = _NUMBERED.fullmatch(name.removeprefix(alias)) if name.startswith(alias) else None
    return int(match[1]) if match else None


def _date(milliseconds: str | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(int(milliseconds) // 1000, UTC).isoformat()


def _generation(alias: str, name: str, body: Mapping[str, Any]) -> Generation:
    meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    settings = body.get("settings", {}).get("index", {})
    aliases = body.get("aliases", {})
    written, aliased = building_alias(name) in aliases, alias in aliases
    state: State = "kept"  # which of several with the alias is live is decided among them
    if previous_alias(alias) in aliases:
        state = "previous"
    elif written and not aliased:
        state = "building"
    return Generation(
        name=name,
        number=_number(alias, name) or 0,
        state=state,
        rules=meta.get("rules"),
        language=meta.get("language", ENGLISH.name),
        schema=meta.get("schema"),
        built=_date(settings.get("creation_date")),
        write_blocked=str(settings.get("blocks", {}).get("write", "false")) == "true",
        written=written,
        model=meta.get("model", ""),
        closed="verified_before_close" in settings,
        aliased=aliased,
    )


def _check_alias(alias: str, indices: Mapping[str, Any]) -> None:
    if alias in indices:
        raise NameTaken(
            f"An index called {alias!r} exists where the alias should be.",
            f"Delete it (`curl -X DELETE $ELASTICSEARCH_URL/{alias}`) if nothing needs it, "
            "or set BLOGSEARCH_INDEX to another name.",
        )
    foreign = [
        name
        for name, body in indices.items()
        if alias in body.get("aliases", {}) and _number(alias, name) is None
    ]
    if foreign:
        raise NameTaken(
            f"The alias {alias!r} points to {', '.join(sorted(foreign))}, "
            "which this service did not create.",
            "Remove the alias there, or set BLOGSEARCH_INDEX to another name.",
        )
