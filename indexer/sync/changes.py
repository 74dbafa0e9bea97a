"""What a source changes in an index: one stream of changes, in the order of reading.

`sync` writes them and a dry run prints them. `add` writes what is newer than in the index.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from elasticsearch import Elasticsearch

from indexer.ingest import Ingest, OnSkip, StoredDigests, too_many_removed
from indexer.normalise import address_of, post_document
from indexer.records import Document, RawPost, Skipped, SourceItem, batches, oids_of, post_id
from indexer.scan import child_comments, current_versions, posts_at, stored_ids
from indexer.write.comments import based_on_stored
from indexer.write.deletions import deletion_versions
from indexer.write.live import now

_BATCH = 500  # documents
_NEVER = -1  # below any version
_EXAMPLES = 5  # oids of missing posts in a message


@dataclass(frozen=True, slots=True)
class Change:
    """A document to write, or one to remove: with the version in the index, and no source."""

    action: Literal["add", "change", "remove"]
    document: Document


@dataclass(frozen=True, slots=True)
class Removals:
    """What the source lacks; the comments of a post after it.

    Args:
        withheld: why nothing may be removed; empty if it may.
    """

    changes: Iterator[Change]
    withheld: str = ""


def differences(
    client: Elasticsearch, alias: str, ingest: Ingest, raws: Iterable[SourceItem]
) -> Iterator[Change]:
    """What of a source is new or differs; the source wins over newer versions and deletions."""
    for batch in batches(ingest.documents(raws), _BATCH):
        query = {"ids": {"values": [document.id for document in batch]}}
        versions: dict[str, int] = {}
        digests: dict[str, str] = {}
        for document, digest, over_http in stored_ids(client, alias, query):
            versions[document.id] = document.version
            digests[document.id] = "" if over_http else digest
        differing: list[Document] = []
        equal: list[Document] = []
        for document in batch:
            # The text of a page stays the same when its template changes.
            same = digests.get(document.id) == document.source["digest"]
            (equal if same else differing).append(document)
        ingest.count_unchanged(equal)
        deleted = deletion_versions(client, alias, [document.id for document in differing])
        for document in based_on_stored(client, alias, differing):
            newest = max(versions.get(document.id, _NEVER), deleted.get(document.id, _NEVER))
            version = document.version
            if version <= newest:
                version = max(now(), newest + 1)
            action: Literal["add", "change"] = "change" if document.id in versions else "add"
            yield Change(action, replace(document, version=version))


def removals(
    client: Elasticsearch,
    alias: str,
    stored: StoredDigests,
    ingest: Ingest,
    *,
    samples_only: bool,
) -> Removals:
    """What the index has and the source lacks, unless that looks like a mistake.

    Comments on posts that stay are missing only if the source has comments at all.

    Args:
        samples_only: the index has no other posts than the sample posts.
    """
    if not ingest.options.complete:
        return Removals(iter(()))
    posts = [id_ for id_ in stored if id_.startswith("post:")]
    missing_posts = [id_ for id_ in posts if not _is_read(id_, ingest)]
    gone = set(missing_posts)
    comments = [
        id_ for id_ in stored if id_.startswith("comment:") and post_id(oids_of(id_)[0]) not in gone
    ]
    missing_comments: list[str] = []
    if any(id_.startswith("comment:") for id_ in ingest.read):
        missing_comments = [id_ for id_ in comments if not _is_read(id_, ingest)]
    withheld = ""
    if ingest.options.force:
        pass
    elif posts and not any(id_.startswith("post:") for id_ in ingest.read):
        withheld = f"the source has no posts, the index has {len(posts):,}"
    elif samples_only:
        pass
    elif too_many_removed(len(missing_posts), len(posts)):
        examples = ", ".join(oids_of(id_)[0] for id_ in missing_posts[:_EXAMPLES])
        more = ", …" if len(missing_posts) > _EXAMPLES else ""
        withheld = (
            f"{len(missing_posts):,} of {len(posts):,} posts are missing from the source "
            f"({examples}{more})"
        )
    elif too_many_removed(len(missing_comments), len(comments)):
        withheld = (
            f"{len(missing_comments):,} of {len(comments):,} comments are missing from the source"
        )
    elif ingest.rejects_without_oid and missing_posts:
        withheld = f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
    if withheld:
        return Removals(iter(()), withheld)
    return Removals(_present(client, alias, missing_posts, missing_comments))


def _is_read(id_: str, ingest: Ingest) -> bool:
    """Whether the source has a document, or a Reject names it, its post, or all its comments."""
    if id_ in ingest.read:
        return True
    post_oid, comment_oid = oids_of(id_)
    names = {post_oid} if comment_oid is None else {post_oid, f"{post_oid}/{comment_oid}"}
    if comment_oid is not None:
        names.add(f"{post_oid}/?")
    return not names.isdisjoint(ingest.kept)


def _present(
    client: Elasticsearch, alias: str, posts: Sequence[str], comments: Sequence[str]
) -> Iterator[Change]:
    """The missing documents as they are in the index now, unless they came over HTTP."""
    for ids in (posts, comments):
        for batch in batches(ids, _BATCH):
            stored = list(stored_ids(client, alias, {"ids": {"values": batch}}))
            documents = [document for document, _, over_http in stored if not over_http]
            yield from (Change("remove", document) for document in documents)
            if ids is posts:
                oids = [document.routing for document in documents]
                for comment in child_comments(client, alias, oids):
                    yield Change("remove", comment)


def join_by_address(
    client: Elasticsearch, alias: str, raws: Iterable[SourceItem], on_skip: OnSkip
) -> Iterator[SourceItem]:
    """Posts under the oid that the index has for their URL: a feed has other oids than a folder.

    Of such a post the index's version stays unless this one is newer: a feed's content may be a
    summary.
    """
    for batch in batches(raws, _BATCH):
        urls = [raw.url for raw in batch if isinstance(raw, RawPost) and isinstance(raw.url, str)]
        known = posts_at(client, alias, {address_of(url) for url in urls})
        for raw in batch:
            if isinstance(raw, RawPost) and isinstance(raw.url, str):
                oid, version = known.get(address_of(raw.url), (raw.oid, 0))
                if oid not in (raw.oid, str(raw.oid)):
                    raw = replace(raw, oid=oid, entry=b"")  # which has another oid
                    document = post_document(raw)
                    if isinstance(document, Document) and document.version <= version:
                        on_skip(Skipped(raw.origin, None, "in the index already, by its address"))
                        continue
            yield raw


class NewerDocuments:
    """Leaves out documents deleted after their last change, and the comments of such posts.

    Those that were written again since are not left out: Elasticsearch compares their versions.
    `deleted` is the number left out. With `newest` nothing is left out, and every document gets the
    newest version.
    """

    def __init__(self, client: Elasticsearch, alias: str, *, newest: bool) -> None:
        self._client = client
        self._alias = alias
        self._newest = newest
        self._deleted_posts: set[str] = set()
        self.deleted = 0

    def of(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Those of some documents that may be newer than in the index."""
        for batch in batches(documents, _BATCH):
            ids = {document.id for document in batch}
            deleted = deletion_versions(self._client, self._alias, ids)
            suspects = [document for document in batch if self._newest or document.id in deleted]
            present = current_versions(self._client, self._alias, suspects)
            if self._newest:
                batch = [_with_newest_version(document, deleted, present) for document in batch]
            for document in based_on_stored(self._client, self._alias, batch):
                if document.routing in self._deleted_posts or (
                    document.version < deleted.get(document.id, _NEVER)
                    and document.id not in present
                ):
                    self.deleted += 1
                    if document.kind == "post":
                        self._deleted_posts.add(document.routing)
                else:
                    yield document


def _with_newest_version(
    document: Document, deleted: Mapping[str, int], present: Mapping[str, int]
) -> Document:
    """The document with a version above all former ones of it, which may be in the future."""
    former = max(deleted.get(document.id, _NEVER), present.get(document.id, _NEVER))
    return replace(document, version=max(now(), document.version, former + 1))
