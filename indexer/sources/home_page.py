"""Finds the posts of a site whose home page is named: its sitemap, or else its feed."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.sources.base import SourceOptions, is_valid_url
from indexer.sources.detect import kind_of_page
from indexer.sources.files import decoded

_SITEMAPS = ("sitemap.xml", "/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml")
_LINKS = "link[rel~=sitemap][href], link[rel~=alternate][href]"
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")


def posts_of_site(page: Fetched, fetcher: Fetcher) -> Fetched:
    """The sitemap of the site of a web page, or the feed that the page names.

    Raises:
        SourceError: there is neither.
    """
    tried: dict[str, None] = {}
    for url in _places(page, fetcher):
        if url in tried or not is_valid_url(url):
            continue
        tried[url] = None
        try:
            found = fetcher.get(url)
            if kind_of_page(found, fetcher.options.max_bytes) in ("sitemap", "feed"):
                return found
        except FetchFailed as error:
            if error.response_status is None or error.response_status >= 500:
                raise
        except SourceError:  # it is something else
            continue
    remedy = "Name its sitemap or its feed, or index the built site."
    raise SourceError(f"{page.url} is a web page of a site without a sitemap or a feed.", remedy)


def of_site(page: Fetched, options: SourceOptions) -> SourceOptions:
    """The options for a blog with this home page: what is beside its folder is not its own."""
    folder = urlsplit(page.url).path.strip("/")
    include = options.include or ((f"{folder}/*",) if folder else ())
    return replace(options, include=include, site=options.site or page.url)


def _places(page: Fetched, fetcher: Fetcher) -> Iterator[str]:
    """Where the sitemap and the feed may be, the likeliest first."""
    yield from Robots(fetcher).sitemaps(page.url)
    yield from (urljoin(page.url, place) for place in _SITEMAPS)
    for link in LexborHTMLParser(decoded(page.body, page.content_type)).css(_LINKS):
        type_ = (link.attributes.get("type") or "").lower()
        if type_ in _FEED_TYPES or "sitemap" in (link.attributes.get("rel") or "").split():
            yield urljoin(page.url, link.attributes.get("href") or "")
