"""Where posts come from: each source is one small module behind one protocol."""

from collections.abc import Callable

from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher
from indexer.sources.base import Source, SourceOptions, is_url
from indexer.sources.detect import kind_of_page, kind_of_path
from indexer.sources.feed import Feed
from indexer.sources.html.folder import HTMLFolder
from indexer.sources.json_lines import JSONLines, raw_comment, raw_post
from indexer.sources.markdown import MarkdownFolder
from indexer.sources.sitemap import Sitemap
from indexer.sources.wordpress import WordPress

__all__ = ["KINDS", "Source", "SourceOptions", "open_source", "raw_comment", "raw_post"]

_LOCAL: dict[str, Callable[[str, SourceOptions], Source]] = {
    JSONLines.kind: JSONLines,
    MarkdownFolder.kind: MarkdownFolder,
    HTMLFolder.kind: HTMLFolder,
    WordPress.kind: WordPress,
}
_FETCHED: dict[str, Callable[[str, SourceOptions, Fetched | None], Source]] = {
    Feed.kind: Feed,
    Sitemap.kind: Sitemap,
}
KINDS = (*_LOCAL, *_FETCHED)
"""What `--source` takes."""


def open_source(spec: str, kind: str | None, options: SourceOptions) -> Source:
    """The source at `spec`, of the kind said or else of the kind it is recognised as.

    An address is fetched to be recognised, and that answer is the one read first.

    Raises:
        SourceError: no such place, nothing that is known, or an unknown kind; with what to do.
    """
    if not spec.strip():
        # pathlib takes it for the folder one stands in, and a script's empty variable for a blog.
        raise SourceError("One of the sources is empty.", "Name a file, a folder or an address.")
    page: Fetched | None = None
    if kind is None and is_url(spec):
        with Fetcher(options.fetch, options.store) as fetcher:
            page = fetcher.get(spec)
        kind = kind_of_page(page, options.fetch.max_bytes)
    elif kind is None:
        kind = kind_of_path(spec)
    if kind in _FETCHED:
        return _FETCHED[kind](spec, options, page)
    if kind not in _LOCAL:
        raise SourceError(f"{kind!r} is no kind of source.", f"Known are {', '.join(KINDS)}.")
    if is_url(spec):
        raise SourceError(f"{kind} is not read from an address.", "Fetch it and name the file.")
    return _LOCAL[kind](spec, options)
