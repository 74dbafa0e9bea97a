"""The differences between a source and an index: one stream of changes, in the order of reading.

`sync` writes them and a dry run prints them; for an index that has nothing they are all additions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from elasticsearch import Elasticsearch

from indexer.ingest import Ingest, too_many_removed
from indexer.records import Document, SourceItem, oids_of, post_id
from indexer.scan import child_comments, stored_ids
from indexer.stored import StoredDigests
from indexer.write.comments import based_on_stored
from indexer.write.deletions import deletion_versions
from indexer.write.live_index import now

_BATCH = 500  # documents
_NOTHING = (-1, ("", False))  # version, digest, whether it came over HTTP
_EXAMPLES = 5  # oids of missing posts in a message


@dataclass(frozen=True, slots=True)
class Change:
    """A document to write, or one to remove: with the version in the index, and no source."""

    action: Literal["add", "change", "remove"]
    document: Document


@dataclass(frozen=True, slots=True)
class Removals:
    """What the source lacks.

    Args:
        posts: their ids; their comments go with them.
        comments: ids of comments on other posts.
        withheld: why nothing may be removed; empty if it may.
    """

    posts: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    withheld: str = ""


def differences(
    client: Elasticsearch, alias: str, ingest: Ingest, raws: Iterable[SourceItem]
) -> Iterator[Change]:
    """What of a source is new or differs; the source wins over newer versions and deletions."""
    documents = ingest.documents(raws)
    while batch := list(islice(documents, _BATCH)):
        query = {"ids": {"values": [document.id for document in batch]}}
        stored = {
            document.id: (document.version, (digest, over_http))
            for document, digest, over_http in stored_ids(client, alias, query)
        }
        # Some equal the stored ones: the text of a page stays the same when its template changes.
        equal = {
            document.id
            for document in batch
            if document.id in stored
            and stored[document.id][1] == (document.source["digest"], False)
        }
        ingest.count_unchanged(document for document in batch if document.id in equal)
        differing = [document for document in batch if document.id not in equal]
        deleted = deletion_versions(client, alias, [document.id for document in differing])
        for document in based_on_stored(client, alias, differing):
            present, _ = stored.get(document.id, _NOTHING)
            newest = max(present, deleted.get(document.id, -1))
            version = document.version
            if version <= newest:
                version = max(now(), newest + 1)
            action: Literal["add", "change"] = "change" if document.id in stored else "add"
            yield Change(action, replace(document, version=version))


def missing(
    stored: StoredDigests, ingest: Ingest, *, complete: bool, force: bool, samples_only: bool
) -> Removals:
    """What the index has and the source lacks, unless that looks like a mistake.

    Comments on posts that stay are missing only if the source has comments at all.

    Args:
        complete: the source has every post; of one with only the latest nothing is missing.
        force: nothing looks like a mistake.
        samples_only: the index has no other posts than the sample posts.
    """
    if not complete:
        return Removals()
    has_comments = any(id_.startswith("comment:") for id_ in ingest.read)
    posts, unread_comments, comments = [], [], 0
    for id_ in stored:
        if id_.startswith("post:") and not _is_read(id_, ingest):
            posts.append(id_)
    gone = set(posts)
    for id_ in stored:
        if id_.startswith("comment:") and post_id(oids_of(id_)[0]) not in gone:
            comments += 1
            if has_comments and not _is_read(id_, ingest):
                unread_comments.append(id_)
    indexed = sum(id_.startswith("post:") for id_ in stored)
    withheld = ""
    if force:
        pass
    elif indexed and not any(id_.startswith("post:") for id_ in ingest.read):
        withheld = f"the source has no posts, the index has {indexed:,}"
    elif samples_only:
        pass
    elif too_many_removed(len(posts), indexed):
        examples = ", ".join(oids_of(id_)[0] for id_ in posts[:_EXAMPLES])
        more = ", …" if len(posts) > _EXAMPLES else ""
        withheld = (
            f"{len(posts):,} of {indexed:,} posts are missing from the source ({examples}{more})"
        )
    elif too_many_removed(len(unread_comments), comments):
        withheld = f"{len(unread_comments):,} of {comments:,} comments are missing from the source"
    elif ingest.rejects_without_oid and posts:
        withheld = f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
    if withheld:
        return Removals(withheld=withheld)
    return Removals(tuple(posts), tuple(unread_comments))


def _is_read(id_: str, ingest: Ingest) -> bool:
    """Whether the source has a document, or a Reject names it, its post, or all its comments."""
    if id_ in ingest.read:
        return True
    post_oid, comment_oid = oids_of(id_)
    names = {post_oid} if comment_oid is None else {post_oid, f"{post_oid}/{comment_oid}"}
    if comment_oid is not None:
        names.add(f"{post_oid}/?")
    return not names.isdisjoint(ingest.kept)


def removals(client: Elasticsearch, alias: str, missing: Removals) -> Iterator[Change]:
    """The missing documents as they are in the index now; the comments of a post after it."""
    for batch in _batches(missing.posts):
        posts = list(_present(client, alias, batch))
        yield from (Change("remove", post) for post in posts)
        for comment in child_comments(client, alias, [post.routing for post in posts]):
            yield Change("remove", comment)
    for batch in _batches(missing.comments):
        yield from (Change("remove", comment) for comment in _present(client, alias, batch))


def _present(client: Elasticsearch, alias: str, ids: Sequence[str]) -> Iterator[Document]:
    for document, _, over_http in stored_ids(client, alias, {"ids": {"values": list(ids)}}):
        if not over_http:
            yield document


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]
