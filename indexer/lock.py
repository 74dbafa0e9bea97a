"""One builder at a time: a lease in the state index.

The holder renews it in the background. A holder that died on this machine is recognised at once,
by process id and start time; one on another machine when it has not renewed for `LEASE` seconds.
Every renewal compares and sets, so a process that slept through its lease learns that it lost it.
"""

import os
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from elasticsearch import ApiError, ConflictError, Elasticsearch, NotFoundError, TransportError

from indexer.errors import Locked
from indexer.state import ensure_state, state_index

LEASE = 60.0
"""Seconds without a renewal after which a holder elsewhere counts as gone."""

_RENEWAL = LEASE / 6
_ID = "lock"


class Lock:
    """A context manager that holds the lock of an alias.

    Args:
        purpose: what is being done, for whoever finds the door shut: "reindex posts.jsonl".

    Raises:
        Locked: on entry, another process holds it; in `check`, it was lost.
    """

    def __init__(self, client: Elasticsearch, alias: str, purpose: str) -> None:
        self._client = client
        self._alias = alias
        self._index = state_index(alias)
        self._purpose = purpose
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
            # Lost, or Elasticsearch is away: a dead holder is recognised without our help.
            return

    def is_held(self) -> bool:
        """Whether the lock is still ours, as far as Elasticsearch can be asked."""
        try:
            self.check()
        except (Locked, ApiError, TransportError):
            return False
        return True

    def check(self) -> None:
        """Make sure, now, that the lock is still ours.

        Raises:
            Locked: another process took it over.
        """
        if not self._lost:
            self._renew()
        if self._lost:
            raise Locked(
                f"The lock on {self._alias!r} was lost: this process was out for more than "
                f"{LEASE:.0f} seconds and another took over.",
                "Nothing was changed by this one; run it again when the other is done.",
            )

    def _acquire(self) -> None:
        try:
            found = self._client.get(index=self._index, id=_ID).body
        except NotFoundError:
            found = None
        if found is not None and (reason := _held(found["_source"])):
            raise Locked(reason, "Wait for it to end.")
        at: dict[str, Any] = (
            {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            if found
            else {"op_type": "create"}
        )
        try:
            self._write(at)
        except ConflictError:
            raise Locked(
                f"Another process took the lock on {self._alias!r} at this very moment.",
                "Wait for it to end.",
            ) from None

    def _write(self, at: dict[str, Any]) -> None:
        answer = self._client.index(
            index=self._index,
            id=_ID,
            document={
                "what": "lock",
                "token": self._token,
                "purpose": self._purpose,
                "since": self._since,
                "renewed": time.time(),
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
                self._lost = not self._is_ours()

    def _is_ours(self) -> bool:
        """A renewal whose answer got lost looks like a conflict; the token tells."""
        try:
            found = self._client.get(index=self._index, id=_ID).body
        except NotFoundError:
            return False
        if found["_source"].get("token") != self._token:
            return False
        self._at = {
            "if_seq_no": found["_seq_no"],
            "if_primary_term": found["_primary_term"],
        }
        return True

    def _keep_renewing(self) -> None:
        while not self._stop.wait(_RENEWAL):
            try:
                self._renew()
            except (ApiError, TransportError):
                # The next renewal tries again, and `check` decides before anything is swapped.
                continue


def _this_process() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "machine": _machine(),
        "pid": os.getpid(),
        "started": psutil.Process().create_time(),
    }


def _machine() -> str:
    """What tells machines of one name apart, and containers: a process id means nothing outside."""
    parts = [socket.gethostname()]
    for path in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        try:
            parts.append(str(path.readlink()) if path.is_symlink() else path.read_text().strip())
        except OSError:
            continue
    return " ".join(parts)


def _held(holder: dict[str, Any]) -> str | None:
    """Who holds it, as a sentence; None when that process is gone."""
    age = time.time() - float(holder["renewed"])
    who = f"process {holder['pid']} on {holder['host']} ({holder['purpose']})"
    here = holder["machine"] == _machine()
    if age > LEASE or (here and not _alive(int(holder["pid"]), float(holder["started"]))):
        return None
    return f"The index is being changed by {who}, since {holder['since']}."


def _alive(pid: int, started: float) -> bool:
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1 and process.status() != "zombie"
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
