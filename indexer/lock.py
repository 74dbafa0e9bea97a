"""The lock of an index: one process at a time builds or changes generations.

It is a document in the state index that its holder renews in the background. Another process that
wants the lock watches the document: if it changes, the holder is alive; if it does not change for
`LEASE` seconds, the holder is dead and the lock is taken over. No clock is compared with another
one. A renewal fails if the document was taken over, so a process that was suspended learns that it
lost the lock.
"""

import os
import socket
import threading
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self

from elasticsearch import ApiError, ConflictError, Elasticsearch, TransportError

from indexer.errors import Locked, LockLost
from indexer.retry import Retry, remaining
from indexer.state import ensure_state, sendable, state_index

LEASE = 10.0
"""Seconds without a renewal after which a holder counts as dead."""

_RENEWALS = 5  # in each lease
_LOOKS = 50  # at the document in each lease
_TRIES = 3  # to take it, if others do at the same moment
_ID = "lock"


class Lock:
    """A context manager that holds the lock of an alias.

    Entering takes up to a renewal's interval (a fifth of the lease) if a living process holds the
    lock, and the lease if a killed one does.

    Args:
        purpose: what the holder does, shown to other processes: "reindex posts.jsonl".

    Raises:
        Locked: on entry, if another process holds it.
        LockLost: in `check`, if it was lost.
    """

    def __init__(
        self, client: Elasticsearch, alias: str, purpose: str, lease: float = LEASE
    ) -> None:
        self._client, self._alias, self._lease = client, alias, lease
        self._index = state_index(alias)
        self._document = {
            "what": "lock",
            "token": uuid.uuid4().hex,
            "purpose": sendable(purpose),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }
        self._condition: dict[str, Any] = {}
        self._lost = False
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        # A write that waits for a build takes it for a moment, to see whether that was killed.
        for _ in range(_TRIES):
            held = self._held_by_a_dead_one()
            self._condition = _unchanged_since(held) if held else {"op_type": "create"}
            self._lost = False
            self._renew()
            if not self._lost:
                self._thread.start()
                return self
        raise Locked(
            f"Another process has just taken the lock on {self._alias!r}.", "Wait until it is done."
        )

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()
        # If it was lost, or Elasticsearch is away, others detect a dead holder.
        with suppress(ApiError, TransportError):
            self._client.delete(index=self._index, id=_ID, **self._condition)

    def check(self) -> None:
        """Verify that this process still holds the lock.

        Raises:
            LockLost: another process took it over.
        """
        if not self._lost:
            self._renew()
        if self._lost:
            raise LockLost(
                f"The lock on {self._alias!r} was lost: this process was suspended for more than "
                f"{self._lease:.0f} seconds and another one took the lock.",
                "Nothing was swapped or removed. Run it again when the other one is done.",
            )

    def _held_by_a_dead_one(self) -> Any:
        """The document that did not change for a lease; None if nobody holds the lock."""
        pause, held = self._lease / _LOOKS, None
        for _ in Retry(self._lease, first_pause=pause, longest_pause=pause).attempts():
            seen, held = held, self._read()
            if held is None:
                return None
            if seen and seen["_source"].get("token") != held["_source"].get("token"):
                return self._held_by_a_dead_one()  # another one, which may hold it for a moment
            if seen and seen["_seq_no"] != held["_seq_no"]:
                raise _locked(held)
        if remaining() <= pause:  # the time limit of a write was over first
            raise _locked(held)
        return held

    def _read(self) -> Any:
        """The document of the lock with its sequence number; None if nobody holds it."""
        answer = self._client.options(ignore_status=404).get(index=self._index, id=_ID).body
        if "error" in answer:
            ensure_state(self._client, self._alias)
        return answer if answer.get("found") else None

    def _write(self) -> None:
        written = self._client.index(
            index=self._index, id=_ID, document=self._document, **self._condition
        )
        self._condition = _unchanged_since(written)

    def _renew(self) -> None:
        with self._writing:
            try:
                self._write()
            except ConflictError:
                held = self._read()
                if held and held["_source"].get("token") == self._document["token"]:
                    # The conflict is with a write of our own, whose response was lost.
                    self._condition = _unchanged_since(held)
                else:
                    self._lost = True

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._lease / _RENEWALS):
            # The next renewal tries again; `check` raises before anything is swapped.
            with suppress(ApiError, TransportError):
                self._renew()


def _unchanged_since(document: Any) -> dict[str, Any]:
    """The condition that nobody has written a document since it was read or written."""
    return {"if_seq_no": document["_seq_no"], "if_primary_term": document["_primary_term"]}


def _locked(document: Any) -> Locked:
    holder = document["_source"]
    return Locked(
        f"The index is being changed by process {holder['pid']} on {holder['host']} "
        f"({holder['purpose']}), since {holder['since']}.",
        "Wait until it is done.",
    )
