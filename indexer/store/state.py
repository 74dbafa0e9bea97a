"""Manages the state index: data that must outlive a process and is not a post.

`<alias>-state` is hidden, has one shard, and holds the lock, the highest generation number used,
the last swaps, and data of the service: the end of each command's last run, the files of pinned
results, golden searches and the daily counts of searches.
"""

import os
import socket
import threading
import time
import uuid
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self

import orjson
from elasticsearch import ApiError, ConflictError, Elasticsearch, TransportError

from indexer.errors import Damaged, Locked, LockLost
from indexer.store.retry import remaining
from indexer.store.scan import Checkpoint, docs_of

LEASE = 10.0
"""The seconds without a renewal after which a holder counts as dead."""

CLEARING = "clearing a stale write block"
"""The purpose of a write that holds the lock for a moment; a command waits until it is done."""

_RENEWALS = 5  # per lease
_LOOKS = 50  # at the document per lease
_LOCK = "lock"
_SWAPS = "swaps"
_DOUBTS = "doubts"


def state_index(alias: str) -> str:
    """Return the name of the state index of an alias."""
    return f"{alias}-state"


def ensure_state(client: Elasticsearch, alias: str) -> str:
    """Create the state index if it does not exist; return its name."""
    name = state_index(alias)
    if not client.indices.exists(index=name):
        # 400: another process has just created it.
        client.options(ignore_status=400).indices.create(
            index=name,
            settings={"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": True},
            mappings={
                "dynamic": False,
                "properties": {"what": {"type": "keyword"}, "at": {"type": "date"}},
            },
        )
    return name


def next_number(client: Elasticsearch, alias: str, highest: int) -> int:
    """Return a number never used before, above `highest`. The caller must hold the lock."""
    number = max(highest, int(read_state(client, alias, ["counter"])[0].get("number", 0))) + 1
    document = {"what": "counter", "number": number}
    client.index(index=state_index(alias), id="counter", document=document)
    return number


# -- the lock ------------------------------------------------------------------------------------


class Lock:
    """A context manager that holds the lock of an alias: one process at a time changes generations.

    The lock is a document that its holder renews in the background. Another process that wants it
    watches the document: a change shows that the holder is alive; after `LEASE` seconds without one
    the holder is dead, and the lock is taken over. Clocks are never compared. A renewal fails if
    the document was taken over, so a process that was suspended learns that it lost the lock.

    Entering takes up to a renewal's interval (a fifth of the lease) if a living process holds it,
    and the lease if a killed one does.

    Args:
        purpose: the holder's task, shown to other processes: "reindex posts.jsonl".

    Raises:
        Locked: on entry, if another process holds it.
        LockLost: in `check`, and in place of an error inside, if it was lost.
    """

    def __init__(
        self, client: Elasticsearch, alias: str, purpose: str, lease: float = LEASE
    ) -> None:
        self._client, self._alias, self._lease = client, alias, lease
        self._index = state_index(alias)
        self.token = uuid.uuid4().hex
        self._document = {
            "what": _LOCK,
            "token": self.token,
            "purpose": sendable(purpose),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }
        self._written: Any = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        pause, until = self._lease / _LOOKS, 0.0
        seen: Any = None
        while True:
            held = self._read()
            is_free = held is None
            if held and seen and held["_seq_no"] == seen["_seq_no"]:
                is_free = time.monotonic() > until
            elif held:
                renewed = seen and held["_source"] == seen["_source"]
                if renewed and held["_source"]["purpose"] != CLEARING:
                    raise _lock_error(held)
                # Perhaps held for a moment: a write that waits for a build checks if it is alive.
                seen, until = held, time.monotonic() + self._lease
            with suppress(ConflictError):  # another process has just taken it
                if is_free:
                    self._write(held)
                    self._thread.start()
                    return self
            if held and remaining() <= pause:  # the time limit of a write ends first
                raise _lock_error(held)
            time.sleep(pause)

    def __exit__(self, _: object, error: BaseException | None, *trace: object) -> None:
        self._stop.set()
        self._thread.join()
        # If Elasticsearch is unavailable, others detect a dead holder.
        with suppress(ApiError, TransportError):
            if isinstance(error, Exception):
                self.check()  # the lost lock explains more than the error it caused
            self._client.delete(index=self._index, id=_LOCK, **_if_unchanged(self._written))

    def check(self) -> None:
        """Verify that this process still holds the lock.

        Raises:
            LockLost: another process took it over.
        """
        if self._held() is None:
            raise LockLost(
                f"The lock on {self._alias!r} was lost: this process was suspended for more than "
                f"{self._lease:.0f} seconds and another one took the lock.",
                "It wrote and swapped nothing after that. Run it again when the other one is done.",
            )

    def _read(self) -> Any:
        """Return the lock's document with its sequence number; None if nobody holds it."""
        answer = self._client.options(ignore_status=404).get(index=self._index, id=_LOCK).body
        if "error" in answer:
            ensure_state(self._client, self._alias)
        return answer if answer.get("found") else None

    def _held(self) -> Any:
        """Return the document if this process still holds the lock."""
        held = self._read()
        return held if held and held["_source"] == self._document else None

    def _write(self, before: Any) -> None:
        """Write the document, unless another process has written it since it was read."""
        condition = _if_unchanged(before) if before else {"op_type": "create"}
        self._written = self._client.index(
            index=self._index, id=_LOCK, document=self._document, **condition
        )

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._lease / _RENEWALS):
            # The next renewal tries again; `check` raises before anything is swapped.
            with suppress(ApiError, TransportError):
                if held := self._held():
                    self._write(held)


def _if_unchanged(document: Any) -> dict[str, Any]:
    """Return the condition that nobody has written a document since it was read or written."""
    return {"if_seq_no": document["_seq_no"], "if_primary_term": document["_primary_term"]}


def _lock_error(document: Any) -> Locked:
    holder = document["_source"]
    return Locked(
        f"The index is being changed by process {holder['pid']} on {holder['host']} "
        f"({holder['purpose']}), since {holder['since']}.",
        "Wait until it is done.",
    )


# -- swaps -------------------------------------------------------------------------------------


def store_swap(
    client: Elasticsearch,
    alias: str,
    former: str | None,
    generation: str,
    checkpoint: Checkpoint,
    removed: Iterable[str] | None,
) -> None:
    """Store the checkpoint at which a generation goes live, and the ids of the documents that only
    the former one has; None: it could not be read."""
    swaps = _swaps(client, alias)
    # Also those of a process that took over the lock, and the former one's, if this swap fails.
    kept = {name: swap for name, swap in swaps.items() if name >= (former or "")}
    # Packed: Elasticsearch refuses a write of more than a fraction of its memory.
    packed = None if removed is None else zlib.compress(orjson.dumps(sorted(removed))).hex()
    of = kept | {generation: {"checkpoint": checkpoint, "removed": packed}}
    client.index(index=state_index(alias), id=_SWAPS, document={"what": _SWAPS, "of": of})


def read_swap(client: Elasticsearch, alias: str, generation: str) -> tuple[Checkpoint, set[str]]:
    """Return the checkpoint and the ids that `store_swap` stored.

    Raises:
        Damaged: they are unknown.
    """
    swap = _swaps(client, alias).get(generation)
    if not swap or swap["removed"] is None:
        raise Damaged(f"The state index has no record of the swap to {generation}.")
    return swap["checkpoint"], set(orjson.loads(zlib.decompress(bytes.fromhex(swap["removed"]))))


def _swaps(client: Elasticsearch, alias: str) -> dict[str, Any]:
    """Return the swaps of the live generation and the one before."""
    return dict(read_state(client, alias, [_SWAPS])[0].get("of", {}))


# -- pages that are doubted ----------------------------------------------------------------------


def count_doubts(client: Elasticsearch, alias: str, oids: Collection[str]) -> dict[str, int]:
    """Count the runs in a row, this one included, in which each of these pages was no post. The
    caller must hold the lock."""
    before = read_state(client, alias, [_DOUBTS])[0].get("of", {})
    counts = {oid: before.get(oid, 0) + 1 for oid in oids}
    if counts != before:
        document = {"what": _DOUBTS, "of": counts}
        client.index(index=state_index(alias), id=_DOUBTS, document=document)
    return counts


def sendable(text: str) -> str:
    """Replace surrogates, as in a path that is not UTF-8, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def read_state(client: Elasticsearch, alias: str, ids: list[str]) -> list[dict[str, Any]]:
    """Return documents of the state index; an empty one for each that does not exist."""
    docs = docs_of(client.mget(index=state_index(alias), ids=ids))
    return [doc.get("_source", {}) for doc in docs]
