"""Sources of posts; most modules define one `Source`."""

from indexer.errors import SourceError
from indexer.posts.addresses import is_url
from indexer.sources.base import Source, SourceOptions
from indexer.sources.detect import kind_of_page, kind_of_path, of_site, posts_of_site
from indexer.sources.exports import Blogger, Ghost, Medium, MovableType, Substack
from indexer.sources.feed import Feed
from indexer.sources.fetch import Fetched, Fetcher, check_url
from indexer.sources.files import check_place
from indexer.sources.html.folder import HTMLFolder
from indexer.sources.json_lines import JSONLines, raw_comment, raw_post
from indexer.sources.markdown.folder import MarkdownFolder
from indexer.sources.sitemap import Sitemap
from indexer.sources.wordpress import WordPress
from indexer.sources.wordpress_rest import api_of, site_at

__all__ = ["KINDS", "Source", "SourceOptions", "open_source", "raw_comment", "raw_post"]

_SOURCES: dict[str, type[Source]] = {
    source.kind: source
    for source in (
        JSONLines,
        MarkdownFolder,
        HTMLFolder,
        WordPress,
        Blogger,
        Ghost,
        MovableType,
        Medium,
        Substack,
        Feed,
        Sitemap,
    )
}
KINDS = tuple(_SOURCES)
"""The values of `--source`."""


def open_source(spec: str, kind: str | None, options: SourceOptions) -> Source:
    """Open the source at `spec`; without `kind`, detect its kind.

    For that a URL is fetched, and the source reads this response first. A web page leads to the API
    of its WordPress, else to the sitemap or the feed of its site.

    Raises:
        SourceError: it does not exist, or its kind is unknown.
    """
    options.check()
    if is_url(spec) or "://" in spec:
        check_url(spec)
    elif spec != "-":
        check_place(spec)
    page: Fetched | None = None
    stands_in = False
    if kind is None and is_url(spec):
        with Fetcher(options.fetch) as fetcher:
            page = fetcher.get(spec)
            kind = kind_of_page(page, options.fetch.max_bytes)
            if kind == "html":
                options = of_site(page, options)
                stands_in = bool(api := api_of(page))
                if api and (site := site_at(api, page, fetcher, options)):
                    return site
                page = posts_of_site(page, fetcher)
                spec, kind = page.url, kind_of_page(page, options.fetch.max_bytes)
    elif kind is None:
        kind = kind_of_path(spec)
    if kind not in _SOURCES:
        raise SourceError(
            f"{kind!r} is not a kind of source.", f"The kinds are {', '.join(KINDS)}."
        )
    if is_url(spec) and not _SOURCES[kind].is_remote:
        raise SourceError(f"{kind} cannot be read from a URL.", "Download it and name the file.")
    if spec == "-" and _SOURCES[kind].is_folder:
        raise SourceError(f"{kind} cannot be read from standard input.", "Name a folder.")
    source = _SOURCES[kind](spec, options, page)
    source.stands_in = stands_in
    return source
