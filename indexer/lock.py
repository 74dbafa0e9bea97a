"""The lock of an index: one process at a time builds or changes generations.

It is a document in the state index that its holder renews in the background. A holder that died on
this machine is detected at once, by process id and start time; one on another machine if the lock
says that it was not renewed for `LEASE` seconds, and it is not renewed while it is watched either:
the clocks of two nodes of Elasticsearch may differ by more than that. A renewal fails if the
document has changed, so a process that was suspended learns that it lost the lock.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import psutil
from elasticsearch import ApiError, ConflictError, Elasticsearch, NotFoundError, TransportError

from indexer.errors import Locked, LockLost
from indexer.state import ensure_state, state_index

LEASE = 60.0
"""Seconds without a renewal after which a holder on another machine counts as dead."""

_RENEWALS = 6  # in each lease
_WATCHED = 2  # renewals that a holder on another machine has to miss
_ID = "lock"


class Lock:
    """A context manager that holds the lock of an alias.

    Args:
        purpose: what the holder does, shown to other processes: "reindex posts.jsonl".
        lease: seconds without a renewal after which another process may take the lock; it
            watches the lock for a third of them before.

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
        # A path that is not UTF-8 has surrogates, which cannot be sent.
        self._purpose = purpose.encode("utf-8", "replace").decode()
        self._lease = lease
        self._token = uuid.uuid4().hex
        self._since = datetime.now(UTC).isoformat(timespec="seconds")
        self._at: dict[str, int] = {}
        self._lost = False
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        ensure_state(self._client, self._alias)
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
        found = self._read()
        if found and not _has_ended(found["_source"]):
            held = f"The index is being changed by {_describe(found['_source'])}."
            if not self._seems_abandoned(found["_source"]) or self._is_renewed(found):
                raise Locked(held, "Wait until it is done.")
        at: dict[str, Any] = (
            {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            if found
            else {"op_type": "create"}
        )
        try:
            self._write(at)
        except ConflictError:
            raise Locked(
                f"Another process has just taken the lock on {self._alias!r}.",
                "Wait until it is done.",
            ) from None

    def _read(self) -> Any:
        """The document of the lock with its sequence number; None if nobody holds it."""
        try:
            return self._client.get(index=self._index, id=_ID).body
        except NotFoundError:
            return None

    def _seems_abandoned(self, holder: Mapping[str, Any]) -> bool:
        """Whether the lock was not renewed for the lease, or a clock is wrong by more than that."""
        return abs(_elastic_time(self._client) - float(holder["renewed"])) > self._lease

    def _is_renewed(self, found: Any) -> bool:
        """Watch whether the lock changes while its holder should renew it."""
        interval = self._lease / _RENEWALS
        deadline = time.monotonic() + _WATCHED * interval
        while time.monotonic() < deadline:
            time.sleep(interval / 5)
            now = self._read()
            if now is None or now["_seq_no"] != found["_seq_no"]:
                return True
        return False

    def _write(self, at: dict[str, Any]) -> None:
        answer = self._client.index(
            index=self._index,
            id=_ID,
            document={
                "what": "lock",
                "token": self._token,
                "purpose": self._purpose,
                "since": self._since,
                "renewed": _elastic_time(self._client),
                **_this_process(),
            },
            **at,
        )
        self._at = {
            "if_seq_no": answer["_seq_no"],
            "if_primary_term": answer["_primary_term"],
        }

    def _renew(self) -> None:
        with self._writing:
            try:
                self._write(dict(self._at))
            except ConflictError:
                self._lost = not self._has_our_token()

    def _has_our_token(self) -> bool:
        """Whether a conflict comes from our own renewal, whose response was lost."""
        found = self._read()
        if found is None or found["_source"].get("token") != self._token:
            return False
        self._at = {
            "if_seq_no": found["_seq_no"],
            "if_primary_term": found["_primary_term"],
        }
        return True

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._lease / _RENEWALS):
            try:
                self._renew()
            except (ApiError, TransportError):
                # The next renewal tries again; `check` raises before anything is swapped.
                continue


def _this_process() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "machine": _machine(),
        "pid": os.getpid(),
        "started": start_time(psutil.Process()),
    }


def _machine() -> str:
    """Identifies the machine or container: process ids are only comparable within one."""
    parts = [socket.gethostname()]
    for path in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        try:
            parts.append(str(path.readlink()) if path.is_symlink() else path.read_text().strip())
        except OSError:
            continue
    return " ".join(parts)


def _elastic_time(client: Elasticsearch) -> float:
    """Seconds since 1970 by the clock of a node of Elasticsearch."""
    (row,) = client.cat.health(h="epoch", format="json")
    return float(cast(dict[str, str], row)["epoch"])


def _has_ended(holder: Mapping[str, Any]) -> bool:
    """Whether the holder is a process of this machine that does not run any more."""
    here = holder["machine"] == _machine()
    return here and not _alive(int(holder["pid"]), float(holder["started"]))


def _describe(holder: Mapping[str, Any]) -> str:
    return (
        f"process {holder['pid']} on {holder['host']} ({holder['purpose']}), "
        f"since {holder['since']}"
    )


def start_time(process: psutil.Process) -> float:
    """Seconds from the start of the machine: a date would change when its clock is set."""
    return process.create_time() - psutil.boot_time()


def _alive(pid: int, started: float) -> bool:
    try:
        process = psutil.Process(pid)
        return abs(start_time(process) - started) < 1 and process.status() != "zombie"
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
