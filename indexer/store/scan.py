"""Reads documents from an index: all of them, some, or those changed recently.

A checkpoint holds one sequence number per shard: every write up to it is in the index, every write
acknowledged later has a higher one. `max_seq_no` would not do: a write in progress may already have
a number without being in the index.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from elastic_transport import ObjectApiResponse
from elasticsearch import ApiError, Elasticsearch, TransportError
from msgspec import ValidationError, convert

from indexer.errors import Damaged
from indexer.posts.records import OfTheIndex, Post
from indexer.runs.refusals import error_of_part

Checkpoint = Mapping[str, int]
"""Maps a shard number, as Elasticsearch writes it, to the global checkpoint of that shard."""

SAMPLES: Mapping[str, Any] = {"prefix": {"address": "sample.example.org/"}}
"""The sample posts. No real blog is at a domain reserved for examples (RFC 2606)."""
NO_SAMPLES: Mapping[str, Any] = {"bool": {"must_not": SAMPLES}}

_PAGE = 200  # documents; with 1 MB of text each, still less than the limit of a request
_PAGE_OF_DOC_VALUES = 10_000  # the maximum that Elasticsearch allows
_PAGE_TIMEOUT = 120.0  # seconds
_KEPT = "5m"  # how long Elasticsearch keeps a scroll while no page is read
_RECOVERY = "10s"  # after its start, Elasticsearch needs some seconds to open its indices


def checkpoint(client: Elasticsearch, index: str) -> dict[str, int]:
    """Return the global checkpoint of each shard, which also proves that the index can be read.

    Raises:
        Damaged: it is closed, or a shard is missing.
    """
    health = client.options(ignore_status=408).cluster.health(
        index=index,
        expand_wildcards="all",
        level="indices",
        wait_for_status="yellow",
        timeout=_RECOVERY,
    )
    number = health["indices"].get(index, {}).get("number_of_shards", 1)
    stats = client.options(ignore_status=400).indices.stats(
        index=index, level="shards", expand_wildcards="all", filter_path="indices.*.shards"
    )
    shards = stats.get("indices", {}).get(index, {}).get("shards", {})
    checkpoints = {
        shard: copy["seq_no"]["global_checkpoint"]
        for shard, copies in shards.items()
        for copy in copies
        if copy["routing"]["primary"] and "seq_no" in copy
    }
    if len(checkpoints) < number:
        raise Damaged(
            f"{index} is closed, or has lost a shard (its health is red).",
            f"Open it (`curl -X POST $ELASTICSEARCH_URL/{index}/_open`) or repair it; or run "
            "`blogsearch rollback`, which says what is lost.",
        )
    return checkpoints


def count(
    client: Elasticsearch, index: str, query: Mapping[str, Any] | None = None
) -> tuple[int, int]:
    """Return the numbers of matching posts, or all, and of their comments, at the last refresh."""
    response = client.search(
        index=index,
        query=query,
        size=0,
        track_total_hits=True,
        aggs={"comments": {"nested": {"path": "comments"}}},
        allow_partial_search_results=False,
    )
    comments = response["aggregations"]["comments"]["doc_count"]
    return response["hits"]["total"]["value"], comments


def stored_posts(
    client: Elasticsearch,
    index: str,
    query: Mapping[str, Any] | None = None,
    preference: str | None = None,
) -> Iterator[Post]:
    """Yield the posts of a query, or all, as stored at the last refresh."""
    for hit in scan(client, index, query=query, preference=preference):
        yield post_of(hit)


def post_of(document: Mapping[str, Any]) -> Post:
    """Return the post in a hit or a document found.

    Raises:
        Damaged: this service has not written it.
    """
    try:
        return convert(document["_source"], Post)
    except ValidationError as error:
        raise Damaged(
            f"{document['_index']} contains a document that this service did not write: "
            f"{document['_id']!r} ({error}).",
            "Delete it from the index, then run the command again.",
        ) from None


def read_of_the_index(
    client: Elasticsearch, index: str, oids: Iterable[str], *fields: str
) -> list[OfTheIndex]:
    """Read some fields of posts, or all that only an index has, in this order; empty if missing."""
    names = fields or OfTheIndex.__struct_fields__
    docs = [{"_id": oid, "_source": names} for oid in oids]
    found = docs_of(client.mget(index=index, docs=docs))
    return [convert(doc.get("_source", {}), OfTheIndex) for doc in found]


def read_changed_since(client: Elasticsearch, index: str, since: Checkpoint) -> Iterator[Post]:
    """Yield posts written after a checkpoint and still present, at the last refresh."""
    for shard, sequence in since.items():
        newer = {"range": {"_seq_no": {"gt": sequence}}}
        yield from stored_posts(client, index, newer, f"_shards:{shard}")


def ids(client: Elasticsearch, index: str, query: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Yield the ids of the documents of a query, or of all, at the last refresh."""
    for values in doc_values(client, index, ("oid",), query):
        yield values["oid"]


def doc_values(
    client: Elasticsearch,
    index: str,
    fields: Sequence[str],
    query: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the first value of some fields of each document.

    Only doc values are read: that takes a third of the time of reading `_id` and `_source`.
    """
    for hit in scan(client, index, query=query, doc_values=fields, size=_PAGE_OF_DOC_VALUES):
        yield {name: values[0] for name, values in hit["fields"].items()}


def docs_of(response: ObjectApiResponse[Any]) -> list[dict[str, Any]]:
    """Return the documents of an mget response, found or not; none of an index that does not exist.

    Raises:
        ApiError: a shard failed to answer, for instance when missing or overloaded.
    """
    docs: list[dict[str, Any]] = response.get("docs", [])
    for doc in docs:
        error = doc.get("error")
        if error and error["type"] != "index_not_found_exception":
            raise error_of_part(response, error, 503)
    return docs


def scan(
    client: Elasticsearch,
    index: str,
    *,
    query: Mapping[str, Any] | None = None,
    preference: str | None = None,
    source: Any = True,
    doc_values: Sequence[str] = (),
    size: int = _PAGE,
    sort: str | Mapping[str, Any] = "_doc",
    seq_no: bool = False,
) -> Generator[dict[str, Any], None, None]:
    """Yield every hit of a query, as of one moment, `size` hits per request.

    If they fit into one response, it is the only one; otherwise a scroll reads them again. While
    the caller uses a page, the next one is read.

    Args:
        sort: a field with one value; by default in any order.
        seq_no: also read `_seq_no` and `_primary_term`.
        doc_values: fields whose doc values are read in place of `_id` and `_source`.
    """
    request: dict[str, Any] = {
        "index": index,
        "query": query or {"match_all": {}},
        "preference": preference,
        "sort": [sort],
        "size": size,
        "seq_no_primary_term": seq_no,
        "allow_partial_search_results": False,
    }
    if doc_values:
        request |= {"stored_fields": "_none_", "docvalue_fields": list(doc_values)}
    else:
        request["source"] = source
    # `fields` are three fifths of the bytes; `_score` is there for hits that have none of them.
    read = ["hits.hits"]
    if doc_values and not seq_no:
        read = ["hits.hits.fields", "hits.hits._score"]
    first = client.search(**request, filter_path=read, track_total_hits=False)
    hits = _hits(first)
    if len(hits) < size:
        yield from hits
        return
    patient = client.options(request_timeout=_PAGE_TIMEOUT)
    read += ["_scroll_id", "_shards"]
    page = patient.search(**request, filter_path=read, scroll=_KEPT)
    with ThreadPoolExecutor(1) as reader:
        try:
            while hits := _hits(page):
                scroll_id = page["_scroll_id"]
                following = reader.submit(
                    patient.scroll, scroll_id=scroll_id, scroll=_KEPT, filter_path=read
                )
                yield from hits
                page = following.result()
        finally:
            with suppress(ApiError, TransportError):  # it ends by itself, too
                client.clear_scroll(scroll_id=page["_scroll_id"])


def _hits(page: ObjectApiResponse[Any]) -> list[dict[str, Any]]:
    """Return the hits of a page; a scroll does not raise an error if a shard fails."""
    shards = page.get("_shards", {"successful": 1, "total": 1})
    if missing := shards["total"] - shards["successful"]:
        raise Damaged(
            f"{missing} of {shards['total']} shards of the index could not be read.",
            "Run `blogsearch doctor`; if the index is in order again, run the command again.",
        )
    hits: list[dict[str, Any]] = page.get("hits", {}).get("hits", [])
    return hits
