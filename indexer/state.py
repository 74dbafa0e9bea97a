"""The state index: what must outlive a process and is not a post.

`<alias>-state` is hidden, has one shard, and holds the lock, the highest generation number used,
the ids and checkpoints of each swap, how the last run of each command ended, the files of pinned
results and the daily counts of searches.
"""

import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from indexer.records import batches
from indexer.scan import Checkpoint, docs_of

_COUNTER = "counter"
_IDS = 50_000  # in one document; an id has at most 200 bytes


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
    if client.indices.exists(index=name):
        return name
    try:
        client.indices.create(
            index=name,
            settings={"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": True},
            mappings={
                "dynamic": False,
                "properties": {"what": {"type": "keyword"}, "at": {"type": "date"}},
            },
        )
    except BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
    return name


def allow_writes_on_full_disk(client: Elasticsearch, alias: str) -> None:
    """Remove the block that a full disk sets from the state index, if that exists.

    Without it no lock can be taken, so that nothing could be deleted to free the disk. As long as
    the disk is full, Elasticsearch sets the block again within a minute.
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


class SwapRecord:
    """The ids and the checkpoint at which a generation goes live, for a later rollback.

    The ids are stored in compressed parts: while writes are blocked only those of the last replay
    are added, so that this takes no longer for a large index. The caller holds the lock.
    """

    def __init__(self, client: Elasticsearch, alias: str, generation: str) -> None:
        self._client, self._alias, self._generation = client, alias, generation
        self._parts = 0

    def add(self, ids: Iterable[str]) -> None:
        """Store ids of documents that the generation has; more of them do no harm."""
        for part in batches(ids, _IDS):
            packed = b64encode(zlib.compress("\n".join(part).encode(), 1)).decode()
            self._write(f"{self._parts}", {"ids": packed})
            self._parts += 1

    def finish(self, checkpoint: Checkpoint) -> None:
        """Store the checkpoint, before the swap."""
        self._write("", {"checkpoint": checkpoint, "parts": self._parts})

    def _write(self, part: str, values: Mapping[str, Any]) -> None:
        self._client.index(
            index=state_index(self._alias),
            id=_swap_id(self._generation, part),
            document={"what": "swap", "generation": self._generation, **values},
        )


def read_swap(
    client: Elasticsearch, alias: str, generation: str
) -> tuple[Checkpoint, set[str]] | None:
    """The checkpoint and the ids stored by `SwapRecord`; None for one that never went live."""
    (swap,) = _read(client, alias, [_swap_id(generation)])
    if not swap:
        return None
    ids: set[str] = set()
    for part in range(swap["parts"]):
        (stored,) = _read(client, alias, [_swap_id(generation, f"{part}")])
        ids.update(zlib.decompress(b64decode(stored["ids"])).decode().split("\n"))
    return swap["checkpoint"], ids


def forget_swap(client: Elasticsearch, alias: str, generation: str) -> None:
    """Delete what is stored of the swap of a generation that is deleted."""
    state = client.options(ignore_status=404)
    for part in count():  # also those of a build that was killed before the swap
        deleted = state.delete(index=state_index(alias), id=_swap_id(generation, f"{part}"))
        if deleted.get("result") != "deleted":
            break
    state.delete(index=state_index(alias), id=_swap_id(generation))


def _swap_id(generation: str, part: str = "") -> str:
    return f"swap:{generation}:{part}"


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
    """Store how a run that ends now went, instead of the run before.

    Args:
        error: why it failed; None if it did what it should.
    """
    now = time.time()
    run = Run(command, rejected, error is None, now, _sendable(sources))
    values = asdict(run)
    if error is None:  # the error of an earlier run stays
        del values["error"], values["error_at"]
    else:
        values |= {"error": _sendable(error), "error_at": now}
    if error is not None:  # a run that succeeds has held the lock
        ensure_state(client, alias)
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
    try:
        docs = docs_of(client.mget(index=state_index(alias), ids=ids))
    except NotFoundError:
        return [{} for _ in ids]
    return [doc.get("_source", {}) for doc in docs]
