"""A sitemap, or an index of sitemaps, and the pages it lists, fetched a few at a time."""

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.records import Origin, Reject, Skipped, SourceItem
from indexer.sources.base import Source, bare_host, is_url, is_valid_url, unexpected
from indexer.sources.files import decoded
from indexer.sources.html.page import read_page
from indexer.sources.identity import oid_of_page
from indexer.sources.xml import local_name, locations, parse_xml

_MAX_DEPTH = 3
_MAX_PAGES = 200_000
_GONE = (404, 410)
_NOINDEX = re.compile(r"^(?:googlebot:\s*)?[^:]*\b(?:noindex|none)\b", re.IGNORECASE)
"""In X-Robots-Tag, which may also be for one crawler only."""
_NO_PAGES = (
    *(".pdf", ".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".xml", ".zip", ".mp3", ".mp4"),
)


class Sitemap(Source):
    """The pages that a sitemap lists, as far as robots.txt allows them."""

    kind = "sitemap"
    is_remote = True

    def read(self) -> Iterator[SourceItem]:
        """Every page in the order of the sitemap.

        A page that cannot be fetched is a Reject with its oid, so that it is not taken for
        removed; one that is gone (404, 410) or that robots.txt disallows is left out.
        """
        with Fetcher(self._options.fetch) as fetcher:
            pages = list(dict(self._entries(fetcher)).items())
            robots = Robots(fetcher)
            connections = self._options.fetch.connections
            with ThreadPoolExecutor(connections) as pool:
                waiting: deque[Future[SourceItem]] = deque()
                try:
                    for number, (url, lastmod) in enumerate(pages):
                        if reason := self._why_no_page(url):
                            oid = oid_of_page(url) if is_valid_url(url) else None
                            yield Skipped(Origin(url), oid, reason)
                            continue
                        waiting.append(pool.submit(self._item, fetcher, robots, url, lastmod))
                        if len(waiting) > 2 * connections:
                            yield waiting.popleft().result()
                        self.progress = number / len(pages)
                    while waiting:
                        yield waiting.popleft().result()
                finally:
                    for future in waiting:
                        future.cancel()
            self.progress = 1.0

    def _entries(self, fetcher: Fetcher) -> Iterator[tuple[str, str]]:
        """The URLs, each with its last change; all are read before a page is fetched."""
        left = deque([(self.spec, 0)])
        known = {self.spec}
        count = 0
        while left:
            address, depth = left.popleft()
            root = self._root(fetcher, address)
            for location, lastmod in locations(root):
                url = urljoin(address, location) if is_valid_url(location) else location
                if local_name(root) == "urlset":
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
        hosts = {bare_host(address) for address in own if address}
        if hosts and bare_host(parts.netloc) not in hosts:
            return "on another host (--site allows one)"
        return ""

    def _why_no_page(self, url: str) -> str:
        """Why a URL is not fetched as a page."""
        if reason := self._why_not_followed(url):
            return reason
        return "not an HTML page" if urlsplit(url).path.lower().endswith(_NO_PAGES) else ""

    def _root(self, fetcher: Fetcher, address: str) -> Element:
        root = parse_xml(self._content(address, fetcher).body, address)
        if local_name(root) not in ("urlset", "sitemapindex"):
            raise SourceError(
                f"{address} is not a sitemap but <{local_name(root)}>.", "Name a sitemap.xml."
            )
        return root

    def _item(self, fetcher: Fetcher, robots: Robots, url: str, lastmod: str) -> SourceItem:
        """The post on a page, or why there is none; it runs in several threads."""
        origin, oid = Origin(url), oid_of_page(url)
        try:
            if not robots.allows(url):
                return Skipped(origin, None, "disallowed by robots.txt")
            robots.wait(url)
            return self._post(fetcher.get(url), origin, oid, lastmod)
        except SourceError as error:
            if isinstance(error, FetchFailed) and error.response_status in _GONE:
                return Skipped(origin, None, f"gone ({error.response_status})")
            return Reject(origin, oid, error.message, error.remedy or "Try again later.")
        except Exception as error:  # noqa: BLE001 - one odd page must not end the run
            return unexpected(error, origin, oid)

    def _post(self, fetched: Fetched, origin: Origin, oid: str, lastmod: str) -> SourceItem:
        if _NOINDEX.search(fetched.robots):
            return Skipped(origin, None, "noindex")
        if not _is_html(fetched):
            return Skipped(origin, oid, "not an HTML page")
        text = decoded(fetched.body, fetched.content_type)
        return read_page(text, fetched.url, origin, oid, self._options, lastmod=lastmod)


def _is_html(page: Fetched) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml")
