"""RawPost → the documents for Elasticsearch, or the reason why not. Pure: opens nothing.

Everything that a document may look like is decided here, so that a post is the same whichever
source or request it came by.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson

from indexer.dates import iso, milliseconds
from indexer.fields import (
    MAX_OID,
    Refused,
    author_of,
    date_of,
    labels_of,
    oid_of,
    texts_of,
    title_of,
    url_of,
)
from indexer.html_text import clean
from indexer.records import Document, Origin, RawComment, RawPost, Reject


def documents(raw: RawPost) -> Iterator[Document | Reject]:
    """The post, then each of its comments; a Reject in the place of any that cannot be taken.

    The comments of a rejected post are left out with it, and its Reject says so.
    """
    post = post_document(raw)
    if isinstance(post, Reject) and raw.comments:
        reason = f"{post.reason}; its {len(raw.comments)} comments went with it"
        post = Reject(post.origin, post.oid, reason, post.remedy)
    yield post
    if isinstance(post, Document):
        for comment in raw.comments:
            yield comment_document(post.routing, comment, raw.origin)


def post_document(raw: RawPost) -> Document | Reject:
    """The post alone, without its comments."""
    try:
        oid = oid_of(raw.oid)
        pub_date = date_of("pub_date", raw.pub_date)
        modified = date_of("modified", raw.modified)
        prose, code = texts_of("text", raw.text)
        source: dict[str, Any] = {
            "oid": oid,
            "title": title_of(raw.title),
            "text": prose,
            "code": code,
            "categories": labels_of("categories", raw.categories),
            "keywords": labels_of("keywords", raw.keywords),
            **_present(url=url_of(raw.url), pub_date=pub_date, modified=modified),
        }
    except Refused as refused:
        return Reject(raw.origin, _shown(raw.oid), refused.reason, refused.remedy)
    source |= {"digest": digest(source), "kind": "post"}
    return Document(f"post:{oid}", oid, _version(modified, pub_date), source, "post", raw.origin)


def comment_document(post_oid: str, raw: RawComment, origin: Origin) -> Document | Reject:
    """One comment of the post `post_oid`, which need not be at hand."""
    try:
        post_oid = oid_of(post_oid)
        oid = oid_of(raw.oid)
        if ":" in oid:
            raise Refused(
                f"the comment's oid {oid!r:.80} has a colon", "Give it one without: `_id` needs it."
            )
        prose, code = texts_of("comment", raw.comment)
        text = "\n".join(part for part in (prose, code) if part)
        if not text:
            raise Refused("the comment is empty", "Leave it out, or give it a text.")
        pub_date = date_of("pub_date", raw.pub_date)
        source: dict[str, Any] = {
            "oid": oid,
            "post_oid": post_oid,
            "author": author_of(raw.author),
            "comment": text,
            **_present(pub_date=pub_date),
        }
    except Refused as refused:
        shown = f"{_shown(post_oid)}/{_shown(raw.oid) or '?'}"
        return Reject(origin, shown, refused.reason, refused.remedy)
    join = {"name": "comment", "parent": f"post:{post_oid}"}
    source |= {"digest": digest(source), "kind": join}
    name = f"comment:{post_oid}:{oid}"
    return Document(name, post_oid, _version(pub_date), source, "comment", origin)


def digest(source: dict[str, Any]) -> str:
    """32 hex digits that change when any stored field does; the same on every machine."""
    content = orjson.dumps(source, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:32]


def _present(*, url: str | None = None, **dates: datetime | None) -> dict[str, str]:
    found = {name: iso(when) for name, when in dates.items() if when is not None}
    return found | ({"url": url} if url else {})


def _version(*moments: datetime | None) -> int:
    return next((milliseconds(when) for when in moments if when is not None), 0)


def _shown(oid: Any) -> str | None:
    """An oid as a report can show it, whatever it is."""
    return None if oid is None else clean(str(oid))[:MAX_OID]
