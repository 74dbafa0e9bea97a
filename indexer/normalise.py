"""Turns a RawPost into documents for Elasticsearch, or into rejects. Pure: performs no I/O.

Everything about the form of a document is decided here, so that a post is the same from whichever
source or request it comes.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from indexer.addresses import without_tracking
from indexer.dates import TAKEN, NoDate, iso, milliseconds, moment
from indexer.digests import digest, entry_digest, raw_digest
from indexer.html_text import Readable, TooMuchMarkup, clean, one_line, readable
from indexer.records import (
    Document,
    Origin,
    RawComment,
    RawPost,
    Reject,
    When,
    comment_id,
    post_id,
)

MAX_OID = 200
"""Bytes; the `_id` of a comment contains two oids and may have 512."""
MAX_TITLE = 1_000
MAX_TEXT = 1_000_000
"""Stored characters; highlighting fails above `index.highlight.max_analyzed_offset`."""
MAX_HTML = 5 * MAX_TEXT
"""Characters of HTML, checked before it is parsed."""
MAX_COMMENT_TAGS = 2_000
"""Anybody may write a comment, and with more tags parsing may take seconds."""
MAX_URL = 2_000
MAX_LABEL = 200
MAX_LABELS = 100
MAX_LINKS = 1_000
UNMISTAKABLE_SLUG = 9
"""Letters of a slug that two pages hardly have by accident. Of 1,370 links of five sites to an
address that no post has, but with the slug of one post, nine in ten lead to that post: sites move
to other paths and hosts, and old links stay as they are."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")
_TO_ENCODE = re.compile('[ "<>`]')


Check = Callable[[Any], Any]
"""A field as a source gives it → as it is stored, or `_Invalid`."""

IsStored = Callable[[str, str], bool]
"""Whether the index has the document with this id, made of what has this raw digest."""


class _Invalid(Exception):
    """Why a post or comment is invalid."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


def documents(raw: RawPost, is_stored: IsStored | None = None) -> Iterator[Document | Reject]:
    """The post, then each of its comments; a Reject in place of each invalid one.

    The comments of a rejected post are left out, and its Reject says so. Documents that `is_stored`
    knows are left out too, without being made. An unexpected error gets a note that names
    the place.
    """
    try:
        yield from _made(raw, is_stored)
    except Exception as error:
        error.add_note(f"It occurred while {raw.origin} was read.")
        raise


def _made(raw: RawPost, is_stored: IsStored | None) -> Iterator[Document | Reject]:
    oid = _valid_oid(raw.oid)
    if is_stored and oid and is_stored(post_id(oid), _raw_post_digest(raw)):
        yield from _comments(oid, raw, is_stored)
        return
    post = post_document(raw)
    if isinstance(post, Reject):
        if raw.comments:
            reason = f"{post.reason}; its {len(raw.comments)} comments were left out too"
            post = replace(post, reason=reason)
        yield post
        return
    comments = list(_comments(post.routing, raw, None))
    texts = [comment.source["comment"] for comment in comments if isinstance(comment, Document)]
    # The post has the texts too, so that a search needs no join. Its digest is without them.
    yield replace(post, source={**post.source, "comments": texts}) if texts else post
    yield from comments


def _comments(
    post_oid: str, raw: RawPost, is_stored: IsStored | None
) -> Iterator[Document | Reject]:
    of_entry = _entry_digest(raw) if raw.comments else ""
    for comment in raw.comments:
        oid = _valid_oid(comment.oid)
        if not (
            is_stored and oid and is_stored(comment_id(post_oid, oid), _raw_comment_digest(comment))
        ):
            yield comment_document(post_oid, comment, raw.origin, of_entry)


def post_document(raw: RawPost) -> Document | Reject:
    """The post alone, without its comments."""
    try:
        checked = _checked(raw, _POST_FIELDS)
    except _Invalid as invalid:
        return Reject(raw.origin, oid_of_reject(raw.oid), invalid.reason, invalid.remedy)
    oid, pub_date, modified = checked["oid"], checked["pub_date"], checked["modified"]
    text = checked["text"]
    source: dict[str, Any] = {
        "oid": oid,
        "title": checked["title"],
        "text": text.prose,
        "code": text.code,
        "categories": checked["categories"],
        "keywords": checked["keywords"],
        **_optional_fields(
            url=checked["url"], image=checked["image"], pub_date=pub_date, modified=modified
        ),
    }
    if pub_date:
        source["day"] = pub_date.date().isoformat()
    if language := _language(raw.language):
        source["language"] = language
    if text.headings:
        source["headings"] = [asdict(heading) for heading in text.headings]
    if "url" in source:
        source["address"] = address_of(source["url"])
        source["slug"] = slug_of(source["address"])
    if links := _links(source.get("url", ""), text.links):
        source["links"] = links
    name = post_id(oid)
    read = _raw_post_digest(raw) + _entry_digest(raw)
    source |= {"digest": digest(source), "raw_digest": read, "kind": "post"}
    return Document(name, oid, _version(modified, pub_date), source, raw.origin)


def comment_document(
    post_oid: str, raw: RawComment, origin: Origin, of_entry: str = ""
) -> Document | Reject:
    """One comment on the post `post_oid`; its raw digest ends with `of_entry`."""
    try:
        post_oid = _oid(post_oid)
        checked = _checked(raw, _COMMENT_FIELDS)
    except _Invalid as invalid:
        shown = f"{oid_of_reject(post_oid)}/{oid_of_reject(raw.oid) or '?'}"
        return Reject(origin, shown, invalid.reason, invalid.remedy)
    oid, pub_date = checked["oid"], checked["pub_date"]
    source: dict[str, Any] = {
        "oid": oid,
        "post_oid": post_oid,
        "author": checked["author"],
        "comment": checked["comment"],
        **_optional_fields(pub_date=pub_date),
    }
    join = {"name": "comment", "parent": post_id(post_oid)}
    name = comment_id(post_oid, oid)
    read = _raw_comment_digest(raw) + of_entry
    source |= {"digest": digest(source), "raw_digest": read, "kind": join}
    return Document(name, post_oid, _version(pub_date), source, origin)


def _checked(raw: RawPost | RawComment, checks: Mapping[str, Check]) -> dict[str, Any]:
    """The value of each field as it is stored.

    Raises:
        _Invalid: with what is wrong with every field.
    """
    values: dict[str, Any] = {}
    complaints: list[_Invalid] = []
    for name, check in checks.items():
        try:
            values[name] = check(getattr(raw, name))
        except _Invalid as invalid:
            complaints.append(invalid)
    if complaints:
        remedies = dict.fromkeys(complaint.remedy for complaint in complaints)
        raise _Invalid("; ".join(map(str, complaints)), " ".join(remedies))
    return values


_NOT_DIGESTED = {"origin", "comments", "entry"}
_DIGESTED = [field.name for field in fields(RawPost) if field.name not in _NOT_DIGESTED]
_digested = attrgetter(*_DIGESTED)


def _raw_post_digest(raw: RawPost) -> str:
    """Of everything that a post is made of, but its comments."""
    return raw_digest(_digested(raw))


def _raw_comment_digest(raw: RawComment) -> str:
    return raw_digest((raw.oid, raw.comment, raw.author, raw.pub_date))


def _entry_digest(raw: RawPost) -> str:
    return entry_digest(raw.entry, 1 + len(raw.comments))


def address_of(url: str) -> str:
    """What is the same for every spelling of a page's URL: `blog.example.org/posts/a`.

    Without scheme, `www.`, `index.html`, `.html`, the slash at the end and what counts visitors. A
    path on the site (`/posts/a`) stays without a host.
    """
    bare = re.sub(r"^https?://(?:www\.)?", "", without_tracking(url), flags=re.IGNORECASE)
    host, slash, path = bare.partition("/")
    path = unquote(re.sub(r"(?:(?:^|(?<=/))index)?\.html?$", "", path)).rstrip("/")
    return f"{host.lower()}{slash}{path}"[:MAX_URL]


def slug_of(address: str) -> str:
    """The last part of an address, without the ending of a file: `a` of `blog.example.org/posts/a`.

    Empty for the first page of a site.
    """
    path = re.sub(r"(?:(?:^|(?<=/))_?index)?\.(?:html?|mdx?)$", "", address).rstrip("/")
    return path.partition("/")[2].rpartition("/")[2].lower()


def _links(url: str, links: Iterable[tuple[str, str]]) -> list[str]:
    """The links of the post at this URL that may lead to another post, as they are stored.

    A link is its slug, its address and its text, one a line. Links to other sites are left out,
    unless the slug is unmistakable: a site may have been there before.
    """
    stored: set[str] = set()
    own = address_of(url)
    for href, text in links:
        try:
            target = urldefrag(urljoin(url, href.strip())).url.partition("?")[0]
        except ValueError:  # not a URL
            continue
        address = address_of(target)
        slug = slug_of(address)
        on_site = address.partition("/")[0] == own.partition("/")[0]
        if (
            slug
            and address != own
            and re.match(r"/|https?://", target)
            and (on_site or len(slug) >= UNMISTAKABLE_SLUG)
            and 0 < len(text) <= MAX_LABEL
            and not _CONTROL.search(address)
        ):
            stored.add(f"{slug}\n{address}\n{html.escape(text, quote=False)}")
    return sorted(stored)[:MAX_LINKS]


def _language(value: Any) -> str:
    """A language tag in lower case, `de` or `pt-br`; "" if it is invalid."""
    if not isinstance(value, str):
        return ""
    tag = value.strip().partition(".")[0].replace("_", "-").lower()
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _optional_fields(**values: str | datetime | None) -> dict[str, str]:
    return {
        name: iso(value) if isinstance(value, datetime) else value
        for name, value in values.items()
        if value
    }


def _version(*moments: datetime | None) -> int:
    return next((milliseconds(when) for when in moments if when is not None), 0)


def _check_type(
    name: str,
    value: Any,
    remedy: str = "Make it a string.",
    types: type | tuple[type, ...] = str,
) -> None:
    """Check a field that may be missing.

    Raises:
        _Invalid: it is something else.
    """
    if value is not None and not isinstance(value, types):
        kind = type(value).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        raise _Invalid(f"{name} is {article} {kind}: {value!r:.80}", remedy)


def oid_of_reject(value: Any) -> str | None:
    """The oid as it is stored, so that `sync` knows which post was rejected.

    None for a value of another type, and for none: any post may have been meant.
    """
    oid = _valid_oid(value)
    if oid is None and isinstance(value, str):
        return clean(value).strip()[:MAX_OID] or None
    return oid


def _valid_oid(value: Any) -> str | None:
    try:
        return _oid(value)
    except _Invalid:
        return None


def _oid(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    remedy = "Give every post and comment a string or an integer."
    _check_type("oid", value, remedy)
    if value is None:
        raise _Invalid("oid is missing", remedy)
    oid: str = value.strip()
    if not oid:
        raise _Invalid("oid is empty", "Give every post and comment a unique oid.")
    if not oid.isprintable() and _CONTROL.search(oid):
        raise _Invalid(f"oid {oid!r:.80} has a control character", "Remove it.")
    if len(oid.encode()) > MAX_OID:
        reason = f"oid {oid[:40]!r}… has {len(oid.encode())} bytes"
        raise _Invalid(reason, f"The limit is {MAX_OID}.")
    return oid


def _comment_oid(value: Any) -> str:
    oid = _oid(value)
    if ":" in oid:
        raise _Invalid(f"the comment's oid {oid!r:.80} has a colon", "Use one without a colon.")
    return oid


def _title(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)  # YAML reads `title: 1984` as a number
    _check_type("title", value)
    title = one_line(value or "")
    if not title:
        raise _Invalid("title is missing", "Give the post a title.")
    if len(title) > MAX_TITLE:
        reason = f"the title has {len(title):,} characters"
        raise _Invalid(reason, f"The limit is {MAX_TITLE:,}. Is it the text?")
    return html.escape(title, quote=False)


def _prose_and_code(name: str, value: Any) -> Readable:
    """Prose and code, HTML-escaped."""
    _check_type(name, value, "Make it HTML.")
    if value is None:
        return Readable("", "")
    split = "Split it into several posts."
    if len(value) > MAX_HTML:
        raise _Invalid(f"{name} has {len(value):,} characters of HTML", split)
    try:
        text = readable(value)
    except TooMuchMarkup as error:
        raise _Invalid(f"{name}: {error}", "Close the elements, or leave the post out.") from None
    prose, code = html.escape(text.prose, quote=False), html.escape(text.code, quote=False)
    if max(len(prose), len(code)) > MAX_TEXT:
        size = max(len(prose), len(code))
        raise _Invalid(f"{name} has {size:,} characters, more than {MAX_TEXT:,}", split)
    headings = (
        replace(heading, text=html.escape(heading.text, quote=False)) for heading in text.headings
    )
    return Readable(prose, code, tuple(headings), text.links)


def _comment(value: Any) -> str:
    if isinstance(value, str) and value.count("<") > MAX_COMMENT_TAGS:
        reason = f"comment has more than {MAX_COMMENT_TAGS:,} tags"
        raise _Invalid(reason, "Leave it out.")
    readable_text = _prose_and_code("comment", value)
    text = "\n".join(filter(None, (readable_text.prose, readable_text.code)))
    if not text:
        raise _Invalid("the comment is empty", "Give it a text, or leave it out.")
    return text


def _author(value: Any) -> str:
    _check_type("author", value)
    return html.escape(one_line(value or "")[:MAX_LABEL], quote=False)


def _date(name: str, value: When) -> datetime | None:
    try:
        return moment(value)
    except NoDate as error:
        raise _Invalid(f"{name}: {error}", f"{TAKEN[0].upper()}{TAKEN[1:]}.") from None


def _url(name: str, value: Any) -> str | None:
    _check_type(name, value)
    if not value:
        return None
    url: str = value.strip()
    remedy = "Use an http:// or https:// URL, or a path on the site that starts with /."
    site_relative = url.startswith("/") and not url.startswith("//")
    if not (site_relative or re.match(r"https?://[^/\s?#]", url, re.IGNORECASE)):
        raise _Invalid(f"{name} {url!r:.80} is not a URL or a path on the site", remedy)
    if _CONTROL.search(url) or "\\" in url:
        raise _Invalid(f"{name} {url!r:.80} has a backslash or a control character", remedy)
    if len(url) > MAX_URL:
        raise _Invalid(f"{name} has {len(url):,} characters", f"The limit is {MAX_URL:,}.")
    return _TO_ENCODE.sub(lambda character: f"%{ord(character[0]):02X}", url)


def _labels(name: str, value: Any) -> list[str]:
    remedy = "Use a list of strings, or one string with commas."
    if isinstance(value, str):
        value = value.split(",")
    _check_type(name, value, remedy, (list, tuple))
    labels: dict[str, None] = {}
    for entry in value or ():
        if not isinstance(entry, str | int | float) or isinstance(entry, bool):
            raise _Invalid(f"{name} has a {type(entry).__name__}: {entry!r:.80}", remedy)
        label = one_line(str(entry))
        if len(label) > MAX_LABEL:
            raise _Invalid(f"{name}: {label[:40]!r}… has {len(label)} characters", remedy)
        if label:
            labels[label] = None
    if len(labels) > MAX_LABELS:
        raise _Invalid(f"{name} has {len(labels)} entries", f"The limit is {MAX_LABELS}.")
    return list(labels)


_POST_FIELDS: dict[str, Check] = {
    "oid": _oid,
    "title": _title,
    "text": partial(_prose_and_code, "text"),
    "url": partial(_url, "url"),
    "pub_date": partial(_date, "pub_date"),
    "modified": partial(_date, "modified"),
    "categories": partial(_labels, "categories"),
    "keywords": partial(_labels, "keywords"),
    "image": partial(_url, "image"),
}
_COMMENT_FIELDS: dict[str, Check] = {
    "oid": _comment_oid,
    "comment": _comment,
    "author": _author,
    "pub_date": partial(_date, "pub_date"),
}
