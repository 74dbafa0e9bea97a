"""Reads a sitemap, or an index of sitemaps, and fetches the listed pages, a few at a time."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from indexer.errors import SourceError
from indexer.posts.addresses import address_of, host_of, is_url, is_valid_url, without_tracking
from indexer.posts.records import Origin, RawPost, Reject, Skipped, SourceItem, When
from indexer.sources.base import Source, guard
from indexer.sources.detect import links_of
from indexer.sources.feed import Feed
from indexer.sources.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.sources.files import decode
from indexer.sources.html.page import BuiltSite, NotPost, asks_for_password, read_page
from indexer.sources.identity import oid_of_page
from indexer.sources.robots import forbids_indexing
from indexer.sources.xml import local_name, locations, parse_xml

_MAX_PAGES = 200_000
_MAX_SITEMAPS = 50_000
_REFUSED: Mapping[int, NotPost] = {
    **{status: NotPost(f"gone ({status})", "gone", declared=True) for status in (404, 410, 451)},
    **{status: NotPost(f"locked ({status})", "locked", declared=True) for status in (401, 403)},
}
_LOGIN = re.compile(
    r"[/._-](?:wp-)?(?:log|sign)[-_]?(?:in|on)\b|/(?:sso|oauth2?|auth)(?:/|$)", re.I
)
"""A path to which servers redirect from pages for members."""
_ELSEWHERE = NotPost("redirects to the same page as others", "redirect")
_SEVERAL = 3  # pages that redirect to the same one; two may be its former addresses
_HELD = 1_000  # redirected pages' titles kept, until it is known whether others have them
_OTHER_TYPE = NotPost("not an HTML page", "unread")
_NO_PAGES = (
    *(".pdf", ".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".xml", ".zip", ".mp3", ".mp4"),
)


class Moved(NamedTuple):
    """A post at an address that neither was requested nor is in the sitemap."""

    asked: str | None
    post: RawPost


class Sitemap(Source):
    """Reads the pages that a sitemap lists and robots.txt allows."""

    kind = "sitemap"
    is_remote = True
    _site = BuiltSite()
    _listed: Set[str] = frozenset()

    def read(self) -> Iterator[SourceItem]:
        """Yield every page in the order of the sitemap; with `max_pages`, those changed last.

        A page that cannot be fetched is a Reject with its oid, so that it is not taken for removed.
        Left out are pages that are gone (404, 410, 451), locked (401, 403, or redirected to a
        login), or disallowed by robots.txt; second addresses of a page, such as one that redirects
        to it; and a page to which several redirect, unless the sitemap lists it.
        """
        with Fetcher(self._options.fetch) as fetcher:
            pages, robots, seen = self.pages(fetcher), Robots(fetcher), set()
            self._site = BuiltSite(entries=self._fed(fetcher, robots))
            self._listed = {oid_of_page(url) for url, _ in pages if is_valid_url(url)}
            self.total = len(pages)
            for item in _unmoved(self._items(fetcher, robots, pages)):
                if isinstance(item, RawPost):
                    page = (address_of(str(item.url)), item.title)
                    if page in seen:
                        item = Skipped(item.origin, None, "another address of a page that was read")
                    seen.add(page)
                yield item

    def pages(self, fetcher: Fetcher) -> list[tuple[str, str]]:
        """Return the URLs with their last changes; all are read before a page is fetched."""
        left, known = deque([self.spec]), {self.spec}
        pages: dict[str, tuple[str, str]] = {}
        while left:
            address = left.popleft()
            root = parse_xml(self._content(address, fetcher).body, address)
            name = local_name(root)
            if name not in ("urlset", "sitemapindex"):
                reason = f"{address} is not a sitemap but <{name}>."
                raise SourceError(reason, "Name the sitemap itself, such as sitemap.xml.")
            for location, lastmod in locations(root):
                url = urljoin(address, location) if is_valid_url(location) else location
                if name == "urlset":
                    url = without_tracking(url)
                    pages.setdefault(address_of(url), (url, lastmod))
                elif url not in known:
                    known.add(url)
                    if reason := self._why_not_followed(url):
                        self._options.warn(f"{url} was not read: {reason}.")
                    else:
                        left.append(url)
            if len(pages) > _MAX_PAGES or len(known) > _MAX_SITEMAPS:
                limits = f"{_MAX_PAGES:,} pages or {_MAX_SITEMAPS:,} sitemaps"
                raise SourceError(f"{self.spec} lists more than {limits}.")
        most, found = self._options.max_pages, list(pages.values())
        if most and len(found) > most:
            self._options.warn(f"{len(found) - most:,} of {len(found):,} pages were not read.")
            found = sorted(found, key=lambda page: page[1], reverse=True)[:most]
        return found

    def _fed(self, fetcher: Fetcher, robots: Robots) -> dict[str, When]:
        """Return the oids and dates of the posts in the feed that the home page links to."""
        home = self._options.site or urljoin(self.spec, "/")
        with suppress(SourceError):  # without it, only the pages' own data count
            links = links_of(fetcher.get(home)) if is_url(home) and robots.allows(home) else []
            feed = next((url for url, kind in links if kind == "feed" and robots.allows(url)), "")
            if feed and not self._why_not_followed(feed):
                options = replace(self._options, warn=lambda message: None)
                posts = Feed(feed, options, fetcher.get(feed)).read()
                return {post.oid: post.pub_date for post in posts if isinstance(post, RawPost)}
        return {}

    def _items(
        self, fetcher: Fetcher, robots: Robots, pages: list[tuple[str, str]]
    ) -> Iterator[SourceItem | Moved]:
        """Yield the item of each page, in their order; a few pages are fetched ahead."""
        connections = self._options.fetch.connections
        with ThreadPoolExecutor(connections) as pool:
            waiting: deque[Future[SourceItem | Moved]] = deque()
            try:
                for url, lastmod in pages:
                    waiting.append(pool.submit(self.item, fetcher, robots, url, lastmod))
                    if len(waiting) > 2 * connections:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _why_not_followed(self, url: str) -> str:
        """Return why a URL is not fetched: sitemaps may not lead to files or other sites."""
        if not is_valid_url(url):
            return "not a valid URL"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return "neither http nor https"
        hosts = {host_of(address) for address in (self.spec, self._options.site) if is_url(address)}
        if hosts and host_of(url) not in hosts:
            return "on another host (--site allows one)"
        return ""

    def _why_no_page(self, url: str) -> NotPost | None:
        """Return why a URL is not fetched as a page."""
        if reason := self._why_not_followed(url):
            return NotPost(reason, "unread")
        path = urlsplit(url).path
        if self._options.excludes(path.strip("/")):
            return NotPost("excluded", "excluded", declared=True)
        return _OTHER_TYPE if path.lower().endswith(_NO_PAGES) else None

    def item(self, fetcher: Fetcher, robots: Robots, url: str, lastmod: str) -> SourceItem | Moved:
        """Return the post on a page, or the reason why there is none; runs in several threads."""
        origin = Origin(url)
        oid = oid_of_page(url) if is_valid_url(url) else None
        if why := self._why_no_page(url):
            return Skipped(origin, oid, *why)
        try:
            if not robots.allows(url):
                return Skipped(origin, oid, "disallowed by robots.txt", "noindex", declared=True)
            page = fetcher.get(url)
            item = guard(lambda: self._post(page, oid, origin, lastmod), origin, oid)
            if isinstance(item, RawPost) and item.oid != oid and item.oid not in self._listed:
                return Moved(oid, item)
            return item
        except SourceError as error:
            status = error.response_status if isinstance(error, FetchFailed) else None
            if why := _REFUSED.get(status or 0):
                return Skipped(origin, oid, *why)
            reason = error.message.removeprefix(f"{url}: ").rstrip(".")
            return Reject(origin, oid, reason, error.remedy or "Try again later.")

    def _post(
        self, fetched: Fetched, asked: str | None, origin: Origin, lastmod: str
    ) -> SourceItem:
        """Return the post on a page; `asked` is the oid of the requested URL, before redirects."""
        oid = oid_of_page(fetched.url)
        if why := self._why_no_page(fetched.url):
            reason = f"redirects elsewhere: {why.reason}"
            return Skipped(origin, asked, reason, "redirect", declared=True)
        if forbids_indexing(fetched.robots, self._options.moment()):
            return Skipped(origin, asked, "noindex", "noindex", declared=True)
        kind = fetched.content_type.partition(";")[0].strip().lower()
        if kind not in ("", "text/html", "application/xhtml+xml"):
            return Skipped(origin, asked, *_OTHER_TYPE)
        text = decode(fetched.body, fetched.content_type)
        is_login = bool(_LOGIN.search(urlsplit(fetched.url).path))
        if oid != asked and (is_login or asks_for_password(text)):
            reason = "locked: redirects to a login page"
            return Skipped(origin, asked, reason, "locked", declared=True)
        item = read_page(
            text, fetched.url, origin, oid, self._options, site=self._site, lastmod=lastmod
        )
        return replace(item, oid=asked) if isinstance(item, Skipped) else item


def _unmoved(items: Iterable[SourceItem | Moved]) -> Iterator[SourceItem]:
    """Yield the items, then the posts that moved. Where several pages were redirected, such as to a
    captcha, which gives all of them the same title, there is no post."""
    moved: dict[str, list[Moved]] = {}
    for item in items:
        if not isinstance(item, Moved):
            yield item
            continue
        alike = moved.setdefault(str(item.post.title), [])
        # The text of the others is no longer needed.
        few = len(alike) < _SEVERAL
        alike.append(item if few else item._replace(post=replace(item.post, text="")))
        if len(moved) > _HELD:
            yield from _decided(moved.pop(next(iter(moved))))
    for alike in moved.values():
        yield from _decided(alike)


def _decided(alike: list[Moved]) -> Iterator[SourceItem]:
    """Yield moved posts with the same title, or skip them if they are too many."""
    for asked, post in alike:
        yield post if len(alike) < _SEVERAL else Skipped(post.origin, asked, *_ELSEWHERE)
