"""A generation whose swap was refused, kept so that the next run can go on from it.

`reindex` refuses to swap when too much was rejected, or when the source has far fewer documents
than the live index. The same command with `--max-rejects` or `--force` then continues with the
generation that is built already. It is hidden, and reached by its own alias only.
"""

import time
from dataclasses import asdict, dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.records import Counts, Origin, Reject
from indexer.scan import Checkpoint
from indexer.state import read_unfinished, record_unfinished

MAX_AGE = 24 * 3600.0
"""Seconds for which it is used: posts dated in the future become due, and deletions pile up."""
MAX_REJECTS = 10_000
"""With more rejects nothing is kept; the source has to be corrected first."""


@dataclass(frozen=True, slots=True)
class Filled:
    """How a generation was filled from a source.

    Args:
        counts: the accepted documents.
        entries: number of entries that the source yielded.
        rejected: number of those of which something was rejected.
        rejects: all rejects, or the first `MAX_REJECTS` + 1.
    """

    counts: Counts
    entries: int
    rejected: int
    rejects: tuple[Reject, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A generation that is filled, and what another run has to know of it.

    Args:
        key: the same for the same sources, options and index settings.
        live: the live generation when the build began, None if there was none.
        since: the checkpoints from which writes to `live` are to be replayed.
    """

    generation: str
    key: str
    live: str | None
    since: tuple[Checkpoint, Checkpoint] | None
    filled: Filled


def keep(client: Elasticsearch, alias: str, unfinished: Unfinished) -> None:
    """Keep the generation that is being built. The caller must hold the lock."""
    # `blogsearch indices` counts what is visible.
    client.indices.refresh(index=unfinished.generation)
    record_unfinished(client, alias, {**asdict(unfinished), "kept_at": time.time()})
    generations.set_aside(client, unfinished.generation)


def find(client: Elasticsearch, alias: str, key: str) -> Unfinished | None:
    """The kept generation, if it has this key and the live generation is still the same."""
    stored = read_unfinished(client, alias)
    found = generations.list_generations(client, alias)
    live = next((one.name for one in found if one.state == "live"), None)
    states = {one.name: one.state for one in found}
    if (
        stored.get("key") != key
        or stored["live"] != live
        or time.time() - stored["kept_at"] > MAX_AGE
        or states.get(stored["generation"]) != "unfinished"
    ):
        return None
    return _parse(stored)


def _parse(stored: dict[str, Any]) -> Unfinished:
    filled = stored["filled"]
    rejects = tuple(
        Reject(**{**one, "origin": Origin(**one["origin"])}) for one in filled["rejects"]
    )
    return Unfinished(
        generation=stored["generation"],
        key=stored["key"],
        live=stored["live"],
        since=(stored["since"][0], stored["since"][1]) if stored["since"] else None,
        filled=Filled(Counts(**filled["counts"]), filled["entries"], filled["rejected"], rejects),
    )
