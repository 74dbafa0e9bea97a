"""An HTML page → a RawPost: the metadata of its head, and its main content."""

import html
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.dates import NoDate, moment
from indexer.html_text import check_depth, one_line
from indexer.records import Origin, RawPost
from indexer.sources.base import is_valid_url
from indexer.sources.html.main_content import (
    is_beside_content,
    link_share,
    main_content,
    own_lengths,
    remove_cards,
    remove_comments,
    text_length,
    top_articles,
)
from indexer.sources.identity import oid_of_page
from indexer.sources.markdown.site import LANGUAGES

_PUBLISHED = (
    *("article:published_time", "datePublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "dateModified", "dcterms.modified")
_DATES = (
    "time[pubdate], article time, main time, .dt-published, .published[datetime], .published[title]"
)
"""Elements with the date of a post, also those of microformats."""
_DATED_PATH = re.compile(r"/(\d{4})/(\d{1,2})/(\d{1,2})(?:/|$)")
_LISTS = frozenset(
    ("tag", "tags", "category", "categories", "author", "authors", "label", "labels", "archive")
) | {"archives", "series", "topics", "page"}
_TOOLS = frozenset(("404", "search", "sitemap", "offline"))
_INDEXES = frozenset(("genindex", "py-modindex"))
_NUMBERED = re.compile(r"(?:^|/)(?:page/?-?|index)\d+$")
_PAGE_OF_LIST = re.compile(r"(?:^|/)page/\d+$")
_PERIOD = re.compile(r"(?:^|/)(?:19|20)\d\d(?:/\d{1,2}){0,2}$")
_ENTRY = 150
"""Characters for each link; in the entries of an archive there are fewer."""
_SHORT_LIST = 1_000
"""Characters outside links; a list of one post with its summary has fewer."""
_SHORT = 300
"""The same for a page that no path says is a list, and for a page with a search box."""
_MAX_LABELS = 20
"""Links to pages of tags in one post; more of them are all tags of the site."""
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_HEAD = 10_000
_POSTINGS = ("article", "blogposting", "newsarticle", "techarticle", "report", "socialmediaposting")


class Page:
    """A parsed page. `post` may be called once: it modifies the page.

    Raises:
        TooDeep: when made of HTML that would take too long to parse.
    """

    def __init__(self, text: str) -> None:
        check_depth(text)
        self._page = LexborHTMLParser(text)
        self._is_whole = bool(_WHOLE.search(text[:_HEAD]))
        self._meta: dict[str, str] = {}
        self._labels: list[str] = []
        for node in self._page.css("meta[content]"):
            name = node.attributes.get("property") or node.attributes.get("name")
            name = (name or node.attributes.get("itemprop") or "").strip()
            content = (node.attributes.get("content") or "").strip()
            if name.lower() == "article:tag":
                self._labels.append(content)
            if name and content:
                self._meta.setdefault(name.lower(), content)
        self._data: dict[str, Any] = {}
        self._is_posting = False
        for each in _json_ld(self._page):
            self._is_posting = self._is_posting or _is_posting(each)
            self._data = {**each, **self._data}

    @property
    def canonical(self) -> str:
        """What the canonical link says; "" if it is not an address that can be followed."""
        link = self._page.css_first("link[rel=canonical][href]")
        return _followed((link.attributes.get("href") if link else "") or "")

    @property
    def url(self) -> str:
        """The page's own address, "" if it says none."""
        return self.canonical or _followed(self._meta.get("og:url", ""))

    @property
    def language(self) -> str:
        """The declared language; "" if there is none."""
        root = self._page.css_first("html[lang]")
        said = root.attributes.get("lang") if root else ""
        other = self._meta.get("content-language") or self._data.get("inLanguage")
        return said or (other if isinstance(other, str) else "")

    def why_not_post(self, path: str, *, is_paginated: bool = False) -> tuple[str, bool]:
        """Why the page is not a post ("" if it is one), and whether that is a guess.

        `path` is the page's oid; `is_paginated` says that there is a second page to it. A page
        that calls itself an article is a post unless it is certainly a list.
        """
        robots = ",".join(self._meta.get(each, "") for each in ("robots", "googlebot")).lower()
        if not self._is_whole:
            return "part of a page", True
        if "noindex" in robots or robots.strip(",") == "none":
            return "noindex", False
        if self._page.css_first("meta[http-equiv=refresh i]") is not None:
            return "redirect", False
        path = path.lower()
        parts = path.split("/")
        if is_paginated or _PAGE_OF_LIST.search(path):
            return "list page", True
        remove_comments(self._page)
        main = self._outer()
        own = own_lengths(main)
        is_article = self._is_article(parts)
        is_front = not set(parts[:-1]) - LANGUAGES  # below a folder it may be a page about search
        is_tool = parts[-1] in _TOOLS and (own.unlinked < _SHORT or (is_front and not is_article))
        if is_tool or parts[-1] in _INDEXES:
            return "error page, search or index", True
        is_short = own.unlinked < (_SHORT if _LISTS.isdisjoint(parts) else _SHORT_LIST)
        if self._has_feed(path) and is_short:
            return "list page", True
        is_marked = main is not None and main.tag != "body"  # else menus count, too
        if is_marked and parts[-1] in _LISTS and own.links >= 10 and own.text < _ENTRY * own.links:
            return "list page", True
        if is_article:
            return "", False
        return ("list page", True) if self._is_list(path, parts) else ("", False)

    def _is_article(self, parts: list[str]) -> bool:
        """Whether the page calls itself an article; some themes of Hugo say so of lists, too."""
        kind = self._meta.get("og:type", "").lower()
        if kind == "article":
            return True
        return self._is_posting and (kind != "website" or _LISTS.isdisjoint(parts))

    def _has_feed(self, path: str) -> bool:
        """Whether the page has a feed of its own: Hugo makes one for each list."""
        for link in self._page.css('link[rel~=alternate][type="application/rss+xml"][href]'):
            href = _followed(link.attributes.get("href") or "").lower()
            if href.endswith("index.xml"):
                listed = oid_of_page(href.removesuffix("index.xml"))
                if listed == path or listed.endswith(f"/{path}"):
                    return True
        return False

    def _is_list(self, path: str, parts: list[str]) -> bool:
        """Whether the page lists posts: by what it holds, and by its path if that is in doubt."""
        articles = top_articles(self._page.css("article"))
        lengths = sorted(map(text_length, articles))
        if len(articles) >= 3 and lengths[-1] < sum(lengths) / 2:
            return True
        main = self._outer()
        links = len(main.css("a")) if main else 0
        if main and links >= 10 and link_share(main) >= 0.6:
            return True
        if _NUMBERED.search(path):  # pagination, by the name that every generator gives it
            return True
        if _PERIOD.search(path) and _links_below(main, path):
            return True
        headings, elsewhere = _linked_headings(main, path)
        if elsewhere >= 3 and elsewhere > 0.7 * headings:
            return True
        if not _LISTS.isdisjoint(parts[:-1]) and elsewhere:
            return True
        if _LISTS.isdisjoint(parts):
            return False
        own = own_lengths(main)
        share = own.link_share if own.unlinked < _SHORT_LIST else link_share(main) if main else 0.0
        return share > 0.25 or len(articles) > 1

    def _outer(self) -> LexborNode | None:
        """The element that holds the content, as far as the page marks one."""
        found = map(self._page.css_first, ("main", "article", "[role=main]", "#content", "body"))
        return next((node for node in found if node is not None), None)

    def post(self, origin: Origin, oid: str, url: str, lastmod: str | None = None) -> RawPost:
        """The post; `lastmod` is its last change if the page names none."""
        remove_cards(self._page)
        published, modified = self._moment(_PUBLISHED), self._moment(_MODIFIED)
        published = published or self._time_element() or _date_in(self.url) or _date_in(url)
        heads = (self._meta.get("og:title"), self._data.get("headline"))
        section = self._meta.get("article:section") or _text(self._data.get("articleSection"))
        said = self._meta.get("keywords") or self._data.get("keywords") or ""
        keywords = self._labels or _terms(said)
        keywords = keywords or self._links_to("tag", "tags")
        categories = [section] if section else self._links_to("category", "categories")
        site = self._meta.get("og:site_name", "")
        head = self._page.css_first("head > title")
        name = _without_site(one_line(head.text()) if head else "", site)
        above = self._heading_in(name)
        main = main_content(self._page)
        title = next((text for each in heads if (text := _text(each))), "")
        heading = _heading(main, "h1")
        title = title or (heading if heading and heading in name else above)
        title = title or heading or name or _heading(main, "h2") or _named(oid)
        if heading and title.startswith(tuple(heading + each for each in _SEPARATORS)):
            title = heading  # what follows is the name of the site
        return RawPost(
            origin=origin,
            oid=oid,
            title=html.unescape(_without_site(title, site)),  # some themes escape twice
            text=_without_heading(main, title),
            url=url,
            pub_date=published,
            modified=modified or _first_moment([lastmod]),
            categories=categories,
            keywords=keywords,
            language=self.language,
        )

    def _heading_in(self, name: str) -> str:
        """The heading with which `<title>` begins; a theme may put it outside the content."""
        for node in self._page.css("h1"):
            text = one_line(node.text())
            is_begin = name == text or name.startswith(tuple(text + each for each in _SEPARATORS))
            if text and is_begin and node.css_first("a") is None:
                return text
        return ""

    def _moment(self, names: tuple[str, ...]) -> datetime | None:
        """The first value that is a date; others are common, because templates are often wrong."""
        values = [self._meta.get(name.lower()) for name in names]
        return _first_moment([*values, *(self._data.get(name) for name in names)])

    def _time_element(self) -> datetime | None:
        """The first date that is not in a menu or a list beside the content."""
        found: list[str | None] = []
        for node in self._page.css(_DATES):
            if not is_beside_content(node):
                said = node.attributes
                found += [said.get("datetime"), said.get("title"), one_line(node.text())]
        return _first_moment(found)

    def _links_to(self, *folders: str) -> list[str]:
        """The texts of links in the content to pages such as `/tags/…`; or of marked labels."""
        main = self._outer()
        if main is None or main.tag == "body":
            return []
        links = [
            one_line(node.text()).lstrip("#").strip()
            for node in main.css("a[href]")
            if _folder_of(node.attributes.get("href") or "", self.url) in folders
        ]
        if "tags" in folders and not links:
            links = [one_line(node.text()) for node in main.css(".p-category, .md-tag")]
        found = [each for each in dict.fromkeys(links) if each]
        return found if len(found) <= _MAX_LABELS else []


def _links_below(main: LexborNode | None, path: str) -> bool:
    """Whether there is a link to a page below the path."""
    hrefs = [node.attributes.get("href") or "" for node in main.css("a[href]")] if main else []
    return any(
        re.search(rf"/{re.escape(path)}/.", urljoin(f"/{path}/", href).lower())
        for href in hrefs
        if is_valid_url(href)
    )


def _followed(address: str) -> str:
    """An address without white space; "" if it cannot be followed."""
    address = address.strip()
    is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE)
    return "" if is_other or not is_valid_url(address) else address


def _folder_of(href: str, own: str) -> str:
    """The folder that the page of a link is in; "" if it is on another host than `own`."""
    if not is_valid_url(href):
        return ""
    hosts = {host for each in (href, own) if (host := urlsplit(each).netloc.lower())}
    parts = [part for part in urlsplit(href).path.lower().split("/") if part != "index.html"]
    parts = [part for part in parts if part]
    return parts[-2] if len(parts) > 1 and len(hosts) < 2 else ""


def _date_in(address: str) -> datetime | None:
    """The date in an address such as `/2024/01/31/a-post/`."""
    found = _DATED_PATH.search(urlsplit(address).path)
    return _first_moment([f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}"]) if found else None


def _linked_headings(main: LexborNode | None, path: str) -> tuple[int, int]:
    """How many headings there are, and how many of them are links to other pages."""
    headings = main.css("h1, h2, h3") if main else []
    elsewhere = 0
    for heading in headings:
        link = heading.css_first("a[href]")
        if link is None or text_length(link) < 0.9 * text_length(heading):
            continue
        href = link.attributes.get("href") or ""
        target = oid_of_page(href).strip("./") if is_valid_url(href) else ""
        is_own = target in ("", "index", path) or path.endswith(f"/{target}") or href[0] == "#"
        elsewhere += not is_own
    return len(headings), elsewhere


def _first_moment(values: list[Any]) -> datetime | None:
    for value in values:
        try:
            if isinstance(value, str) and (found := moment(value)):
                return found
        except NoDate:
            continue
    return None


def _json_ld(page: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Descriptions of the posting; a page may describe its site, its author and more beside it."""
    for script in page.css('script[type="application/ld+json"]'):
        try:
            data = orjson.loads(script.text())
        except orjson.JSONDecodeError:
            continue
        graph = data.get("@graph") if isinstance(data, dict) else data
        for each in graph if isinstance(graph, list) else [data]:
            if isinstance(each, dict) and ("headline" in each or _is_posting(each)):
                yield each


def _is_posting(data: dict[str, Any]) -> bool:
    types = data.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.lower() in _POSTINGS for name in names)


def _heading(main: LexborNode | None, level: str) -> str:
    heading = main.css_first(level) if main else None
    return one_line(heading.text()) if heading else ""


def _without_heading(main: LexborNode | None, title: str) -> str:
    """The content without the heading that is its title, which would count twice."""
    if main is None:
        return ""
    heading = main.css_first("h1")
    if heading is not None and one_line(heading.text()) == title:
        heading.remove()
    return main.html or ""


_SEPARATORS = (" | ", " - ", " – ", " — ", " · ", " :: ")


def _without_site(title: str, site: str) -> str:
    for separator in _SEPARATORS:
        if site and title.endswith(separator + site):
            return title.removesuffix(separator + site)
    return title


def _named(oid: str) -> str:
    """A title from the last part of the path."""
    words = re.sub(r"[-_\s]+", " ", oid.rpartition("/")[2]).strip()
    return words[:1].upper() + words[1:]


def _terms(said: Any) -> list[str]:
    """Keywords: a string with commas, or a term or a list of them, each a string or a named object.

    schema.org/keywords also allows a DefinedTerm. Anything else is no term.
    """
    listed = said.split(",") if isinstance(said, str) else said
    terms = [
        each.get("name") if isinstance(each, dict) else each
        for each in (listed if isinstance(listed, list) else [listed])
    ]
    return [each for each in terms if isinstance(each, str) and each.strip()]


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""
