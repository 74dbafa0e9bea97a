"""Turns a RawPost into documents for Elasticsearch, or into rejects. Pure: performs no I/O.

Everything about the form of a document is decided here, so that a post is the same from whichever
source or request it comes.
"""

import hashlib
import html
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson

from indexer.dates import TAKEN, NoDate, iso, milliseconds, moment
from indexer.html_text import TooDeep, clean, one_line, readable
from indexer.records import Document, Origin, RawComment, RawPost, Reject, When

MAX_OID = 200
"""Bytes; an `_id` holds two of them and may have 512."""
MAX_TITLE = 1_000
MAX_TEXT = 1_000_000
"""Characters as stored: `index.highlight.max_analyzed_offset`, past which highlighting fails."""
MAX_HTML = 5 * MAX_TEXT
"""Characters of HTML, looked at before it is parsed."""
MAX_URL = 2_000
MAX_LABEL = 200
MAX_LABELS = 100

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TO_ENCODE = re.compile('[ "<>`]')


class _Refused(Exception):
    """Why a post or comment is no document."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


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
        oid = _oid(raw.oid)
        pub_date = _date("pub_date", raw.pub_date)
        modified = _date("modified", raw.modified)
        prose, code = _prose_and_code("text", raw.text)
        source: dict[str, Any] = {
            "oid": oid,
            "title": _title(raw.title),
            "text": prose,
            "code": code,
            "categories": _labels("categories", raw.categories),
            "keywords": _labels("keywords", raw.keywords),
            **_present(url=_url(raw.url), pub_date=pub_date, modified=modified),
        }
    except _Refused as refused:
        return Reject(raw.origin, _shown(raw.oid), refused.reason, refused.remedy)
    source |= {"digest": digest(source), "kind": "post"}
    return Document(f"post:{oid}", oid, _version(modified, pub_date), source, "post", raw.origin)


def comment_document(post_oid: str, raw: RawComment, origin: Origin) -> Document | Reject:
    """One comment of the post `post_oid`, which need not be at hand."""
    try:
        post_oid = _oid(post_oid)
        oid = _oid(raw.oid)
        if ":" in oid:
            raise _Refused(
                f"the comment's oid {oid!r:.80} has a colon", "Give it one without: `_id` needs it."
            )
        prose, code = _prose_and_code("comment", raw.comment)
        text = "\n".join(part for part in (prose, code) if part)
        if not text:
            raise _Refused("the comment is empty", "Leave it out, or give it a text.")
        pub_date = _date("pub_date", raw.pub_date)
        source: dict[str, Any] = {
            "oid": oid,
            "post_oid": post_oid,
            "author": _author(raw.author),
            "comment": text,
            **_present(pub_date=pub_date),
        }
    except _Refused as refused:
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


def _oid(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        found = "is missing" if value is None else f"is a {type(value).__name__}: {value!r:.80}"
        raise _Refused(f"oid {found}", "Give every post and comment a string or a whole number.")
    oid = value.strip()
    if not oid:
        raise _Refused("oid is empty", "Give every post and comment an oid of its own.")
    if _CONTROL.search(oid):
        raise _Refused(f"oid {oid!r:.80} has a control character", "Take it out.")
    if len(oid.encode()) > MAX_OID:
        reason = f"oid {oid[:40]!r}… has {len(oid.encode())} bytes"
        raise _Refused(reason, f"At most {MAX_OID} can be taken.")
    return oid


def _title(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)  # what YAML makes of `title: 1984`
    if value is not None and not isinstance(value, str):
        raise _Refused(f"title is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    title = one_line(value or "")
    if not title:
        raise _Refused("title is missing", "Give the post a title.")
    if len(title) > MAX_TITLE:
        reason = f"the title has {len(title):,} characters"
        raise _Refused(reason, f"At most {MAX_TITLE:,} can be taken; is it the text?")
    return html.escape(title, quote=False)


def _prose_and_code(name: str, value: Any) -> tuple[str, str]:
    """Prose and code, escaped as they are stored."""
    if value is None:
        return "", ""
    if not isinstance(value, str):
        raise _Refused(f"{name} is a {type(value).__name__}: {value!r:.80}", "Make it HTML.")
    split = "Split it into several posts; one so long is no hit that helps anyone."
    if len(value) > MAX_HTML:
        raise _Refused(f"{name} has {len(value):,} characters of HTML", split)
    try:
        found = readable(value)
    except TooDeep as error:
        raise _Refused(f"{name}: {error}", "Close the elements, or leave the post out.") from None
    prose, code = html.escape(found.prose, quote=False), html.escape(found.code, quote=False)
    if max(len(prose), len(code)) > MAX_TEXT:
        size = max(len(prose), len(code))
        raise _Refused(f"{name} has {size:,} characters, more than {MAX_TEXT:,}", split)
    return prose, code


def _author(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise _Refused(f"author is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    return html.escape(one_line(value or "")[:MAX_LABEL], quote=False)


def _date(name: str, value: When) -> datetime | None:
    try:
        return moment(value)
    except NoDate as error:
        raise _Refused(f"{name}: {error}", f"{TAKEN[0].upper()}{TAKEN[1:]}.") from None


def _url(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _Refused(f"url is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    url = value.strip()
    remedy = "Taken are http:// and https:// addresses, and paths on the site that start with /."
    site_relative = url.startswith("/") and not url.startswith("//")
    if not (site_relative or re.match(r"https?://[^/\s?#]", url, re.IGNORECASE)):
        raise _Refused(f"url {url!r:.80} is no address of a page", remedy)
    if _CONTROL.search(url) or "\\" in url:
        raise _Refused(f"url {url!r:.80} has a backslash or a control character", remedy)
    if len(url) > MAX_URL:
        raise _Refused(f"url has {len(url):,} characters", f"At most {MAX_URL:,} can be taken.")
    return _TO_ENCODE.sub(lambda found: f"%{ord(found[0]):02X}", url)


def _labels(name: str, value: Any) -> list[str]:
    remedy = "Make it a list of strings, or one string with commas."
    if isinstance(value, str):
        value = value.split(",")
    elif value is None:
        value = ()
    if not isinstance(value, list | tuple):
        raise _Refused(f"{name} is a {type(value).__name__}: {value!r:.80}", remedy)
    labels: dict[str, None] = {}
    for entry in value:
        if not isinstance(entry, str | int | float) or isinstance(entry, bool):
            raise _Refused(f"{name} has a {type(entry).__name__}: {entry!r:.80}", remedy)
        label = one_line(str(entry))
        if len(label) > MAX_LABEL:
            raise _Refused(f"{name}: {label[:40]!r}… has {len(label)} characters", remedy)
        if label:
            labels[label] = None
    if len(labels) > MAX_LABELS:
        raise _Refused(f"{name} has {len(labels)} entries", f"At most {MAX_LABELS} can be taken.")
    return list(labels)
