"""Keeps the field `comments` of each post equal to the texts of its comments.

A comment is a document of its own, and its text is also in its post, so that a search needs no
join. Elasticsearch has no transaction over two documents, so every writer follows these rules:

1. Whoever writes or deletes a comment, or replaces a post, calls `update_comments` for that post
   before the write is acknowledged.
2. `update_comments` refreshes, reads the comments and the post, and stops only if they agree.
   Otherwise it updates the post, on condition that nobody has written it since it was read
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson
from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.bulk import BulkLimits, BulkTimeout, Operation, chunks, send_chunk
from indexer.errors import IndexingError
from indexer.records import Document, Origin, batches, post_id
from indexer.refusals import NO_INDEX
from indexer.retry import Retry, is_temporary, time_limit
from indexer.scan import child_comments, docs_of

T = TypeVar("T")

_CHECKED = 1_000  # posts of which the field `comments` is compared at a time
_UPDATE = """
if (ctx._index != params.index) {
  ctx.op = 'none'
} else {
  ctx._source[params.field] = params.texts;
  ctx._source.putIfAbsent('content_version', params.version);
  ctx._source.putIfAbsent('content_seq_no', params.seq_no)
}
"""


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

    A post gets the comments and the texts of links that are in the index, so that searches find
    them throughout, and a version above the updates of its comments if it is not older than the
    content there.
    """
    oids = [document.routing for document in documents if document.kind == "post"]
    stored = read_posts(client, index, oids, ["comments", "link_texts", "content_version"])
    based = []
    for document in documents:
        post = stored.get(document.routing) if document.kind == "post" else None
        if post:
            sent = document.source.get("comments", [])
            comments = [*post.comments, *(text for text in sent if text not in post.comments)]
            source = dict(document.source)
            if comments:
                source["comments"] = comments
            if "link_texts" in post.source:
                source["link_texts"] = post.source["link_texts"]
            document = replace(document, source=source)
            if post.content_version <= document.version < post.version:
                source = {**source, "content_version": document.version}
                document = replace(document, source=source, version=post.version)
        based.append(document)
    return based


def update_comments(
    client: Elasticsearch,
    alias: str,
    post_oids: Iterable[str],
    limits: BulkLimits,
    unblock: Callable[[], None] | None = None,
) -> set[str]:
    """Make the field `comments` of some posts equal to their comments.

    Args:
        alias: that of the live index or of a build.
        limits: how long to keep trying while the same posts are written by other processes, or
            while Elasticsearch is overloaded or blocks writes.
        unblock: as for `send_chunk`.

    Returns:
        The oids of which there is no post.

    Raises:
        BulkTimeout: not in time.
        IndexingError: Elasticsearch refuses a post.
    """
    oids = sorted(set(post_oids))
    missing: set[str] = set()

    def update(batch: Sequence[str]) -> bool:
        texts = _texts(client, alias, batch)
        posts = read_posts(client, alias, batch, ["comments"])
        missing.update(set(batch) - posts.keys())
        updates = [
            field_update(post, "comments", texts[oid])
            for oid, post in posts.items()
            if sorted(texts[oid]) != sorted(post.comments)
        ]
        send_updates(client, alias, updates, limits, unblock)
        return bool(updates)

    update_until_equal(client, alias, "comments", list(batches(oids, _CHECKED)), update, limits)
    return missing


def update_until_equal(
    client: Elasticsearch,
    alias: str,
    field: str,
    parts: Sequence[T],
    update: Callable[[T], bool],
    limits: BulkLimits,
) -> None:
    """Repeat the updates of a field of posts until nothing differs.

    Args:
        parts: of the posts to compare.
        update: reads a part of them as of the last refresh and updates those that differ; whether
            any did.

    Raises:
        BulkTimeout: not in time.
    """
    if not parts:
        return
    reason = "the same posts are written all the time"
    attempts = Retry(limits.retry.total, first_pause=0.01, longest_pause=0.5).attempts()
    with time_limit(limits.retry.total):
        for _ in attempts:
            try:
                client.indices.refresh(index=alias)
                parts = [part for part in parts if update(part)]
            except (ApiError, TransportError) as error:
                if not is_temporary(error):
                    raise
                reason = str(error)
                continue
            if not parts:
                return
    raise BulkTimeout(
        f"The field `{field}` of posts could not be updated in time: {reason}.", "Send it again."
    )


def _texts(client: Elasticsearch, alias: str, oids: Sequence[str]) -> dict[str, list[str]]:
    """The texts of the comments of each post."""
    texts: dict[str, list[str]] = {oid: [] for oid in oids}
    for comment in child_comments(client, alias, oids, ["comment"]):
        texts[comment.routing].append(comment.source["comment"])
    return texts


def field_update(post: StoredPost, field: str, texts: Sequence[str]) -> Operation:
    """Update a field of a post on condition that nobody has written it since it was read."""
    action = {
        "_id": post.id,
        "routing": post.routing,
        "if_seq_no": post.seq_no,
        "if_primary_term": post.primary_term,
    }
    params = {
        "index": post.index,
        "field": field,
        "texts": texts,
        "version": post.version,
        "seq_no": post.seq_no,
    }
    script = {"source": _UPDATE, "params": params}
    lines = (orjson.dumps({"update": action}), orjson.dumps({"script": script}), b"")
    return Operation(post.id, post.routing, Origin(post.index), b"\n".join(lines))


def send_updates(
    client: Elasticsearch,
    alias: str,
    updates: Iterable[Operation],
    limits: BulkLimits,
    unblock: Callable[[], None] | None,
) -> None:
    """Send updates of fields; posts that were written or deleted meanwhile stay as they are.

    Raises:
        BulkTimeout: not in time.
        IndexingError: Elasticsearch refuses a post.
    """
    for chunk in chunks(updates, limits):
        for outcome in send_chunk(client, alias, chunk, limits, unblock=unblock):
            refusal = outcome.refusal
            # The next check sees what was written meanwhile, or that the alias was removed.
            if refusal and not (
                refusal.version_conflict or refusal is NO_INDEX or outcome.status == 404
            ):
                raise IndexingError(
                    f"A field of a post cannot be updated: {outcome.operation.id}: "
                    f"{refusal.reason}.",
                    refusal.remedy,
                )
