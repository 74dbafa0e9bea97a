"""An HTML page → a RawPost: the metadata of its head, and its content."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.dates import moments
from indexer.html_text import TooMuchMarkup, check_markup, clean, one_line, text_of
from indexer.records import Origin, RawPost, Reject, Skipped, SourceItem
from indexer.sources.base import SourceOptions, bare_host, image_of, is_valid_url
from indexer.sources.html.content import (
    Content,
    body_of,
    own_lengths,
    remove_comments,
    top_articles,
)
from indexer.sources.html.lists import PAGE_OF_LIST, is_list
from indexer.sources.identity import day_in_path, labels, oid_of_page, title_of_name

_PUBLISHED = (
    *("article:published_time", "datePublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "dateModified", "dcterms.modified")
_TOOLS = re.compile(r"404|5\d\d|_?not[-_]?found|error|offline|search|sitemap")
"""Names of pages that a server shows in place of others, and of searches."""
_NOT_FOUND = re.compile(r"\W*(?:error\W*)?404\b.*|.*\bnot found\W*(?:\(?404\)?)?", re.IGNORECASE)
_INDEXES = frozenset(("genindex", "py-modindex"))
_LANGUAGE_OR_VERSION = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4})?|v?\d[\w.]*")
_SHORT = 300
"""Characters outside links; a page with a search box, or that says what is missing, has fewer."""
_EMPTY = 60
"""Characters; a page that a browser renders has fewer before it does."""
_RENDERED = "#root:empty, #app:empty, #__next:empty, #___gatsby:empty, app-root:empty"
_MAX_LABELS = 20
"""Links to pages of tags in one post; more of them are all tags of the site."""
_FILE = re.compile(r"\.(?!html?$|php$)[a-z]\w{1,4}$", re.IGNORECASE)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_POSTINGS = ("article", "blogposting", "newsarticle", "techarticle", "report", "socialmediaposting")

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
    paginated: frozenset[str] = frozenset()  # go on with a second page
    fed: frozenset[str] = frozenset()  # have a feed of their own
    unlisted: frozenset[str] = frozenset()  # are not in a complete sitemap
    copies: frozenset[str] = frozenset()  # another page is named by their link or path
    shared_titles: frozenset[str] = frozenset()  # of several pages, and those of the site
    shared_images: frozenset[str] = frozenset()  # of several pages
    names: frozenset[str] = frozenset()  # of the site and its parts, as titles have them
    repeated: Mapping[str, float] = field(default_factory=dict)  # texts: the share that has them
    build_days: frozenset[date] = frozenset()  # which most pages show: the site was built then

    def oid_of(self, url: str) -> str:
        """The page that an absolute URL or a path leads to; "" for one of another site."""
        if not is_valid_url(url):
            return ""
        parts, own = urlsplit(url), urlsplit(self.address)
        if parts.scheme not in ("", "http", "https"):
            return ""
        if parts.netloc and bare_host(parts.netloc) != bare_host(own.netloc):
            return ""
        base = own.path.rstrip("/")
        path = parts.path
        if base and (path == base or path.startswith(f"{base}/")):
            path = path[len(base) :]
        return oid_of_page(path)

    def bare_title(self, title: str, name: str = "") -> str:
        """A title without the name of the site before or behind it; `name` as a page states it."""
        for mark in SEPARATORS:
            while mark in title:
                first, last = title.partition(mark)[0], title.rpartition(mark)[2]
                if last in self.shared_titles | self.names | {name}:
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
    base: str = "",
    lastmod: str = "",
) -> SourceItem:
    """The post on a page, or why there is none.

    Where the page states no URL, it is `base`, else the location: its URL or its path on the site;
    where it states no last change, it is `lastmod`.
    """
    try:
        page = Page(text, location, site)
    except TooMuchMarkup as error:
        return Reject(origin, oid, str(error), "Correct the page, or leave it out (exclude).")
    reason, is_guess = page.why_not_post(oid)
    if reason:
        return Skipped(origin, oid if is_guess else None, reason)
    listed = site.addresses.get(oid) if site else None
    url = listed or urljoin(base or location, page.url)
    return page.post(origin, oid, url, lastmod, options)


class Page:
    """A parsed page, or TooMuchMarkup. `post` may be called once: it modifies the page."""

    def __init__(self, text: str, location: str = "", site: BuiltSite | None = None) -> None:
        check_markup(text)
        self._location = location
        self.parsed = LexborHTMLParser(clean(text))
        self._body = self._main = body_of(self.parsed)
        self._is_whole = bool(_WHOLE.search(text[:10_000]))
        self._meta: dict[str, str] = {}
        self._tags: list[str] = []
        for node in self.parsed.css("meta[content]"):
            given = node.attributes
            name = given.get("property") or given.get("name") or given.get("itemprop") or ""
            name, content = name.strip().lower(), (given.get("content") or "").strip()
            if name == "article:tag":
                self._tags += content.split(",")
            if name and content:
                self._meta.setdefault(name, content)
        self._data = _json_ld(self.parsed)
        self._said = 0
        self.canonical = self._link("link[rel=canonical][href]")
        self.url = self.canonical or _followed(self._meta.get("og:url", ""))
        self._site = site or BuiltSite()
        home = urlsplit(self.url or location)
        if home.netloc and not self._site.address:
            self._site = replace(self._site, address=f"{home.scheme}://{home.netloc}")
        self.og_title = one_line(self._meta.get("og:title", ""))
        self.name = _text_of(self.parsed.css_first("head > title"))
        self.stated_image = self._meta.get("og:image") or self._meta.get("twitter:image") or ""

    def _link(self, selector: str) -> str:
        link = self.parsed.css_first(selector)
        return _followed((link.attributes.get("href") if link else "") or "")

    @property
    def language(self) -> str:
        """The declared language; "" if there is none."""
        root = self.parsed.css_first("html[lang]")
        declared = root.attributes.get("lang") if root else ""
        return declared or self._meta.get("content-language") or _text(self._data.get("inLanguage"))

    # -- whether it is a post --------------------------------------------------------------------

    def why_hidden(self) -> str:
        """Why the page says that it is not for readers; "" if it does not."""
        robots = ",".join(self._meta.get(name, "") for name in ("robots", "googlebot")).lower()
        if {"noindex", "none"} & set(re.split(r"[\s,]+", robots)):
            return "noindex"
        for node in self.parsed.css("[data-pagefind-ignore], [data-search-exclude]"):
            if node.tag in ("html", "body", "main"):
                return "asks to be left out of the search"
        is_redirect = self.parsed.css_first("meta[http-equiv=refresh i]") is not None
        return "redirect" if is_redirect else ""

    def why_not_post(self, oid: str) -> tuple[str, bool]:
        """Why the page is not a post ("" if it is one), and whether that is a guess."""
        if not self._is_whole:
            return "part of a page", True
        if reason := self.why_hidden():
            return reason, False
        if PAGE_OF_LIST.search(oid.lower()) or oid in self._site.paginated:
            return "list page", True
        self._said += remove_comments(self._body)
        is_several = len(top_articles(self.parsed.css("article"))) > 1
        is_several = is_several or self.parsed.css_first("aside article") is not None
        marked = ("main", "[role=main]", *(() if is_several else ("article", "#content")))
        self._main = next(filter(None, map(self.parsed.css_first, marked)), self._body)
        own = own_lengths(self._main)
        is_rendered = own.text < _EMPTY and self.parsed.css_first(_RENDERED) is not None
        is_empty = not own.text and self.parsed.css_first("body img, iframe") is None
        if is_rendered or (is_empty and self.parsed.css_first("body script") is not None):
            return "rendered by a browser: the file has no text", True
        is_article = self._meta.get("og:type", "").lower() == "article" or bool(self._data)
        is_article = is_article or oid in self._site.entries
        if self._is_tool(oid, own.unlinked, is_article=is_article):
            return "error page, search or index", True
        kind = {"is_article": is_article, "is_fed": oid in self._site.fed}
        if is_list(oid, self._main, own, self._page_of, **kind):
            return "list page", True
        return ("not in the sitemap", False) if oid in self._site.unlisted else ("", False)

    def _is_tool(self, oid: str, length: int, *, is_article: bool) -> bool:
        """Whether the page is a search, an index, or what a server shows in place of another.

        Below a folder that is no language it may be a page about such things.
        """
        *folders, name = oid.lower().split("/")
        is_short = length < _SHORT
        is_named = all(map(_LANGUAGE_OR_VERSION.fullmatch, folders)) and _TOOLS.fullmatch(name)
        if name in _INDEXES or (is_named and (is_short or not is_article)):
            return True
        titles = (self._bare(self.name), _text_of(self.parsed.css_first("h1")))
        is_called = not is_article and any(map(_NOT_FOUND.fullmatch, titles))
        return is_short and (is_called or name == "search")

    def _page_of(self, href: str, *, is_certain: bool) -> str:
        """The page of the site that a link leads to; "" if it leads to none.

        If that is to be certain, it must be one of those that are read, where they are known.
        """
        if href.startswith("#") or not _followed(href):
            return ""
        url = urljoin(self._location, href)
        oid = self._site.oid_of(url)
        if oid in self._site.pages or (is_certain and self._site.pages):
            return oid if oid in self._site.pages else ""
        return oid if not _FILE.search(oid) else ""

    # -- the post --------------------------------------------------------------------------------

    def post(
        self, origin: Origin, oid: str, url: str, lastmod: str, options: SourceOptions
    ) -> RawPost:
        """The post; `lastmod` is its last change if the page names none."""
        content = Content(self.parsed, self._site.repeated, options.selectors())
        section = self._meta.get("article:section") or _text(self._data.get("articleSection"))
        if section.lower() == oid.partition("/")[0].lower():
            section = ""  # Hugo names the folder of a page so
        tags = self._links_to(("tag", "tags"))
        categories = self._links_to(("category", "categories"))
        stated = labels(self._meta.get("keywords") or self._data.get("keywords"))
        is_marked = self._main.tag != "body"
        keywords = self._tags or stated or (_texts_of(tags) if is_marked else [])
        named = [section] if section else _texts_of(categories) if is_marked else []
        content.find(options.content)
        title = self._title(content, oid)
        content.tidy(title, [*tags, *categories])
        built = self._site.build_days
        shown = [when for when in moments(content.dates) if when.date() not in built]
        days = [day_in_path(urlsplit(address).path) for address in (self.url, url)]
        others = moments([*days, self._site.entries.get(oid)])
        published = [*self._stated(_PUBLISHED), *shown, *others]
        modified = [*self._stated(_MODIFIED), *moments([*content.updated, lastmod])]
        return RawPost(
            origin=origin,
            oid=oid,
            title=html.unescape(title),  # some themes escape twice
            text=text_of(content.root),
            url=url,
            pub_date=next(iter(published), None),
            modified=next(iter(modified), None),
            categories=named,
            keywords=keywords,
            language=self.language,
            image=self._image(url),
            left_out=content.left_out + Counter(comments=self._said),
        )

    def _image(self, url: str) -> str | None:
        """The image that the page states, unless many pages have it: then it is the site's."""
        stated = self.stated_image
        if not stated or stated in self._site.shared_images or not is_valid_url(stated):
            return None
        return image_of(urljoin(url, stated))

    def _title(self, content: Content, oid: str) -> str:
        """The heading that the content begins with, else what the head states, else the `<title>`,
        else another heading; not what many pages have, or the name of the site."""
        headings = self._own_titles([content.heading, *map(_text_of, self.parsed.css("h1"))])
        stated = [self.og_title, _text(self._data.get("headline")), self.name]
        title = next(iter(self._own_titles(stated)), "")
        for text in headings:
            is_own = text == content.heading and not text.startswith(f"{title} ")
            if is_own or title == text or title.startswith(tuple(text + m for m in SEPARATORS)):
                return text  # and the name of the site
        fallback = self._bare(next(filter(None, stated), ""))
        return title or next(iter(headings), fallback) or title_of_name(oid.rpartition("/")[2])

    def _own_titles(self, titles: list[str]) -> list[str]:
        """Those that few pages have, without the name of the site."""
        shared = self._site.shared_titles | {self._meta.get("og:site_name", ""), ""}
        pairs = [(title, self._bare(title)) for title in titles]
        return [bare for title, bare in pairs if shared.isdisjoint((title, bare))]

    def _bare(self, title: str) -> str:
        """A title without the name of the site."""
        return self._site.bare_title(title, self._meta.get("og:site_name", ""))

    def _stated(self, names: tuple[str, ...]) -> Iterator[datetime]:
        """The dates that the head states; templates are often wrong."""
        yield from moments(self._meta.get(name.lower()) for name in names)
        yield from moments(self._data.get(name) for name in names)

    def _links_to(self, folders: tuple[str, ...]) -> list[LexborNode]:
        """The links in the content to pages in such folders, as those of tags are."""
        links = []
        for node in self._main.css("a[href]"):
            url = urljoin(self._location, _followed(node.attributes.get("href") or ""))
            parts = urlsplit(url).path.lower().removesuffix("index.html").strip("/").split("/")
            if len(parts) > 1 and parts[-2] in folders and self._site.oid_of(url):
                links.append(node)
        return links


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
    for script in page.css('script[type="application/ld+json"]'):
        try:
            data = orjson.loads(script.text())
        except orjson.JSONDecodeError:
            continue
        graph = data.get("@graph", data) if isinstance(data, dict) else data
        for thing in graph if isinstance(graph, list) else [graph]:
            if not isinstance(thing, dict):
                continue
            types = thing.get("@type")
            names = types if isinstance(types, list) else [types]
            if "headline" in thing or any(str(name).lower() in _POSTINGS for name in names):
                return thing
    return {}


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _text_of(node: LexborNode | None) -> str:
    return one_line(node.text()) if node is not None else ""
