"""Reads one HTML page into a RawPost: the metadata of its head, and its content."""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.posts.addresses import host_of, is_local, is_path, is_valid_url
from indexer.posts.dates import moments
from indexer.posts.html_text import TooMuchMarkup, one_line, parse, text_of
from indexer.posts.records import Origin, PageKind, RawPost, Reject, Skipped, SourceItem, load_json
from indexer.sources.base import SourceOptions, image_of
from indexer.sources.html.content import (
    GATES,
    NOT_OWN,
    OF_ENTRIES,
    Content,
    ancestors,
    body_of,
    headed_article,
    is_gated,
    is_in_text,
    measure,
    replaces_text,
    text_length,
    top_nodes,
)
from indexer.sources.html.layouts import Layout, layout_of
from indexer.sources.html.lists import TITLES, is_list
from indexer.sources.identity import day_in_path, labels, oid_of_page, title_of_name
from indexer.sources.robots import forbids_indexing

_PUBLISHED = (
    *("article:published_time", "datepublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified")
_SECTIONS = ("article:section", "articlesection", "category")
_TOOLS = re.compile(r"404|5\d\d|_?not[-_]?found|error|offline|search|sitemap")
"""Names of error pages and of search pages."""
_NOT_FOUND = re.compile(
    r"\W*(?:error\W*)?(?:404\b.*|(?:40[013]|50\d) (?:bad request|forbidden|"
    r"unauthorized|authorization required|internal server error|bad gateway|"
    r"service (?:temporarily )?unavailable|gateway time-?out)\W*)|"
    r"(?:.*\W)?(?:(?:(?:not|cannot be|[a-z]+[’']t be) found|"
    r"page\b.*(?:not|[’']t) exist|nicht gefunden|introuvable|n[oã]o? encontrad[ao]|"
    r"non trovat[ao]|niet gevonden)\W*(?:\(?404\)?)?)",
    re.IGNORECASE,
)
_SHORT = 300
"""The length, without links, below which a page may be an error or search page."""
_BEGINNING = 200
"""The maximum number of characters before the heading at the beginning of a content."""
_HEADLINES = "#title, .post-title, .entry-title, [itemprop=headline]"
"""Elements that are a heading, whatever their tag."""
_EMPTY = 60
"""The length below which a page may be rendered by a browser, or locked."""
_MOST = 0.5
"""The share of the pages from which a line belongs to the site."""
_NEARLY = 0.9
"""The share of the text of an article from which a header in it has all of it."""
_RENDERED = "#root:empty, #app:empty, #__next:empty, #___gatsby:empty, app-root:empty"
_TAGGED = re.compile(
    r"\b(?:tags?|tagged|labels?|filed|categor\w+|posted in|topics?)\b", re.IGNORECASE
)
_MAX_LABELS = 20
"""The maximum number of links to tag pages in a post; more are all tags of the site."""
_FILE = re.compile(r"\.(?!html?$|php$)[a-z]\w{1,4}$", re.IGNORECASE)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_XML = re.compile(r"\s*<\?xml[^>]*>\s*(?:<[!?][^>]*>\s*)*<(?!html)\w", re.IGNORECASE)
"""The beginning of another format, such as a feed that was saved as a page."""
_POSTING = re.compile(r"(?i)\b(?:(?:news|tech)?article|(?:blog|socialmedia)posting|report)\b")
_FALSE = re.compile(r"(?:^|/)false$", re.IGNORECASE)
"""`false`, `"False"` or `"http://schema.org/False"`."""
_OF_PAID = re.compile(r"[.#][\w-]{1,100}(?:\s*,\s*[.#][\w-]{1,100}){0,9}")
"""A selector of paid parts, by classes and ids."""
_MOST_PAID = 10
"""The maximum number of such selectors."""
_COLLECTION = re.compile(r"(?i)\b(?:blog|collectionpage|searchresultspage|profilepage)\b")
_SEPARATOR = re.compile(r" [^\w\s&+=%#@.,!?;()]{1,2} |: |： ?| ?｜ ?")
"""What may stand between the title of a page and the name of its site."""
_MAX_PARTS = 20
_MARKS = re.compile(r"^[|–—·•«»›]*\s+|\s+[|–—·•«»›]*$")
"""Separators left at an end of a title; «this» is a quotation."""


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site. Its pages are identified by oid: the path without `index.html` and `.html`."""

    address: str = ""  # the URL of the front page, without a slash at the end
    pages: Mapping[str, Path] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)  # the URLs in the sitemap, by oid
    entries: Mapping[str, Any] = field(default_factory=dict)  # the dates in the feeds, by oid
    categories: Mapping[str, list[str]] = field(default_factory=dict)  # whose feeds list a page
    fed: frozenset[str] = frozenset()  # pages with a feed of their own
    unlisted: frozenset[str] = frozenset()  # pages missing in a complete sitemap
    copies: frozenset[str] = frozenset()  # duplicates, by canonical link or path
    shared_titles: frozenset[str] = frozenset()  # titles of several pages, and of the site
    shared_keywords: frozenset[frozenset[str]] = frozenset()  # of the site: most pages have them
    shared_images: frozenset[str] = frozenset()  # images of several pages
    names: frozenset[str] = frozenset()  # of the site and its parts, found in titles
    repeated: Mapping[str, float] = field(default_factory=dict)  # by text: the share of pages
    unsearched: frozenset[str] = frozenset()  # pages left out of the site's own search
    searched: frozenset[str] = frozenset()  # pages in the site's own search
    front_links: frozenset[str] = frozenset()  # canonical links that most pages share
    built: frozenset[str] = frozenset()  # on most pages, such as Javadoc's run
    doubts: tuple[str, ...] = ()  # warnings about canonical links
    ignores_code: bool = False  # every block of code is excluded from the site's search

    def oid_of(self, url: str) -> str:
        """Return the oid of the page at an absolute URL or a path; "" if it is on another site."""
        if not is_valid_url(url):
            return ""
        parts, own = urlsplit(url), urlsplit(self.address)
        if parts.netloc and host_of(url) != host_of(self.address):
            return ""
        path, base = parts.path, own.path.rstrip("/")
        is_below = f"{path}/".startswith(f"{base}/")
        return oid_of_page(path[len(base) :] if is_below else path)

    def bare_title(self, title: str) -> str:
        """Return a title without the name of the site before or after it."""
        own: str | None = title
        while own:
            title, parts = own, parted(own)
            bare = (before for before, after in parts if after in self.shared_titles)
            own = next(bare, None) or next((a for b, a in parts if b in self.names), None)
        return _MARKS.sub("", title)


class NotPost(NamedTuple):
    """The reason why a page is no post, and whether the page or its site declares it."""

    reason: str
    kind: PageKind
    declared: bool = False


def read_page(
    text: str,
    location: str,
    origin: Origin,
    oid: str,
    options: SourceOptions,
    *,
    site: BuiltSite | None = None,
    lastmod: str = "",
) -> SourceItem:
    """Return the post on a page, or the reason why there is none.

    What the page declares counts first, then the layout of its generator, then its looks.
    `location` (URL or path on the site) and `lastmod` (last change) are used where the page itself
    states neither.
    """
    try:
        page = Page(text, location, site, options)
    except TooMuchMarkup as error:
        return Reject(origin, oid, str(error), "Correct the page, or leave it out (exclude).")
    if why := page.declared(oid) or page.looks(oid):
        return Skipped(origin, oid, *why)
    listed = site.addresses.get(oid) if site else None
    url = listed or urljoin(location, page.url)
    post = page.post(origin, oid, url, lastmod)
    if not (post.text.prose or post.text.code or page.has_images):
        return Skipped(origin, oid, "no text", "empty")
    return post


def asks_for_password(text: str) -> bool:
    """Whether a page has a password field outside its header, menus and footer."""
    try:
        fields = parse(text).css("[type=password]:not(header *, nav *, footer *, aside *)")
    except TooMuchMarkup:  # read_page rejects it
        return False
    return bool(fields)


class Page:
    """A parsed page, or TooMuchMarkup. Call `post` at most once: it modifies the page."""

    def __init__(
        self,
        text: str,
        location: str = "",
        site: BuiltSite | None = None,
        options: SourceOptions | None = None,
    ) -> None:
        self.parsed = parse(text)
        base = self.parsed.css_first("base[href]")
        followed = urljoin(location, _follow((base and base.attributes["href"]) or ""))
        self.location = followed if host_of(followed) == host_of(location) else location
        self._is_whole = bool(_WHOLE.search(text[:10_000])) and not _XML.match(text[:10_000])
        self._meta: dict[str, Any] = {}
        self._tags: list[str] = []
        self._robots: list[str] = []  # all elements count, as all headers do
        for node in self.parsed.css("meta[content]"):
            given = node.attributes
            name = given.get("property") or given.get("name") or given.get("itemprop") or ""
            name, content = name.strip().lower(), (given.get("content") or "").strip()
            if name in ("robots", "googlebot", "blogsearch"):
                self._robots.append(content)
            if name in ("article:tag", "tags"):
                self._tags += labels(content)
            if name and content:
                self._meta.setdefault(name, content)
        things = _json_ld(self.parsed)
        self._postings = [thing for thing in things if _is_a(thing, _POSTING)]
        self._collections = [thing for thing in things if _is_a(thing, _COLLECTION)]
        stated = next((t for t in things if "headline" in t or t in self._postings), {})
        for name, value in stated.items():
            self._meta.setdefault(name.lower(), value)
        link = self.parsed.css_first("link[rel=canonical][href], a.p-canonical[href]")
        self.canonical = _follow((link.attributes.get("href") if link else "") or "")
        stated_urls = (self.canonical, _follow(self.stated("og:url")))
        self.url = next((u for u in stated_urls if is_path(u) or host_of(u)), "")
        site = site or BuiltSite()
        is_elsewhere = is_local(self.url) and not is_local(location)
        if is_elsewhere or (site.front_links and self.url in site.front_links):
            self.url = ""  # that of the machine that built it, or of the front page on every page
        address = site.address or urljoin(self.url or location, "/").rstrip("/")
        titles = site.shared_titles | {self.stated("og:site_name"), ""}
        self._site = replace(site, address=address, shared_titles=titles)
        self.name = _text_of(self.parsed.css_first("head > title"))
        heads = (self.stated("og:title"), self.stated("headline"), self.name)
        self.titles = tuple(filter(None, heads))
        self.image = _follow(self.stated("og:image") or self.stated("twitter:image"))
        self._body = body_of(self.parsed)
        self._options = options or SourceOptions()
        self.layout = _as_named(layout_of(self.parsed), self._options)
        header = self.parsed.css_first(":is(article, main) > header:has(h1):has(p, pre)")
        if header and header.parent and text_length(header) >= _NEARLY * text_length(header.parent):
            header.unwrap()  # its end is missing
        main = self.parsed.css_first("main") or self.parsed.css_first("[role=main]")
        self._main = main or headed_article(self._body) or self._body
        selectors = _selectors_of_paid(self._postings)
        paid = top_nodes(self._body.css(selectors)) if selectors else []
        around = {node.mem_id for node in (self._main, *ancestors(self._main))}
        self._is_paid = any(node.mem_id in around for node in paid)
        self._has_paid = bool(paid)
        for node in [] if self._is_paid else paid:  # the main element is still needed
            node.remove()

    @property
    def has_images(self) -> bool:
        """Whether the main element has images or other media, which may be all that a post has."""
        return self._main.css_first("img, video, audio, iframe") is not None

    def stated(self, name: str) -> str:
        """Return the text that the head states under a name; JSON-LD also has other values."""
        value = self._meta.get(name)
        return one_line(value) if isinstance(value, str) else ""

    @property
    def language(self) -> str:
        """The declared language of the content, else of the page; "" if there is none."""
        for root in (self._main, self.parsed.css_first("html")):
            if root is not None and (declared := root.attributes.get("lang")):
                return declared
        declared = self.stated("content-language") or self.stated("inlanguage")
        return declared or self.stated("og:locale").replace("_", "-")

    def _translations(self, url: str) -> list[str]:
        """Return the addresses of the page in all languages, from its `hreflang` links."""
        links = self.parsed.css("link[rel~=alternate][hreflang]:not([hreflang=x-default], [type])")
        named = [_follow(link.attributes.get("href") or "") for link in links]
        return [urljoin(url, address) for address in named if address]

    # -- whether it is a post --------------------------------------------------------------------

    def why_hidden(self) -> str:
        """Return why the page asks not to be found; "" if it does not ask."""
        if forbids_indexing("\n".join(self._robots), datetime.now(UTC)):
            return "noindex"
        asking = self.parsed.css("[data-pagefind-ignore], [data-search-exclude]")
        if any(node.tag in ("html", "body", "main") for node in asking):
            return "asks to be left out of the search"
        is_redirect = self.parsed.css_first("meta[http-equiv=refresh i]") is not None
        return "redirect" if is_redirect else ""

    def declared(self, oid: str) -> NotPost | None:
        """Return why the page, its site or its generator declares it no post; None if none does."""
        if not self._is_whole:
            return None
        if reason := self.why_hidden():
            return NotPost(reason, "redirect" if reason == "redirect" else "noindex", declared=True)
        unsearched = self.layout.unsearched
        if oid in self._site.unsearched or (unsearched and self.parsed.css_first(unsearched)):
            return NotPost("not in the site's own search", "noindex", declared=True)
        is_list = self.layout.list and self.parsed.css_first(self.layout.list) is not None
        if is_list or (not self._postings and self._is_collection(oid)):
            return NotPost("says that it is a list", "list", declared=True)
        if lock := self._find_lock():
            return NotPost(f"locked: {lock}", "locked", declared=True)
        if self._is_untranslated(oid):
            return NotPost("not translated", "copy", declared=True)
        if oid in self._site.unlisted:
            return NotPost("not in the sitemap", "excluded", declared=True)
        return None

    def _find_lock(self) -> str:
        """Return what keeps the text from visitors: JSON-LD says that all of it is to be paid for,
        or a form for a password or for members stands in its place; "" if nothing does."""
        asks = "asks for a password or an account"
        known = self.parsed.css_first(self.layout.content) if self.layout.content else None
        if is_gated(known) if known else any(map(replaces_text, self._main.css(GATES)[:20])):
            return asks
        is_empty = measure(self._main, NOT_OWN)[self._main.mem_id].unlinked < _EMPTY
        if self._is_paid or (self._has_paid and is_empty):
            return "not free (`isAccessibleForFree`)"
        return asks if is_empty and self._main.css_first("input[type=password]") else ""

    def _is_untranslated(self, oid: str) -> bool:
        """Whether it is another language's page in place of a missing translation."""
        root = self.parsed.css_first("html[lang]")
        own, shown = (root.attributes.get("lang") or "").lower() if root else "", self.language
        folder, _, rest = oid.partition("/")
        shown = shown.lower().partition("-")[0]
        others = {rest or "index", f"{shown}/{rest}".rstrip("/")} & self._site.pages.keys()
        return folder.lower() == own and own.partition("-")[0] != shown and bool(others)

    @property
    def is_published(self) -> bool:
        """Whether the head declares an article and its time of publication."""
        is_article = self.stated("og:type").lower() == "article"
        return is_article and bool(self.stated("article:published_time"))

    def _is_one_article(self, oid: str) -> bool:
        """Whether the page, its generator, a feed or the site's search declares it one article."""
        if oid != "index" and (oid in self._site.entries or oid in self._site.searched):
            return True
        if self.layout.post and self.parsed.css_first(self.layout.post) is not None:
            return True
        if oid in self._site.fed:
            return False  # some themes of Hugo call each section an article
        if self.is_published:
            return True
        if len(self._postings) != 1 or "datePublished" not in self._postings[0]:
            return False
        page = self._page_about(self._postings[0])
        return page == oid or (not page and oid != "index")

    def _is_collection(self, oid: str) -> bool:
        """Whether it declares itself a list, and not only its site a blog."""
        return any(self._page_about(thing) in ("", oid) for thing in self._collections)

    def _page_about(self, thing: dict[str, Any]) -> str:
        """Return the oid of the page that an object of JSON-LD is about; "" if it does not say."""
        about = thing.get("mainEntityOfPage") or thing.get("url")
        about = about.get("@id") if isinstance(about, dict) else about
        return self._oid_of(about) if isinstance(about, str) else ""

    def looks(self, oid: str) -> NotPost | None:
        """Guess from its looks why the page is no post; None if it may be one."""
        if not self._is_whole:
            return NotPost("part of a page", "not a post")
        lengths = measure(self._main, NOT_OWN)
        own = lengths[self._main.mem_id]
        is_rendered = own.text < _EMPTY and self.parsed.css_first(_RENDERED) is not None
        is_empty = not own.text and self.parsed.css_first("body img, iframe") is None
        if is_rendered or (is_empty and self.parsed.css_first("body script") is not None):
            but = ", though it says that it is an article" if self._is_one_article(oid) else ""
            return NotPost(f"rendered by a browser: the file has no text{but}", "empty")
        if is_empty:
            return NotPost("no text", "empty")
        if self._is_one_article(oid):
            return None
        if self._is_tool(oid, own.unlinked):
            return NotPost("error page or search", "tool")
        is_front, site = oid in ("index", self.language.lower()), self._site
        place = {"is_front": is_front, "is_fed": oid in site.fed}
        if self._main.css_first(OF_ENTRIES):  # a text that is locked may also have such a header
            lengths = measure(self._main, NOT_OWN, OF_ENTRIES)
        if is_list(oid, self._main, lengths, self._page_of, site.pages, **place):
            return NotPost("list page", "list")
        return None

    def _is_tool(self, oid: str, length: int) -> bool:
        """Whether the page is a search page or an error page."""
        titles = (*_SEPARATOR.split(self.name), _text_of(self.parsed.css_first("h1")))
        is_named = _TOOLS.fullmatch(oid.rpartition("/")[2])  # not a class Error
        is_called = any(map(_NOT_FOUND.fullmatch, titles))
        is_short = length < _SHORT
        return (bool(is_named) and (is_short or "/" not in oid)) or (is_called and is_short)

    def _oid_of(self, href: str) -> str:
        """Return the oid of the page of the site that a link leads to; "" if there is none."""
        href = _follow(href)
        return self._site.oid_of(urljoin(self.location, href)) if href else ""

    def _place_of(self, href: str) -> str:
        """Return the same with the place on it: all tags may be on one page (`/tags/#summer`)."""
        return f"{self._oid_of(href)}/{href.partition('#')[2]}".rstrip("/")

    def _page_of(self, href: str) -> str:
        """Return the oid of the linked page; "" also for a fragment or a file, such as an image."""
        oid = "" if href[:1] == "#" else self._oid_of(href)
        return "" if _FILE.search(oid) and oid not in self._site.pages else oid

    # -- the post --------------------------------------------------------------------------------

    def post(self, origin: Origin, oid: str, url: str, lastmod: str) -> RawPost:
        """Return the post; `lastmod` is its last change if the page states none."""
        layout, options = self.layout, self._options
        sections = labels(next(filter(None, map(self._meta.get, _SECTIONS)), None))
        folders = {"page", "pages", "post", "posts", *oid.lower().split("/")[:-1]}
        sections = [n for n in sections if n.lower() not in folders]  # Hugo writes these
        site = self._site

        content = Content(self.parsed, layout, site.repeated, options.selectors())
        tags = self._labels(layout.tags, "tag", "tags")
        categories = self._labels(layout.categories, "category", "categories")
        stated = labels(self._meta.get("keywords"))
        for shared in site.shared_keywords:
            stated = [w for w in stated if w not in shared] if shared.issubset(stated) else stated
        named = site.categories.get(oid) or sections or _texts_of(categories)
        keywords = self._tags or stated or _texts_of(tags)
        keywords = _texts_of(tags) if keywords == named else keywords  # Hugo's if there are no tags
        content.find(keeps_code=site.ignores_code)
        title = self._title(content, oid)
        known = {label.lower() for label in [*keywords, *named]}
        links = self._main.css("a[href]") if known else []
        named_so = [a for a in links if _label_of(a).lower() in known]
        own = [a for a in named_so if self._page_of(a.attributes["href"] or "")]
        content.tidy(title, [*tags, *categories, *own])
        if content.is_repeated:
            options.warn(str(origin))
        days = [day_in_path(urlsplit(address).path) for address in (self.url, url)]
        published = [d for d in map(self._meta.get, _PUBLISHED) if str(d) not in site.built]
        modified = map(self._meta.get, _MODIFIED)
        first = [day for day in published if day not in content.updated]  # Astro Cactus states it
        shown = content.dates if oid != "index" else []  # those of its entries
        dates = moments([*first, self._site.entries.get(oid), *shown, *days, *published])
        changes = moments([*modified, *content.updated, lastmod])
        image = "" if self.image in self._site.shared_images else self.image
        return RawPost(
            origin=origin,
            oid=oid,
            title=html.unescape(title),  # some themes escape twice
            text=text_of(content.root),
            url=url,
            pub_date=next(dates, None),
            modified=next(changes, None),
            categories=named,
            keywords=keywords,
            language=self.language,
            translation_key=self._translations(url),
            image=image_of(urljoin(url, image)) if image else None,
            layout=layout.name,
            left_out=content.left_out,
        )

    def _title(self, content: Content, oid: str) -> str:
        """Return the heading at the beginning of the content, else a title from the head, else
        another heading. Titles that many pages share and the name of the site do not count."""
        named = self.parsed.css_first(self.layout.title) if self.layout.title else None
        if title := self._site.bare_title(_text_of(named)):
            return title
        inner = content.root.css("h1")
        is_first = len(inner) == 1 and measure(content.root)[inner[0].mem_id].start < _BEGINNING
        first = _text_of(inner[0]) if is_first else ""
        others = self.parsed.css(_HEADLINES)  # several are those of cards
        others = self.parsed.css("h1") + (others if len(others) == 1 else [])
        headings = self._own_titles([first, *map(_text_of, others)])
        title = next(iter(self._own_titles(self.titles)), "")
        for text in headings:
            is_own = text == first and not text.startswith(f"{title} ")
            mark = _SEPARATOR.match(title, len(text)) if title.startswith(text) else None
            if is_own or title == text or (mark and mark[0] != ": "):
                return text  # the head's title is this heading, perhaps with the name of the site
        fallback = self._site.bare_title(next(iter(self.titles), ""))
        return title or next(iter(headings), fallback) or title_of_name(oid.rpartition("/")[2])

    def _own_titles(self, titles: Iterable[str]) -> list[str]:
        """Return the titles that few pages share, without the name of the site."""
        shared = self._site.shared_titles
        pairs = [(title, self._site.bare_title(title)) for title in titles if title[-1:] != "\\"]
        bare = [name for title, name in pairs if shared.isdisjoint((title, name))]
        # Some are cut off at a quote.
        return [name for name in bare if not any(o.startswith(f'{name} "') for o in bare)]

    def _labels(self, selector: str, *folders: str) -> list[LexborNode]:
        """Return the layout's elements for labels, else the content's links to pages in
        `folders`."""
        if selector:
            return self.parsed.css(selector)
        found = self._links_to(self._main, folders)
        if self._main.tag != "body" and (found or not self._site.repeated):
            return found
        found = self._links_to(self._body, folders)
        lines = {n.parent.mem_id: n.parent for n in found if n.parent}
        own_lines = {key for key, line in lines.items() if self._is_own(line)}
        return [n for n in found if n.parent and n.parent.mem_id in own_lines]

    def _links_to(self, root: LexborNode, folders: tuple[str, ...]) -> list[LexborNode]:
        """Return the links in an element to pages in folders, such as `tags`, not in sentences."""
        own = ":not(nav *, aside *, h1 *, h2 *, h3 *)"
        links = root.css(", ".join(f"a[href*='{folder}' i]{own}" for folder in folders))
        is_in = re.compile(rf"(?:^|/)(?:{'|'.join(folders)})[/_].+$", re.IGNORECASE)
        found = [n for n in links if is_in.search(self._place_of(n.attributes["href"] or ""))]
        found = [n for n in found if not is_in_text(n)]
        if len(found) > 10 * _MAX_LABELS:  # all of the site; each would cost a walk
            return found
        return [n for n in found if not self._is_of_card(n)]

    def _is_of_card(self, label: LexborNode) -> bool:
        """Whether a label stands in a card of another page: its first link leads there, too. Labels
        of the page itself may stand above the titles of those before and after it."""
        around = takewhile(lambda node: text_length(node) < _SHORT, ancestors(label))
        card = next((node for node in around if node.css_first(TITLES)), label)
        links = [link for link in (card.css_first("a[href]"), card.css_first(TITLES)) if link]
        targets = [self._page_of(link.attributes["href"] or "") for link in links]
        own = ("", "index", self._site.oid_of(self.location))
        return len(links) == 2 and len({*targets}) == 1 and targets[0] not in own

    def _is_own(self, line: LexborNode) -> bool:
        """Whether a line with links to tags is about the page: it says so ("Filed under"), or is
        called so, or is nothing but links that few other pages have."""
        text, repeated = one_line(line.text()), self._site.repeated
        if repeated.get(text, 0.0) >= _MOST:
            return False
        if "meta" in (line.attributes.get("class") or "") or _TAGGED.search(text):
            return True
        beside = text_length(line) - sum(map(text_length, line.css("a")))
        return bool(repeated) and beside < len(line.css("a"))  # such as commas


def parted(title: str) -> list[tuple[str, str]]:
    """Return what stands before and after each separator in a title."""
    marks = islice(_SEPARATOR.finditer(title), _MAX_PARTS)
    return [(title[: mark.start()], title[mark.end() :]) for mark in marks]


def _label_of(link: LexborNode) -> str:
    """Return the label in a link, without the number of posts that have it."""
    text = _text_of(link)
    for inner in link.css("span, sup, small"):
        if re.fullmatch(r"\W*\d+\W*", count := one_line(inner.text())):
            text = text.removesuffix(count)
    return text.strip(" ,/[]").lstrip("#").strip()


def _texts_of(nodes: list[LexborNode]) -> list[str]:
    """Return the labels in links, without duplicates; none if there are too many."""
    terms = [text for text in dict.fromkeys(map(_label_of, nodes)) if text]
    return terms if len(terms) <= _MAX_LABELS else []


def _as_named(layout: Layout, options: SourceOptions) -> Layout:
    """Return the layout with the selectors that the user has set in blogsearch.toml."""
    own = {name: getattr(options, name) for name in ("content", "title", "date", "tags")}
    own = {name: selector for name, selector in own.items() if selector}
    return replace(layout, name=f"{layout.name} + blogsearch.toml", **own) if own else layout


def _follow(address: str) -> str:
    """Return an address without surrounding white space; "" if it cannot be followed."""
    address = address.strip()
    is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE)
    return "" if is_other or not is_valid_url(address) else address


def _json_ld(page: LexborHTMLParser) -> list[dict[str, Any]]:
    """Return the objects in the page's JSON-LD, such as the posting, the site and the author."""
    things: list[dict[str, Any]] = []
    for script in page.css('script[type^="application/ld+json"]'):
        try:
            data = load_json(script.text())
        except orjson.JSONDecodeError:
            continue
        graph = data.get("@graph", data) if isinstance(data, dict) else data
        stated = graph if isinstance(graph, list) else [graph]
        things += [thing for thing in stated if isinstance(thing, dict)]
    return things


def _selectors_of_paid(postings: list[dict[str, Any]]) -> str:
    """Return the selectors of the elements that JSON-LD declares not to be free, "" for none."""
    parts: list[Any] = []
    for posting in postings:
        stated = posting.get("hasPart")
        parts += stated if isinstance(stated, list) else [stated]
    selectors = [
        str(part.get("cssSelector"))
        for part in parts
        if isinstance(part, dict) and _FALSE.search(str(part.get("isAccessibleForFree")))
    ]
    return ", ".join(filter(_OF_PAID.fullmatch, selectors[:_MOST_PAID]))


def _is_a(thing: dict[str, Any], kinds: re.Pattern[str]) -> bool:
    """Whether an object has such a type; one with a headline and no type is an article."""
    stated = thing.get("@type", "Article" if "headline" in thing else "")
    return bool(kinds.search(str(stated)))


def _text_of(node: LexborNode | None) -> str:
    """Return the visible text: a heading may contain buttons. A `<title>` is read as it is."""
    if node is None:
        return ""
    return one_line(node.text() if node.tag == "title" else text_of(node).prose)
