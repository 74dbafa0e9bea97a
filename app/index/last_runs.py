"""Records the last run of each command that reads sources, in the state index."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer.store.state import ensure_state, read_state, sendable, state_index


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run of a command that reads sources; times are in seconds since 1970.

    `sources` are the names of its sources as given; `left_out` is the number of their files or
    pages that were not taken for posts. `error` is the error of the last failed run, which ended at
    `error_at`; both remain after a run that succeeds.
    """

    command: str
    rejected: int
    succeeded: bool
    ended: float
    sources: str = ""
    error: str = ""
    error_at: float | None = None
    left_out: int = 0


def record_run(
    client: Elasticsearch,
    alias: str,
    command: str,
    sources: str,
    rejected: int,
    error: str | None,
    left_out: int = 0,
) -> None:
    """Store the outcome of a run that ends now, and its error, in place of the previous run."""
    now = time.time()
    run: dict[str, Any] = {
        "command": command,
        "sources": sendable(sources),
        "rejected": rejected,
        "left_out": left_out,
        "succeeded": error is None,
        "ended": now,
    }
    if error is not None:  # otherwise the error of an earlier run remains
        run |= {"error": sendable(error), "error_at": now}
        ensure_state(client, alias)  # a run that succeeds has created it for its lock
    index = state_index(alias)
    client.update(index=index, id=f"run:{command}", doc=run, doc_as_upsert=True)


def read_runs(client: Elasticsearch, alias: str, commands: Iterable[str]) -> list[LastRun]:
    """Return the last runs of these commands, without commands that never ran."""
    ids = [f"run:{command}" for command in commands]
    return [LastRun(**run) for run in read_state(client, alias, ids) if run]
