"""Writes posts of the live index, each on condition that nobody else has written it meanwhile.

    write(client, "blog", {"posts/a": with_comments(comments)})

A post is read as it is now, with its sequence number and the name of its index. What it is changed
to is written under that number, through the alias `<index>-live`, which that index has exactly
while it is live. Three answers mean that something has happened since: a conflict (somebody else
wrote the post), no such alias (another index is live, or this one was deleted; nothing is created),
and a write block (a build is about to swap). Then, and while Elasticsearch is overloaded, the post
is read again and changed again.

A change is a pure function of the post as it is stored. A source has a post with the comments of
that source; over HTTP come posts and single comments. What only the index has is kept: comments
that came over HTTP, the texts of links of other posts, and how popular a post is.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer import generations
from indexer.bulk import BulkLimits, Operation, chunks, send_once, write_operation
from indexer.errors import Locked, NoGeneration
from indexer.records import Document, Origin, batches
from indexer.refusals import NO_INDEX, WRITE_BLOCK, Refusal
from indexer.retry import Retry, is_temporary, remaining
from indexer.scan import docs_of
from indexer.state import Lock

Source = Mapping[str, Any]
"""A post as it is stored."""

OF_THE_INDEX = ("link_texts", "popularity")
"""Fields that stay if what is written has none."""

Change = Callable[[Source | None], Source | None]
"""From a post as it is stored (None: it is not there) to what it shall be (None: not there)."""

LIMITS = BulkLimits(
    retry=Retry(total=20.0, first_pause=0.005, longest_pause=0.25),
    chunk_documents=200,
    timeout=20.0,
)
_BLOCK_IS_STALE = 2.0  # seconds; a build blocks writes for less than that
_NOT_SENT = Refusal("Elasticsearch was not reached in time", "Send it again.")


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one post: created, updated, deleted, unchanged, refused or unknown.

    `before` is the post as it was, `after` as it was sent; None: it is not there.
    """

    oid: str
    result: str
    before: Source | None = None
    refusal: Refusal | None = None
    after: Source | None = None


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post as an index has it, refreshed or not; without a `source` it is not there."""

    index: str
    oid: str
    source: Source | None = None
    seq_no: int = 0
    primary_term: int = 0

    def operation(self, source: Source | None) -> Operation:
        """Writes or deletes it on condition that it is still as it was read."""
        document = Document(self.oid, source or {}, Origin(self.index))
        if self.source is None:
            return write_operation(document, op_type="create")
        return write_operation(document, if_seq_no=self.seq_no, if_primary_term=self.primary_term)


def read_posts(
    client: Elasticsearch, index: str, oids: Iterable[str], source: Any = True
) -> list[StoredPost]:
    """These posts as they are now, refreshed or not, all of the same index; `source` as `_source`.

    Raises:
        NoGeneration: there is no such index.
    """
    docs = [{"_id": oid, "_source": source} for oid in oids]
    found = docs_of(client.mget(index=index, docs=docs)) if docs else []
    if any("error" in doc for doc in found):
        raise NoGeneration("There is no index to write to yet.", NO_INDEX.remedy)
    return [
        StoredPost(doc["_index"], doc["_id"], doc["_source"], doc["_seq_no"], doc["_primary_term"])
        if doc["found"]
        else StoredPost(doc["_index"], doc["_id"])
        for doc in found
    ]


def write(
    client: Elasticsearch,
    alias: str,
    changes: Mapping[str, Change],
    limits: BulkLimits = LIMITS,
) -> dict[str, Written]:
    """Change posts of the live index, by their oids; what became of each.

    Whatever was not accepted before the time was over has the result "unknown".

    Raises:
        NoGeneration: there is no live index.
        ApiError, TransportError: Elasticsearch is not there, and nothing was written.
    """
    results: dict[str, Written] = {}
    try:
        for batch in batches(changes, limits.chunk_documents):
            part = {oid: changes[oid] for oid in batch}
            if remaining() <= 0 or not _write_batch(client, alias, part, limits, results):
                break
    except (ApiError, TransportError) as error:
        if not results or not is_temporary(error):
            raise
    for oid in changes.keys() - results.keys():
        results[oid] = Written(oid, "unknown", refusal=_NOT_SENT)
    return results


def _write_batch(
    client: Elasticsearch,
    alias: str,
    changes: Mapping[str, Change],
    limits: BulkLimits,
    results: dict[str, Written],
) -> bool:
    """Read posts, change them and write them back, until each has a result; whether all were
    written or refused in time."""
    again: dict[str, Written] = {oid: Written(oid, "unknown") for oid in changes}
    for elapsed in limits.retry.attempts():
        blocked = any(post.refusal == WRITE_BLOCK for post in again.values())
        if blocked and elapsed > _BLOCK_IS_STALE:
            # The build was killed; if it holds the lock, it is alive and will allow writes itself.
            with suppress(Locked), Lock(client, alias, "clearing a stale write block"):
                generations.recover(client, alias)
        try:
            posts = {post.oid: post for post in read_posts(client, alias, again)}
        except (ApiError, TransportError) as error:
            if not is_temporary(error) or not any(post.refusal for post in again.values()):
                raise
            continue
        again = {}
        operations = []
        after: dict[str, Source | None] = {}
        for oid, post in posts.items():
            source = after[oid] = changes[oid](post.source)
            if source == post.source:
                results[oid] = Written(oid, "unchanged", source, after=source)
            else:
                operations.append(post.operation(source))
        for chunk in chunks(operations, limits):
            target = generations.live_alias(posts[chunk[0].oid].index)
            for outcome in send_once(client, target, chunk, limits.timeout):
                oid, refusal = outcome.operation.oid, outcome.refusal
                if refusal and (refusal.stale or refusal.retryable):
                    again[oid] = Written(oid, "unknown", refusal=refusal)
                else:
                    before = posts[oid].source
                    results[oid] = Written(oid, outcome.result, before, refusal, after[oid])
        if not again:
            return True
    results |= again
    return False


# -- changes ------------------------------------------------------------------------------------


def from_source(document: Document, *, keeps_comments: bool = False) -> Change:
    """The post of a source, with the comments over HTTP, or all, of the one that is stored."""
    sent = document.source.get("comments", ())
    oids_sent = oids(document.source)

    def change(stored: Source | None) -> Source:
        # After those of the source: the order is the same whenever it is written.
        further = [
            comment
            for comment in (stored or {}).get("comments", ())
            if keeps_comments or comment.get("over_http")
            if comment["oid"] not in oids_sent
        ]
        return _replaced(document.source, stored, [*sent, *further])

    return change


def over_http(*documents: Document) -> Change:
    """Posts that came over HTTP with the same oid, one after the other; stored comments stay."""

    def change(stored: Source | None) -> Source | None:
        for document in documents:
            comments = _joined(stored, document.source.get("comments", ()))
            stored = _replaced({**document.source, "over_http": True}, stored, comments)
        return stored

    return change


def with_comments(comments: Iterable[Source]) -> Change:
    """Comments that came over HTTP, on a post that is there."""

    def change(stored: Source | None) -> Source | None:
        return stored and _with_comments(stored, _joined(stored, comments))

    return change


def without_comment(oid: str) -> Change:
    """A post without one of its comments."""

    def change(stored: Source | None) -> Source | None:
        if stored is None or oid not in oids(stored):
            return stored
        left = [comment for comment in stored["comments"] if comment["oid"] != oid]
        return _with_comments(stored, left)

    return change


def oids(stored: Source | None) -> set[str]:
    """The oids of the comments of a post."""
    return {comment["oid"] for comment in (stored or {}).get("comments", ())}


def _joined(stored: Source | None, sent: Iterable[Source]) -> list[Source]:
    """The comments of a post, and after them those that came over HTTP, or in their places."""
    by_oid = {comment["oid"]: comment for comment in (stored or {}).get("comments", ())}
    by_oid |= {comment["oid"]: {**comment, "over_http": True} for comment in sent}
    return list(by_oid.values())


def _replaced(source: Source, stored: Source | None, comments: list[Source]) -> Source:
    """A post in place of the one that is stored."""
    kept = {name: stored[name] for name in OF_THE_INDEX if name in stored} if stored else {}
    return {**kept, **_without(source, "comments"), **({"comments": comments} if comments else {})}


def _with_comments(stored: Source, comments: list[Source]) -> Source:
    """A post with other comments.

    If one of its source's was changed or removed, it is without its digest: the next `sync` looks
    at it again.
    """
    of_source = [comment for comment in stored.get("comments", ()) if "over_http" not in comment]
    if not all(comment in comments for comment in of_source):
        stored = _without(stored, "digest")
    return {**_without(stored, "comments"), **({"comments": comments} if comments else {})}


def _without(source: Source, field: str) -> Source:
    return {name: value for name, value in source.items() if name != field}
