"""The state index: what must outlive a process and is not a post.

`<alias>-state` is hidden, has one shard, and holds the lock, the highest generation number used,
the checkpoints and oids at each swap, the files of pinned results, and how the last run of each
command ended.
"""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from indexer.records import batches
from indexer.scan import Checkpoint, checkpoint, docs_of, stored_ids

_COUNTER = "counter"
_OIDS = 10_000  # in one document


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a command that reads sources; `ended` is in seconds since 1970."""

    command: str
    rejected: int
    succeeded: bool
    ended: float


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
                "properties": {
                    "what": {"type": "keyword"},
                    "at": {"type": "date"},
                },
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
    name = ensure_state(client, alias)
    number = max(highest, int(_read(client, alias, _COUNTER).get("number", 0))) + 1
    client.index(index=name, id=_COUNTER, document={"what": "counter", "number": number})
    return number


def record_swap(client: Elasticsearch, alias: str, generation: str) -> None:
    """Store the checkpoint and the oids with which a generation goes live, for a later rollback."""
    written = checkpoint(client, generation)
    client.indices.refresh(index=generation)
    parts = list(batches(stored_ids(client, generation), _OIDS))
    for number, oids in enumerate(parts or [[]]):
        client.index(
            index=state_index(alias),
            id=f"swap:{generation}:{number}",
            document={"what": "swap", "parts": len(parts), "written": written, "oids": oids},
        )


def read_swap(
    client: Elasticsearch, alias: str, generation: str
) -> tuple[Checkpoint, set[str]] | None:
    """What `record_swap` stored; None for a generation that never went live."""
    first = _read(client, alias, f"swap:{generation}:0")
    if not first:
        return None
    oids = set(first["oids"])
    for number in range(1, first["parts"]):
        oids.update(_read(client, alias, f"swap:{generation}:{number}").get("oids", ()))
    return first["written"], oids


def record_run(
    client: Elasticsearch, alias: str, command: str, *, rejected: int, succeeded: bool
) -> None:
    """Store how a run that ends now went, instead of the run before."""
    run = Run(command, rejected, succeeded, time.time())
    name = ensure_state(client, alias)
    client.index(index=name, id=f"run:{command}", document={"what": "run", **asdict(run)})


def read_runs(client: Elasticsearch, alias: str, commands: Iterable[str]) -> list[Run]:
    """What `record_run` stored for these commands; nothing for a command that never ran."""
    ids = [f"run:{command}" for command in commands]
    docs = docs_of(client.mget(index=state_index(alias), ids=ids))
    sources = [doc["_source"] for doc in docs if doc.get("found")]
    return [Run(**{name: source[name] for name in Run.__dataclass_fields__}) for source in sources]


def _read(client: Elasticsearch, alias: str, id_: str) -> dict[str, Any]:
    """One document of the state index; empty if there is none."""
    try:
        source: dict[str, Any] = client.get(index=state_index(alias), id=id_)["_source"]
    except NotFoundError:
        return {}
    return source
