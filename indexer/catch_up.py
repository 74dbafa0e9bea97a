"""What was written to an index since a moment: how writes during a build end up in what it built.

A moment is a checkpoint per shard: every write up to it is in the index, every one acknowledged
later has a higher sequence number. (`max_seq_no` would not do: a write under way may have one
already and not be in the index yet.)
"""

from collections.abc import Iterator, Mapping
from typing import Any

from elasticsearch import Elasticsearch

from indexer.records import Document, Origin

Checkpoint = Mapping[str, int]
"""Shard number, as Elasticsearch writes it, → the highest sequence number up to which all is in."""

_PAGE = 200  # documents; at 1 MB of text each still less than a bulk request may have
_KEEP = "5m"


def checkpoint(client: Elasticsearch, index: str) -> dict[str, int]:
    """Where the index stands now, shard by shard."""
    stats = client.indices.stats(
        index=index, level="shards", expand_wildcards="all", filter_path="indices.*.shards"
    )
    (found,) = stats["indices"].values()
    return {
        shard: next(
            copy["seq_no"]["global_checkpoint"] for copy in copies if copy["routing"]["primary"]
        )
        for shard, copies in found["shards"].items()
    }


def documents_of(
    client: Elasticsearch,
    index: str,
    query: Mapping[str, Any] | None = None,
    shard: str | None = None,
) -> Iterator[Document]:
    """Every document as of now, with its version, as it is stored; refresh first.

    Args:
        query: which ones; None: all.
        shard: only those of one shard.
    """
    preference = None if shard is None else f"_shards:{shard}"
    for hit in hits(client, index, query=query, preference=preference):
        kind = hit["_source"]["kind"]
        yield Document(
            id=hit["_id"],
            routing=hit["_routing"],
            version=hit["_version"],
            source=hit["_source"],
            kind="post" if kind == "post" else "comment",
            origin=Origin(index),
        )


def changed_since(client: Elasticsearch, index: str, since: Checkpoint) -> Iterator[Document]:
    """Documents written after the checkpoint that are still there; refresh first."""
    for shard, sequence in since.items():
        newer = {"range": {"_seq_no": {"gt": sequence}}}
        yield from documents_of(client, index, newer, shard)


def hits(
    client: Elasticsearch,
    index: str,
    *,
    query: Mapping[str, Any] | None = None,
    preference: str | None = None,
    source: Any = True,
    size: int = _PAGE,
) -> Iterator[dict[str, Any]]:
    """Every hit of a query as of now, with `_version`, `size` at a time, on one point in time."""
    pit = client.open_point_in_time(index=index, keep_alive=_KEEP, preference=preference)["id"]
    after: Any = None
    try:
        while True:
            answer = client.search(
                pit={"id": pit, "keep_alive": _KEEP},
                query=dict(query) if query else {"match_all": {}},
                sort=["_shard_doc"],
                search_after=after,
                size=size,
                version=True,
                source=source,
                track_total_hits=False,
                allow_partial_search_results=False,
            )
            pit = answer["pit_id"]
            page = answer["hits"]["hits"]
            yield from page
            if len(page) < size:
                return
            after = page[-1]["sort"]
    finally:
        client.options(ignore_status=404).close_point_in_time(id=pit)
