"""Makes the previous generation live again."""

import time

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer import generations
from indexer.build.builder import Built, recover
from indexer.build.replay import WriteReplay
from indexer.build.upgrade import adaptation
from indexer.errors import NoGeneration
from indexer.lock import Lock
from indexer.scan import count_documents
from indexer.state import swap_checkpoints


def rollback(client: Elasticsearch, alias: str, *, discard_writes: bool = False) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    A previous generation of a former schema gets them without the fields that it does not have: the
    version that built it can search it again.
    If somebody removed the alias, so that no generation is live, the last live one gets it again.

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
        live = generations.live(client, alias)
        if live is None:
            return _restore_lost_alias(client, alias, started, stale_builds)
        previous = _previous(client, alias)
        try:
            target = generations.open_for_restore(client, previous.name)
            # Not earlier: a process that took the lock before this has not seen the alias.
            lock.check()
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
            counts = replay.replay_blocked()
            lock.check()
            replay.swap()
        except BaseException as error:
            try:
                recover(client, lock, alias, blocked=True)
            except (ApiError, TransportError) as second:
                error.add_note(f"Writes may be blocked until the next write: {second}")
            raise
    return Built(
        index=previous.name,
        rules=previous.rules or "",
        counts=counts,
        previous=live.name,
        replayed=replay.replayed,
        seconds=time.monotonic() - started,
        stale_builds=tuple(stale_builds),
    )


def _restore_lost_alias(
    client: Elasticsearch, alias: str, started: float, stale_builds: list[str]
) -> Built:
    restored = generations.restore_alias(client, alias)
    if restored is None:
        # Says what to do.
        restored = generations.require_live(client, alias)
    return Built(
        index=restored.name,
        rules=restored.rules or "",
        counts=count_documents(client, restored.name),
        previous=None,
        replayed=0,
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
