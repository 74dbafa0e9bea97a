"""Makes the previous generation live again."""

import time

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.build.builder import Built
from indexer.build.replay import WriteReplay
from indexer.errors import NoGeneration
from indexer.lock import Lock
from indexer.scan import count_documents
from indexer.state import swap_checkpoints


def rollback(client: Elasticsearch, alias: str, *, discard_writes: bool = False) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.

    Args:
        discard_writes: do not replay those writes.

    Raises:
        NoGeneration: there is no previous generation.
        VerificationFailed: a write since the swap does not fit the older mapping.
        Locked: another process is building.
    """
    started = time.monotonic()
    with Lock(client, alias, "rollback") as lock:
        stale_builds = generations.recover(client, alias)
        live = generations.require_live(client, alias)
        previous = _previous(client, alias)
        generations.allow_writes(client, previous.name)
        try:
            replay = _replay(client, alias, live.name, previous.name, discard_writes)
            replay.replay_while_open()
            replay.block_and_swap(lock.check)
        except BaseException:
            _restore_write_blocks(client, alias, previous.name)
            raise
    return Built(
        index=previous.name,
        rules=previous.rules or "",
        counts=count_documents(client, previous.name),
        previous=live.name,
        replayed=replay.replayed,
        seconds=time.monotonic() - started,
        stale_builds=tuple(stale_builds),
    )


def _previous(client: Elasticsearch, alias: str) -> generations.Generation:
    for generation in generations.list_generations(client, alias):
        if generation.state == "previous":
            return generation
    raise NoGeneration(
        f"There is no previous generation of {alias!r} to roll back to.",
        "`blogsearch indices` lists the existing ones.",
    )


def _replay(
    client: Elasticsearch, alias: str, live: str, previous: str, discard_writes: bool
) -> WriteReplay:
    target = generations.previous_alias(alias)
    since = None if discard_writes else swap_checkpoints(client, alias, live)
    # Without checkpoints it starts now: writes made during the rollback are never lost.
    return WriteReplay(client, alias, live, previous, target=target, since=since)


def _restore_write_blocks(client: Elasticsearch, alias: str, previous: str) -> None:
    """After a failure, allow writes to the live generation only."""
    for generation in generations.list_generations(client, alias):
        if generation.state == "live" and generation.write_blocked:
            generations.allow_writes(client, generation.name)
        if generation.state == "previous" and generation.name == previous:
            generations.block_writes(client, previous)
