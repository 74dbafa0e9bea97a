"""Makes the previous generation live again."""

import time
from dataclasses import replace

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer import generations
from indexer.build.builder import Built, recover
from indexer.build.replay import WriteReplay
from indexer.build.upgrade import adaptation
from indexer.errors import NoGeneration
from indexer.generations import Generation
from indexer.lock import Lock
from indexer.scan import count_documents
from indexer.state import swap_checkpoints


def rollback(client: Elasticsearch, alias: str, *, discard_writes: bool = False) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    If the live generation cannot be read, they are lost as long as it cannot.
    A previous generation of a former schema gets them without the fields that it does not have: the
    version that built it can search it again.
    If somebody removed the alias, so that no generation is live, the last live one gets it again.

    Args:
        discard_writes: do not replay those writes.

    Raises:
        NoGeneration: there is no previous generation.
        Damaged: nor can the previous one be read.
        VerificationFailed: a write since the swap does not fit the older mapping.
        Locked: another process is building.
    """
    started = time.monotonic()
    with Lock(client, alias, "rollback") as lock:
        stale_builds = tuple(generations.recover(client, alias))
        live = generations.live(client, alias)
        if live is None:
            # If there is none, `require_live` says what to do.
            restored = generations.restore_alias(client, alias)
            restored = restored or generations.require_live(client, alias)
            built = _built(client, restored)
        else:
            built = _roll_back(client, lock, alias, live, discard_writes=discard_writes)
    return replace(built, stale_builds=stale_builds, seconds=time.monotonic() - started)


def _roll_back(
    client: Elasticsearch, lock: Lock, alias: str, live: Generation, *, discard_writes: bool
) -> Built:
    previous = _previous(client, alias)
    if reason := generations.damage(client, previous):
        raise generations.damaged(reason)
    damage = generations.damage(client, live)
    replay = None
    try:
        target = generations.open_for_restore(client, previous.name)
        # Not earlier: a process that took the lock before this has not seen the alias.
        lock.check()
        if not damage:
            since = None if discard_writes else swap_checkpoints(client, alias, live.name)
            # Without checkpoints it starts now: writes made during the rollback are never lost.
            mapping = client.indices.get_mapping(index=previous.name)[previous.name]["mappings"]
            replay = WriteReplay(
                client,
                alias,
                live.name,
                previous.name,
                target=target,
                adapt=adaptation(client, live.schema, previous.name, previous.schema),
                comments_in_posts="comments" in mapping.get("properties", {}),
                since=since,
            )
            replay.replay_while_open()
            replay.replay_blocked()
        # Before the swap: after it, a failure would look as if nothing had been swapped.
        built = _built(client, previous)
        lock.check()
        if replay:
            replay.swap()
        else:
            generations.swap(client, alias, previous.name, live.name, target)
    except BaseException as error:
        try:
            recover(client, lock, alias, blocked=True)
        except (ApiError, TransportError) as second:
            error.add_note(f"Writes may be blocked until the next write: {second}")
        raise
    lost = ""
    if damage:
        lost = (
            f"{damage}: what was written since it went live is lost unless it is repaired; it is "
            "kept"
        )
    replayed = replay.replayed if replay else 0
    return replace(built, previous=live.name, replayed=replayed, lost=lost)


def _built(client: Elasticsearch, generation: Generation) -> Built:
    return Built(
        index=generation.name,
        rules=generation.rules or "",
        counts=count_documents(client, generation.name),
        previous=None,
        replayed=0,
        seconds=0.0,
    )


def _previous(client: Elasticsearch, alias: str) -> Generation:
    """The previous generation, or else another one to which somebody added the alias."""
    others = [
        generation
        for generation in generations.list_generations(client, alias)
        if generation.state == "previous" or (generation.state == "kept" and generation.aliased)
    ]
    if not others:
        raise NoGeneration(
            f"There is no previous generation of {alias!r} to roll back to.",
            "`blogsearch indices` lists the existing ones.",
        )
    return max(others, key=lambda generation: (generation.state == "previous", generation.number))
