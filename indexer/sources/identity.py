"""The oid and the title of a post whose source gives none."""

import hashlib
from typing import Any
from urllib.parse import unquote, urlsplit

from indexer.html_text import TooDeep, one_line, readable
from indexer.normalise import MAX_OID

_KEPT = 150


def fitting(oid: str) -> str:
    """The oid, or for one that is too long its beginning and a hash of the whole."""
    if len(oid.encode("utf-8", "replace")) <= MAX_OID:
        return oid
    start = oid.encode("utf-8", "replace")[:_KEPT].decode("utf-8", "ignore")
    return f"{start}-{hashlib.sha256(oid.encode('utf-8', 'replace')).hexdigest()[:16]}"


def oid_of_page(address: str) -> str:
    """The path of a page: the same in a built site, in a sitemap and on the disk.

    `https://example.org/a/index.html`, `/a/` and `a/index.html` are all `a`; the front page is
    `index`. A query is kept: on some sites it alone tells pages apart.
    """
    parts = urlsplit(address)
    path = unquote(parts.path).strip("/")
    for name in ("index.html", "index.htm", "index.xhtml"):
        if path == name or path.endswith(f"/{name}"):
            path = path[: -len(name)].rstrip("/")
    for suffix in (".html", ".htm", ".xhtml"):
        path = path.removesuffix(suffix)
    query = f"?{parts.query}" if parts.query else ""
    return fitting(f"{path or 'index'}{query}")


_LENGTH = 60


def title_or_start(title: Any, html: Any) -> Any:
    """The title, or the first words of the text; None if there is neither."""
    if title is not None and (not isinstance(title, str) or title.strip()):
        return title
    if not isinstance(html, str):
        return None
    try:
        start = one_line(readable(html[:20_000]).prose)
    except TooDeep:
        return None
    if len(start) <= _LENGTH:
        return start or None
    return start[:_LENGTH].rpartition(" ")[0].rstrip(" ,;:–-") + "…"


def plain(title: str) -> str:
    """The text of a title that is HTML."""
    try:
        return one_line(readable(title).prose)
    except TooDeep:
        return title
