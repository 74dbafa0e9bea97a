"""What becomes of a post as it is stored when it is written again. Pure.

A source has a post with the comments of that source; over HTTP come posts and single comments. What
only the index has is kept: comments that came over HTTP, the texts of links of other posts, and how
popular a post is.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from indexer.records import Document

Source = Mapping[str, Any]
"""A post as it is stored."""

OF_THE_INDEX = ("link_texts", "popularity")
"""Fields that stay if what is written has none."""

Change = Callable[[Source | None], Source | None]
"""From a post as it is stored (None: it is not there) to what it shall be (None: not there)."""


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


def changes_popularity(before: Source | None, after: Source | None) -> bool:
    """Whether a write makes a post more or less popular."""
    return (before or {}).get("popularity") != (after or {}).get("popularity")


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
