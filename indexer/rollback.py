"""Back to the generation that was live before, and forth again."""

import time

from elasticsearch import Elasticsearch

from indexer import lifecycle
from indexer.build import count
from indexer.carry import Carrier
from indexer.errors import NoGeneration
from indexer.lock import Lock
from indexer.progress import Built
from indexer.state import noted_at_swap


def rollback(client: Elasticsearch, alias: str, *, as_it_was: bool = False) -> Built:
    """Make the previous generation live; what is live now becomes the previous one.

    What was written since the swap is carried back: a rollback undoes a build, not the posts that
    came after it.

    Args:
        as_it_was: leave those writes behind.

    Raises:
        NoGeneration: there is none to go back to.
        VerificationFailed: a write since the swap does not fit the older mapping.
        Locked: another process is building.
    """
    started = time.monotonic()
    with Lock(client, alias, "rollback") as lock:
        orphans = lifecycle.recover(client, alias)
        live = lifecycle.require_live(client, alias)
        previous = _previous(client, alias)
        lifecycle.allow_writes(client, previous.name)
        try:
            carrier = _carrier(client, alias, live.name, previous.name, as_it_was)
            carrier.while_open()
            carrier.close_and_swap(lock.check)
        except BaseException:
            _as_before(client, alias, previous.name)
            raise
    return Built(
        index=previous.name,
        rules=previous.rules or "",
        counts=count(client, previous.name),
        previous=live.name,
        carried=carrier.carried,
        seconds=time.monotonic() - started,
        orphans=tuple(orphans),
    )


def _previous(client: Elasticsearch, alias: str) -> lifecycle.Generation:
    for generation in lifecycle.generations(client, alias):
        if generation.state == "previous":
            return generation
    raise NoGeneration(
        f"There is no generation of {alias!r} to go back to.",
        "`blogsearch indices` lists what there is.",
    )


def _carrier(
    client: Elasticsearch, alias: str, live: str, previous: str, as_it_was: bool
) -> Carrier:
    target = lifecycle.previous_alias(alias)
    noted = noted_at_swap(client, alias, live)
    if as_it_was or not noted:
        # From this moment on: writes while we are at it are not lost either way.
        return Carrier(client, alias, live, previous, target=target)
    since = (noted["written"], noted["deleted"])
    return Carrier(client, alias, live, previous, target=target, since=since)


def _as_before(client: Elasticsearch, alias: str, previous: str) -> None:
    """After a failure: whichever is live takes writes, the other does not."""
    for generation in lifecycle.generations(client, alias):
        if generation.state == "live" and generation.write_blocked:
            lifecycle.allow_writes(client, generation.name)
        if generation.state == "previous" and generation.name == previous:
            lifecycle.block_writes(client, previous)
