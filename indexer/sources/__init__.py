"""Sources of posts, each a module that implements the protocol `Source`."""

import os
from collections.abc import Callable

from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher, check_url
from indexer.sources.base import Source, SourceOptions, is_url
from indexer.sources.detect import kind_of_page, kind_of_path
from indexer.sources.exports import Ghost, Substack
from indexer.sources.feed import Feed
from indexer.sources.files import refuse_folder
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
    Ghost.kind: Ghost,
    Substack.kind: Substack,
}
_FETCHED: dict[str, Callable[[str, SourceOptions, Fetched | None], Source]] = {
    Feed.kind: Feed,
    Sitemap.kind: Sitemap,
}
KINDS = (*_LOCAL, *_FETCHED)
"""The values of `--source`."""


def open_source(spec: str, kind: str | None, options: SourceOptions) -> Source:
    """The source at `spec`; without `kind` its kind is detected.

    A URL is fetched for that, and the source reads this response first.

    Raises:
        SourceError: it does not exist, or its kind is unknown.
    """
    if not spec.strip():
        # pathlib would take an empty string for the current folder.
        raise SourceError("The name of a source is empty.", "Name a file, a folder or a URL.")
    options.check_selectors()
    if is_url(spec) or "://" in spec:
        check_url(spec)
    else:
        try:
            os.scandir(spec).close()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            refuse_folder(error)
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
        raise SourceError(f"{kind!r} is not a kind of source.", f"Known are {', '.join(KINDS)}.")
    if is_url(spec):
        raise SourceError(f"{kind} cannot be read from a URL.", "Download it and name the file.")
    return _LOCAL[kind](spec, options)
