"""An HTML page → a RawPost: the metadata of its head, and its content."""

import html
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.dates import NoDate, moment
from indexer.html_text import TooMuchMarkup, check_markup, one_line
from indexer.records import Origin, RawPost, Reject, Skipped, SourceItem
from indexer.sources.base import SourceOptions, image_of, is_valid_url
from indexer.sources.html.built_site import MARKS, SEPARATORS, BuiltSite
from indexer.sources.html.content import (
    Content,
    own_lengths,
    remove_comments,
    top_articles,
)
from indexer.sources.html.lists import PAGE_OF_LIST, is_list
from indexer.sources.identity import day_in_path, labels, title_of_name

_PUBLISHED = (
    *("article:published_time", "datePublished", "date", "dc.date", "dc.date.issued"),
    *("dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "publish_date"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "dateModified", "dcterms.modified")
_ERRORS = re.compile(r"404|5\d\d|_?not[-_]?found|error|offline")
"""Names of pages that a server shows in place of others."""
_NOT_FOUND = re.compile(r"\W*(?:error\W*)?404\b.*|.*\bnot found\W*(?:\(?404\)?)?", re.IGNORECASE)
_TOOLS = frozenset(("search", "sitemap", "offline"))
_INDEXES = frozenset(("genindex", "py-modindex"))
_SHORT = 300
"""Characters outside links; a page with a search box, or that says what is missing, has fewer."""
_EMPTY = 60
"""Characters; a page that a browser renders has fewer before it does."""
_RENDERED = "#root:empty, #app:empty, #__next:empty, #___gatsby:empty, app-root:empty"
_LABELS = (
    "a[rel~=tag], .p-category, .md-tag, .post-tag, [id~=tags] a, article .tags a, main .tags a"
)
"""Elements with the tags of a post where no link in the content leads to the page of a tag."""
_LABEL_FOLDERS = ("tag", "tags", "category", "categories")
_LABEL_PATH = re.compile(r"(?:tags?|category|categories)/.", re.IGNORECASE)
_MAX_LABELS = 20
"""Links to pages of tags in one post; more of them are all tags of the site."""
_FILE = re.compile(r"\.(?!html?$|php$)[a-z]\w{1,4}$", re.IGNORECASE)
_WHOLE = re.compile(r"<!doctype|<html|<head[\s>]|<title", re.IGNORECASE)
_HEAD = 10_000
_POSTINGS = ("article", "blogposting", "newsarticle", "techarticle", "report", "socialmediaposting")


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

    Args:
        location: the URL of the page, or its path on the site.
        base: the URL of the page where it states none, if it is not the location.
        lastmod: its last change, if the page names none.
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
    """A parsed page. `post` may be called once: it modifies the page.

    Args:
        location: the URL of the page, or its path on the site, which relative links begin at.
        site: what is known of the other pages of the site.

    Raises:
        TooMuchMarkup: the HTML would take too long to parse.
    """

    def __init__(self, text: str, location: str = "", site: BuiltSite | None = None) -> None:
        check_markup(text)
        self._location = location
        self._site = site or BuiltSite()
        self.parsed = LexborHTMLParser(text)
        self._is_whole = bool(_WHOLE.search(text[:_HEAD]))
        self._meta: dict[str, str] = {}
        self._labels: list[str] = []
        for node in self.parsed.css("meta[content]"):
            given = node.attributes
            name = given.get("property") or given.get("name") or given.get("itemprop") or ""
            name, content = name.strip().lower(), (given.get("content") or "").strip()
            if name == "article:tag":
                self._labels += content.split(",")
            if name and content:
                self._meta.setdefault(name, content)
        self.canonical = self._link("link[rel=canonical][href]")
        self._data: dict[str, Any] = {}
        self._said = 0
        self._is_posting = False
        for description in _json_ld(self.parsed):
            self._is_posting = self._is_posting or _is_posting(description)
            self._data = {**description, **self._data}

    def _link(self, selector: str) -> str:
        link = self.parsed.css_first(selector)
        return _followed((link.attributes.get("href") if link else "") or "")

    @property
    def url(self) -> str:
        """Its own address, "" if it states none."""
        other = self._link("a.p-canonical[href]")  # of Medium's export
        return self.canonical or other or _followed(self._meta.get("og:url", ""))

    @property
    def og_title(self) -> str:
        """The title that is stated for other sites; "" if there is none."""
        return one_line(self._meta.get("og:title", ""))

    @property
    def name(self) -> str:
        """The text of `<title>`; "" without one."""
        title = self.parsed.css_first("head > title")
        return one_line(title.text()) if title else ""

    @property
    def stated_image(self) -> str:
        """The image that the page states; "" if it states none."""
        return self._meta.get("og:image") or self._meta.get("twitter:image") or ""

    @property
    def language(self) -> str:
        """The declared language; "" if there is none."""
        root = self.parsed.css_first("html[lang]")
        declared = root.attributes.get("lang") if root else ""
        other = self._meta.get("content-language") or self._data.get("inLanguage")
        return declared or (other if isinstance(other, str) else "")

    def why_hidden(self) -> str:
        """Why the page says that it is not for readers; "" if it does not."""
        robots = ",".join(self._meta.get(name, "") for name in ("robots", "googlebot")).lower()
        if {"noindex", "none"} & set(re.split(r"[\s,]+", robots)):
            return "noindex"
        wholes = ("html", "body", "main", "main > article:only-child")
        asking = self.parsed.css("[data-pagefind-ignore], [data-search-exclude]")
        nodes = [self.parsed.css_first(selector) for selector in wholes] if asking else []
        if {node.mem_id for node in asking} & {node.mem_id for node in nodes if node is not None}:
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
        if self.parsed.body is not None:
            self._said += remove_comments(self.parsed.body)
        main = self._outer()
        own = own_lengths(main)
        is_empty = not own.text and self.parsed.css_first("main img, body img, iframe") is None
        if (own.text < _EMPTY and self.parsed.css_first(_RENDERED) is not None) or (
            is_empty and self.parsed.css_first("body script") is not None
        ):
            return "rendered by a browser: the file has no text", True
        kind = self._meta.get("og:type", "").lower()
        is_dated = kind == "article" and "article:published_time" in self._meta
        is_posting = is_dated or (self._is_posting and kind != "website")
        is_posting = is_posting or oid in self._site.entries
        is_article = kind == "article" or self._is_posting or is_posting
        if self._is_tool(oid, own.unlinked, is_article=is_article):
            return "error page, search or index", True
        if main is not None and is_list(
            oid,
            main,
            own,
            self._page_of,
            is_article=is_article,
            is_posting=is_posting,
            is_fed=oid in self._site.fed or self._has_feed(oid),
        ):
            return "list page", True
        return ("not in the sitemap", False) if oid in self._site.unlisted else ("", False)

    def _is_tool(self, oid: str, length: int, *, is_article: bool) -> bool:
        """Whether the page is a search, an index, or what a server shows in place of another.

        Below a folder that is no language it may be a page about such things.
        """
        *folders, name = oid.lower().split("/")
        language = self.language.lower()
        is_front = all(
            re.fullmatch(r"[a-z]{2}(?:[-_][a-z]{2,4})?|v?\d[\w.]*", folder) or folder == language
            for folder in folders
        )
        is_short = length < _SHORT
        titles = (self._bare(self.name), _heading(self.parsed.body, "h1"))
        says_so = is_short and any(map(_NOT_FOUND.fullmatch, titles))
        if _ERRORS.fullmatch(name) and (says_so or (is_front and (is_short or not is_article))):
            return True
        if says_so and not is_article:
            return True
        is_tool = name in _TOOLS and is_front and (is_short or not is_article)
        return is_tool or (name == "search" and is_short) or name in _INDEXES

    def _page_of(self, href: str) -> str:
        """The page of the site that a link leads to; "" if it leads to none."""
        if href.startswith("#") or not _followed(href):
            return ""
        url = urljoin(self._location, href)
        oid = self._site.oid_of(url)
        is_near = _is_near(url, self._site.address or self.url or self._location)
        return oid if oid in self._site.pages or (is_near and not _FILE.search(oid)) else ""

    def _has_feed(self, oid: str) -> bool:
        """Whether the page has a feed of its own: Hugo makes one for each list."""
        for link in self.parsed.css('link[rel~=alternate][type="application/rss+xml"][href]'):
            href = _followed(link.attributes.get("href") or "")
            listed = self._site.oid_of(href.removesuffix("index.xml"))
            if href.endswith("index.xml") and (listed == oid or listed.endswith(f"/{oid}")):
                return True
        return False

    def _outer(self) -> LexborNode | None:
        """The element that holds the content, as far as the page marks one."""
        articles = top_articles(self.parsed.css("article"))
        selectors = ["main", "article", "[role=main]", "#content", "body"]
        if len(articles) > 1 or self.parsed.css_first("aside article") is not None:
            selectors = ["main", "[role=main]", "body"]
        nodes = map(self.parsed.css_first, selectors)
        return next((node for node in nodes if node is not None), None)

    def post(
        self, origin: Origin, oid: str, url: str, lastmod: str, options: SourceOptions
    ) -> RawPost:
        """The post; `lastmod` is its last change if the page names none."""
        content = Content(self.parsed, self._site.repeated, options.selectors())
        section = self._meta.get("article:section") or _text(self._data.get("articleSection"))
        if section.lower() == oid.partition("/")[0].lower():
            section = ""  # Hugo names the folder of a page so
        links = self._label_links()
        categories = [section] if section else self._terms_of(links["category"])
        stated = labels(self._meta.get("keywords") or self._data.get("keywords"))
        marked = [node for node in self.parsed.css(_LABELS) if node.css_first("a a, li") is None]
        tags = self._terms_of(links["tag"]) or _texts_of(marked)
        keywords = self._labels or stated or tags
        shown = [*links["tag"], *links["category"], *(marked if len(marked) <= _MAX_LABELS else ())]
        content.find(options.content)
        title = self._title(content.root, oid)
        content.tidy(title, shown)
        title = html.unescape(title)  # some themes escape twice
        dates = moments(content.dates, self._site.build_days)
        stated_dates = [
            *(self._moment(_PUBLISHED), *dates),
            *moments([_day_in(self.url), _day_in(url), self._site.entries.get(oid)]),
        ]
        modified = [self._moment(_MODIFIED), *moments([*content.updated, lastmod])]
        return RawPost(
            origin=origin,
            oid=oid,
            title=title,
            text=content.html,
            url=url,
            pub_date=next(filter(None, stated_dates), None),
            modified=next(filter(None, modified), None),
            categories=categories,
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

    def _title(self, main: LexborNode | None, oid: str) -> str:
        """The title that the head states, else the `<title>` or the heading.

        What many pages have, or is the name of the site, is not the title of a page. A theme may
        put the heading outside the content.
        """
        heading = _heading(main, "h1")
        is_only = main is not None and len(main.css("h1")) == 1 and not self._is_shared(heading)
        every = (node for node in self.parsed.css("h1") if not node.css_matches("a[href]"))
        headings = [one_line(node.text()) for node in every]
        stated = [self.og_title, _text(self._data.get("headline"))]
        for text in stated:
            if text and not self._is_shared(text):
                title = self._bare(text)
                return heading if heading and _begins(title, heading) else title
        name = self.name.strip(MARKS)
        title = "" if self._is_shared(name) else self._bare(name)
        if heading and (is_only or _begins(title, heading) or title.endswith(heading)):
            return title if title and heading.startswith(f"{title} ") else heading
        for above in headings if title else ():
            if above and _begins(title, above):
                return above
        if title and title != name:
            return title
        for other in (heading, *headings):
            if other and not self._is_shared(other):
                return title if title and title != other and not heading else other
        fallback = self._bare(next(filter(None, stated), name))
        return title or fallback or title_of_name(oid.rpartition("/")[2])

    def _is_shared(self, title: str) -> bool:
        shared = self._site.shared_titles | {self._meta.get("og:site_name", "")}
        return title in shared or self._bare(title) in shared

    def _bare(self, title: str) -> str:
        """A title without the name of the site."""
        return self._site.bare_title(title, self._meta.get("og:site_name", ""))

    def _moment(self, names: tuple[str, ...]) -> datetime | None:
        """The first value that is a date; others are common, because templates are often wrong."""
        values = [self._meta.get(name.lower()) for name in names]
        return next(moments([*values, *(self._data.get(name) for name in names)]), None)

    def _label_links(self) -> dict[str, list[LexborNode]]:
        """The links in the content to pages of tags and to pages of categories."""
        links: dict[str, list[LexborNode]] = {"tag": [], "category": []}
        main = self._outer()
        for node in main.css("a[href]") if main is not None else ():
            if folder := self._label_folder(node):
                links["tag" if folder.startswith("tag") else "category"].append(node)
        return links

    def _terms_of(self, links: list[LexborNode]) -> list[str]:
        """The labels of links; Hugo shows the names of its lists with capital letters."""
        main = self._outer()
        terms = _texts_of(links) if main is not None and main.tag != "body" else []
        is_hugo = self._meta.get("generator", "").lower().startswith("hugo")
        return [
            term.lower() if is_hugo and term == string.capwords(term) else term for term in terms
        ]

    def _label_folder(self, link: LexborNode) -> str:
        """The folder of labels, such as `tags`, that a link leads into; "" for others."""
        href = _followed(link.attributes.get("href") or "")
        if not _LABEL_PATH.search(href) or not is_valid_url(href):
            return ""
        url = urljoin(self._location, href)
        if not _is_near(url, self._site.address or self.url):
            return ""
        *folders, _ = urlsplit(url).path.lower().removesuffix("index.html").strip("/").split("/")
        return folders[-1] if folders and folders[-1] in _LABEL_FOLDERS else ""


def _texts_of(nodes: list[LexborNode]) -> list[str]:
    texts = [one_line(node.text()).lstrip("#").strip() for node in nodes]
    terms = [text for text in dict.fromkeys(texts) if text]
    return terms if len(terms) <= _MAX_LABELS else []


def _followed(address: str) -> str:
    """An address without white space; "" if it cannot be followed."""
    address = address.strip()
    is_other = re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE)
    return "" if is_other or not is_valid_url(address) else address


def _is_near(url: str, own: str) -> bool:
    """Whether a URL is a path, or on the same host as the site's own."""
    host = urlsplit(url).netloc.lower()
    return not host or host == urlsplit(own).netloc.lower()


def _day_in(address: str) -> str:
    """The day in an address such as `/2024/01/31/a-post/`."""
    return day_in_path(urlsplit(address).path)


def moments(values: Iterable[Any], others: frozenset[str] = frozenset()) -> Iterator[datetime]:
    """Those of the values that are dates, but not those of `others`, which are days."""
    for value in values:
        try:
            when = moment(value) if isinstance(value, str) else None
            if when and when.date().isoformat() not in others:
                yield when
        except NoDate:
            continue


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


def _begins(title: str, heading: str) -> bool:
    """Whether a title is the heading, or begins with it and goes on with the site's name."""
    return title == heading or title.startswith(tuple(heading + mark for mark in SEPARATORS))


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""
