"""Reads what a built site says of itself: its sitemap, its feeds, and the heads of its pages."""

import filecmp
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from xml.etree.ElementTree import Element

from indexer.errors import SourceError
from indexer.html_text import TooMuchMarkup, one_line
from indexer.sources.base import is_valid_url
from indexer.sources.files import decoded, read_inside, unzipped_bytes
from indexer.sources.html.built_site import SEPARATORS, BuiltSite
from indexer.sources.html.content import TEXT_DATE, texts_of
from indexer.sources.html.lists import LISTS
from indexer.sources.html.page import Page, moments
from indexer.sources.identity import oid_of_page
from indexer.sources.xml import local_name, locations, parse_xml, texts

_NOT_POSTS = LISTS | {"404", "search", "genindex", "py-modindex"}
_SITEMAPS = ("sitemap.xml", "sitemap-index.xml", "sitemap_index.xml", "sitemapindex.xml")
_FEEDS = ("index.xml", "feed.xml", "atom.xml", "rss.xml", "rss2.xml", "feed/index.xml")
_FEED_FOLDERS = ("feeds", "feed")
_MAX_XML = 50_000_000
MAX_BYTES = 20_000_000
"""Of a page."""
_MAX_HEAD = 200_000
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_SHARED_BY = 3
"""Pages; a title that as many have is not the title of one of them, if they have another."""
_SAMPLE = 100
"""Pages, from all over the site, whose texts are compared."""
_PART = 10
"""Pages that have the same words after " | " in their title."""
_COMPLETE = 0.8
"""The share of the pages that a sitemap must list to say which are public."""
_VERSION = re.compile(r"next|nightly|unreleased|dev|v?\d+(?:\.(?:\d+|x))+")
_DATES_OF_BUILD = 2
"""Days that all pages show; more of them are those of posts that each page leads to."""
_MARKS = " |–—·•«»›-:"
_VERSIONED = 5
"""Pages of a version of a documentation; fewer may be the notes on a release."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a page says: `titles` are og:title and `<title>`."""

    titles: tuple[str, ...] = ()
    image: str = ""
    canonical: str = ""
    is_public: bool = True


def built_site(folder: Path, files: Mapping[str, Path], site: str) -> BuiltSite:
    """What the files of a folder say: the pages by their oid, the sitemap and the feeds.

    `site` is the address of the front page, if the user has named it.
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
    addresses = {oid: url for url in locations if (oid := bare.oid_of(url))}
    fed = {
        oid
        for oid, file in files.items()
        if file.parent != folder and file.stem == "index" and (file.parent / "index.xml").is_file()
    }
    paginated = {oid for oid in pages if f"{oid}/page/1" in pages or f"{oid}/page/2" in pages}
    if not pages.isdisjoint(("page/1", "page/2", "index2")):
        paginated.add("index")
    may_be_listed = [
        oid
        for oid, head in heads.items()
        if head.is_public
        and oid not in fed | paginated
        and _NOT_POSTS.isdisjoint(oid.lower().split("/"))
    ]
    unlisted = {oid for oid in may_be_listed if oid not in addresses}
    is_complete = is_whole and len(unlisted) <= (1 - _COMPLETE) * len(may_be_listed)
    copies = frozenset(_copies(heads, bare, files)) | _versions(pages)
    own_heads = [head for oid, head in heads.items() if oid not in copies]
    affixes = _affixes([head.titles[-1] for head in heads.values() if head.titles])
    site_names = {affix.strip(_MARKS) for affix in affixes}
    site_names.update(heads.get("index", Head()).titles)
    whole = BuiltSite(
        address=address,
        pages=pages,
        addresses=addresses,
        entries={bare.oid_of(url): date for url, date in entries.items()},
        paginated=frozenset(paginated),
        fed=frozenset(fed),
        unlisted=frozenset(unlisted if addresses and is_complete else ()),
        copies=copies,
        shared_titles=_shared(title for head in own_heads for title in set(head.titles))
        | site_names,
        shared_images=_shared(head.image for head in own_heads),
        affixes=affixes,
    )
    likely = [oid for oid in may_be_listed if oid not in whole.unlisted | whole.copies]
    return _with_repeated(whole, folder, {oid: files[oid] for oid in likely})


def _shared(texts: Iterable[str]) -> frozenset[str]:
    """Those that several pages have."""
    return frozenset(text for text, count in Counter(texts).items() if count >= _SHARED_BY)


def _with_repeated(site: BuiltSite, folder: Path, files: Mapping[str, Path]) -> BuiltSite:
    """The site with what its posts repeat, and the days that most of them show.

    Lists do not count: the first words of a post are on several of them.
    """
    texts, headings, count = Counter[str](), Counter[str](), 0
    step = -(-len(files) // _SAMPLE) or 1
    for oid, file in list(files.items())[::step]:
        try:
            page = Page(decoded(read_inside(file, [folder.resolve()], MAX_BYTES)), f"/{oid}", site)
        except (OSError, TooMuchMarkup):
            continue
        if page.parsed.body is not None and not page.why_not_post(oid)[0]:
            count += 1
            texts.update(texts_of(page.parsed))
            headings.update({one_line(node.text()) for node in page.parsed.css("h1")})
    repeated = {text: number / count for text, number in texts.items() if number >= _SHARED_BY}
    everywhere = [text for text, share in repeated.items() if share >= _COMPLETE and count >= 5]
    dates = (date[0] for text in everywhere for date in TEXT_DATE.finditer(text))
    days = {when.date().isoformat() for when in moments([*everywhere, *dates])}
    days = days if len(days) <= _DATES_OF_BUILD else set()
    shared = site.shared_titles | _shared(headings.elements())
    return replace(site, shared_titles=shared, repeated=repeated, build_days=frozenset(days))


def _head(file: Path, folder: Path) -> Head:
    try:
        body = read_inside(file, [folder.resolve()], MAX_BYTES)[:_MAX_HEAD]
        end = _HEAD_ENDS.search(body)
        page = Page(decoded(body[: end.start()] if end else body))
    except (OSError, TooMuchMarkup):
        return Head(is_public=False)
    titles = tuple(filter(None, (page.og_title, page.name)))
    return Head(titles, page.stated_image, page.canonical, not page.why_hidden())


def _address(pages: frozenset[str], urls: Iterable[str]) -> str:
    """The address below which most URLs are those of pages; "" if none is."""
    counts: Counter[str] = Counter()
    for url in urls:
        parts = urlsplit(url) if is_valid_url(url) else None
        if parts is None or not parts.netloc:
            continue
        folders = unquote(parts.path).strip("/").split("/")
        for depth in range(min(4, len(folders) + 1)):
            base, rest = folders[:depth], "/".join(folders[depth:])
            if oid_of_page(f"/{quote(rest)}") in pages:
                counts["/".join([f"{parts.scheme}://{parts.netloc}", *filter(None, base)])] += 1
    most = max(counts.values(), default=0)
    return min((address for address, count in counts.items() if count == most), key=len, default="")


def _copies(heads: Mapping[str, Head], site: BuiltSite, files: Mapping[str, Path]) -> Iterator[str]:
    """Pages whose canonical link names another page, or that are equal to the one beside them.

    In some templates the link always names the front page, and below a path of the host the front
    page may seem to name another: neither counts.
    """
    for oid, head in heads.items():
        named = site.oid_of(head.canonical) if head.canonical else ""
        is_other = named in heads and named != oid and "index" not in (named, oid)
        if is_other or (oid[-1:] == "/" and _is_equal(files[oid], files[oid[:-1]])):
            yield oid


def _is_equal(file: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(file, other, shallow=False)
    except OSError:
        return False


def _versions(pages: frozenset[str]) -> frozenset[str]:
    """The pages of folders such as `docs/next` and `docs/1.0`, most of which the release has too.

    The release is `docs` itself, or the folder beside it that is called otherwise, such as
    `docs/latest`, else the one with the highest number.
    """
    folders: dict[tuple[str, ...], list[str]] = {}
    beside: dict[tuple[str, ...], set[str]] = {}
    for oid in pages:
        parts = tuple(oid.split("/"))
        for at, part in enumerate(parts[:-1]):
            beside.setdefault(parts[:at], set()).add(part)
        at = next((at for at, part in enumerate(parts[:-1]) if _VERSION.fullmatch(part)), -1)
        if at >= 0:
            folders.setdefault(parts[: at + 1], []).append("/".join(parts[at + 1 :]))
    copies: set[str] = set()
    for folder, version in folders.items():
        versions = [name for name in beside[folder[:-1]] if _VERSION.fullmatch(name)]
        highest = max(versions, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])
        releases = [(), *((name,) for name in beside[folder[:-1]].difference(versions))]
        if folder[-1] != highest and len(version) >= _VERSIONED:
            releases.append((highest,))
        for release in releases:
            start = "/".join((*folder[:-1], *release, ""))
            if sum(f"{start}{rest}" in pages for rest in version) > len(version) / 2:
                place = "/".join(folder)
                copies.update([place, *(f"{place}/{rest}" for rest in version)])
    return frozenset(copies)


def _affixes(titles: list[str]) -> tuple[str, ...]:
    """What most titles end or begin with, such as ` | My Blog`, the longest first."""
    counts: Counter[str] = Counter()
    for title in titles:
        for mark in (*SEPARATORS, ": "):
            places = [at.start() for at in re.finditer(re.escape(mark), title)]
            counts.update(title[at:] for at in places if mark != ": ")
            counts.update(title[: at + len(mark)] for at in places)
    enough = max(_SHARED_BY, len(titles) // 2 + 1)
    # What follows " | " is the name of a part of the site, and not a part of the title.
    affixes = [
        affix
        for affix, count in counts.items()
        if count >= enough or (count >= _PART and affix.startswith(" | "))
    ]
    return tuple(sorted(affixes, key=len, reverse=True))


def _locations(folder: Path) -> tuple[list[str], bool]:
    """The URLs of the sitemap in a folder, and whether all its parts are there."""
    for name in _SITEMAPS:
        root = _xml(folder / name, folder)
        if root is None:
            continue
        urls = [url for url, _ in locations(root)]
        if local_name(root) == "urlset":
            return urls, True
        parts = [_part(folder, unquote(urlsplit(url).path)) for url in urls if is_valid_url(url)]
        pages = [url for part in parts if part is not None for url, _ in locations(part)]
        if pages:
            return pages, None not in parts
    return [], False


def _part(folder: Path, path: str) -> Element | None:
    """A part of a sitemap by its path; the folder may be published below a path of its host."""
    parts = path.strip("/").split("/")
    files = (folder.joinpath(*parts[at:]) for at in range(len(parts)))
    return next((root for file in files if (root := _xml(file, folder)) is not None), None)


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses and dates of the entries of the feeds of the site."""
    files = [folder / name for name in _FEEDS]
    # Not each index.xml: Hugo has one for each list.
    files += [file for name in _FEEDS[1:] for file in sorted(folder.glob(f"*/{name}"))]
    files += [file for name in _FEED_FOLDERS for file in sorted((folder / name).glob("*.xml"))]
    for file in files:
        root = _xml(file, folder)
        for item in root.iter() if root is not None else ():
            if local_name(item) not in ("item", "entry"):
                continue
            fields = texts(item)
            date = fields.get("pubDate") or fields.get("published") or fields.get("updated", "")
            for child in item:
                if local_name(child) == "link" and child.get("rel", "alternate") == "alternate":
                    yield (child.get("href") or child.text or "").strip(), date


def _xml(file: Path, folder: Path) -> Element | None:
    try:
        body = read_inside(file, [folder.resolve()], _MAX_XML)
        return parse_xml(unzipped_bytes(body, str(file), _MAX_XML), str(file))
    except (OSError, SourceError):
        return None
