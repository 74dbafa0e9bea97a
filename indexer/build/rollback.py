"""Makes the previous generation live again."""

import time
from dataclasses import replace

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.build.builder import Built, undone_on_failure
from indexer.build.replay import WriteReplay
from indexer.errors import NoGeneration
from indexer.generations import Generation
from indexer.lock import Lock
from indexer.scan import count_documents
from indexer.state import read_swap


def rollback(client: Elasticsearch, alias: str, *, discard_writes: bool = False) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    If the live generation cannot be read, they are lost as long as it cannot.
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
        if live:
            built = _roll_back(client, lock, alias, live, discard_writes=discard_writes)
        else:
            # If there is none, `require_live` says what to do.
            restored = generations.restore_alias(client, alias)
            restored = restored or generations.require_live(client, alias)
            counts = count_documents(client, restored.name)
            built = Built(restored.name, restored.rules or "", counts)
    return replace(built, stale_builds=stale_builds, seconds=time.monotonic() - started)


def _roll_back(
    client: Elasticsearch, lock: Lock, alias: str, live: Generation, *, discard_writes: bool
) -> Built:
    previous = _previous(client, alias)
    if reason := generations.damage(client, previous):
        raise generations.damaged(reason)
    damage = generations.damage(client, live)
    target = generations.restoring_alias(previous.name)
    replay = None
    if not damage:
        replay = WriteReplay(
            client,
            alias,
            live.name,
            previous.name,
            target=target,
            # Without that it starts now: writes made during the rollback are never lost.
            since=None if discard_writes else read_swap(client, alias, live.name),
        )
    with undone_on_failure(client, lock, alias, replay):
        generations.open_for_restore(client, previous.name)
        # Not earlier: a process that took the lock before this has not seen the alias.
        lock.check()
        # Counted before the swap: after it, a failure would look as if nothing had been swapped.
        counts = replay.replay_all(lock) if replay else count_documents(client, previous.name)
        lock.check()
        generations.swap(client, alias, previous.name, live.name, target)
    lost = "what was written since it went live is lost unless it is repaired; it is kept"
    return Built(
        previous.name,
        previous.rules or "",
        counts,
        previous=live.name,
        replayed=replay.replayed if replay else 0,
        lost=f"{damage}: {lost}" if damage else "",
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
