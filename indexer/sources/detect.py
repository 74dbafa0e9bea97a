"""Detects the kind of a source by its content."""

import re
from itertools import islice
from pathlib import Path

from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.sources import html
from indexer.sources.exports import SUBSTACK
from indexer.sources.files import (
    MARKDOWN,
    OTHER_MARKUP,
    File,
    decoded,
    files_in,
    unzipped_bytes,
)
from indexer.sources.generators import site_of

_PEEKED = 1 << 16
_LOOKED_AT = 200
_KNOWN = (
    "JSON Lines, Markdown, HTML, feeds, sitemaps and exports of WordPress, Blogger, Ghost, Medium "
    "and Substack are known."
)
_BUILD = "Build the site and index its folder."
_HINT = f"{_KNOWN} If it is one of them, say which with --source."
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_GHOST = re.compile(
    r'\{\s*"(?:(?:db|posts)"\s*:\s*\[|data"\s*:\s*\{|meta"\s*:\s*\{[^{}]*"exported_on")'
)
_JSON_FEED = re.compile(r'"version"\s*:\s*"https?:(?:\\?/){2}(?:www\.)?jsonfeed\.org')
_BLOGGER = re.compile(r"schemas\.google\.com/blogger/(?:2018|2008/kind#)")
_XML_ROOTS = {
    "rss": "feed",
    "feed": "feed",
    "RDF": "feed",
    "urlset": "sitemap",
    "sitemapindex": "sitemap",
    "html": "html",
}


def kind_of_path(spec: str) -> str:
    """The kind of a file, a folder, or standard input.

    Raises:
        SourceError: it is empty, or nothing that is known.
    """
    if spec == "-":
        return "jsonlines"
    place = Path(spec)
    if place.is_dir():
        return _kind_of_folder(place)
    if place.is_fifo():
        return "jsonlines"  # reading from a pipe to detect its kind would consume it
    if place.suffix.lower() in MARKDOWN:
        return "markdown"
    if place.suffix.lower() in OTHER_MARKUP:
        raise SourceError(f"{spec} is in a format that is not read.", _BUILD)
    file = File(spec)
    with file.opened() as stream:
        start = stream.read(_PEEKED)
    if not start.strip():
        raise SourceError(f"{spec} is empty.", "Name a file with posts in it.")
    return _kind_of_start(start, spec)


def kind_of_page(page: Fetched, most: int) -> str:
    """The kind of a response; `html` for a web page.

    Raises:
        SourceError: nothing that can be read from an address.
    """
    body = unzipped_bytes(page.body, page.url, most)
    kind = _kind_of_start(body[:_PEEKED], page.url)
    if kind == "blogger":  # its feeds
        return "feed"
    if kind in ("feed", "sitemap", "html"):
        return kind
    raise SourceError(f"{page.url} is neither feed nor sitemap.", "Download it and name the file.")


def _kind_of_folder(folder: Path) -> str:
    """HTML for a built site; else Markdown where there is a generator or front matter.

    Beside a generator's configuration, HTML files are templates. A built site may have its sources
    beside the pages.
    """
    if (folder / SUBSTACK).is_file() and (folder / "posts").is_dir():
        return "substack"
    if (folder / "profile").is_dir() and (folder / "posts").is_dir():
        return "medium"
    posts, pages = files_in(folder, MARKDOWN), files_in(folder, html.SUFFIXES)
    site = site_of(folder)
    is_source = site is not None and site.folder == folder.resolve()
    if not is_source and len(pages) >= len(posts) and _is_document(folder / "index.html"):
        return "html"
    if site and (posts or is_source):
        return "markdown"
    if any(_has_head(file) for file in islice(posts, _LOOKED_AT)):
        return "markdown"
    if pages:
        return "html"
    if posts:
        return "markdown"
    if unread := files_in(folder, OTHER_MARKUP):
        reason = f"{folder} holds {unread[0].suffix} files, which are not read."
        raise SourceError(reason, _BUILD)
    raise SourceError(f"{folder} holds neither Markdown nor HTML files.", "Name another folder.")


def _has_head(file: Path) -> bool:
    return _start(file).startswith(
        (b"---\n", b"---\r", b"+++\n", b"+++\r", b"---json", b"---toml", b"{\n")
    )


def _is_document(file: Path) -> bool:
    """Whether a file is a whole page of HTML, without front matter."""
    return _start(file).lower().startswith((b"<!doctype html", b"<html", b"<!--"))


def _start(file: Path) -> bytes:
    try:
        if not file.is_file():  # opening a FIFO would block
            return b""
        with file.open("rb") as stream:
            return stream.read(512).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""


def _kind_of_start(start: bytes, name: str) -> str:
    text = decoded(start).lstrip("\ufeff \t\r\n")
    if text.startswith("{") and _JSON_FEED.search(text):
        return "feed"
    if text.startswith("{") and _GHOST.match(text):
        return "ghost"
    if text.startswith(("{", "[")):
        return "jsonlines"
    if text.startswith("<"):
        if "wordpress.org/export" in text:
            return "wordpress"
        if _BLOGGER.search(text):
            return "blogger"
        bare = _COMMENT.sub("", text)
        root = _ROOT.search(bare)
        if "<!doctype html" in bare[:200].lower():
            return "html"
        if root and (kind := _XML_ROOTS.get(root[1]) or _XML_ROOTS.get(root[1].lower())):
            return kind
    elif text.startswith(("---", "+++")):
        return "markdown"
    raise SourceError(f"The kind of {name} is unknown.", _HINT)
