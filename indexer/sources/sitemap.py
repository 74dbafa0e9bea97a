"""A sitemap, or an index of sitemaps, and the pages it lists, fetched a few at a time."""

import re
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.html_text import TooDeep
from indexer.records import Origin, Reject, Skipped, SourceItem
from indexer.sources.base import SourceOptions, is_url, is_valid_url, unexpected
from indexer.sources.files import File, decoded, unzipped_bytes
from indexer.sources.html.page import Page
from indexer.sources.identity import oid_of_page

_MAX_DEPTH = 3
_MAX_PAGES = 200_000
_GONE = (404, 410)
_NOINDEX = re.compile(r"^(?:googlebot:\s*)?[^:]*\b(?:noindex|none)\b", re.IGNORECASE)
"""In X-Robots-Tag, which may also be for one crawler only."""
_NO_PAGES = (
    *(".pdf", ".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".xml", ".zip", ".mp3", ".mp4"),
)

_Entry = tuple[str, str | None]
_Found = list[SourceItem]


class Sitemap:
    """The pages that a sitemap lists, as far as robots.txt allows them."""

    kind = "sitemap"

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        self.spec = spec
        self.progress: float | None = None
        self._options = options
        self._fetched = fetched
        self._file = None if is_url(spec) else File(spec)

    def read(self) -> Iterator[SourceItem]:
        """Every page in the order of the sitemap.

        A page that cannot be fetched is a Reject with its oid, so that it is not taken for
        removed; one that is gone (404, 410) or that robots.txt disallows is left out.
        """
        with Fetcher(self._options.fetch, self._options.store) as fetcher:
            pages = list(dict(self._entries(fetcher)).items())
            visit = _Visit(fetcher, self._options)
            connections = self._options.fetch.connections
            with ThreadPoolExecutor(connections) as pool:
                waiting: deque[Future[_Found]] = deque()
                try:
                    for number, (url, lastmod) in enumerate(pages):
                        if reason := self._why_no_page(url):
                            oid = oid_of_page(url) if is_valid_url(url) else None
                            yield Skipped(Origin(url), oid, reason)
                            continue
                        waiting.append(pool.submit(visit.page, url, lastmod))
                        if len(waiting) > 2 * connections:
                            yield from waiting.popleft().result()
                        self.progress = number / len(pages)
                    while waiting:
                        yield from waiting.popleft().result()
                finally:
                    for future in waiting:
                        future.cancel()
            self.progress = 1.0

    def _entries(self, fetcher: Fetcher) -> Iterator[_Entry]:
        """The URLs, each with its last change; all are read before a page is fetched."""
        left = deque([(self.spec, 0)])
        known = {self.spec}
        count = 0
        while left:
            address, depth = left.popleft()
            root = self._root(fetcher, address)
            for url, lastmod in _locations(root, address):
                if _local(root) == "urlset":
                    count += 1
                    yield url, lastmod
                elif url not in known:
                    known.add(url)
                    if reason := self._why_not_followed(url):
                        self._options.warn(f"{url} is not read: {reason}.")
                    elif depth == _MAX_DEPTH:
                        raise SourceError(
                            f"{address} is an index in an index, {depth + 1} deep.",
                            f"At most {_MAX_DEPTH} are read; name one that lists the pages.",
                        )
                    else:
                        left.append((url, depth + 1))
            if max(count, len(known)) > _MAX_PAGES:
                raise SourceError(f"{self.spec} lists more than {_MAX_PAGES:,} pages.")

    def _why_not_followed(self, url: str) -> str:
        """Why a URL is not fetched: a sitemap must lead neither to files nor to other sites."""
        if not is_valid_url(url):
            return "not a valid URL"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return "neither http nor https"
        own = [
            urlsplit(address).netloc
            for address in (self.spec, self._options.site)
            if is_url(address)
        ]
        hosts = {_without_www(address) for address in own if address}
        if hosts and _without_www(parts.netloc) not in hosts:
            return "on another host (--site allows one)"
        return ""

    def _why_no_page(self, url: str) -> str:
        """Why a URL is not fetched as a page."""
        if reason := self._why_not_followed(url):
            return reason
        return "not an HTML page" if urlsplit(url).path.lower().endswith(_NO_PAGES) else ""

    def _root(self, fetcher: Fetcher, address: str) -> Element:
        most = self._options.fetch.max_bytes
        if address == self.spec and self._file is not None:
            body = self._file.content(most)
        else:
            page, self._fetched = self._fetched or fetcher.get(address), None
            body = unzipped_bytes(page.body, address, most)
        try:
            root: Element = fromstring(body)
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            raise SourceError(f"{address} is not a sitemap: {error}.") from error
        if _local(root) not in ("urlset", "sitemapindex"):
            raise SourceError(
                f"{address} is not a sitemap but <{_local(root)}>.", "Name a sitemap.xml."
            )
        return root


class _Visit:
    """Fetches pages in several threads, no faster than each robots.txt allows."""

    def __init__(self, fetcher: Fetcher, options: SourceOptions) -> None:
        self._fetcher = fetcher
        self._options = options
        self._robots = Robots(fetcher)
        self._lock = Lock()
        self._next: dict[str, float] = {}

    def page(self, url: str, lastmod: str | None) -> _Found:
        """The post on a page, or why there is none."""
        try:
            return self._page(url, lastmod)
        except Exception as error:  # noqa: BLE001 - one odd page must not end the run
            return [unexpected(error, Origin(url), oid_of_page(url))]

    def _page(self, url: str, lastmod: str | None) -> _Found:
        origin, oid = Origin(url), oid_of_page(url)
        try:
            if not self._robots.allows(url):
                return [Skipped(origin, None, "disallowed by robots.txt")]
            self._wait(url)
            fetched = self._fetcher.get(url)
        except SourceError as error:
            if isinstance(error, FetchFailed) and error.response_status in _GONE:
                return [Skipped(origin, None, f"gone ({error.response_status})")]
            return [Reject(origin, oid, error.message, error.remedy or "Try again later.")]
        if _NOINDEX.search(fetched.robots):
            return [Skipped(origin, None, "noindex")]
        if not _is_html(fetched):
            return [Skipped(origin, oid, "not an HTML page")]
        try:
            page = Page(decoded(fetched.body, fetched.content_type), fetched.url)
        except TooDeep as error:
            return [Reject(origin, oid, str(error), "Close the elements, or leave the page out.")]
        reason, is_guess = page.why_not_post(oid)
        if reason:
            return [Skipped(origin, oid if is_guess else None, reason)]
        address = urljoin(fetched.url, page.url)
        return [page.post(origin, oid, address, lastmod, options=self._options)]

    def _wait(self, url: str) -> None:
        delay = self._robots.delay(url)
        if not delay:
            return
        site = urlsplit(url).netloc
        with self._lock:
            turn = max(time.monotonic(), self._next.get(site, 0.0))
            self._next[site] = turn + delay
        time.sleep(max(0.0, turn - time.monotonic()))


def _locations(root: Element, address: str) -> Iterator[_Entry]:
    for entry in root:
        fields = {_local(child): (child.text or "").strip() for child in entry}
        loc = fields.get("loc", "")
        url = urljoin(address, loc) if loc and is_valid_url(loc) else loc
        if url:
            yield url, fields.get("lastmod") or None


def _without_www(host: str) -> str:
    return host.lower().removeprefix("www.")


def _is_html(page: Fetched) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml")


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]
