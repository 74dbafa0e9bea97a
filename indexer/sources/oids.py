"""The oid of a post whose source has none of its own."""

import hashlib
from urllib.parse import unquote, urlsplit

from indexer.fields import MAX_OID

_KEPT = 150


def fitting(oid: str) -> str:
    """The oid itself, or, where it is too long, its beginning and a hash of the whole."""
    if len(oid.encode("utf-8", "replace")) <= MAX_OID:
        return oid
    start = oid.encode("utf-8", "replace")[:_KEPT].decode("utf-8", "ignore")
    return f"{start}-{hashlib.sha256(oid.encode('utf-8', 'replace')).hexdigest()[:16]}"


def oid_of_page(address: str) -> str:
    """The path of a page, the same for a page of a built site, in a sitemap and on the disk.

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
