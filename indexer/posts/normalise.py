"""Converts a RawPost to a Post, or to rejects. Pure: performs no I/O."""

import hashlib
import html
import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urljoin

import orjson

from indexer import SCHEMA
from indexer.posts.addresses import MAX_URL, address_of, is_address, is_url, slug_of
from indexer.posts.dates import TAKEN, NoDate, iso, moment
from indexer.posts.html_text import (
    PAGE,
    VISITOR,
    Limits,
    Readable,
    TooMuchMarkup,
    one_line,
    readable,
)
from indexer.posts.records import Comment, Post, RawComment, RawPost, Reject, When

P = ParamSpec("P")
T = TypeVar("T")

READING = 6
"""Increased when the same input gives another document: `sync` then writes every post again."""
MAX_OID = 200
"""The maximum size of an oid in bytes; an `_id` may have 512."""
MAX_TITLE = 1_000
MAX_TEXT = 1_000_000
"""The maximum number of stored characters; `index.highlight.max_analyzed_offset` limits it."""
MAX_HTML = 5 * MAX_TEXT
"""The maximum number of characters of HTML, checked before parsing."""
MAX_LABEL = 200
MAX_LABELS = 100
MAX_LINKS = 1_000
MAX_POPULARITY = 1_000_000_000_000
TRANSLATED = "="
"""The prefix of the translation key of a post with translations."""
UNMISTAKABLE_SLUG = 9
"""The length of a slug that two pages hardly share by accident: sites move, and old links stay. Of
1,370 links to addresses without a post, nine in ten lead to the post with their slug."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")
_TO_ENCODE = re.compile('[ "<>`]')


class Invalid(Exception):
    """The reason why a post or comment is invalid."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class _Complaints:
    """Collects the faults of all fields of a post or comment."""

    def __init__(self) -> None:
        self._all: list[Invalid] = []

    def value(self, default: T, check: Callable[P, T], *of: P.args, **named: P.kwargs) -> T:
        """Return the checked value of a field, or the default if it is invalid."""
        try:
            return check(*of, **named)
        except Invalid as invalid:
            self._all.append(invalid)
            return default

    def require_none(self) -> None:
        """Raise `Invalid` with all faults, if there are any."""
        if self._all:
            remedies = dict.fromkeys(complaint.remedy for complaint in self._all)
            raise Invalid("; ".join(map(str, self._all)), " ".join(remedies))


def check_post(raw: RawPost) -> tuple[Post | None, list[Reject]]:
    """Return the post with its comments, and a Reject for each comment left out as invalid.

    For an invalid post, return None and a Reject that gives the number of comments left out with
    it. A post without some of its comments has no digest: every `sync` reports them.
    """
    comments: dict[str, Comment] = {}
    rejects = []
    for raw_comment in raw.comments:
        try:
            comment = comment_of(raw_comment)
            if comment.oid in comments:
                raise Invalid("another comment has this oid", "Give one of them another oid.")
            comments[comment.oid] = comment
        except Invalid as invalid:
            reason = f"comment {oid_of_reject(raw_comment.oid) or '?'}: {invalid}"
            rejects.append(Reject(raw.origin, oid_of_reject(raw.oid), reason, invalid.remedy))
    try:
        digest = "" if rejects else digest_of(raw)
        return _post(raw, tuple(comments.values()), digest), rejects
    except Invalid as invalid:
        reason = str(invalid)
        if raw.comments:
            reason = f"{reason}; its {len(raw.comments)} comments were left out too"
        return None, [Reject(raw.origin, oid_of_reject(raw.oid), reason, invalid.remedy)]


def comment_of(raw: RawComment) -> Comment:
    """Convert a comment to its stored form, or raise `Invalid`."""
    complaints = _Complaints()
    comment = Comment(
        oid=complaints.value("", _oid, raw.oid),
        comment=complaints.value("", _comment, raw.comment),
        author=complaints.value("", _author, raw.author),
        pub_date=complaints.value("", _date, "pub_date", raw.pub_date),
    )
    complaints.require_none()
    return comment


def _post(raw: RawPost, comments: tuple[Comment, ...], digest: str) -> Post:
    """Convert a post to its stored form, or raise `Invalid`."""
    complaints = _Complaints()
    value = complaints.value
    oid = value("", _oid, raw.oid)
    title = value("", _title, raw.title)
    text = value(Readable("", ""), _prose_and_code, "text", raw.text)
    url = value("", _url, "url", raw.url)
    pub_date = value("", _date, "pub_date", raw.pub_date)
    modified = value("", _date, "modified", raw.modified)
    categories = value((), _labels, "categories", raw.categories)
    keywords = value((), _labels, "keywords", raw.keywords)
    image = value("", _url, "image", raw.image)
    number = value(None, popularity, raw.popularity)
    address = address_of(url) if url else ""
    translation_key = value("", _translation_key, raw.translation_key, address)
    complaints.require_none()
    return Post(
        oid=oid,
        title=title,
        text=text.prose,
        code=text.code,
        headings=tuple(
            replace(heading, text=html.escape(heading.text, quote=False))
            for heading in text.headings
        ),
        announced=tuple(
            f"{line}\n{html.escape(code, quote=False)}" for line, code in text.announced
        ),
        url=url,
        address=address,
        slug=slug_of(address),
        image=image,
        pub_date=pub_date,
        day=pub_date[:10],
        modified=modified,
        categories=categories,
        keywords=keywords,
        language=_language(raw.language),
        translation_key=translation_key,
        links=_links(url, text.links),
        popularity=number,
        digest=digest,
        comments=comments,
    )


_digested = attrgetter(
    *(field.name for field in fields(RawPost) if field.compare and field.name != "origin")
)
_VERSION = f"{SCHEMA} {READING} ".encode()
_ENTRY, _COMMENTS = "=", "+"


def digest_of(raw: RawPost) -> str:
    """Return a digest of the whole source of a post, including its comments."""
    return digest(raw.entry or _digested(raw), comments=bool(raw.comments))


def digest(read: bytes | tuple[Any, ...], *, comments: bool = False) -> str:
    """Return a hash of the source of a post: 32 hex digits, with marks if it is an entry of a file
    or an API, and if the post has comments.

    Equal digests mean equal documents. Parsing HTML takes ten times as long.
    """
    marks = (_ENTRY if isinstance(read, bytes) else "") + (_COMMENTS if comments else "")
    if not isinstance(read, bytes):
        try:
            read = orjson.dumps(read, default=repr)
        except TypeError:  # a lone surrogate, or a key that is not a string
            read = repr(read).encode("utf-8", "surrogatepass")
    return hashlib.sha256(_VERSION + read).hexdigest()[:32] + marks


def without_mark(digest: str) -> str:
    """Return the digest without the mark for comments."""
    return digest.removesuffix(_COMMENTS)


def is_of_entry(digest: str) -> bool:
    """Whether the post was read from an entry of a file or an API, and not from a page."""
    return _ENTRY in digest


def has_comments(digest: str) -> bool:
    """Whether the source has comments on the post."""
    return digest.endswith(_COMMENTS)


def _links(url: str, links: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the links of the post at this URL that may lead to another post, as stored.

    A link is its slug, its address and its text, one a line. Left out are links to the post itself,
    and to other sites, unless the slug is unmistakable: the site may have been there before.
    """
    stored: set[str] = set()
    own = address_of(url)
    site, own_slug = own.partition("/")[0], slug_of(own)
    for href, text in links:
        path = href.strip().partition("#")[0].partition("?")[0]
        try:
            # Browsers ignore line breaks, and so does urljoin.
            target = path if is_url(path) and path.isprintable() else urljoin(url, path)
        except ValueError:  # not a URL
            continue
        address = address_of(target)
        slug = slug_of(address)
        on_site = address.partition("/")[0] == site
        is_unmistakable = len(slug) >= UNMISTAKABLE_SLUG
        is_itself = address == own or (is_unmistakable and slug == own_slug)
        if (
            slug
            and not is_itself
            and (on_site or is_unmistakable)
            and re.match(r"/|https?://", target)
            and 0 < len(text) <= MAX_LABEL
            and not _CONTROL.search(address)
        ):
            stored.add(f"{slug}\n{address}\n{html.escape(text, quote=False)}")
    return tuple(sorted(stored)[:MAX_LINKS])


# -- fields ----------------------------------------------------------------------------------------


def _check_type(
    name: str,
    value: Any,
    remedy: str = "Make it a string.",
    types: type | tuple[type, ...] = str,
) -> None:
    if value is not None and not isinstance(value, types):
        kind = type(value).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        raise Invalid(f"{name} is {article} {kind}: {value!r:.80}", remedy)


def oid_of_reject(value: Any) -> str | None:
    """Return the oid as stored, which tells `sync` the rejected post; None if it is invalid: any
    post may be meant."""
    try:
        return _oid(value)
    except Invalid:
        return None


def _oid(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    remedy = "Give every post and comment a string or an integer."
    _check_type("oid", value, remedy)
    if value is None:
        raise Invalid("oid is missing", remedy)
    oid: str = value.strip()
    if not oid:
        raise Invalid("oid is empty", "Give every post and comment a unique oid.")
    if _CONTROL.search(oid):
        raise Invalid(f"oid {oid!r:.80} has a control character", "Remove it.")
    if len(oid.encode()) > MAX_OID:
        reason = f"oid {oid[:40]!r}… has {len(oid.encode())} bytes"
        raise Invalid(reason, f"The limit is {MAX_OID}.")
    return oid


def _title(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)  # YAML reads `title: 1984` as a number
    _check_type("title", value)
    title = one_line(value or "")
    if not title:
        raise Invalid("title is missing", "Give the post a title.")
    if len(title) > MAX_TITLE:
        reason = f"the title has {len(title):,} characters"
        raise Invalid(reason, f"The limit is {MAX_TITLE:,}. Is this the text of the post?")
    return html.escape(title, quote=False)


def _prose_and_code(name: str, value: Any, limits: Limits = PAGE) -> Readable:
    """Return HTML-escaped prose and code; the headings are not escaped."""
    split = "Split it into several posts."
    if not isinstance(value, Readable):
        _check_type(name, value, "Make it HTML.")
        if len(value or "") > MAX_HTML:
            raise Invalid(f"{name} has {len(value):,} characters of HTML", split)
    try:
        text = value if isinstance(value, Readable) else readable(value or "", limits)
    except TooMuchMarkup as error:
        raise Invalid(f"{name}: {error}", "Close the elements, or leave it out.") from None
    prose, code = html.escape(text.prose, quote=False), html.escape(text.code, quote=False)
    size = max(len(prose), len(code))
    if size > MAX_TEXT:
        raise Invalid(f"{name} has {size:,} characters, more than {MAX_TEXT:,}", split)
    return replace(text, prose=prose, code=code)


def _comment(value: Any) -> str:
    text = _prose_and_code("comment", value, VISITOR)
    comment = "\n".join(filter(None, (text.prose, text.code)))
    if not comment:
        raise Invalid("the comment is empty", "Give it a text, or leave it out.")
    return comment


def _author(value: Any) -> str:
    _check_type("author", value)
    return html.escape(one_line(value or "")[:MAX_LABEL], quote=False)


def _date(name: str, value: When) -> str:
    try:
        when = moment(value)
    except NoDate as error:
        raise Invalid(f"{name}: {error}", f"{TAKEN}.") from None
    return iso(when) if when else ""


def _url(name: str, value: Any) -> str:
    _check_type(name, value)
    if not value:
        return ""
    url: str = value.strip()
    if len(url) > MAX_URL:
        raise Invalid(f"{name} has {len(url):,} characters", f"The limit is {MAX_URL:,}.")
    shown = repr(re.sub("//.*@", "//…@", url))[:80]  # not a password
    remedy = "Use an http:// or https:// URL, or a path on the site that starts with /."
    if _CONTROL.search(url) or "\\" in url:
        raise Invalid(f"{name} {shown} has a backslash or a control character", remedy)
    if not is_address(url):
        remedy = f"{remedy} It must not contain a user name or password."
        raise Invalid(f"{name} {shown} is not a URL or a path on the site", remedy)
    return _TO_ENCODE.sub(lambda character: f"%{ord(character[0]):02X}", url)


def _labels(name: str, value: Any) -> tuple[str, ...]:
    remedy = "Use a list of strings, or one string with commas."
    if isinstance(value, str):
        value = value.split(",")
    _check_type(name, value, remedy, (list, tuple))
    if len(value or ()) > 10 * MAX_LABELS:  # including empty and equal ones
        raise Invalid(f"{name} has {len(value):,} entries", f"The limit is {MAX_LABELS}.")
    for entry in value or ():
        if not isinstance(entry, str | int | float) or isinstance(entry, bool):
            raise Invalid(f"{name} has a {type(entry).__name__}: {entry!r:.80}", remedy)
    labels = [label for entry in value or () if (label := one_line(str(entry)))]
    for label in labels:
        if len(label) > MAX_LABEL:
            raise Invalid(f"{name}: {label[:40]!r}… has {len(label)} characters", remedy)
    labels = list(dict.fromkeys(labels))
    if len(labels) > MAX_LABELS:
        raise Invalid(f"{name} has {len(labels)} entries", f"The limit is {MAX_LABELS}.")
    return tuple(labels)


def popularity(value: Any) -> float | None:
    """Return a number of page views, stars or the like, or raise `Invalid`; None if absent."""
    if value is None or value == "":
        return None
    with suppress(TypeError, ValueError):
        number = math.nan if isinstance(value, bool) else float(value)
        if 0 <= number <= MAX_POPULARITY:
            return number
    raise Invalid(
        f"popularity {value!r:.80} is not a number",
        f"Write a number from 0 to {MAX_POPULARITY:,}, such as page views.",
    )


def _translation_key(value: Any, address: str) -> str:
    """Return a digest of the key or the addresses that translations share; "" if there is none.

    A page that shows the home page as a translation has other addresses than any post.
    """
    _check_type("translation_key", value, types=(str, list))
    if isinstance(value, list):
        addresses = {address_of(url) for url in value[:MAX_LABELS]} | {address}
        value = "\n".join(sorted(addresses)) if len(addresses) > 1 else ""
    return TRANSLATED + hashlib.sha256(value.encode()).hexdigest()[:16] if value else ""


def _language(value: Any) -> str:
    """Return a language tag in lower case, `de` or `pt-br`; "" if it is invalid."""
    if not isinstance(value, str):
        return ""
    tag = value.strip().partition(".")[0].replace("_", "-").lower()
    return tag if _LANGUAGE.fullmatch(tag) else ""
