"""The state index: what must outlive a process and is not a post.

`<alias>-state` is hidden, has one shard, and holds the lock, the highest generation number used,
the ids and checkpoints of each swap, how the last run of each command ended, the files of pinned
results, golden searches and the daily counts of searches.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer.errors import Damaged
from indexer.scan import Checkpoint, docs_of

_COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a command that reads sources; times are in seconds since 1970.

    `sources` are the names of its sources as they were given.
    `error` is that of the last run that failed, which ended at `error_at`; both stay after a run
    that succeeds.
    """

    command: str
    rejected: int
    succeeded: bool
    ended: float
    sources: str = ""
    error: str = ""
    error_at: float | None = None


def state_index(alias: str) -> str:
    """The name of the state index of an alias."""
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
    """A generation number never used before, above `highest`. The caller must hold the lock."""
    number = max(highest, int(_read(client, alias, [_COUNTER])[0].get("number", 0))) + 1
    document = {"what": "counter", "number": number}
    client.index(index=state_index(alias), id=_COUNTER, document=document)
    return number


# -- swaps -------------------------------------------------------------------------------------


def store_swap(
    client: Elasticsearch, alias: str, generation: str, checkpoint: Checkpoint, ids: Iterable[str]
) -> None:
    """Store the checkpoint at which a generation goes live, and the ids of its documents; more of
    them do no harm."""
    document = {"what": "swap", "checkpoint": checkpoint, "ids": list(ids)}
    client.index(index=state_index(alias), id=_swap(generation), document=document)


def read_swap(client: Elasticsearch, alias: str, generation: str) -> tuple[Checkpoint, set[str]]:
    """The checkpoint and the ids.

    Raises:
        Damaged: they are not known.
    """
    (swap,) = _read(client, alias, [_swap(generation)])
    if not swap:
        raise Damaged(f"The state index does not know the swap of {generation}.")
    return swap["checkpoint"], set(swap["ids"])


def forget_swap(client: Elasticsearch, alias: str, generation: str) -> None:
    """Delete what is stored of the swap of a generation that is deleted."""
    client.options(ignore_status=404).delete(index=state_index(alias), id=_swap(generation))


def _swap(generation: str) -> str:
    return f"swap:{generation}"


# -- runs --------------------------------------------------------------------------------------


def record_run(
    client: Elasticsearch,
    alias: str,
    command: str,
    sources: str,
    rejected: int,
    error: str | None,
) -> None:
    """Store how a run that ends now went, and why it failed, instead of the run before."""
    now = time.time()
    run: dict[str, Any] = {
        "command": command,
        "sources": sendable(sources),
        "rejected": rejected,
        "succeeded": error is None,
        "ended": now,
    }
    if error is not None:  # that of an earlier run stays
        run |= {"error": sendable(error), "error_at": now}
        ensure_state(client, alias)  # a run that succeeds has held the lock
    index = state_index(alias)
    client.update(index=index, id=f"run:{command}", doc=run, doc_as_upsert=True)


def sendable(text: str) -> str:
    """A text without surrogates, as those of a path that is not UTF-8, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def read_runs(client: Elasticsearch, alias: str, commands: Iterable[str]) -> list[Run]:
    """What `record_run` stored for these commands; nothing for a command that never ran."""
    documents = _read(client, alias, [f"run:{command}" for command in commands])
    return [Run(**document) for document in documents if document]


def _read(client: Elasticsearch, alias: str, ids: list[str]) -> list[dict[str, Any]]:
    """Documents of the state index; an empty one for each that does not exist."""
    docs = docs_of(client.mget(index=state_index(alias), ids=ids))
    return [doc.get("_source", {}) for doc in docs]
