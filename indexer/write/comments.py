"""Keeps the field `comments` of each post equal to the texts of its comments.

A comment is a document of its own, and its text is also in its post, so that a search needs no
join. Elasticsearch has no transaction over two documents, so every writer follows these rules:

1. Whoever writes or deletes a comment, or replaces a post, calls `update_comments` for that post
   before the write is acknowledged.
2. `update_comments` refreshes, reads the comments and the post, and stops only if they agree.
   Otherwise it writes the post, on condition that nobody has written it since it was read
   (`if_seq_no`), and begins again, whether that succeeded or not.

When nobody writes any more, they agree. Take the last write of the post, at time T. Its writer
checked afterwards and stopped, so they agreed after T, and the post has not changed since. Take the
last change of a comment, at time U. Its writer checked afterwards: if it read the post after T, it
saw both final states, and they agreed. If it read the post before T, then U is before T, and the
check that followed T saw both final states.

The condition protects the content of the post: an update of its comments never overwrites a post
that was replaced at the same time. A sequence number means nothing in another generation, so the
update is a script, which does nothing if the alias leads to another index than the one that was
read. An update that named that index would create it again if it was deleted meanwhile.

A conditional write increases `_version`, which is the modification date otherwise. So a post that
was updated has two more fields, and a post that replaces it has the first:

    content_version   the version that the last write of the whole post was sent with
    content_seq_no    the sequence number of that write

The first decides whether a document is older than the one in the index. By the second a build knows
that only the comments of a post have changed since its checkpoint.
"""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.bulk.refusals import NO_INDEX, Refusal, refusal_from
from indexer.bulk.sender import BulkTimeout, retryable_refusal
from indexer.errors import IndexingError
from indexer.records import Document, post_id
from indexer.scan import child_comments, docs_of

_BATCH = 100  # posts that are read with all their comments at a time
_BULK_BYTES = 1_000_000
_MAX_PAUSE = 0.5  # seconds between two attempts
_SAME_INDEX = "if (ctx._index == params.index) ctx._source = params.post; else ctx.op = 'none'"
_OTHERS = Refusal("others keep writing to the same posts", "Try again in a moment.", retryable=True)


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post as it is in an index, refreshed or not.

    Args:
        index: the concrete index.
        content_version: the version of the last write that was not only of its comments.
    """

    index: str
    id: str
    routing: str
    version: int
    seq_no: int
    primary_term: int
    source: Mapping[str, Any]

    @property
    def content_version(self) -> int:
        return int(self.source.get("content_version", self.version))

    @property
    def comments(self) -> list[str]:
        return list(self.source.get("comments", ()))


def read_posts(
    client: Elasticsearch, index: str, post_oids: Iterable[str], source: Any = True
) -> dict[str, StoredPost]:
    """Oid to post, for those that exist.

    Args:
        source: the fields to read, as `_source` of a request.
    """
    oids = list(dict.fromkeys(post_oids))
    if not oids:
        return {}
    docs = [{"_id": post_id(oid), "routing": oid, "_source": source} for oid in oids]
    response = client.mget(index=index, docs=docs)
    return {
        oid: StoredPost(
            index=doc["_index"],
            id=doc["_id"],
            routing=oid,
            version=int(doc["_version"]),
            seq_no=doc["_seq_no"],
            primary_term=doc["_primary_term"],
            source=doc["_source"],
        )
        for oid, doc in zip(oids, docs_of(response), strict=True)
        if doc.get("found")
    }


def based_on_stored(
    client: Elasticsearch, index: str, documents: Sequence[Document]
) -> list[Document]:
    """The documents, with each post adapted to the one that it replaces.

    A post gets the comments that are in the index, so that searches find them throughout, and a
    version above the updates of its comments if it is not older than the content there.
    """
    oids = [one.routing for one in documents if one.kind == "post"]
    stored = read_posts(client, index, oids, ["comments", "content_version"])
    return [
        _based_on(stored[one.routing], one) if one.kind == "post" and one.routing in stored else one
        for one in documents
    ]


def update_comments(
    client: Elasticsearch, alias: str, post_oids: Iterable[str], retry_for: float
) -> set[str]:
    """Make the field `comments` of some posts equal to their comments.

    Args:
        alias: that of the live index or of a build.
        retry_for: seconds to keep trying while others write the same posts, or while
            Elasticsearch is overloaded or blocks writes.

    Returns:
        The oids of which there is no post.

    Raises:
        BulkTimeout: not within `retry_for`.
        IndexingError: Elasticsearch refuses a post.
    """
    deadline = time.monotonic() + retry_for
    unchecked = set(post_oids)
    missing: set[str] = set()
    attempt = 0
    while unchecked:
        failure = _OTHERS
        try:
            client.indices.refresh(index=alias)
            oids = sorted(unchecked)
            for start in range(0, len(oids), _BATCH):
                batch = oids[start : start + _BATCH]
                equal, gone, failure = _update_batch(client, alias, batch)
                missing |= gone
                unchecked -= equal | gone
        except (ApiError, TransportError) as error:
            failure = retryable_refusal(error)
        if not unchecked:
            break
        if not (failure.retryable or failure.version_conflict):
            message = f"The comments of posts cannot be updated: {failure.reason}."
            raise IndexingError(message, failure.remedy)
        # An update that succeeded only has to be checked.
        longest = 0.0 if failure is _OTHERS else min(_MAX_PAUSE, 0.01 * 2**attempt)
        pause = longest * random.uniform(0.5, 1)  # noqa: S311
        attempt += 1
        if time.monotonic() + pause > deadline:
            raise BulkTimeout(
                f"The comments of {len(unchecked)} posts could not be updated within "
                f"{retry_for:.0f} seconds: {failure.reason}.",
                "Send it again.",
                failure.write_blocked,
            )
        time.sleep(pause)
    return missing


def _update_batch(
    client: Elasticsearch, alias: str, oids: Sequence[str]
) -> tuple[set[str], set[str], Refusal]:
    """Returns the posts that needed no update, those that do not exist, and why a write failed."""
    texts: dict[str, list[str]] = {}
    for comment in child_comments(client, alias, oids, ["comment"]):
        texts.setdefault(comment.routing, []).append(comment.source["comment"])
    posts = read_posts(client, alias, oids)
    differing = [
        post for oid, post in posts.items() if sorted(texts.get(oid, [])) != sorted(post.comments)
    ]
    failure = _write(client, alias, [(post, texts.get(post.routing, [])) for post in differing])
    equal = posts.keys() - {post.routing for post in differing}
    return equal, set(oids) - posts.keys(), failure


def _write(
    client: Elasticsearch, alias: str, updates: Sequence[tuple[StoredPost, list[str]]]
) -> Refusal:
    """Write posts that have not changed since they were read; returns why one was refused."""
    failure = _OTHERS
    payload: list[bytes] = []
    for number, (post, comments) in enumerate(updates):
        payload.append(_payload(post, comments))
        if sum(map(len, payload)) > _BULK_BYTES or number == len(updates) - 1:
            refused = _send(client, alias, payload)
            failure = failure if refused is _OTHERS else refused
            payload = []
    return failure


def _send(client: Elasticsearch, alias: str, payload: list[bytes]) -> Refusal:
    failure = _OTHERS
    response = client.options(max_retries=0).bulk(
        index=alias,
        operations=payload,  # type: ignore[arg-type]
        require_alias=True,
    )
    for item in response["items"]:
        entry = item["update"]
        error = entry.get("error")
        # Deleted meanwhile, which the next check sees.
        if not error or error["type"] == "document_missing_exception":
            continue
        failure = refusal_from({"error": error, "status": entry["status"]})
        # A build whose alias another process removed, or an alias that somebody removed.
        if failure is NO_INDEX:
            failure = _OTHERS
        if not (failure.retryable or failure.version_conflict):
            raise IndexingError(f"{entry['_id']}: {failure.reason}", failure.remedy)
    return failure


def _payload(post: StoredPost, comments: list[str]) -> bytes:
    action = {
        "_id": post.id,
        "routing": post.routing,
        "if_seq_no": post.seq_no,
        "if_primary_term": post.primary_term,
    }
    source = {"content_version": post.version, "content_seq_no": post.seq_no, **post.source}
    source["comments"] = comments
    script = {"source": _SAME_INDEX, "params": {"index": post.index, "post": source}}
    return orjson.dumps({"update": action}) + b"\n" + orjson.dumps({"script": script}) + b"\n"


def _based_on(stored: StoredPost, post: Document) -> Document:
    sent = post.source.get("comments", [])
    comments = [*stored.comments, *(text for text in sent if text not in stored.comments)]
    source = {**post.source, "comments": comments} if comments else post.source
    if not stored.content_version <= post.version < stored.version:
        return replace(post, source=source)
    source = {**source, "content_version": post.version}
    return replace(post, source=source, version=stored.version)
