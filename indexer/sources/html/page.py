"""One HTML page → a post: what its head says of it, and its main content."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.dates import NoDate, moment
from indexer.html_text import check_depth, one_line
from indexer.records import Origin, RawPost
from indexer.sources.html.main_content import link_density, main_content

_PUBLISHED = (
    *("article:published_time", "datePublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "dateModified", "dcterms.modified")
_LISTS = frozenset(
    ("tag", "tags", "category", "categories", "author", "authors", "label", "labels")
)
_NO_POSTS = frozenset(
    ("404", "search", "genindex", "py-modindex", "archive", "archives", "sitemap", "offline")
)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_HEAD = 10_000
_NUMBERED = re.compile(r"(?:^|/)page/?-?\d+$")


class Page:
    """A parsed page. `post` may be asked for once: it takes the page apart.

    Raises:
        TooDeep: when made of HTML that would take too long to parse.
    """

    def __init__(self, html: str) -> None:
        check_depth(html)
        self._page = LexborHTMLParser(html)
        self._is_whole = bool(_WHOLE.search(html[:_HEAD]))
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
        self._data = {key: value for each in _json_ld(self._page) for key, value in each.items()}

    @property
    def url(self) -> str:
        """The address the page gives itself; empty when it gives none that can be followed."""
        link = self._page.css_first("link[rel=canonical][href]")
        said = (link.attributes.get("href") if link else "") or self._meta.get("og:url", "")
        is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", said.strip(), re.IGNORECASE)
        return "" if is_other else said.strip()

    def is_post(self, path: str) -> bool:
        """False for lists of posts, redirects, parts of pages, and pages that ask not to be found.

        `path` is the page's oid. A page that calls itself an article is one wherever it is.
        """
        robots = self._meta.get("robots", "").lower()
        if not self._is_whole:
            return False
        if "noindex" in robots or robots == "none":
            return False
        if self._page.css_first("meta[http-equiv=refresh i]") is not None:
            return False
        if self._meta.get("og:type", "").lower() == "article":
            return True
        parts = path.lower().split("/")
        if parts[-1] in _NO_POSTS | _LISTS or _NUMBERED.search(path.lower()):
            return False
        if not _LISTS.isdisjoint(parts[:-1]) or len(self._page.css("article")) >= 3:
            return False
        main = self._page.css_first("main, article, [role=main], body")
        links = len(main.css("a")) if main else 0
        return main is None or links < 10 or link_density(main) < 0.6

    def post(self, origin: Origin, oid: str, url: str, lastmod: str | None = None) -> RawPost:
        """The post; `lastmod` counts as its last change where the page itself says nothing."""
        published, modified = self._moment(_PUBLISHED), self._moment(_MODIFIED)
        published = published or self._time_element()
        heads = (self._meta.get("og:title"), self._data.get("headline"))
        section = self._meta.get("article:section")
        keywords = self._labels or self._meta.get("keywords", "").split(",")
        site = self._meta.get("og:site_name", "")
        head = self._page.css_first("head > title")
        name = _without_site(one_line(head.text()) if head else "", site)
        main = main_content(self._page)
        title = next((text for each in heads if (text := _text(each))), "")
        title = title or _heading(main) or name or _named(oid)
        return RawPost(
            origin=origin,
            oid=oid,
            title=_without_site(title, site),
            text=_without_heading(main, title),
            url=url,
            pub_date=published,
            modified=modified or _first_moment([lastmod]),
            categories=[section] if section else [],
            keywords=keywords,
        )

    def _moment(self, names: tuple[str, ...]) -> datetime | None:
        """The first that is a date: a page's head is often filled by a broken template."""
        values = [self._meta.get(name.lower()) for name in names]
        return _first_moment([*values, *(self._data.get(name) for name in names)])

    def _time_element(self) -> datetime | None:
        found = self._page.css("time[pubdate], article time[datetime], main time[datetime]")
        return _first_moment([node.attributes.get("datetime") for node in found[:1]])


def _first_moment(values: list[Any]) -> datetime | None:
    for value in values:
        try:
            if isinstance(value, str) and (found := moment(value)):
                return found
        except NoDate:
            continue
    return None


def _json_ld(page: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Descriptions of a posting; one page may describe its site, its author and more beside."""
    for script in page.css('script[type="application/ld+json"]'):
        try:
            data = orjson.loads(script.text())
        except orjson.JSONDecodeError:
            continue
        graph = data.get("@graph") if isinstance(data, dict) else data
        for each in graph if isinstance(graph, list) else [data]:
            if isinstance(each, dict) and "headline" in each:
                yield each


def _heading(main: LexborNode | None) -> str:
    heading = main.css_first("h1") if main else None
    return one_line(heading.text()) if heading else ""


def _without_heading(main: LexborNode | None, title: str) -> str:
    """The content without the heading that is its title, which would count twice."""
    if main is None:
        return ""
    heading = main.css_first("h1")
    if heading is not None and one_line(heading.text()) == title:
        heading.remove()
    return main.html or ""


def _without_site(title: str, site: str) -> str:
    for separator in (" | ", " - ", " – ", " — ", " · ", " :: "):
        if site and title.endswith(separator + site):
            return title.removesuffix(separator + site)
    return title


def _named(oid: str) -> str:
    """A title out of the last part of the path."""
    words = re.sub(r"[-_\s]+", " ", oid.rpartition("/")[2]).strip()
    return words[:1].upper() + words[1:]


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""
