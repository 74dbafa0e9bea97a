"""Derives the oid, title, date and labels of a post that states none, or in several ways."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

from indexer.posts.addresses import MAX_URL
from indexer.posts.html_text import TooMuchMarkup, one_line, readable
from indexer.posts.normalise import MAX_OID

_KEPT = 150
_LENGTH = 60
_NAMES = ("name", "label", "title", "slug", "value")
"""Fields that may contain the name of a tag given as a table."""
_DATED = re.compile(r"(?:^|/)(\d{4})/(\d{1,2})/(\d{1,2})(?:/|$)")


def fit(oid: str) -> str:
    """Return the oid; shorten one that is too long to its beginning and a hash of the whole."""
    if len(oid.encode("utf-8", "replace")) <= MAX_OID:
        return oid
    start = oid.encode("utf-8", "replace")[:_KEPT].decode("utf-8", "ignore")
    return f"{start}-{hashlib.sha256(oid.encode('utf-8', 'replace')).hexdigest()[:16]}"


def oid_of_page(address: str) -> str:
    """Return the path of a page: the same in a built site, in a sitemap and on the disk.

    `https://example.org/a/index.html`, `/a/` and `a/index.html` are all `a`; the front page is
    `index`. A query is kept: on some sites only the query distinguishes pages.
    """
    parts = urlsplit(address)
    path = unquote(parts.path).strip("/")
    path = re.sub(r"(?:^|/+)index\.x?html?$", "", path)
    path = re.sub(r"\.x?html?$", "", path)
    query = f"?{parts.query}" if parts.query else ""
    return fit(f"{path or 'index'}{query}")


def oid_at(url: Any, stated: str | None) -> str | None:
    """Return the path of a post's URL as its oid, however the post came in; else the stated oid.

    Several posts may share a page and differ in the fragment only: they get the stated oid.
    """
    is_page = isinstance(url, str) and re.match(r"https?://|/(?!/)", url, re.IGNORECASE)
    if is_page and "#" not in url and len(url) <= MAX_URL:
        with suppress(ValueError):  # an invalid host
            return oid_of_page(url)
    return fit(stated) if stated else None


def title_or_start(title: Any, html: Any) -> Any:
    """Return the title, or the first words of the text; None if there is neither."""
    if title is not None and (not isinstance(title, str) or title.strip()):
        return title
    if not isinstance(html, str):
        return None
    start = plain(html[:20_000])
    if len(start) <= _LENGTH:
        return start or None
    return start[:_LENGTH].rpartition(" ")[0].rstrip(" ,;:–-") + "…"


def plain(html: str) -> str:
    """Return the text of HTML; HTML nested too deeply stays as it is, and is rejected later."""
    if "<" not in html:
        return one_line(unescape(html))
    try:
        return one_line(readable(html).prose)
    except TooMuchMarkup:
        return html


def title_of_name(name: str) -> str:
    """Return the name of a file, or the last part of a path, in words."""
    words = re.sub(r"[-_\s]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def day_in_path(path: str) -> str:
    """Return the day in a path, `2024-01-31` for `2024/01/31/a-post/`; "" if there is none."""
    named = _DATED.search(path)
    return day(*named.groups()) if named else ""


def day(*numbers: str) -> str:
    """Return a year, a month and a day as one date; "" if there is no such day."""
    try:
        return date(*map(int, numbers)).isoformat()
    except ValueError:
        return ""


def labels(stated: Any) -> list[str]:
    """Read tags: a string with commas, a table with a name, or a list of these or of lists of them.

    Hexo writes nested categories as lists; schema.org/keywords allows a DefinedTerm.
    """
    if isinstance(stated, str):
        stated = stated.split(",")
    terms: list[Any] = []
    for term in stated if isinstance(stated, list | tuple) else (stated,):
        terms += term if isinstance(term, list | tuple) else (term,)
    names = [
        next(filter(None, map(term.get, _NAMES)), None) if isinstance(term, Mapping) else term
        for term in terms
    ]
    words = [n for n in names if isinstance(n, str | int | float) and not isinstance(n, bool)]
    return list(dict.fromkeys(filter(None, (str(word).strip() for word in words))))
