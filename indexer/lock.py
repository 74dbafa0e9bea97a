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
from datetime import UTC, datetime
from types import TracebackType
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
        lease: seconds without a renewal after which a holder counts as dead.

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
        self._at: dict[str, int] = {}
        self._lost = False
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        self._acquire()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        try:
            self._client.delete(index=self._index, id=_ID, **self._at)  # type: ignore[arg-type]
        except (ApiError, TransportError):
            # Lost, or Elasticsearch is unavailable: other processes detect a dead holder.
            return

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
                raise Locked(_described(held["_source"]), "Wait until it is done.")
        if held and elapsed < self._lease - 2 * pause:  # the time limit of a write was over first
            raise Locked(_described(held["_source"]), "Wait until it is done.")
        try:
            self._write(_unchanged_since(held) if held else {"op_type": "create"})
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

    def _write(self, condition: dict[str, Any]) -> None:
        written = self._client.index(
            index=self._index, id=_ID, document=self._document, **condition
        )
        self._at = _unchanged_since(written)

    def _renew(self) -> None:
        with self._writing:
            try:
                self._write(dict(self._at))
            except ConflictError:
                self._lost = not self._has_our_token()

    def _has_our_token(self) -> bool:
        """Whether a conflict comes from our own renewal, whose response was lost."""
        held = self._read()
        if held is None or held["_source"].get("token") != self._document["token"]:
            return False
        self._at = _unchanged_since(held)
        return True

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self._renew()
            except (ApiError, TransportError):
                # The next renewal tries again; `check` raises before anything is swapped.
                continue


def _unchanged_since(document: Any) -> dict[str, int]:
    """The condition that nobody has written a document since it was read or written."""
    return {"if_seq_no": document["_seq_no"], "if_primary_term": document["_primary_term"]}


def _described(holder: dict[str, Any]) -> str:
    return (
        f"The index is being changed by process {holder['pid']} on {holder['host']} "
        f"({holder['purpose']}), since {holder['since']}."
    )
