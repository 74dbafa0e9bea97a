"""Writes posts of the live index, each only if no other process has written it meanwhile.

    write(client, "blog", {"posts/a": with_comments(comments)})

A post is read in its present state, with its sequence number and the name of its index. The changed
post is written on condition of that number, through the alias `<index>-live`, which the index has
exactly while it is live. Three errors mean that something has happened since: a conflict (another
process wrote the post), a missing alias (another index is live, or this one was deleted; nothing is
created), and a write block (a build is about to swap). Then, and while Elasticsearch is overloaded,
the post is read and changed again.

A change is a pure function of the stored post. A source provides a post with its comments; posts
and single comments come over HTTP. Data that only the index has is kept: comments that came over
HTTP, the texts of other posts' links, and the popularity of a post.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from elasticsearch import ApiError, Elasticsearch, TransportError
from msgspec.structs import replace

from indexer.errors import Locked, NoIndex
from indexer.posts.records import Comment, OfTheIndex, Post, batches
from indexer.runs.refusals import NO_INDEX, WRITE_BLOCK, Refusal
from indexer.store import generations
from indexer.store.bulk import BulkLimits, Operation, chunks, operation, send_once
from indexer.store.retry import Retry, is_temporary, remaining
from indexer.store.scan import docs_of, post_of
from indexer.store.state import CLEARING, Lock

Change = Callable[[Post | None], Post | None]
"""Maps a stored post to the changed one; None stands for no post."""

LIMITS = BulkLimits(
    retry=Retry(total=20.0, first_pause=0.005, longest_pause=0.25),
    chunk_documents=200,
    timeout=20.0,
)
_BLOCK_IS_STALE = 2.0  # seconds; a build blocks writes for less time
_NOT_SENT = Refusal("Elasticsearch was not reached in time", "Send it again.")


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of one post's write: created, updated, deleted, unchanged, refused or unknown.

    `before` is the post before the write, `after` the one sent; None: no post.
    """

    oid: str
    result: str
    before: Post | None = None
    refusal: Refusal | None = None
    after: Post | None = None


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post in an index, refreshed or not; `post` is None if it does not exist."""

    index: str
    oid: str
    post: Post | None = None
    seq_no: int = 0
    primary_term: int = 0

    def operation(self, post: Post | None) -> Operation:
        """Return the operation that writes or deletes it, on condition that it is unchanged."""
        if self.post is None:
            return operation("index", self.oid, post, op_type="create")
        read = {"if_seq_no": self.seq_no, "if_primary_term": self.primary_term}
        return operation("index" if post else "delete", self.oid, post, **read)


def read_posts(client: Elasticsearch, index: str, oids: Iterable[str]) -> list[StoredPost]:
    """Read the present state of posts, refreshed or not, all from the same index.

    Raises:
        NoIndex: there is no such index.
    """
    docs = [{"_id": oid} for oid in oids]
    found = docs_of(client.mget(index=index, docs=docs)) if docs else []
    if any("error" in doc for doc in found):
        raise NoIndex("There is no index to write to yet.", NO_INDEX.remedy)
    return [
        StoredPost(doc["_index"], doc["_id"], post_of(doc), doc["_seq_no"], doc["_primary_term"])
        if doc["found"]
        else StoredPost(doc["_index"], doc["_id"])
        for doc in found
    ]


def write(
    client: Elasticsearch,
    alias: str,
    changes: Mapping[str, Change],
    limits: BulkLimits = LIMITS,
    through: tuple[str, Lock] | None = None,
) -> dict[str, Written]:
    """Change posts of the live index, by their oids; return the outcome of each.

    A post that was not accepted in time has the result "unknown".

    Args:
        through: an alias other than `<index>-live`, and the lock with which it is lost.

    Raises:
        LockLost: the lock is lost; nothing was written since.
        NoIndex: there is no live index.
        ApiError, TransportError: Elasticsearch is unavailable, and nothing was written.
    """
    results: dict[str, Written] = {}
    try:
        for batch in batches(changes, limits.chunk_documents):
            part = {oid: changes[oid] for oid in batch}
            if remaining() <= 0 or not _write_batch(client, alias, part, limits, results, through):
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
    through: tuple[str, Lock] | None,
) -> bool:
    """Read, change and write posts until each has a result; return whether all have one in time."""
    again: dict[str, Written] = {oid: Written(oid, "unknown") for oid in changes}
    posts: dict[str, StoredPost] = {}
    for elapsed in limits.retry.attempts():
        blocked = any(post.refusal == WRITE_BLOCK for post in again.values())
        if blocked and elapsed > _BLOCK_IS_STALE:
            # The build was killed. If one holds the lock, it is alive and will allow writes itself.
            with suppress(Locked), Lock(client, alias, CLEARING):
                generations.recover(client, alias)
        if through and any(post.refusal and post.refusal.stale for post in again.values()):
            through[1].check()
            # A late request of a suspended `sync` may have removed the alias.
            for index in {posts[o].index for o, one in again.items() if one.refusal == NO_INDEX}:
                generations.open_sync(client, index, through[1])
        try:
            posts = {post.oid: post for post in read_posts(client, alias, again)}
        except (ApiError, TransportError) as error:
            if not is_temporary(error) or not any(post.refusal for post in again.values()):
                raise
            continue
        again = {}
        operations = []
        after: dict[str, Post | None] = {}
        for oid, stored in posts.items():
            changed = after[oid] = changes[oid](stored.post)
            if changed == stored.post:
                results[oid] = Written(oid, "unchanged", changed, after=changed)
            else:
                operations.append(stored.operation(changed))
        for chunk in chunks(operations, limits):
            target = through[0] if through else generations.live_alias(posts[chunk[0].oid].index)
            for outcome in send_once(client, target, chunk, limits.timeout):
                oid, refusal = outcome.operation.oid, outcome.refusal
                if refusal and (refusal.stale or refusal.retryable):
                    again[oid] = Written(oid, "unknown", refusal=refusal)
                else:
                    before = posts[oid].post
                    results[oid] = Written(oid, outcome.result, before, refusal, after[oid])
        if not again:
            return True
    results |= again
    return False


# -- changes ------------------------------------------------------------------------------------


def from_source(post: Post, *, keeps_comments: bool = False) -> Callable[[OfTheIndex | None], Post]:
    """Return a change to a source's post that keeps stored comments: those over HTTP, or all."""
    sent = post.comment_oids()

    def change(stored: OfTheIndex | None) -> Post:
        # After those of the source, so that the order never depends on the time of writing.
        further = [
            comment
            for comment in (stored.comments if stored else ())
            if (keeps_comments or comment.over_http) and comment.oid not in sent
        ]
        return _replace(post, stored, (*post.comments, *further))

    return change


def over_http(*posts: Post) -> Change:
    """Return a change by successive posts that came over HTTP with one oid; it keeps comments."""

    def change(stored: Post | None) -> Post | None:
        for post in posts:
            comments = _join(stored, post.comments)
            stored = replace(_replace(post, stored, comments), over_http=True)
        return stored

    return change


def with_comments(comments: Iterable[Comment]) -> Change:
    """Return a change that adds comments that came over HTTP to an existing post."""

    def change(stored: Post | None) -> Post | None:
        return stored and _with_comments(stored, _join(stored, comments))

    return change


def without_comment(oid: str) -> Change:
    """Return a change that removes a comment of a post."""

    def change(stored: Post | None) -> Post | None:
        if stored is None or oid not in stored.comment_oids():
            return stored
        return _with_comments(stored, tuple(one for one in stored.comments if one.oid != oid))

    return change


def _join(stored: Post | None, sent: Iterable[Comment]) -> tuple[Comment, ...]:
    """Return a post's comments, replaced by or followed by those that came over HTTP."""
    by_oid = {comment.oid: comment for comment in (stored.comments if stored else ())}
    by_oid |= {comment.oid: replace(comment, over_http=True) for comment in sent}
    return tuple(by_oid.values())


def _replace(post: Post, stored: OfTheIndex | None, comments: tuple[Comment, ...]) -> Post:
    """Return a post that replaces the stored one."""
    if stored is None:
        return replace(post, comments=comments)
    number = stored.popularity if post.popularity is None else post.popularity
    texts = post.link_texts or stored.link_texts
    return replace(post, comments=comments, popularity=number, link_texts=texts)


def _with_comments(stored: Post, comments: tuple[Comment, ...]) -> Post:
    """Return a post with other comments.

    If a comment from the source was changed or removed, the digest is dropped, so that the next
    `sync` compares the post again.
    """
    has_changed = any(one not in comments for one in stored.comments if not one.over_http)
    return replace(stored, comments=comments, digest="" if has_changed else stored.digest)
