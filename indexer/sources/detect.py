"""Detects the kind of a source by its content, and finds a site's posts from its home page."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from indexer.errors import SourceError
from indexer.posts.addresses import is_valid_url
from indexer.posts.html_text import TooMuchMarkup, parse
from indexer.sources.base import SourceOptions
from indexer.sources.exports import SUBSTACK
from indexer.sources.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.sources.files import MARKDOWN, OTHER_MARKUP, File, decode, files_in, unzip_bytes
from indexer.sources.generators import site_of, text_of
from indexer.sources.html.folder import SUFFIXES
from indexer.sources.markdown.folder import docsify_of

_PEEKED = 1 << 16
_LOOKED_AT = 200
_BUILD = "Build the site and index the built folder."
_HINT = "docs/sources.md lists the supported formats. If it is one of them, name it with --source."
_UNPACK = "Unpack it, and name the folder or the file in it."
_HEAD = re.compile(r"\s*(?:---(?:json|toml)?|\+\+\+|\{)\n")
_PAGE = re.compile(r"\s*(?:<!doctype html|<html|<!--)", re.IGNORECASE)
"""The beginning of a whole page, unlike that of a template with front matter."""
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_GHOST = re.compile(
    r'\{\s*"(?:db"\s*:\s*\[|data"\s*:\s*\{|meta"\s*:\s*\{[^{}]*"exported_on"'
    r'|posts"\s*:\s*\[.*"(?:mobiledoc|lexical|comment_id|visibility)"\s*:)',
    re.DOTALL,
)
_LISTED = re.compile(r'\{\s*"(posts|items|articles|entries|data|results|pages)"\s*:\s*\[\s*\{')
_JSON_FEED = re.compile(r'"version"\s*:\s*"https?:(?:\\?/){2}(?:www\.)?jsonfeed\.org')
_BLOGGER = re.compile(r"schemas\.google\.com/blogger/(?:2018|2008/kind#)")
_MOVABLE_TYPE = re.compile(r"(?:[A-Z][A-Z ]*:.*\n)+-----\n(?:[A-Z][A-Z ]*):[ \t]*\n")
_ROOTS = {
    **dict.fromkeys(("rss", "feed", "rdf"), "feed"),
    **dict.fromkeys(("urlset", "sitemapindex"), "sitemap"),
    "html": "html",
}

_SITEMAPS = ("sitemap.xml", "/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml")
_LINKS = "link[rel~=sitemap][href], link[rel~=alternate][href]"
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")


def kind_of_path(spec: str) -> str:
    """Return the kind of a file, a folder, or standard input.

    Raises:
        SourceError: it is empty, or of an unknown kind.
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
        raise SourceError(f"{spec} has a format that is not supported.", _BUILD)
    file = File(spec)
    with file.opened() as stream:
        start = stream.read(_PEEKED)
    if not start.strip():
        raise SourceError(f"{spec} is empty.", "Name a file with posts in it.")
    return _kind_of_start(start, spec)


def kind_of_page(page: Fetched, most: int) -> str:
    """Return the kind of a response; `html` for a web page.

    Raises:
        SourceError: it cannot be read from an address.
    """
    body = unzip_bytes(page.body, page.url, most)
    kind = _kind_of_start(body[:_PEEKED], page.url)
    if kind in ("feed", "sitemap", "html", "blogger"):
        return "feed" if kind == "blogger" else kind
    raise SourceError(
        f"{page.url} is neither a feed nor a sitemap.", "Download it and name the file."
    )


def _kind_of_folder(folder: Path) -> str:
    """Return HTML for a built site, else Markdown if there is a generator or front matter.

    Beside a generator's configuration, HTML files are templates, unless no file has front matter:
    GitHub Pages wants a `_config.yml` beside built pages. A built site may have its sources, too.
    """
    if (folder / SUBSTACK).is_file() and (folder / "posts").is_dir():
        return "substack"
    if (folder / "profile").is_dir() and (folder / "posts").is_dir():
        return "medium"
    posts, pages = files_in(folder, MARKDOWN), files_in(folder, SUFFIXES)
    if posts and docsify_of(folder):
        return "markdown"
    site = site_of(folder)
    is_source = site is not None and site.folder == folder.resolve()
    is_built = bool(_PAGE.match(text_of(folder / "index.html", 512)))
    looked_at = (*posts[:_LOOKED_AT], *pages[:_LOOKED_AT])
    has_heads = any(_HEAD.match(text_of(file, 512)) for file in looked_at)
    if is_built and len(pages) >= len(posts) and not (is_source and has_heads):
        return "html"
    if site and (posts or is_source):
        return "markdown"
    if pages or posts:
        return "markdown" if has_heads or len(posts) > len(pages) else "html"
    if unread := files_in(folder, OTHER_MARKUP):
        reason = f"{folder} contains {unread[0].suffix} files, which are not supported."
        raise SourceError(reason, _BUILD)
    raise SourceError(f"{folder} contains neither Markdown nor HTML files.", "Name another folder.")


def _kind_of_start(start: bytes, name: str) -> str:
    text = decode(start).lstrip("\ufeff \t\r\n")
    if text.startswith("{") and _JSON_FEED.search(text):
        return "feed"
    if text.startswith("{") and _GHOST.match(text):
        return "ghost"
    if listed := _LISTED.match(text):
        reason = f"{name} is one object with {listed[1]!r}, not one post per line."
        remedy = f"Convert it to JSON Lines: jq -c '.{listed[1]}[]' FILE"
        raise SourceError(reason, remedy)
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
        if root and (kind := _ROOTS.get(root[1].lower())):
            return kind
    elif text.startswith(("---", "+++")):
        return "markdown"
    elif _MOVABLE_TYPE.match(text.replace("\r\n", "\n")):
        return "movabletype"
    remedy = _UNPACK if start.startswith(b"PK\3\4") else _HINT
    raise SourceError(f"The kind of {name} is unknown.", remedy)


def posts_of_site(page: Fetched, fetcher: Fetcher) -> Fetched:
    """Fetch the sitemap of a web page's site, or the feed that the page links to.

    Raises:
        SourceError: there is neither.
    """
    tried: dict[str, None] = {}
    for url in _places(page, fetcher):
        if url in tried or not is_valid_url(url):
            continue
        tried[url] = None
        try:
            found = fetcher.get(url)
            if kind_of_page(found, fetcher.options.max_bytes) in ("sitemap", "feed"):
                return found
        except FetchFailed as error:
            if error.response_status is None or error.response_status >= 500:
                raise
        except SourceError:  # another kind of file
            continue
    remedy = "Name its sitemap or its feed, or index the built site."
    raise SourceError(f"{page.url} is a web page of a site without a sitemap or a feed.", remedy)


def of_site(page: Fetched, options: SourceOptions) -> SourceOptions:
    """Return the options for a blog with this home page: only pages in its folder are included."""
    folder = urlsplit(page.url).path.strip("/")
    include = options.include or ((f"{folder}/*",) if folder else ())
    return replace(options, include=include, site=options.site or page.url)


def _places(page: Fetched, fetcher: Fetcher) -> Iterator[str]:
    """Yield possible addresses of the sitemap and the feed, the likeliest first."""
    yield from Robots(fetcher).sitemaps(page.url)
    yield from (urljoin(page.url, place) for place in _SITEMAPS)
    yield from (url for url, _ in links_of(page))


def links_of(page: Fetched) -> list[tuple[str, str]]:
    """Return the sitemaps and feeds that a page links to, each with its kind.

    Raises:
        SourceError: the page cannot be parsed.
    """
    try:
        parsed = parse(decode(page.body, page.content_type))
    except TooMuchMarkup as error:
        raise SourceError(f"{page.url}: {error}.", "Name its sitemap or its feed.") from None
    found = []
    for link in parsed.css(_LINKS):
        is_feed = (link.attributes.get("type") or "").lower() in _FEED_TYPES
        is_sitemap = "sitemap" in (link.attributes.get("rel") or "").split()
        if is_feed or is_sitemap:
            url = urljoin(page.url, link.attributes.get("href") or "")
            found.append((url, "sitemap" if is_sitemap else "feed"))
    return found
