"""The state index: what must outlive a process and is not a post.

`<alias>-state` is hidden, has one shard, and holds the lock, the highest generation number used,
the ids and checkpoints of each swap, how the last run of each command ended, the files of pinned
results and the daily counts of searches.
"""

import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer.scan import Checkpoint, docs_of

_COUNTER = "counter"
_CHECKPOINT, _IDS = "", "ids"  # the documents of a swap


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


def allow_writes_on_full_disk(client: Elasticsearch, alias: str) -> None:
    """Remove the block that a full disk sets from the state index, if that exists.

    Without it no lock can be taken, so that nothing could be deleted to free the disk.
    """
    client.indices.put_settings(
        index=state_index(alias),
        settings={"index.blocks.read_only_allow_delete": None},
        ignore_unavailable=True,
        expand_wildcards="all",
    )


def next_number(client: Elasticsearch, alias: str, highest: int) -> int:
    """A generation number never used before, above `highest`. The caller must hold the lock."""
    number = max(highest, int(_read(client, alias, [_COUNTER])[0].get("number", 0))) + 1
    document = {"what": "counter", "number": number}
    client.index(index=state_index(alias), id=_COUNTER, document=document)
    return number


# -- swaps -------------------------------------------------------------------------------------


def store_swap(
    client: Elasticsearch,
    alias: str,
    generation: str,
    ids: Iterable[str],
    checkpoint: Checkpoint | None = None,
) -> None:
    """Store what a generation has when it goes live, for a later rollback.

    First its ids, without a checkpoint. Then, while writes are blocked, the checkpoint and the ids
    that were added; more of them do no harm.
    """
    packed = b64encode(zlib.compress("\n".join(ids).encode(), 1)).decode()
    values = {"what": "swap", "generation": generation, "ids": packed, "checkpoint": checkpoint}
    part = _IDS if checkpoint is None else _CHECKPOINT
    client.index(index=state_index(alias), id=f"swap:{generation}:{part}", document=values)


def read_swap(
    client: Elasticsearch, alias: str, generation: str
) -> tuple[Checkpoint, set[str]] | None:
    """The checkpoint and the ids; None for a generation that never went live."""
    parts = _read(client, alias, [f"swap:{generation}:{part}" for part in (_CHECKPOINT, _IDS)])
    if not all(parts):
        return None
    texts = [zlib.decompress(b64decode(part["ids"])).decode() for part in parts]
    return parts[0]["checkpoint"], {oid for text in texts for oid in text.split("\n") if oid}


def forget_swap(client: Elasticsearch, alias: str, generation: str) -> None:
    """Delete what is stored of the swap of a generation that is deleted."""
    state = client.options(ignore_status=404)
    for part in (_CHECKPOINT, _IDS):
        state.delete(index=state_index(alias), id=f"swap:{generation}:{part}")


# -- runs --------------------------------------------------------------------------------------


def record_run(
    client: Elasticsearch,
    alias: str,
    command: str,
    *,
    rejected: int,
    error: str | None,
    sources: str = "",
) -> None:
    """Store how a run that ends now went, and why it failed, instead of the run before."""
    now = time.time()
    values: dict[str, Any] = {
        "command": command,
        "rejected": rejected,
        "succeeded": error is None,
        "ended": now,
        "sources": _sendable(sources),
    }
    if error is not None:  # that of an earlier run stays
        values |= {"error": _sendable(error), "error_at": now}
        ensure_state(client, alias)  # a run that succeeds has held the lock
    client.update(
        index=state_index(alias),
        id=f"run:{command}",
        doc={"what": "run", **values},
        doc_as_upsert=True,
    )


def _sendable(text: str) -> str:
    """A text without surrogates, as those of a path that is not UTF-8, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def read_runs(client: Elasticsearch, alias: str, commands: Iterable[str]) -> list[Run]:
    """What `record_run` stored for these commands; nothing for a command that never ran."""
    sources = _read(client, alias, [f"run:{command}" for command in commands])
    names = Run.__dataclass_fields__
    return [
        Run(**{name: source[name] for name in names if name in source})
        for source in sources
        if source
    ]


def _read(client: Elasticsearch, alias: str, ids: list[str]) -> list[dict[str, Any]]:
    """Documents of the state index; an empty one for each that does not exist."""
    docs = docs_of(client.mget(index=state_index(alias), ids=ids))
    return [doc.get("_source", {}) for doc in docs]
