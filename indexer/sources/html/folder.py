"""Reads a folder of HTML pages, such as a built site, and compares its pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

import orjson

from indexer.errors import SourceError
from indexer.posts.addresses import is_local, is_valid_url
from indexer.posts.html_text import TooMuchMarkup, one_line
from indexer.posts.records import Origin, RawPost, Skipped, SourceItem, quantity
from indexer.sources.base import UNREAD, Source, SourceOptions
from indexer.sources.files import (
    ABOUT_THE_FOLDER,
    MARKDOWN,
    OTHER_MARKUP,
    decode,
    files_in,
    read_inside,
    unzip_bytes,
)
from indexer.sources.html.content import is_block_of_code, texts_of
from indexer.sources.html.lists import is_of_lists
from indexer.sources.html.page import BuiltSite, Page, parted, read_page
from indexer.sources.identity import labels, oid_of_page
from indexer.sources.xml import local_name, locations, parse_xml, texts

SUFFIXES = (".html", ".htm", ".xhtml")
_DRAFT = re.compile(r"(?:^|/)(?:_?drafts?/(?!index\.)|draft_[^/]*$)")
"""Drafts, as Pelican's `drafts/` and Medium's `draft_…`; a page may be called `drafts`."""
_XML = re.compile(r"index\.xml|feeds?/.+|(?:[^/]+/)?[^/]*(?:sitemap|feed|atom|rss)[^/]*")
"""Sitemaps and feeds. Not every index.xml: Hugo writes one for each list."""
_NAMES = ("*.xml*", "*.atom", "*.rss", "*/*.xml*", "*/*.atom", "*/*.rss")
_OF_CATEGORIES = ("categories/*/index.xml", "*/categories/*/index.xml")
"""Hugo's feed of each category; its title is "Fruit on The Name of the Site"."""
_MAX_XML = 50_000_000
_MAX_BYTES = 20_000_000
"""The maximum size of a page."""
_MAX_HEAD = 200_000
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_INDICES = (
    *("search/search_index.json", "search.json", "searchindex.js"),
    "assets/js/search-data.json",
)
_FEEDS = ("index.xml", "atom.xml", "rss.xml", "feed.xml")
"""Feeds of the list beside them, in Hugo and Zola."""
_COPY = "copy or another version of a page"
_OF_PAGE = re.compile(r"\.(?:html|llms)$|(?<![^/])_sources/")
"""In the path of the Markdown of a page: `a.html.md` (llms.txt), `a.llms.md` (Quarto) and
`_sources/a.md` (Sphinx)."""
_QUERY = re.compile(r"[?@]\w+=")
"""What a mirror writes for an address with a query (`index.html@p=1`)."""
_HASHED = re.compile(r"-[0-9a-f]{32}$")
"""The source of a page as MyST keeps it for downloads, or another file of a build."""
_MARKED = re.compile(rb"<[a-z][^<>]*\sdata-pagefind-body[\s=>]", re.IGNORECASE)
_SHARED_BY = 3
"""The number of pages from which a title, image or text counts as shared."""
_SAMPLE = 100
"""The number of pages compared, from all over the site."""
_PART = 10
"""The number of titles from which the same words after " | " count as a part of the site."""
_COMPLETE = 0.8
"""The share of pages from which a sitemap is complete, and decides which pages are public."""
_BUILDS_ALL = "Nikola"
"""The generator that also builds private posts, but lists all public ones in its sitemap."""
_VERSION = re.compile(r"(?:^|/)(?:next|nightly|unreleased|dev|v?\d+(?:\.(?:\d+|x))+)$")
_VERSIONED = 3
"""The minimum number of pages of a documentation's version; fewer may be release notes."""


class HTMLFolder(Source):
    """Reads every page below a folder except lists, redirects, drafts and error pages."""

    kind = "html"
    is_folder = True

    def read(self) -> Iterator[SourceItem]:
        """Yield every page, in the order of the paths; its oid is its path."""
        place = Path(self.spec)
        files = files_in(place, SUFFIXES)
        if not files:
            reason = f"{self.spec} contains no HTML pages."
            raise SourceError(reason, "Name the folder of the built site.")
        base = place if place.is_dir() else place.parent
        oids = {file: oid_of_page(quote(file.relative_to(base).as_posix())) for file in files}
        site = BuiltSite(address=self._options.site.rstrip("/"))
        if place.is_dir():
            pages: dict[str, Path] = {}
            for file, oid in oids.items():
                if oid not in pages or _head(file, base).is_public:  # not a redirect to it
                    pages[oid] = file
            site = read_built_site(base, pages, self._options.site)
            yield from self._unread(base, site)
            for doubt in site.doubts:
                self._options.warn(doubt)
            if missing := site.addresses.keys() - site.pages.keys():
                self._options.warn(f"{len(missing):,} pages of the sitemap are not in {self.spec}.")
        kept: list[str] = []
        options = replace(self._options, warn=kept.append)
        seen: dict[tuple[Path, str, int], str] = {}
        for item in self._each(
            files,
            lambda file: self._page(file, oids[file], base, site, options),
            lambda file: (Origin(str(file)), oids[file]),
        ):
            if isinstance(item, RawPost) and item.text.prose:
                file = Path(item.origin.source)
                texts = hash((item.text.prose, item.text.code))
                other = seen.setdefault((file.parent, str(item.title), texts), file.stem)
                if "index" in (file.stem, other) and file.stem != other:
                    # mdBook writes its first chapter twice. Other pages may share a few words.
                    item = Skipped(item.origin, item.oid, _COPY, "copy")
            yield item
        if kept:
            posts = quantity(len(kept), "post")
            self._options.warn(
                f"{posts}: the text is repeated on other pages, but kept ({kept[0]})."
            )

    def _unread(self, base: Path, site: BuiltSite) -> Iterator[Skipped]:
        """Yield the unread files in formats of posts, except sources of a page beside them."""
        for file in files_in(base, MARKDOWN + OTHER_MARKUP):
            path = file.relative_to(base).with_suffix("")
            is_about = path.name.lower() in ABOUT_THE_FOLDER
            page = quote(_OF_PAGE.sub("", path.as_posix()) + ".html")
            if not (is_about or _HASHED.search(path.name) or oid_of_page(page) in site.pages):
                yield Skipped(Origin(str(file)), None, UNREAD, "unread")

    def _page(
        self, file: Path, oid: str, base: Path, site: BuiltSite, options: SourceOptions
    ) -> SourceItem:
        origin, path = Origin(str(file)), file.relative_to(base).as_posix()
        if self._options.excludes(path):
            return Skipped(origin, oid, "excluded by blogsearch.toml", "excluded", declared=True)
        if _DRAFT.search(path.lower()) and not self._options.drafts:
            return Skipped(origin, oid, "draft", "draft", declared=True)
        if oid in site.copies or site.pages.get(oid, file) != file:
            return Skipped(origin, oid, _COPY, "copy")
        text = _text(file, base)
        location = urljoin(f"{site.address}/", quote(re.sub(r"(^|/)index\.html?$", r"\1", path)))
        return read_page(text, location, origin, oid, options, site=site)


# -- what the pages say together -------------------------------------------------------------------


class Head(NamedTuple):
    """The metadata in the head of a page; `titles` are og:title, the headline and `<title>`."""

    titles: tuple[str, ...] = ()
    image: str = ""
    canonical: str = ""
    is_public: bool = False
    is_marked: bool = False  # by data-pagefind-body
    date: str = ""
    keywords: str = ""
    language: str = ""
    is_published: bool = False
    generator: str = ""


def read_built_site(folder: Path, files: Mapping[str, Path], site: str) -> BuiltSite:
    """Read the pages of a folder, by oid, with its sitemaps and feeds.

    `site` is the address of the front page, if the user has set it.
    """
    heads = {oid: _head(file, folder) for oid, file in files.items()}
    urls, entries, named_by = _read_listed(folder)
    links = Counter(head.canonical for head in heads.values() if head.canonical)
    most = max(_SHARED_BY, len(heads) / 2)
    front = {link for link, count in links.items() if count >= most and not is_local(link)}
    days = Counter(head.date for head in heads.values() if head.date)
    keywords = {oid: frozenset(labels(head.keywords)) for oid, head in heads.items()}
    of_site = {*(words for words, _ in Counter(keywords.values()).most_common(1))}
    of_site.add(keywords.get("index", frozenset()))
    named = [(url, "") for url in (*urls, *entries)]
    named += [(head.canonical, oid) for oid, head in heads.items() if not is_local(head.canonical)]
    bare = BuiltSite(address=site.rstrip("/") or _address(files, named), pages=files)
    addresses = {oid: url for url in urls if (oid := bare.oid_of(url))}
    below = [(oid, file) for oid, file in files.items() if oid != "index" and file.stem == "index"]
    fed = {oid for oid, file in below if any(file.with_name(n).is_file() for n in _FEEDS)}
    copies = set(_versions(files))
    for oid, head in heads.items():
        canonical = bare.oid_of(head.canonical)
        # Some templates always link to the front page; such a link is ignored.
        if canonical in heads and canonical != oid and "index" not in (canonical, oid):
            copies.add(canonical if _QUERY.search(canonical) else oid)
    likely = {
        oid
        for oid, head in heads.items()
        if head.is_public and oid not in fed and not is_of_lists(oid)
    }
    unlisted = likely - addresses.keys()
    if not addresses or len(unlisted) > (1 - _COMPLETE) * len(likely):
        built = {oid for oid in unlisted if heads[oid].generator.startswith(_BUILDS_ALL)}
        unlisted = built if addresses else set()
    own_heads = {oid: head for oid, head in heads.items() if oid not in copies}
    unsearched, searched = _find_searched(folder, bare, heads)
    titled: dict[str, list[str]] = defaultdict(list)  # of all, and by language
    for head in heads.values():
        for language in {"", head.language}:
            titled[language] += head.titles[-1:]
    groups = [titles for language, titles in titled.items() if not language or len(titles) >= _PART]
    title = "" if "index" in copies else "".join(heads.get("index", Head()).titles[-1:])
    names = frozenset({title} - {""}).union(*(_names(titles, title) for titles in groups))
    whole = replace(
        bare,
        addresses=addresses,
        entries={bare.oid_of(url): date for url, date in entries.items()},
        categories={bare.oid_of(url): names for url, names in named_by.items()},
        fed=frozenset(fed),
        front_links=frozenset(front),
        built=frozenset(day for day, count in days.items() if count >= max(_PART, most)),
        doubts=tuple(_doubts(links, front)),
        unsearched=frozenset(unsearched),
        searched=frozenset(searched),
        unlisted=frozenset(unlisted),
        copies=frozenset(copies),
        shared_titles=_find_shared((t, oid) for oid, head in own_heads.items() for t in head.titles)
        | names,
        shared_keywords=frozenset(
            words for words in of_site if sum(map(words.issubset, keywords.values())) >= most
        ),
        shared_images=_find_shared((head.image, oid) for oid, head in own_heads.items()),
        names=names,
    )
    sample = [oid for oid in files if oid in likely - unlisted - copies]
    step = -(-len(sample) // _SAMPLE) or 1
    return _with_repeated(whole, folder, {oid: files[oid] for oid in sample[::step]})


def _find_shared(found: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the texts that several pages have, from (text, oid); translations count once."""
    counts = Counter(text for text, _ in {(text, oid.rpartition("/")[2]) for text, oid in found})
    return frozenset(text for text, count in counts.items() if count >= _SHARED_BY)


def _with_repeated(site: BuiltSite, folder: Path, files: Mapping[str, Path]) -> BuiltSite:
    """Add the texts that the posts of a site repeat.

    Lists do not count: several of them have the first words of a post.
    """
    texts, headings = Counter[tuple[str, str]](), list[tuple[str, str]]()
    count = Counter[str]()  # by language: each of twelve has a twelfth of the pages
    ignored, blocks = 0, 0  # of code
    for oid, file in files.items():
        try:
            page = Page(_text(file, folder), f"/{oid}", site)
        except (OSError, TooMuchMarkup):
            continue
        if not (page.declared(oid) or page.looks(oid)):
            count[page.language] += 1
            blocks += len(page.parsed.css("pre"))
            marked = page.parsed.css("[data-pagefind-ignore], [data-search-exclude]")
            ignored += sum(len(node.css("pre")) for node in marked if is_block_of_code(node))
            texts.update((page.language, text) for text in texts_of(page.parsed, page.layout))
            headings += [(one_line(node.text()), oid) for node in page.parsed.css("h1")]
    repeated: dict[str, float] = {}
    for (language, text), number in texts.items():
        if number >= _SHARED_BY:
            repeated[text] = max(repeated.get(text, 0.0), number / count[language])
    shared = site.shared_titles | _find_shared(headings)
    ignores_code = blocks >= _SHARED_BY and ignored >= blocks
    return replace(site, shared_titles=shared, repeated=repeated, ignores_code=ignores_code)


def _text(file: Path, folder: Path) -> str:
    return decode(read_inside(file, folder, _MAX_BYTES))


def _doubts(links: Mapping[str, int], front: Iterable[str]) -> Iterator[str]:
    """Yield warnings about canonical links that cannot be right."""
    followed = "their paths on the site (--site) are used instead."
    for link in front:
        yield f"{links[link]:,} pages have the canonical link {link}: {followed}"
    if local := [link for link in links if is_local(link)]:
        count = quantity(sum(map(links.__getitem__, local)), "canonical link")
        yield f"{count} point to the machine that built the site, such as {local[0]}: {followed}"


def _find_searched(
    folder: Path, site: BuiltSite, heads: Mapping[str, Head]
) -> tuple[set[str], set[str]]:
    """Return the pages that the site's own search leaves out, and those that it has, if it says so.

    Pagefind reads only the pages that mark their body, if any does. The indices of MkDocs, Sphinx
    and others list the pages they cover; that of Quarto (search.json) also has lists.
    """
    left_out: set[str] = set()
    searched: set[str] = set()
    unmarked = {oid for oid, head in heads.items() if not head.is_marked}
    marked = len(heads) - len(unmarked)
    if marked > 1 or (marked and len(heads) <= _SHARED_BY):  # one of many is no choice
        left_out |= unmarked
    for name in _INDICES:
        for file in (folder / name, *folder.glob(f"*/{name}")):
            try:
                text = decode(read_inside(file, folder, _MAX_XML))
                below = file.relative_to(folder).as_posix().removesuffix(name)
                found = {site.oid_of(f"/{below}{path.lstrip('/')}") for path in _entries(text)}
            except (OSError, ValueError, TypeError, KeyError, AttributeError):
                continue  # another kind of file
            inside = {oid for oid in heads if f"{oid}/".startswith(below)}
            whole = found if name == "searchindex.js" else inside  # others may list only the latest
            if found and 2 * len(found & inside) >= len(whole):
                unlisted = inside - found
                if len(unlisted) > len(found):  # articles in a folder beside them are a blog
                    places = {oid.rpartition("/")[0] for oid in found}
                    blog = {oid for oid in unlisted if oid.rpartition("/")[0] not in places}
                    unlisted -= {oid for oid in blog if heads[oid].is_published}
                left_out |= unlisted
                searched |= found if name != "search.json" else set()
    return left_out, searched


def _entries(text: str) -> set[str]:
    """Return the pages that an index of MkDocs, Zensical, Quarto, Sphinx or Just the Docs covers.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is another kind of file.
    """
    data = orjson.loads(text.strip().removeprefix("Search.setIndex(").removesuffix(")"))
    if isinstance(data, dict) and "docnames" in data:  # Sphinx lists `:nosearch:` pages, too
        found = data["terms"].values()
        numbers = {number for at in found for number in (at if isinstance(at, list) else [at])}
        return {f"{data['docnames'][number]}.html" for number in numbers}
    entries = data if isinstance(data, list) else data.get("docs") or data.get("items")
    if entries is None:
        return {entry["url"].partition("#")[0] for entry in data.values()}
    return {(entry.get("location") or entry.get("href", "")).partition("#")[0] for entry in entries}


def _head(file: Path, folder: Path) -> Head:
    try:
        whole = read_inside(file, folder, _MAX_BYTES)
        start = whole[:_MAX_HEAD]
        end = _HEAD_ENDS.search(start)
        path = f"/{quote(file.relative_to(folder).as_posix())}"
        page = Page(decode(start[: end.start()] if end else start), path)
    except (OSError, TooMuchMarkup):
        return Head()
    return Head(
        titles=page.titles,
        image=page.image,
        canonical=page.canonical and urljoin(page.location, page.canonical),
        is_public=not page.why_hidden(),
        is_marked=bool(_MARKED.search(whole)),
        date=page.stated("date"),
        keywords=page.stated("keywords"),
        language=page.language,
        is_published=page.is_published,
        generator=page.stated("generator"),
    )


def _address(pages: Mapping[str, Path], urls: Iterable[tuple[str, str]]) -> str:
    """Return the address below which most URLs are those of pages, or of the page that states it;
    "" if none is. Others are those of posts that first stood on another site."""
    counts: Counter[str] = Counter()
    for url, stated_by in urls:
        parts = urlsplit(url if is_valid_url(url) else "")
        if not parts.netloc:
            continue
        folders = unquote(parts.path).strip("/").split("/")
        for depth in range(min(4, len(folders) + 1)):
            base, rest = folders[:depth], "/".join(folders[depth:])
            if oid_of_page(f"/{quote(rest)}") in ([stated_by] if stated_by else pages):
                counts["/".join([f"{parts.scheme}://{parts.netloc}", *filter(None, base)])] += 1
    return max(sorted(counts, key=len), key=counts.__getitem__, default="")


def _versions(pages: Iterable[str]) -> Iterator[str]:
    """Yield the pages of folders such as `docs/next` and `docs/1.0` that mostly repeat the release.

    The release is `docs` itself, or the folder beside it that is no version, such as `docs/latest`,
    else the one with the highest number.
    """
    inside: dict[str, set[str]] = defaultdict(set)
    for oid in pages:
        parts = oid.split("/")
        for at in range(len(parts)):
            inside["/".join(parts[:at])].add("/".join(parts[at:]))
    beside: dict[str, list[str]] = defaultdict(list)
    for folder in inside:
        beside[folder.rpartition("/")[0]].append(folder)
    for above, folders in beside.items():
        versions = [folder for folder in folders if _VERSION.search(folder)]
        versions.sort(key=lambda folder: [int(n) for n in re.findall(r"\d+", folder)])
        others = {above, *folders}.difference(versions)
        for version in versions:
            own = inside[version]
            releases = {*others, versions[-1]} - {version}
            shared = max(len(own & inside[release]) for release in releases)
            if len(own) >= _VERSIONED and shared > len(own) / 2:
                yield from (version, *(f"{version}/{rest}" for rest in own))


def _names(titles: list[str], front: str) -> frozenset[str]:
    """Return the names of the site and its parts: ends of most titles, or text after some " | ".

    What stands beside a colon (`Review: Dune`) is such a name only if `front`, the title of the
    front page, contains it.
    """
    ends, parts = Counter[str](), Counter[str]()
    for title in titles:
        parts.update(title.split(" | ")[1:])
        ends.update({end for both in parted(title) for end in both})
    enough = max(_SHARED_BY, len(titles) // 2 + 1)
    said = {end for title in titles for end in title.partition(": ")[::2] if end not in front}
    most = {text for text, count in ends.items() if count >= enough and text not in said}
    return frozenset(most | {text for text, count in parts.items() if count >= _PART})


def _read_listed(folder: Path) -> tuple[list[str], dict[str, str], dict[str, list[str]]]:
    """Return the URLs in the sitemaps of a folder; the dates of its feeds' entries by URL; and the
    categories whose feeds contain them."""
    urls: list[str] = []
    entries: dict[str, str] = {}
    categories: dict[str, list[str]] = defaultdict(list)
    of_categories = {file for pattern in _OF_CATEGORIES for file in folder.glob(pattern)}
    for file in sorted(of_categories.union(*map(folder.glob, _NAMES))):
        is_feed = _XML.fullmatch(file.relative_to(folder).as_posix())
        if not (is_feed or file in of_categories):
            continue
        try:
            body = read_inside(file, folder, _MAX_XML)
            root = parse_xml(unzip_bytes(body, str(file), _MAX_XML), str(file))
        except (OSError, SourceError):
            continue
        if local_name(root) == "urlset":
            urls += [url for url, _ in locations(root) if not is_local(url)]
        for item in root.iter():
            if local_name(item) not in ("item", "entry"):
                continue
            fields = texts(item)
            date = fields.get("pubDate") or fields.get("published") or fields.get("updated", "")
            for child in item:
                if local_name(child) == "link" and child.get("rel", "alternate") == "alternate":
                    url = (child.get("href") or child.text or "").strip()
                    entries[url] = date
                    name = root.findtext("*/title", "").rpartition(" on ")[0]
                    if name and file in of_categories and name not in categories[url]:
                        categories[url].append(name)
    return urls, entries, categories
