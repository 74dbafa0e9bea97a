"""Reads a source into posts, and counts the outcomes."""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from analyzers.signs import NARROW
from indexer.errors import AllAlike, NotBuilt
from indexer.posts.normalise import (
    check_post,
    digest,
    digest_of,
    has_comments,
    is_of_entry,
    oid_of_reject,
    without_mark,
)
from indexer.posts.records import (
    ExportedPost,
    OnProgress,
    Origin,
    Post,
    RawPost,
    Reject,
    Skipped,
    SourceItem,
    examples,
)
from indexer.runs.refusals import Refusal
from indexer.store.bulk import BulkLimits

MAX_REMOVED = 5
"""The number of posts, or comments, that may always be removed at a time without `force`."""
MAX_REMOVED_SHARE = 0.25
"""The share of posts, or comments, that may be removed at a time without `force`."""
_REJECTS = 3  # posts of a small source that may be rejected without `force`
_REJECTED_SHARE = 0.1  # the same for a large one
_REPORTED = 500  # entries between two reports of progress

_NO_TEXT = b""
_SHORT = 5  # the length up to which a title may be in another page's text by accident
_SAMPLE = 100  # characters of a post quoted in a message
_NUMBERED = re.compile(rf"(?<![A-Za-z-])[A-Za-z-]*+\d[A-Za-z\d.,:{NARROW}-]*+")
"""A word with a digit, such as a time or the number of an error."""
_COMPARED = 50_000  # posts of a large index that are compared, as a sample

OnReject = Callable[[Reject], None]


def too_many_removed(removed: int, indexed: int) -> bool:
    """Whether the removal of this number of posts or comments looks like a mistake."""
    return removed > max(MAX_REMOVED, MAX_REMOVED_SHARE * indexed)


class Alike:
    """Finds posts that would get the same text or title, or no text: a login page, an error page, a
    parked domain or an empty template in place of each.

        alike = Alike(indexed)  # the number of posts of the index
        alike.add(post)  # each one that replaces a post
        alike.check(stored)

    Of an index of more than 50,000 posts, only a sample is compared.
    """

    def __init__(self, indexed: int) -> None:
        self._of_each = -(-indexed // _COMPARED) or 1
        self._indexed = indexed
        self._first: dict[str, dict[bytes, str]] = {"text": {}, "title": {}}
        self._found: dict[str, dict[str, bytes]] = {"text": {}, "title": {}}
        self._sample = ""

    def add(self, post: Post) -> None:
        """Add a post as it would be written."""
        oid = post.oid
        if crc32(oid.encode()) % self._of_each:
            return
        for what, key in _keys(post).items():
            first, found = self._first[what].setdefault(key, oid), self._found[what]
            if first != oid or key == _NO_TEXT:
                found[first] = found[oid] = key
                self._sample = self._sample or f"{post.title}: {post.text or 'no text'}"[:_SAMPLE]

    def check(self, stored: Callable[[list[str]], Iterable[Post]]) -> None:
        """Check that most posts of the index keep a title and a text of their own.

        Args:
            stored: reads some of its posts; called only if too many are alike.

        Raises:
            AllAlike: more than a quarter of them, and at least five, would not.
        """
        compared = self._indexed // self._of_each
        least = max(MAX_REMOVED, math.floor(MAX_REMOVED_SHARE * compared) + 1)
        for what, found in self._found.items():
            if len(found) < least:
                continue
            # Posts may have been alike before: photographs without text, rewritten.
            were = {post.oid: _keys(post)[what] for post in stored(list(found))}
            lost = [oid for oid, key in found.items() if were.get(oid, key) != key]
            if len(lost) >= least:
                raise AllAlike(
                    f"{len(lost):,} of {compared:,} posts would have the same {what} as others, or "
                    f"none ({examples(lost)}), such as {self._sample!r}. Nothing was written.",
                    "Check these pages: they may show a temporary error, a login or a broken "
                    "template. If they are right, use --force.",
                )


def _keys(post: Post) -> dict[str, bytes]:
    """Return the values that posts with the same content share: digests of the title, and of the
    text without words that have a digit, title and address."""
    text = f"{post.text}\n{post.code}"
    for own in (post.url, post.title, f"/{post.oid}"):
        if len(own) > _SHORT:
            text = text.replace(own, " ")
    words = _NUMBERED.sub("", text)
    has_words = any(map(str.isalpha, words))
    return {"text": _digest_of(words) if has_words else _NO_TEXT, "title": _digest_of(post.title)}


def _digest_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How a source is read and written.

    Args:
        force: do what looks like a mistake: remove most posts, build without rejected ones.
        complete: for `sync`: the source has every post; a feed, which only has the latest, has not.
        comments: for `sync`: the source has all comments, so it may also lack the last one.
        purpose: shown to other processes that wait for the lock.
    """

    force: bool = False
    complete: bool = True
    comments: bool = False
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress | None = None
    purpose: str = "reindex"


class Ingest:
    """Reads a source once, and counts the outcomes.

    Args:
        stored: digests by oid; posts that still have theirs are skipped as unchanged.

    Attributes:
        read: the oids of all posts of the source, and the origin of each.
        has_comments: whether any post of the source has comments.
        kept: the oids of each Reject and Skipped: these posts are not missing from the source.
        withdrawn: the comments, by post, that the source marks as not public.
        doubted: of `kept`, pages that no longer look like posts but declare nothing.
        rejects_without_oid: the number of rejects that may be any post.
        entries: the number of posts and rejects that the source yielded.
        unchanged: the number of posts that are the same in the index.
    """

    def __init__(
        self,
        on_reject: OnReject,
        options: IngestOptions,
        stored: Mapping[str, str] | None = None,
    ) -> None:
        self.options = options
        self.read: dict[str, Origin] = {}
        self.kept: set[str] = set()
        self.withdrawn: dict[str, frozenset[str]] = {}
        self.doubted: dict[str, Skipped] = {}
        self.rejects_without_oid = self.entries = self.unchanged = 0
        self.has_comments = False
        self._on_reject = on_reject
        self._stored = stored or {}
        self._by_digest = {without_mark(text): oid for oid, text in self._stored.items() if text}
        self._rejected: set[Origin] = set()

    @property
    def rejected(self) -> int:
        """The number of entries with anything rejected: the post or a comment."""
        return len(self._rejected) + self.rejects_without_oid

    def posts(self, items: Iterable[SourceItem]) -> Iterator[Post]:
        """Yield the posts that differ, each oid once; rejects are reported as they occur."""
        for item in items:
            if isinstance(item, Skipped):
                # A page that was a post before, and declares nothing, is not missing.
                if item.oid is not None and not item.declared:
                    self.kept.add(item.oid.strip())
                    self.doubted[item.oid.strip()] = item
                continue
            self._count_entry()
            if isinstance(item, Reject):
                self.reject(item)
            elif not self._is_known(item) and (post := self._post_of(item)):
                self.read[post.oid] = item.origin
                if any(not comment.over_http for comment in post.comments):
                    self.has_comments = True
                yield post

    def is_unchanged_entry(self, entry: bytes, origin: Origin) -> bool:
        """Whether the index has this entry's post unchanged, and it was not read before.

        If so, it now counts as read.
        """
        oid = self._by_digest.get(digest(entry))
        if oid is None or oid in self.read:
            return False
        self._count_entry()
        self._keep(oid, origin)
        return True

    def check_rejects(self) -> None:
        """Check that the source was understood.

        Raises:
            NotBuilt: more than a tenth of its posts, and more than three, were rejected, wholly
                or in part; or more than half of them wholly.
        """
        too_many = self.rejected > max(_REJECTS, _REJECTED_SHARE * self.entries)
        if too_many or 2 * (self.entries - len(self.read)) > self.entries:
            raise NotBuilt(
                f"{self.rejected:,} of {self.entries:,} posts were rejected, wholly or in part",
                "Correct them, or use --force to go on without them.",
            )

    def refuse(self, oid: str, refusal: Refusal) -> None:
        """Count a post that Elasticsearch refused."""
        self.reject(Reject(self.read[oid], oid, refusal.reason, refusal.remedy))

    def reject(self, reject: Reject) -> None:
        """Count a reject; its post is not missing, and stays as it is in the index."""
        if reject.oid is None:
            # The only reject of its entry. An export's entries without an oid have the same origin.
            self.rejects_without_oid += 1
        else:
            self._rejected.add(reject.origin)
            self.kept.add(reject.oid.strip())  # stored oids are stripped, too
        self._on_reject(reject)

    def _count_entry(self) -> None:
        if self.options.on_progress and self.entries % _REPORTED == 0:
            self.options.on_progress(self.entries)
        self.entries += 1

    def _keep(self, oid: str, origin: Origin) -> None:
        self.read[oid] = origin
        self.unchanged += 1
        self.has_comments = self.has_comments or has_comments(self._stored[oid])

    def _is_known(self, item: RawPost | ExportedPost) -> bool:
        """Whether a post was read before, or the index has it unchanged; if so, count it."""
        oid = item.post.oid if isinstance(item, ExportedPost) else oid_of_reject(item.oid)
        if oid is None:
            return False
        if first := self.read.get(oid):
            reason = f"another post has the oid {oid!r} already ({first})"
            remedy = "Give one of them another oid, or leave one out."
            self.reject(Reject(item.origin, oid, reason, remedy))
            return True
        stored = self._stored.get(oid)
        stands_in = isinstance(item, RawPost) and item.stands_in
        if stored and (stored == _digest(item) or (stands_in and is_of_entry(stored))):
            self._keep(oid, item.origin)
            return True
        return False

    def _post_of(self, item: RawPost | ExportedPost) -> Post | None:
        if isinstance(item, ExportedPost):
            return item.post
        post, rejects = check_post(item)
        for reject in rejects:
            self.reject(reject)
        if post and item.withdrawn:
            self.withdrawn[post.oid] = frozenset(item.withdrawn)
        return post


def _digest(item: RawPost | ExportedPost) -> str:
    return item.post.digest if isinstance(item, ExportedPost) else digest_of(item)
