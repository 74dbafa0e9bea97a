"""The state index: the little that must outlive a process and is not a post.

`<alias>-state` is hidden, one shard, and holds one document each for the lock, the highest
generation number given out, what was noted at each swap, and every deletion (see tombstones.py).
"""

from typing import Any

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

_COUNTER = "counter"


def state_index(alias: str) -> str:
    """The name of the state index of an alias."""
    return f"{alias}-state"


def ensure_state(client: Elasticsearch, alias: str) -> str:
    """Create the state index unless it is there; return its name."""
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
                    "pending": {"type": "boolean"},
                },
            },
        )
    except BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
    return name


def next_number(client: Elasticsearch, alias: str, taken: int) -> int:
    """A generation number that was never given out; above `taken` in any case. Needs the lock."""
    name = ensure_state(client, alias)
    number = max(taken, int(read(client, alias, _COUNTER).get("number", 0))) + 1
    client.index(index=name, id=_COUNTER, document={"what": "counter", "number": number})
    return number


def read(client: Elasticsearch, alias: str, id_: str) -> dict[str, Any]:
    """One document of the state; empty when there is none."""
    try:
        found: dict[str, Any] = client.get(index=state_index(alias), id=id_)["_source"]
    except NotFoundError:
        return {}
    return found


def note_swap(client: Elasticsearch, alias: str, generation: str, noted: dict[str, Any]) -> None:
    """Keep what stood in a generation when it went live, for a later rollback."""
    client.index(
        index=ensure_state(client, alias),
        id=f"swap:{generation}",
        document={"what": "swap", **noted},
    )


def noted_at_swap(client: Elasticsearch, alias: str, generation: str) -> dict[str, Any]:
    """What `note_swap` kept; empty for a generation that never went live."""
    return read(client, alias, f"swap:{generation}")
