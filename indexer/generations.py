"""Generations of the index: their names, their states, and every change of them.

The index that is searched is an alias. It points to one generation, `<alias>-000001` and so on;
numbers are never reused. The state of each generation follows from aliases alone, because
Elasticsearch changes several aliases in one atomic step:

    <alias>                      the live generation, for searches
    <alias>-000002-live          the same one: the only way to write to it
    <alias>-previous             the one that was live before; `rollback` returns to it
    <alias>-000003-building      while it is built, and the only way to write to it
    <alias>-000001-restoring     while a rollback writes to it, and the only way to do so

Whoever writes names one of those that end with a role, with `require_alias`, and a swap moves all
of them in one step. So a write never hits another generation than the one that was read, and none
creates a deleted index again. The swap of a build or rollback fails without its own alias. A
process that takes over the lock deletes the unfinished index, or removes the alias. So one that was
suspended and lost the lock can change nothing when it goes on.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from elasticsearch import ApiError, ConnectionTimeout, Elasticsearch, TransportError

from analyzers.languages import ENGLISH
from analyzers.meaning import MODEL_NAME
from indexer import SCHEMA
from indexer.errors import Damaged, IndexingError, NoGeneration, OtherSchema, other_schema
from indexer.retry import Retry
from indexer.state import record_swap

_NUMBERED = re.compile(r"-(\d{6,})\Z")

_RECOVERY = "10s"  # after a start Elasticsearch needs some seconds to open its indices
_LOST_RESPONSE = Retry(total=10.0, first_pause=0.5, longest_pause=0.5)

State = Literal["live", "previous", "building", "kept"]


class NameTaken(IndexingError):
    """The name of the alias is used by an index or alias that this service did not create."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation. `built` is an ISO 8601 date, that of its creation.

    `model`: names the model of the vectors of its passages; "" without vectors.
    `restoring`: a rollback writes to it, or was killed while it did.
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
    restoring: bool
    model: str = ""
    closed: bool = False
    aliased: bool = False


def live_alias(name: str) -> str:
    """The alias through which everybody writes to the live generation."""
    return f"{name}-live"


def building_alias(name: str) -> str:
    """The alias through which a build writes."""
    return f"{name}-building"


def restoring_alias(name: str) -> str:
    """The alias through which a rollback writes to an old generation."""
    return f"{name}-restoring"


def previous_alias(alias: str) -> str:
    """The alias of the previous generation."""
    return f"{alias}-previous"


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
    generations = list_generations(client, alias)
    return next((generation for generation in generations if generation.state == "live"), None)


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


def require_writable(client: Elasticsearch, alias: str) -> Generation:
    """The live generation, before a long write: the alias leads to it alone, and it can be read.

    Raises:
        NoGeneration: there is none.
        Damaged: it cannot be read, or the alias leads to several.
    """
    live = require_live(client, alias)
    generations = list_generations(client, alias)
    check_single(alias, [generation.name for generation in generations if generation.aliased])
    if reason := damage(client, live):
        raise damaged(reason)
    return live


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
        if meta.get("schema") != SCHEMA:
            raise other_schema(meta.get("schema"))
        # `semantic`: static word vectors, in versions before there was a `model`.
        if meta.get("semantic") or meta.get("model", MODEL_NAME) != MODEL_NAME:
            raise OtherSchema(
                "The index was built with the vectors of another model.",
                "Run `blogsearch rebuild`, which loses nothing.",
            )


def generation_name(alias: str, number: int) -> str:
    """The name of generation `number`."""
    return f"{alias}-{number:06d}"


def create(client: Elasticsearch, name: str, body: Mapping[str, Any]) -> None:
    """Create a generation, to be filled without refreshes and replicas."""
    client.indices.create(
        index=name,
        mappings=body["mappings"],
        # Both cost time on every bulk request, and help only once the index is searched.
        settings={**body["settings"], "refresh_interval": "-1", "number_of_replicas": 0},
        aliases={building_alias(name): {"is_hidden": True}},
        wait_for_active_shards=1,
    )


_MERGED_FOR = 300.0  # seconds; Elasticsearch goes on merging after that
_DOCUMENTS_PER_SEGMENT = 200_000


def merge_segments(client: Elasticsearch, name: str, documents: int, shards: int) -> None:
    """Merge the segments of a filled generation, which halves the time of a search.

    Every part of a search is repeated for each segment. Large indices keep several, so that more
    than one thread can search them. It is done before there are replicas, which copy the result. If
    Elasticsearch refuses, searches are only slower.
    """
    segments = max(1, documents // shards // _DOCUMENTS_PER_SEGMENT)
    with suppress(ApiError, ConnectionTimeout):
        client.options(request_timeout=_MERGED_FOR, max_retries=0).indices.forcemerge(
            index=name, max_num_segments=segments
        )


def prepare_for_search(client: Elasticsearch, name: str, replicas: int) -> None:
    """Give a filled generation its settings for searching; wait up to 30 s for its replicas."""
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


def open_for_restore(client: Elasticsearch, name: str) -> None:
    """Accept writes to an old generation, so that a rollback can replay onto it.

    Whoever takes over the lock removes its `restoring_alias`, so that the rollback can neither
    write nor swap any more.
    """
    action = {"add": {"index": name, "alias": restoring_alias(name), "is_hidden": True}}
    client.indices.update_aliases(actions=[action])
    allow_writes(client, name)


def swap(
    client: Elasticsearch, alias: str, new: str, old: str | None, written_through: str
) -> None:
    """Move the alias to `new` in one atomic step; any other index loses it.

    Fails if `old` is no longer live, or if `new` has lost the alias `written_through`, which
    `recover` removes: then another process has taken over the lock. If the response is lost, looks
    whether it happened. For a later rollback the checkpoints are stored at which `new` goes live.
    """
    record_swap(client, alias, new)
    actions: list[dict[str, Any]] = [
        {"add": {"index": new, "alias": alias}},
        {"add": {"index": new, "alias": live_alias(new), "is_hidden": True}},
        {"remove": {"index": new, "alias": written_through, "must_exist": True}},
    ]
    for generation in list_generations(client, alias):
        name = generation.name
        if name != new:
            actions.append(_no_longer_written(name))
        if name == old:
            actions.append({"remove": {"index": name, "alias": alias, "must_exist": True}})
            actions.append(
                {"add": {"index": name, "alias": previous_alias(alias), "is_hidden": True}}
            )
            continue
        if generation.aliased and name != new:
            actions.append({"remove": {"index": name, "alias": alias}})
        if generation.state == "previous":
            actions.append({"remove": {"index": name, "alias": previous_alias(alias)}})
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


def _no_longer_written(name: str) -> dict[str, Any]:
    return {"remove": {"index": name, "alias": live_alias(name), "must_exist": False}}


def _newest(generation: Generation) -> tuple[bool, int]:
    """A key for `max`: those that accept writes first, because a swap blocks the old one."""
    return (not generation.write_blocked, generation.number)


def block_writes(client: Elasticsearch, name: str) -> None:
    """Refuse writes to an index; returns once the writes in progress are complete."""
    client.indices.add_block(index=name, block="write")


def allow_writes(client: Elasticsearch, name: str) -> None:
    """Remove the write block of an index."""
    client.indices.put_settings(index=name, settings={"index.blocks.write": None})


def delete_generation(client: Elasticsearch, name: str) -> None:
    """Delete one generation, if it exists."""
    client.indices.delete(index=name, ignore_unavailable=True)


def recover(client: Elasticsearch, alias: str) -> list[str]:
    """Clean up after a killed build or rollback, and remove the live generation's write block.

    The caller must hold the lock, so that no other process is building. A process that lost the
    lock cannot swap afterwards: what it wrote to is deleted, or has lost the alias it needs.

    Returns:
        The names of the deleted stale builds.
    """
    existing = list_generations(client, alias)
    stale_builds = [generation.name for generation in existing if generation.state == "building"]
    for name in stale_builds:
        delete_generation(client, name)
    for generation in existing:
        if generation.restoring and generation.state != "live":
            client.options(ignore_status=404).indices.delete_alias(
                index=generation.name, name=restoring_alias(generation.name)
            )
            block_writes(client, generation.name)
    # Last: from now on there are writes that a swap would lose.
    for generation in existing:
        if generation.state == "live" and generation.write_blocked:
            allow_writes(client, generation.name)
    return stale_builds


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
        delete_generation(client, generation.name)
    return [generation.name for generation in deleted]


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
    state: State = "kept"  # which of several with the alias is live is decided among them
    if building_alias(name) in aliases:
        state = "building"
    elif previous_alias(alias) in aliases:
        state = "previous"
    return Generation(
        name=name,
        number=_number(alias, name) or 0,
        state=state,
        rules=meta.get("rules"),
        language=meta.get("language", ENGLISH.name),
        schema=meta.get("schema"),
        built=_date(settings.get("creation_date")),
        write_blocked=str(settings.get("blocks", {}).get("write", "false")) == "true",
        restoring=restoring_alias(name) in aliases,
        model=meta.get("model", ""),
        closed="verified_before_close" in settings,
        aliased=alias in aliases,
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
