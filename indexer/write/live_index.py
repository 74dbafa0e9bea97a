"""Sends single writes to the live index, waiting while it is being swapped."""

import time
from collections.abc import Iterable

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.bulk.operations import BulkLimits, Operation
from indexer.bulk.sender import BulkTimeout, Outcome, Sender
from indexer.errors import Locked
from indexer.lock import Lock
from indexer.write.comments import update_comments

_MAX_WAIT = 20.0  # seconds a client may wait while the index is swapped
_STALE_AFTER = 2.0  # seconds; a build blocks writes for less than that
LIMITS = BulkLimits(workers=1, retry_for=_STALE_AFTER, timeout=20.0)
"""For a write that a client waits for."""


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


def send_to_live(
    client: Elasticsearch, alias: str, sender: Sender, chunk: list[Operation]
) -> list[Outcome]:
    """Send a chunk; if the index stays blocked, check whether the build that blocked it is alive.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time; part of it may have been accepted.
    """
    deadline = time.monotonic() + _MAX_WAIT
    while True:
        try:
            return sender.send(chunk)
        except BulkTimeout as error:
            if not error.write_blocked or time.monotonic() > deadline:
                raise
            clear_stale_write_block(client, alias)


def update_live_comments(client: Elasticsearch, alias: str, post_oids: Iterable[str]) -> set[str]:
    """Update the field `comments` of posts in the live index; returns the oids without a post.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time.
    """
    deadline = time.monotonic() + _MAX_WAIT
    oids = set(post_oids)
    while True:
        try:
            return update_comments(client, alias, oids, _STALE_AFTER)
        except BulkTimeout as error:
            if time.monotonic() > deadline:
                raise
            if error.write_blocked:
                clear_stale_write_block(client, alias)


def clear_stale_write_block(client: Elasticsearch, alias: str) -> None:
    """Allow writes to the live index again if a build was killed after blocking them."""
    try:
        with Lock(client, alias, "clearing a stale write block"):
            generations.recover(client, alias)
    except Locked:
        # The build is alive and will allow writes itself.
        return
