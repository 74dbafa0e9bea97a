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

from elasticsearch import ApiError, ConflictError, Elasticsearch, NotFoundError, TransportError

from indexer.errors import Locked, LockLost
from indexer.retry import Retry
from indexer.state import ensure_state, state_index

LEASE = 10.0
"""Seconds without a renewal after which a holder counts as dead."""

_RENEWALS = 5  # in each lease
_LOOKS = 10  # at the document between two renewals
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
        self._client = client
        self._alias = alias
        self._index = state_index(alias)
        self._lease = lease
        self._interval = lease / _RENEWALS
        self._document = {
            "what": "lock",
            "token": uuid.uuid4().hex,
            # A path that is not UTF-8 has surrogates, which cannot be sent.
            "purpose": purpose.encode("utf-8", "replace").decode(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }
        self._condition: dict[str, Any] = {"op_type": "create"}
        self._lost = False
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        self._acquire()
        self._thread.start()
        return self

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

    def _acquire(self) -> None:
        pause = self._interval / _LOOKS
        held: Any = None
        elapsed = 0.0
        for elapsed in Retry(  # noqa: B007 - used after the loop
            self._lease, first_pause=pause, longest_pause=pause
        ).attempts():
            seen, held = held, self._read()
            if held is None:
                break
            if seen and seen["_seq_no"] != held["_seq_no"]:
                raise _locked(held)
        if held:
            if elapsed < self._lease - 2 * pause:  # the time limit of a write was over first
                raise _locked(held)
            self._condition = _unchanged_since(held)
        try:
            self._write()
        except ConflictError:
            raise Locked(
                f"Another process has just taken the lock on {self._alias!r}.",
                "Wait until it is done.",
            ) from None

    def _read(self) -> Any:
        """The document of the lock with its sequence number; None if nobody holds it."""
        try:
            return self._client.get(index=self._index, id=_ID).body
        except NotFoundError as error:
            if error.error == "index_not_found_exception":
                ensure_state(self._client, self._alias)
            return None

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
                    # The conflict is with our own renewal, whose response was lost.
                    self._condition = _unchanged_since(held)
                else:
                    self._lost = True

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._interval):
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
