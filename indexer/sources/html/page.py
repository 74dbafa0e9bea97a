"""An HTML page → a RawPost: the metadata of its head, and its content."""

import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.dates import moments
from indexer.html_text import TooMuchMarkup, one_line, parse, text_of
from indexer.records import Origin, RawPost, Reject, Skipped, SourceItem
from indexer.sources.base import SourceOptions, bare_host, image_of, is_valid_url
from indexer.sources.html.content import (
    NOT_OWN,
    Content,
    body_of,
    measure,
    remove_comments,
    top_nodes,
)
from indexer.sources.html.lists import is_list
from indexer.sources.identity import day_in_path, labels, oid_of_page, title_of_name

_PUBLISHED = (
    *("article:published_time", "datepublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified")
_TOOLS = re.compile(r"404|5\d\d|_?not[-_]?found|error|offline|search|sitemap")
"""Names of pages that a server shows in place of others, and of searches."""
_NOT_FOUND = re.compile(r"\W*(?:error\W*)?404\b.*|.*\bnot found\W*(?:\(?404\)?)?", re.IGNORECASE)
_LANGUAGE_OR_VERSION = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4})?|v?\d[\w.]*")
_SHORT = 300
"""Characters outside links; a page with a search box, or that says what is missing, has fewer."""
_BEGINNING = 200
"""Characters; fewer stand before the heading that a content begins with."""
_EMPTY = 60
"""Characters; a page that a browser renders has fewer before it does."""
_RENDERED = "#root:empty, #app:empty, #__next:empty, #___gatsby:empty, app-root:empty"
_MAX_LABELS = 20
"""Links to pages of tags in one post; more of them are all tags of the site."""
_FILE = re.compile(r"\.(?!html?$|php$)[a-z]\w{1,4}$", re.IGNORECASE)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_POSTING = re.compile(
    r"\b(?:(?:news|tech)?article|(?:blog|socialmedia)posting|report)\b", re.IGNORECASE
)

SEPARATORS = (" | ", " - ", " – ", " — ", " · ", " :: ", " • ", " « ", " » ")
_MARKS = re.compile(r"^[|–—·•«»›]*\s+|\s+[|–—·•«»›]*$")
"""What stands between a title and the name of the site; «this» is a quotation."""


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site; pages are named by their oid, the path without `index.html` and `.html`."""

    address: str = ""  # of the front page, without a slash at its end
    pages: Mapping[str, Path] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)  # of what the sitemap lists
    entries: Mapping[str, str] = field(default_factory=dict)  # what the feeds list, and its dates
    fed: frozenset[str] = frozenset()  # have a feed of their own
    unlisted: frozenset[str] = frozenset()  # are not in a complete sitemap
    copies: frozenset[str] = frozenset()  # another page is named by their link or path
    shared_titles: frozenset[str] = frozenset()  # of several pages, and those of the site
    shared_images: frozenset[str] = frozenset()  # of several pages
    names: frozenset[str] = frozenset()  # of the site and its parts, as titles have them
    repeated: Mapping[str, float] = field(default_factory=dict)  # texts: the share that has them

    def oid_of(self, url: str) -> str:
        """The page that an absolute URL or a path leads to; "" for one of another site."""
        if not is_valid_url(url):
            return ""
        parts, own = urlsplit(url), urlsplit(self.address)
        if parts.netloc and bare_host(parts.netloc) != bare_host(own.netloc):
            return ""
        path, base = parts.path, own.path.rstrip("/")
        is_below = f"{path}/".startswith(f"{base}/")
        return oid_of_page(path[len(base) :] if is_below else path)

    def bare_title(self, title: str) -> str:
        """A title without the name of the site before or behind it."""
        for mark in SEPARATORS:
            while mark in title:
                first, last = title.partition(mark)[0], title.rpartition(mark)[2]
                if last in self.shared_titles:
                    title = title.removesuffix(mark + last)
                elif first in self.names:
                    title = title.removeprefix(first + mark)
                else:
                    break
        return _MARKS.sub("", title)


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
    """The post on a page, or why there is none.

    `location` is its URL or its path on the site, which counts where the page states none, and so
    does `lastmod`, its last change.
    """
    try:
        page = Page(text, location, site)
    except TooMuchMarkup as error:
        return Reject(origin, oid, str(error), "Correct the page, or leave it out (exclude).")
    reason, is_guess = page.why_not_post(oid)
    if reason:
        return Skipped(origin, oid if is_guess else None, reason)
    listed = site.addresses.get(oid) if site else None
    url = listed or urljoin(location, page.url)
    return page.post(origin, oid, url, lastmod, options)


class Page:
    """A parsed page, or TooMuchMarkup. `post` may be called once: it modifies the page."""

    def __init__(self, text: str, location: str = "", site: BuiltSite | None = None) -> None:
        self._location = location
        self.parsed = parse(text)
        self._body = self._main = body_of(self.parsed)
        self._is_whole = bool(_WHOLE.search(text[:10_000]))
        self._meta: dict[str, Any] = {}
        self._tags: list[str] = []
        for node in self.parsed.css("meta[content]"):
            given = node.attributes
            name = given.get("property") or given.get("name") or given.get("itemprop") or ""
            name, content = name.strip().lower(), (given.get("content") or "").strip()
            if name == "article:tag":
                self._tags += content.split(",")
            if name and content:
                self._meta.setdefault(name, content)
        posting = _json_ld(self.parsed)
        self._is_posting = bool(posting)
        for name, value in posting.items():
            self._meta.setdefault(name.lower(), value)
        self._said = 0
        link = self.parsed.css_first("link[rel=canonical][href]")
        self.canonical = _followed((link.attributes.get("href") if link else "") or "")
        self.url = self.canonical or _followed(self._text("og:url"))
        site = site or BuiltSite()
        address = site.address or urljoin(self.url or location, "/").rstrip("/")
        titles = site.shared_titles | {self._text("og:site_name"), ""}
        self._site = replace(site, address=address, shared_titles=titles)
        self.name = _text_of(self.parsed.css_first("head > title"))
        self.og_title = self._text("og:title")
        self.image = _followed(self._text("og:image") or self._text("twitter:image"))

    def _text(self, name: str) -> str:
        """What the head states under a name; JSON-LD has more than texts."""
        value = self._meta.get(name)
        return one_line(value) if isinstance(value, str) else ""

    @property
    def language(self) -> str:
        """The declared language; "" if there is none."""
        root = self.parsed.css_first("html[lang]")
        declared = root.attributes.get("lang") if root else ""
        return declared or self._text("content-language") or self._text("inlanguage")

    # -- whether it is a post --------------------------------------------------------------------

    def why_hidden(self) -> str:
        """Why the page says that it is not for readers; "" if it does not."""
        robots = ",".join(map(self._text, ("robots", "googlebot"))).lower()
        if {"noindex", "none"} & set(re.split(r"[\s,]+", robots)):
            return "noindex"
        asking = self.parsed.css("[data-pagefind-ignore], [data-search-exclude]")
        if any(node.tag in ("html", "body", "main") for node in asking):
            return "asks to be left out of the search"
        is_redirect = self.parsed.css_first("meta[http-equiv=refresh i]") is not None
        return "redirect" if is_redirect else ""

    def why_not_post(self, oid: str) -> tuple[str, bool]:
        """Why the page is not a post ("" if it is one), and whether that is a guess."""
        if not self._is_whole:
            return "part of a page", True
        if reason := self.why_hidden():
            return reason, False
        self._said += remove_comments(self._body)
        is_several = len(top_nodes(self.parsed.css("article"))) > 1
        is_several = is_several or self.parsed.css_first("aside article") is not None
        marked = ("main", "[role=main]", *(() if is_several else ("article", "#content")))
        self._main = next(filter(None, map(self.parsed.css_first, marked)), self._body)
        own = measure(self._main, NOT_OWN)[self._main.mem_id]
        is_rendered = own.text < _EMPTY and self.parsed.css_first(_RENDERED) is not None
        is_empty = not own.text and self.parsed.css_first("body img, iframe") is None
        if is_rendered or (is_empty and self.parsed.css_first("body script") is not None):
            return "rendered by a browser: the file has no text", True
        is_article = self._text("og:type").lower() == "article" or self._is_posting
        is_article = is_article or oid in self._site.entries
        if self._is_tool(oid, own.unlinked, is_article=is_article):
            return "error page or search", True
        is_fed = oid in self._site.fed
        if is_list(oid, self._main, own, self._page_of, is_article=is_article, is_fed=is_fed):
            return "list page", True
        return ("not in the sitemap", False) if oid in self._site.unlisted else ("", False)

    def _is_tool(self, oid: str, length: int, *, is_article: bool) -> bool:
        """Whether the page is a search, or what a server shows in place of another.

        Below a folder that is no language it may be a page about such things.
        """
        *folders, name = oid.lower().split("/")
        is_short = length < _SHORT
        is_named = all(map(_LANGUAGE_OR_VERSION.fullmatch, folders)) and _TOOLS.fullmatch(name)
        if is_named and (is_short or not is_article):
            return True
        titles = (self._site.bare_title(self.name), _text_of(self.parsed.css_first("h1")))
        is_called = not is_article and any(map(_NOT_FOUND.fullmatch, titles))
        return is_short and (is_called or name == "search")

    def _oid_of(self, href: str) -> str:
        """The page of the site that a link leads to; "" if it leads to none."""
        return self._site.oid_of(urljoin(self._location, href)) if _followed(href) else ""

    def _page_of(self, href: str, *, is_certain: bool) -> str:
        """The same for a list; if it is to be certain, the page must be one of those that are read,
        where they are known."""
        oid, pages = "" if href[:1] == "#" else self._oid_of(href), self._site.pages
        is_page = oid in pages if is_certain and pages else not _FILE.search(oid)
        return oid if is_page or oid in pages else ""

    # -- the post --------------------------------------------------------------------------------

    def post(
        self, origin: Origin, oid: str, url: str, lastmod: str, options: SourceOptions
    ) -> RawPost:
        """The post; `lastmod` is its last change if the page names none."""
        content = Content(self.parsed, self._site.repeated, options.selectors())
        section = self._text("article:section") or self._text("articlesection")
        if section.lower() == oid.partition("/")[0].lower():
            section = ""  # Hugo names the folder of a page so
        tags = self._links_to("tag", "tags")
        categories = self._links_to("category", "categories")
        stated = labels(self._meta.get("keywords"))
        is_marked = self._main.tag != "body"
        keywords = self._tags or stated or (_texts_of(tags) if is_marked else [])
        named = [section] if section else _texts_of(categories) if is_marked else []
        content.find(options.content)
        title = self._title(content, oid)
        content.tidy(title, [*tags, *categories])
        days = [day_in_path(urlsplit(address).path) for address in (self.url, url)]
        published, modified = map(self._meta.get, _PUBLISHED), map(self._meta.get, _MODIFIED)
        dates = moments([*published, *content.dates, *days, self._site.entries.get(oid)])
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
            image=image_of(urljoin(url, image)) if image else None,
            left_out=content.left_out + Counter(comments=self._said),
        )

    def _title(self, content: Content, oid: str) -> str:
        """The heading that the content begins with, else what the head states, else the `<title>`,
        else another heading; not what many pages have, or the name of the site."""
        inner = content.root.css("h1")
        is_first = len(inner) == 1 and measure(content.root)[inner[0].mem_id].start < _BEGINNING
        first = _text_of(inner[0]) if is_first else ""
        headings = self._own_titles([first, *map(_text_of, self.parsed.css("h1"))])
        stated = [self.og_title, self._text("headline"), self.name]
        title = next(iter(self._own_titles(stated)), "")
        for text in headings:
            is_own = text == first and not text.startswith(f"{title} ")
            if is_own or title == text or title.startswith(tuple(text + m for m in SEPARATORS)):
                return text  # and the name of the site
        fallback = self._site.bare_title(next(filter(None, stated), ""))
        return title or next(iter(headings), fallback) or title_of_name(oid.rpartition("/")[2])

    def _own_titles(self, titles: list[str]) -> list[str]:
        """Those that few pages have, without the name of the site."""
        shared = self._site.shared_titles
        pairs = [(title, self._site.bare_title(title)) for title in titles]
        return [bare for title, bare in pairs if shared.isdisjoint((title, bare))]

    def _links_to(self, *folders: str) -> list[LexborNode]:
        """The links in the content to pages in such folders, as those of tags are."""
        links = self._main.css(", ".join(f"a[href*='{folder}/' i]" for folder in folders))
        is_in = re.compile(rf"(?:^|/)(?:{'|'.join(folders)})/[^/]+$", re.IGNORECASE)
        return [node for node in links if is_in.search(self._oid_of(node.attributes["href"] or ""))]


def _texts_of(nodes: list[LexborNode]) -> list[str]:
    """The labels of links."""
    texts = (_text_of(node).lstrip("#").strip() for node in nodes)
    terms = [text for text in dict.fromkeys(texts) if text]
    return terms if len(terms) <= _MAX_LABELS else []


def _followed(address: str) -> str:
    """An address without white space; "" if it cannot be followed."""
    address = address.strip()
    is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE)
    return "" if is_other or not is_valid_url(address) else address


def _json_ld(page: LexborHTMLParser) -> dict[str, Any]:
    """What is said of the posting; a page may describe its site, its author and more beside it."""
    posting: dict[str, Any] = {}
    for script in page.css('script[type="application/ld+json"]'):
        try:
            data = orjson.loads(script.text())
        except orjson.JSONDecodeError:
            continue
        graph = data.get("@graph", data) if isinstance(data, dict) else data
        for thing in graph if isinstance(graph, list) else [graph]:
            is_thing = isinstance(thing, dict)
            if is_thing and ("headline" in thing or _POSTING.search(str(thing.get("@type")))):
                posting = posting or thing
    return posting


def _text_of(node: LexborNode | None) -> str:
    return one_line(node.text()) if node is not None else ""
