"""What a built site says of itself: its sitemap, its feeds, and the heads of its pages.

One page cannot tell its title from the name of the site, or its address from a copy's. All of them
together can.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from selectolax.lexbor import LexborHTMLParser

from indexer.errors import SourceError
from indexer.html_text import one_line
from indexer.sources.base import is_valid_url
from indexer.sources.files import decoded, read_inside, unzipped_bytes
from indexer.sources.html.lists import LISTS
from indexer.sources.identity import oid_of_page

SEPARATORS = (" | ", " - ", " – ", " — ", " · ", " :: ", " • ", " « ", " » ")
_MARKS = " |–—·•«»›"
_NOT_POSTS = LISTS | {"404", "search", "genindex", "py-modindex"}
_SITEMAPS = ("sitemap.xml", "sitemap-index.xml", "sitemap_index.xml", "sitemapindex.xml")
_FEEDS = ("index.xml", "feed.xml", "atom.xml", "rss.xml", "rss2.xml", "feed/index.xml")
_FEED_FOLDERS = ("feeds", "feed")
_MAX_XML = 50_000_000
_MAX_HEAD = 200_000
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_SHARED_BY = 3
"""Pages; a title that as many have is not the title of one of them, if they have another."""
_PART = 10
"""Pages that have the same words after " | " in their title."""
_COMPLETE = 0.8
"""The share of the pages that a sitemap must list to say which are public."""
_VERSION = re.compile(r"next|nightly|unreleased|dev|v?\d+(?:\.(?:\d+|x))+")
_VERSIONED = 5
"""Pages of a version of a documentation; fewer may be the notes on a release."""
_RELEASES = ("latest", "stable")
"""Folders of the version that readers of a documentation are sent to."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a page says: `titles` are og:title and `<title>`."""

    titles: tuple[str, ...] = ()
    image: str = ""
    canonical: str = ""
    is_public: bool = True


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site; pages are named by their oid, the path without `index.html` and `.html`.

    Args:
        address: the URL of the front page without a slash at its end; "" if it is not known.
        pages: all pages.
        addresses: the URL of each page that the sitemap lists.
        entries: the pages that the feeds list, each with its date as the feed has it.
        paginated: the pages that go on with a second page.
        fed: the pages that have a feed of their own.
        unlisted: the pages that a complete sitemap does not list.
        copies: the pages whose canonical link, or whose path, names another page.
        shared_titles: titles of several pages, and those of the site.
        shared_images: images of several pages.
        affixes: what the `<title>` of most pages begins or ends with, with its separator.
    """

    address: str = ""
    pages: frozenset[str] = frozenset()
    addresses: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)
    paginated: frozenset[str] = frozenset()
    fed: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    copies: frozenset[str] = frozenset()
    shared_titles: frozenset[str] = frozenset()
    shared_images: frozenset[str] = frozenset()
    affixes: tuple[str, ...] = ()

    def oid_of(self, url: str) -> str:
        """The page that an absolute URL or a path leads to; "" for one of another site."""
        if not is_valid_url(url):
            return ""
        parts, own = urlsplit(url), urlsplit(self.address)
        if parts.scheme not in ("", "http", "https"):
            return ""
        if parts.netloc and own.netloc and _host(parts.netloc) != _host(own.netloc):
            return ""
        base = own.path.rstrip("/")
        path = parts.path
        if base and (path == base or path.startswith(f"{base}/")):
            path = path[len(base) :]
        return oid_of_page(path)

    def bare_title(self, title: str) -> str:
        """A title without the name of the site before or behind it."""
        for affix in self.affixes:
            if title.startswith(affix) and affix.endswith(" "):
                title = title.removeprefix(affix) or title
            elif title.endswith(affix):
                title = title.removesuffix(affix) or title
        for mark in SEPARATORS:
            own, _, name = title.rpartition(mark)
            if own and name in self.shared_titles:
                title = own
        return title.strip(_MARKS)


def built_site(folder: Path, files: Mapping[str, Path], site: str) -> BuiltSite:
    """What the files of a folder say.

    Args:
        files: the pages by their oid.
        site: the address of the front page, if the user has named it.
    """
    heads = {oid: _head(file, folder) for oid, file in files.items()}
    pages = frozenset(files)
    locations, is_whole = _locations(folder)
    entries = dict(_entries(folder))
    sources = (locations, [head.canonical for head in heads.values()], entries)
    address = site.rstrip("/") or next(
        filter(None, (_address(pages, urls) for urls in sources)), ""
    )
    bare = BuiltSite(address=address, pages=pages)
    addresses = {oid: url for url in locations if (oid := bare.oid_of(url)) in pages}
    fed, paginated = frozenset(_fed(folder, files)), frozenset(_paginated(pages))
    may_be_listed = [
        oid
        for oid, head in heads.items()
        if head.is_public
        and oid not in fed | paginated
        and _NOT_POSTS.isdisjoint(oid.lower().split("/"))
    ]
    unlisted = [oid for oid in may_be_listed if oid not in addresses]
    is_complete = is_whole and len(unlisted) <= (1 - _COMPLETE) * len(may_be_listed)
    names = [title for head in heads.values() for title in dict.fromkeys(head.titles)]
    affixes = _affixes([head.titles[-1] for head in heads.values() if head.titles])
    front = heads.get("index", Head()).titles
    site_names = {affix.strip(f"{_MARKS}-:") for affix in affixes} | set(front)
    shared = {title for title, count in Counter(names).items() if count >= _SHARED_BY}
    images = Counter(head.image for head in heads.values())
    return BuiltSite(
        address=address,
        pages=pages,
        addresses=addresses,
        entries={bare.oid_of(url): date for url, date in entries.items()},
        paginated=paginated,
        fed=fed,
        unlisted=frozenset(unlisted) if addresses and is_complete else frozenset(),
        copies=frozenset(_copies(heads, bare)) | _versions(pages),
        shared_titles=frozenset(shared | site_names),
        shared_images=frozenset(name for name, count in images.items() if count >= _SHARED_BY),
        affixes=affixes,
    )


def _host(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")


def _head(file: Path, folder: Path) -> Head:
    try:
        body = read_inside(file, [folder.resolve()], 20_000_000)[:_MAX_HEAD]
    except OSError:
        return Head(is_public=False)
    end = _HEAD_ENDS.search(body)
    page = LexborHTMLParser(decoded(body[: end.start()] if end else body[:_MAX_HEAD]))
    meta = {
        (node.attributes.get("property") or node.attributes.get("name") or "").lower(): (
            node.attributes.get("content") or ""
        )
        for node in reversed(page.css("meta[content]"))
    }
    title = page.css_first("title")
    titles = [one_line(meta.get("og:title", "")), one_line(title.text()) if title else ""]
    link = page.css_first("link[rel=canonical][href]")
    is_redirect = page.css_first("meta[http-equiv=refresh i]") is not None
    return Head(
        titles=tuple(filter(None, titles)),
        image=(meta.get("og:image") or meta.get("twitter:image") or "").strip(),
        canonical=((link.attributes.get("href") or "") if link else "").strip(),
        is_public=not (is_redirect or "noindex" in meta.get("robots", "").lower()),
    )


def _address(pages: frozenset[str], urls: Iterable[str]) -> str:
    """The address below which most URLs are those of pages; "" if none is."""
    counts: Counter[str] = Counter()
    for url in urls:
        parts = urlsplit(url) if is_valid_url(url) else None
        if parts is None or not parts.netloc:
            continue
        path = unquote(parts.path).strip("/")
        origin = f"{parts.scheme}://{parts.netloc}"
        folders = path.split("/")
        for depth in range(min(4, len(folders) + 1)):
            base, rest = folders[:depth], "/".join(folders[depth:])
            if oid_of_page(f"/{quote(rest)}") in pages:
                counts["/".join([origin, *filter(None, base)])] += 1
    if not counts:
        return ""
    most = max(counts.values())
    return min((address for address, count in counts.items() if count == most), key=len)


def _fed(folder: Path, files: Mapping[str, Path]) -> Iterator[str]:
    """Pages with a feed beside them, as Hugo makes for lists."""
    for oid, file in files.items():
        if file.parent != folder and file.stem == "index" and (file.parent / "index.xml").is_file():
            yield oid


def _paginated(pages: frozenset[str]) -> Iterator[str]:
    """Pages that go on: Hugo has `page/1` also for a list of one page."""
    for oid in pages:
        first = "" if oid == "index" else f"{oid}/"
        if not pages.isdisjoint((f"{first}page/1", f"{first}page/2")):
            yield oid
    if "index2" in pages:
        yield "index"


def _copies(heads: Mapping[str, Head], site: BuiltSite) -> Iterator[str]:
    """Pages whose canonical link names another page.

    In some templates it always names the front page, and below a path of the host the front
    page may seem to name another: neither counts.
    """
    for oid, head in heads.items():
        named = site.oid_of(head.canonical) if head.canonical else ""
        if named in heads and named != oid and "index" not in (named, oid):
            yield oid


def _versions(pages: frozenset[str]) -> frozenset[str]:
    """The pages of folders such as `docs/next` and `docs/1.0`, most of which the release has too.

    The release is `docs`, `docs/latest` or `docs/stable`, else the folder with the highest number.
    """
    folders: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for oid in pages:
        parts = oid.split("/")
        at = next((at for at, part in enumerate(parts[:-1]) if _VERSION.fullmatch(part)), None)
        if at is not None:
            folders.setdefault(tuple(parts[: at + 1]), []).append((oid, "/".join(parts[at + 1 :])))
    copies: set[str] = set()
    for folder, version in folders.items():
        siblings = [other for other in folders if other[:-1] == folder[:-1]]
        highest = max(siblings, key=lambda other: _number(other[-1]))
        releases = [(), *((name,) for name in _RELEASES)]
        releases += [highest[-1:]] if folder != highest and len(version) >= _VERSIONED else []
        for release in releases:
            start = "/".join((*folder[:-1], *release, ""))
            if sum(f"{start}{rest}" in pages for _, rest in version) > len(version) / 2:
                copies.update(["/".join(folder), *(oid for oid, _ in version)])
                break
    return frozenset(copies)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _affixes(titles: list[str]) -> tuple[str, ...]:
    """What most titles end or begin with, such as ` | My Blog`."""
    counts: Counter[str] = Counter()
    for title in titles:
        places = [(title.rfind(mark), mark) for mark in SEPARATORS if mark in title]
        if places:
            at, _ = max(places)
            counts[title[at:]] += 1
            at, mark = min((title.find(mark), mark) for _, mark in places)
            counts[title[: at + len(mark)]] += 1
    enough = max(_SHARED_BY, len(titles) / 2)
    affixes = [affix for affix, count in counts.most_common(2) if count >= enough]
    # What follows " | " is the name of a part of the site, and not a part of the title.
    parts = [affix for affix in counts if affix.startswith(" | ")]
    affixes += [affix for affix in parts if counts[affix] >= _PART and affix not in affixes]
    return tuple(affixes)


def _locations(folder: Path) -> tuple[list[str], bool]:
    """The URLs of the sitemap in a folder, and whether all its parts are there."""
    for name in _SITEMAPS:
        root = _xml(folder / name, folder)
        if root is None:
            continue
        if _local(root) == "urlset":
            return _locs(root), True
        names = [urlsplit(url).path for url in _locs(root) if is_valid_url(url)]
        parts = [_part(folder, unquote(name)) for name in names]
        urls = [url for part in parts if part is not None for url in _locs(part)]
        if urls:
            return urls, None not in parts
    return [], False


def _part(folder: Path, path: str) -> Element | None:
    """A part of a sitemap by its path; the folder may be published below a path of its host."""
    parts = path.strip("/").split("/")
    files = (folder.joinpath(*parts[at:]) for at in range(len(parts)))
    return next((root for file in files if (root := _xml(file, folder)) is not None), None)


def _locs(root: Element) -> list[str]:
    return [
        (child.text or "").strip() for entry in root for child in entry if _local(child) == "loc"
    ]


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses and dates of the entries of the feeds of the site."""
    files = [folder / name for name in _FEEDS]
    # Not each index.xml: Hugo has one for each list.
    files += [file for name in _FEEDS[1:] for file in sorted(folder.glob(f"*/{name}"))]
    files += [file for name in _FEED_FOLDERS for file in sorted((folder / name).glob("*.xml"))]
    for file in files:
        root = _xml(file, folder)
        for item in root.iter() if root is not None else ():
            if _local(item) not in ("item", "entry"):
                continue
            texts = {_local(child): (child.text or "").strip() for child in item}
            date = texts.get("pubDate") or texts.get("published") or texts.get("updated", "")
            for child in item:
                if _local(child) == "link" and child.get("rel", "alternate") == "alternate":
                    yield (child.get("href") or child.text or "").strip(), date


def _xml(file: Path, folder: Path) -> Element | None:
    try:
        body = read_inside(file, [folder.resolve()], _MAX_XML)
        root: Element = fromstring(unzipped_bytes(body, str(file), _MAX_XML))
    except (OSError, ParseError, DefusedXmlException, ValueError, LookupError, SourceError):
        return None
    return root


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
