"""Reads documents from an index: all of them, their ids, or what changed recently.

A checkpoint holds one sequence number per shard: every write up to it is in the index, every write
acknowledged later has a higher one. `max_seq_no` would not do: a write in progress may already have
a number without being in the index.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from elastic_transport import ObjectApiResponse
from elasticsearch import ApiError, Elasticsearch

from indexer.errors import Damaged
from indexer.records import Counts, Document, Origin
from indexer.retry import Retry, is_temporary

Checkpoint = Mapping[str, int]
"""Shard number, as Elasticsearch writes it, to the global checkpoint of that shard."""


_PAGE = 200  # documents; at 1 MB of text each still less than a bulk request may have
_PAGE_OF_DOC_VALUES = 10_000  # as many as Elasticsearch allows
_FROM_SOURCE = {"bool": {"must_not": {"term": {"over_http": True}}}}
_ADDRESSED = ["oid", "address", "modified", "pub_date"]
_KEEP_ALIVE = "5m"
_STARTING = Retry(
    total=60.0,
    first_pause=0.5,
    longest_pause=2.0,
    is_repeatable=lambda error: isinstance(error, Damaged) or is_temporary(error),
)


def checkpoint(client: Elasticsearch, index: str) -> dict[str, int]:
    """The current global checkpoint of each shard.

    Raises:
        Damaged: a shard is missing, for longer than Elasticsearch takes to start.
    """
    return _STARTING.call(lambda: _checkpoint(client, index))


def _checkpoint(client: Elasticsearch, index: str) -> dict[str, int]:
    name = "index.number_of_shards"
    settings = client.indices.get_settings(index=index, name=name, flat_settings=True)
    ((index, body),) = settings.items()
    stats = client.indices.stats(
        index=index, level="shards", expand_wildcards="all", filter_path="indices.*.shards"
    )
    shards = stats.get("indices", {}).get(index, {}).get("shards", {})
    checkpoints = {
        shard: copy["seq_no"]["global_checkpoint"]
        for shard, copies in shards.items()
        for copy in copies
        if copy["routing"]["primary"] and "seq_no" in copy
    }
    if len(checkpoints) < int(body["settings"][name]):
        raise Damaged(
            f"{index} lacks {int(body['settings'][name]) - len(checkpoints)} of its shards.",
            "Try again when Elasticsearch has started; `blogsearch doctor` says more.",
        )
    return checkpoints


def count_documents(client: Elasticsearch, index: str) -> Counts:
    """Posts and comments in an index, after a refresh."""
    client.indices.refresh(index=index)
    response = client.search(
        index=index,
        size=0,
        track_total_hits=True,
        aggs={"comments": {"nested": {"path": "comments"}}},
        allow_partial_search_results=False,
    )
    comments = response["aggregations"]["comments"]["doc_count"]
    return Counts(int(response["hits"]["total"]["value"]), int(comments))


def stored_documents(
    client: Elasticsearch,
    index: str,
    query: Mapping[str, Any] | None = None,
) -> Iterator[Document]:
    """Documents as they are stored, as of the last refresh.

    Args:
        query: which documents; None for all.
    """
    for hit in scan(client, index, query=query):
        yield Document(hit["_id"], hit["_source"], Origin(index))


def changed_since(client: Elasticsearch, index: str, since: Checkpoint) -> Iterator[Document]:
    """Documents written after a checkpoint and still present, as of the last refresh."""
    for shard, sequence in since.items():
        newer = {"range": {"_seq_no": {"gt": sequence}}}
        for hit in scan(client, index, query=newer, preference=f"_shards:{shard}"):
            yield Document(hit["_id"], hit["_source"], Origin(index))


def docs_of(response: ObjectApiResponse[Any]) -> list[dict[str, Any]]:
    """The documents of the response to an mget, found or not; none of an index that does not exist.

    Raises:
        ApiError: a shard could not say whether it has one, as when it is missing or overloaded.
    """
    docs: list[dict[str, Any]] = response.get("docs", [])
    for doc in docs:
        error = doc.get("error")
        if error and error["type"] != "index_not_found_exception":
            meta = replace(response.meta, status=503)
            raise ApiError(error["type"], meta, {"error": error, "status": 503})
    return docs


def posts_at(
    client: Elasticsearch, index: str, addresses: Collection[str]
) -> dict[str, dict[str, str]]:
    """Address to the oid and the dates of the post that has it, as of the last refresh.

    An address that several posts have is left out: they cannot be told apart.
    """
    if not addresses:
        return {}
    query = {"terms": {"address": sorted(addresses)}}
    by_address: dict[str, list[dict[str, str]]] = {}
    for hit in scan(client, index, query=query, source=_ADDRESSED):
        by_address.setdefault(hit["_source"]["address"], []).append(hit["_source"])
    return {address: posts[0] for address, posts in by_address.items() if len(posts) == 1}


def count(client: Elasticsearch, index: str, query: Mapping[str, Any]) -> int:
    """The number of documents in all shards; `client.count` leaves out those of a missing one."""
    response = client.search(
        index=index,
        query=query,
        size=0,
        track_total_hits=True,
        allow_partial_search_results=False,
    )
    return int(response["hits"]["total"]["value"])


# Nobody's blog is at a domain that is reserved for examples (RFC 2606).
_OWN_POSTS: Mapping[str, Any] = {"bool": {"must_not": {"prefix": {"address": "blog.example.org/"}}}}


def has_own_posts(client: Elasticsearch, index: str) -> bool:
    """Whether there are other posts than the sample posts, as of the last refresh."""
    return count(client, index, _OWN_POSTS) > 0


def stored_ids(
    client: Elasticsearch, index: str, query: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """The oids of posts, as of the last refresh."""
    for hit in scan(client, index, query=query, doc_values=["oid"], size=_PAGE_OF_DOC_VALUES):
        yield hit["fields"]["oid"][0]


def stored_digests(client: Elasticsearch, index: str) -> Iterator[tuple[str, str]]:
    """Oids and digests of all posts that did not come over HTTP; "" for one without."""
    names = ("oid", "digest")
    for hit in scan(client, index, query=_FROM_SOURCE, doc_values=names, size=_PAGE_OF_DOC_VALUES):
        yield hit["fields"]["oid"][0], hit["fields"].get("digest", [""])[0]


def scan(
    client: Elasticsearch,
    index: str,
    *,
    query: Mapping[str, Any] | None = None,
    preference: str | None = None,
    source: Any = True,
    doc_values: Sequence[str] = (),
    size: int = _PAGE,
) -> Iterator[dict[str, Any]]:
    """Every hit of a query, on one point in time, `size` hits per request.

    Args:
        doc_values: the fields of which to read the doc values, in place of `_id` and `_source`.
    """
    stored: dict[str, Any] = {"source": source}
    if doc_values:
        stored = {"stored_fields": "_none_", "docvalue_fields": list(doc_values)}
    pit = client.open_point_in_time(index=index, keep_alive=_KEEP_ALIVE, preference=preference)[
        "id"
    ]
    after: Any = None
    try:
        while True:
            response = client.search(
                pit={"id": pit, "keep_alive": _KEEP_ALIVE},
                query=dict(query) if query else {"match_all": {}},
                sort=["_shard_doc"],
                search_after=after,
                size=size,
                **stored,
                track_total_hits=False,
                allow_partial_search_results=False,
            )
            pit = response["pit_id"]
            hits = response["hits"]["hits"]
            yield from hits
            if len(hits) < size:
                return
            after = hits[-1]["sort"]
    finally:
        client.options(ignore_status=404).close_point_in_time(id=pit)
