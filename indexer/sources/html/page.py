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
from indexer.sources.base import SourceOptions, is_valid_url
from indexer.sources.html.built_site import SEPARATORS, BuiltSite
from indexer.sources.html.lists import PAGE_OF_LIST, is_list
from indexer.sources.html.main_content import (
    is_beside_content,
    main_content,
    own_lengths,
    remove_cards,
    remove_comments,
    text_length,
    top_articles,
)
from indexer.sources.markdown.site import LANGUAGES

_PUBLISHED = (
    *("article:published_time", "datePublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "dateModified", "dcterms.modified")
_DATES = (
    "time[pubdate], article time, main time, .dt-published, .published[datetime], "
    ".published[title], #published, .post-date, .entry-date, .ablog__postcard h2, time"
)
"""Elements with the date of a post, also those of microformats."""
_DATED_PATH = re.compile(r"/(\d{4})/(\d{1,2})/(\d{1,2})(?:/|$)")
_TOOLS = frozenset(("404", "search", "sitemap", "offline", "drafts"))
_INDEXES = frozenset(("genindex", "py-modindex"))
_SHORT = 300
"""Characters outside links; a page with a search box has fewer."""
_EMPTY = 60
"""Characters; a page that a browser renders has fewer before it does."""
_RENDERED = "#root:empty, #app:empty, #__next:empty, #___gatsby:empty, app-root:empty"
_LABELS = (
    "a[rel~=tag], .p-category, .md-tag, .post-tag, [id~=tags] a, article .tags a, main .tags a"
)
"""Elements with the tags of a post where no link in the content leads to the page of a tag."""
_LABEL_FOLDERS = frozenset(("tag", "tags", "category", "categories"))
_READING_TIME = re.compile(r"\b(?:\d+|one)[\s-]min(?:ute)?s?\b.{0,3}\bread", re.IGNORECASE)
_MAX_META = 80
"""Characters of a line about a post that has its reading time."""
_MAX_LABELS = 20
"""Links to pages of tags in one post; more of them are all tags of the site."""
_FILE = re.compile(r"\.(?!html?$|php$)[a-z]\w{1,4}$", re.IGNORECASE)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_HEAD = 10_000
_POSTINGS = ("article", "blogposting", "newsarticle", "techarticle", "report", "socialmediaposting")


class Page:
    """A parsed page. `post` may be called once: it modifies the page.

    Args:
        location: the URL of the page, or its path on the site, which relative links begin at.
        site: what is known of the other pages of the site.

    Raises:
        TooDeep: the HTML would take too long to parse.
    """

    def __init__(self, text: str, location: str = "", site: BuiltSite | None = None) -> None:
        check_depth(text)
        self._location = location
        self._site = site or BuiltSite()
        self._page = LexborHTMLParser(text)
        self._is_whole = bool(_WHOLE.search(text[:_HEAD]))
        self._meta: dict[str, str] = {}
        self._labels: list[str] = []
        for node in self._page.css("meta[content]"):
            name = node.attributes.get("property") or node.attributes.get("name")
            name = (name or node.attributes.get("itemprop") or "").strip().lower()
            content = (node.attributes.get("content") or "").strip()
            if name == "article:tag":
                self._labels += content.split(",")
            if name and content:
                self._meta.setdefault(name, content)
        self._data: dict[str, Any] = {}
        self._is_posting = False
        for description in _json_ld(self._page):
            self._is_posting = self._is_posting or _is_posting(description)
            self._data = {**description, **self._data}

    @property
    def canonical(self) -> str:
        """What the canonical link says; "" if it is not an address that can be followed."""
        link = self._page.css_first("link[rel=canonical][href], a.p-canonical[href]")
        return _followed((link.attributes.get("href") if link else "") or "")

    @property
    def url(self) -> str:
        """The page's own address, "" if it says none."""
        return self.canonical or _followed(self._meta.get("og:url", ""))

    @property
    def language(self) -> str:
        """The declared language; "" if there is none."""
        root = self._page.css_first("html[lang]")
        declared = root.attributes.get("lang") if root else ""
        other = self._meta.get("content-language") or self._data.get("inLanguage")
        return declared or (other if isinstance(other, str) else "")

    def why_not_post(self, oid: str) -> tuple[str, bool]:
        """Why the page is not a post ("" if it is one), and whether that is a guess."""
        robots = ",".join(self._meta.get(name, "") for name in ("robots", "googlebot")).lower()
        if not self._is_whole:
            return "part of a page", True
        if "noindex" in robots or robots.strip(",") == "none":
            return "noindex", False
        if self._page.css_first("meta[http-equiv=refresh i]") is not None:
            return "redirect", False
        if oid in self._site.copies:
            return "copy or another version of a page", True
        path = oid.lower()
        parts = path.split("/")
        if PAGE_OF_LIST.search(path) or oid in self._site.paginated:
            return "list page", True
        remove_comments(self._page)
        main = self._outer()
        own = own_lengths(main)
        if own.text < _EMPTY and self._page.css_first(_RENDERED) is not None:
            return "rendered by a browser: the file has no text", True
        kind = self._meta.get("og:type", "").lower()
        is_dated = kind == "article" and "article:published_time" in self._meta
        is_posting = is_dated or (self._is_posting and kind != "website")
        is_posting = is_posting or oid in self._site.entries
        is_article = kind == "article" or self._is_posting or is_posting
        is_front = not set(parts[:-1]) - LANGUAGES  # below a folder it may be a page about search
        is_tool = parts[-1] in _TOOLS and (own.unlinked < _SHORT or (is_front and not is_article))
        if is_tool or parts[-1] in _INDEXES:
            return "error page, search or index", True
        if main is not None and is_list(
            oid,
            main,
            lambda href: self._other_page(href, oid),
            is_article=is_article,
            is_posting=is_posting,
            is_fed=oid in self._site.fed or self._has_feed(oid),
        ):
            return "list page", True
        return ("not in the sitemap", False) if oid in self._site.unlisted else ("", False)

    def _other_page(self, href: str, oid: str) -> str:
        """The other page of the site that a link leads to; "" if it leads to none."""
        if href.startswith("#") or not _followed(href):
            return ""
        url = urljoin(self._location, href)
        other = self._site.oid_of(url)
        is_near = _is_near(
            url, self._site.address or self.url or self._location
        ) and not _FILE.search(other)
        return other if other != oid and (is_near or other in self._site.pages) else ""

    def _has_feed(self, oid: str) -> bool:
        """Whether the page has a feed of its own: Hugo makes one for each list."""
        for link in self._page.css('link[rel~=alternate][type="application/rss+xml"][href]'):
            href = _followed(link.attributes.get("href") or "")
            listed = self._site.oid_of(href.removesuffix("index.xml"))
            if href.endswith("index.xml") and (listed == oid or listed.endswith(f"/{oid}")):
                return True
        return False

    def _outer(self) -> LexborNode | None:
        """The element that holds the content, as far as the page marks one."""
        articles = top_articles(self._page.css("article"))
        selectors = ["main", "article", "[role=main]", "#content", "body"]
        if len(articles) > 1 or self._page.css_first("aside article") is not None:
            selectors = ["main", "[role=main]", "body"]
        nodes = map(self._page.css_first, selectors)
        return next((node for node in nodes if node is not None), None)

    def post(
        self,
        origin: Origin,
        oid: str,
        url: str,
        lastmod: str | None = None,
        *,
        options: SourceOptions,
    ) -> RawPost:
        """The post; `lastmod` is its last change if the page names none."""
        for selector in options.selectors():
            for node in self._page.css(selector):
                if node.parent is not None:
                    node.remove()
        remove_cards(self._page)
        published, modified = self._moment(_PUBLISHED), self._moment(_MODIFIED)
        published = published or self._time_element() or _date_in(self.url) or _date_in(url)
        section = self._meta.get("article:section") or _text(self._data.get("articleSection"))
        if section.lower() == oid.partition("/")[0].lower():
            section = ""  # Hugo names the folder of a page so
        categories = [section] if section else self._links_to("category", "categories")
        keywords = self._labels or self._keywords() or self._links_to("tag", "tags")
        keywords = keywords or self._marked_labels()
        self._remove_metadata()
        head = self._page.css_first("head > title")
        name = one_line(head.text()) if head else ""
        main = main_content(self._page, options.content)
        title = html.unescape(self._title(name, main, oid))  # some themes escape twice
        return RawPost(
            origin=origin,
            oid=oid,
            title=title,
            text=_without_heading(main, title),
            url=url,
            pub_date=published,
            modified=modified or _first_moment([lastmod]),
            categories=categories,
            keywords=keywords,
            language=self.language,
        )

    def _title(self, name: str, main: LexborNode | None, oid: str) -> str:
        """The title that the head states, else the `<title>` (`name`) or the heading.

        What many pages have, or is the name of the site, is not the title of a page.
        """
        heading = _heading(main, "h1")
        stated = [_text(self._meta.get("og:title")), _text(self._data.get("headline"))]
        for text in stated:
            if text and not self._is_shared(text):
                title = self._bare(text)
                return heading if heading and _begins(title, heading) else title
        title = "" if self._is_shared(name) else self._bare(name)
        if heading and (_begins(title, heading) or title.endswith(heading)):
            return heading
        if title and (above := self._heading_in(title)):
            return above  # a theme may put it outside the content
        if title and title != name:
            return title
        if self._is_shared(heading):
            heading = ""
        return heading or title or next(filter(None, stated), name) or _named(oid)

    def _is_shared(self, title: str) -> bool:
        shared = self._site.shared_titles
        return (
            title in shared
            or title == self._meta.get("og:site_name")
            or self._bare(title) in shared
        )

    def _bare(self, title: str) -> str:
        """A title without the name of the site."""
        site = self._meta.get("og:site_name", "")
        for mark in SEPARATORS:
            if site and title.endswith(mark + site):
                return title.removesuffix(mark + site)
        return self._site.bare_title(title)

    def _heading_in(self, name: str) -> str:
        """The heading with which `<title>` begins."""
        for node in self._page.css("h1"):
            text = one_line(node.text())
            if text and _begins(name, text) and node.css_first("a") is None:
                return text
        return ""

    def _moment(self, names: tuple[str, ...]) -> datetime | None:
        """The first value that is a date; others are common, because templates are often wrong."""
        values = [self._meta.get(name.lower()) for name in names]
        return _first_moment([*values, *(self._data.get(name) for name in names)])

    def _time_element(self) -> datetime | None:
        """The first date that is not in a menu or a list beside the content."""
        values: list[str | None] = []
        for node in self._page.css(_DATES):
            if not is_beside_content(node):
                attributes = node.attributes
                values += [attributes.get("datetime"), attributes.get("title")]
                values.append(one_line(node.text()))
        return _first_moment(values)

    def _keywords(self) -> list[str]:
        """The keywords of the head, unless most pages have the same."""
        said = self._meta.get("keywords") or self._data.get("keywords") or ""
        return _terms(said)

    def _links_to(self, *folders: str) -> list[str]:
        """The texts of links in the content to pages of the site such as `/tags/…`."""
        main = self._outer()
        if main is None or main.tag == "body":
            return []
        nodes = main.css("a[href]")
        return _labels([node for node in nodes if self._folder_of(node) in folders])

    def _marked_labels(self) -> list[str]:
        nodes = [node for node in self._page.css(_LABELS) if node.css_first("a a, li") is None]
        return _labels(nodes)

    def _remove_metadata(self) -> None:
        """Remove the date, the labels and the reading time from around the text."""
        for node in self._page.css("time, a[href], div, span, p, li"):
            parent = node.parent
            if parent is None or (parent.tag == "p" and node.tag != "p"):
                continue  # removed with another, or a part of a sentence
            if node.tag == "a":
                is_metadata = self._folder_of(node) in _LABEL_FOLDERS
            elif node.tag == "time":
                is_metadata = True
            else:
                text = node.text(deep=False)  # all text of each would take quadratic time
                is_metadata = len(text) < _MAX_META and bool(_READING_TIME.search(text))
                is_metadata = is_metadata and text_length(node) < _MAX_META
            if is_metadata:
                node.remove()

    def _folder_of(self, link: LexborNode) -> str:
        """The folder that the page of a link is in; "" if it is on another site."""
        url = urljoin(self._location, _followed(link.attributes.get("href") or ""))
        if not is_valid_url(url) or not _is_near(url, self._site.address or self.url):
            return ""
        parts = [part for part in urlsplit(url).path.lower().split("/") if part]
        parts = [part for part in parts if part != "index.html"]
        return parts[-2] if len(parts) > 1 else ""


def _labels(nodes: list[LexborNode]) -> list[str]:
    texts = [one_line(node.text()).lstrip("#").strip() for node in nodes]
    labels = [text for text in dict.fromkeys(texts) if text]
    return labels if len(labels) <= _MAX_LABELS else []


def _followed(address: str) -> str:
    """An address without white space; "" if it cannot be followed."""
    address = address.strip()
    is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE)
    return "" if is_other or not is_valid_url(address) else address


def _is_near(url: str, own: str) -> bool:
    """Whether a URL is a path, or on the same host as the site's own."""
    host = urlsplit(url).netloc.lower()
    return not host or host == urlsplit(own).netloc.lower()


def _date_in(address: str) -> datetime | None:
    """The date in an address such as `/2024/01/31/a-post/`."""
    date = _DATED_PATH.search(urlsplit(address).path)
    return _first_moment([f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}"]) if date else None


def _first_moment(values: list[Any]) -> datetime | None:
    for value in values:
        try:
            if isinstance(value, str) and (when := moment(value)):
                return when
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
        for thing in graph if isinstance(graph, list) else [data]:
            if isinstance(thing, dict) and ("headline" in thing or _is_posting(thing)):
                yield thing


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


def _begins(title: str, heading: str) -> bool:
    """Whether a title is the heading, or begins with it and goes on with the site's name."""
    return title == heading or title.startswith(tuple(heading + mark for mark in SEPARATORS))


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
        term.get("name") if isinstance(term, dict) else term
        for term in (listed if isinstance(listed, list) else [listed])
    ]
    return [term for term in terms if isinstance(term, str) and term.strip()]


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""
