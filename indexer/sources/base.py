"""What all sources share, and the options of reading."""

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from indexer.addresses import without_tracking
from indexer.errors import SourceError
from indexer.fetch import Fetched, Fetcher, FetchOptions
from indexer.records import Origin, RawPost, Reject, SourceItem
from indexer.sources.files import File, unzipped_bytes

T = TypeVar("T")

UNREAD = "format that is not read"
"""Why a file that seems to be a post is left out whatever the options are."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How to read a source; each source uses what concerns it.

    Args:
        drafts, future: include posts that are not published yet; `now` decides what is future
            (None: when the source is read).
        url_templates: make addresses for Markdown posts, such as `/{year}/{month}/{slug}/`, one
            for each section, which is the first folder of a post's path, and "" for all others.
        site: the URL of the blog's front page, put before paths on the site.
        include, exclude: globs of paths below the content, or on the site that a sitemap is of; in
            `exclude` also CSS selectors, which begin with `.` or `#`, of elements of pages.
        content: a CSS selector of the element with the text of a page.
        fields: names of front-matter fields to look at first for `title`, `summary`, `tags`,
            `categories`, `date` and `language`.
        language: the language of posts that name none.
        max_pages: how many pages of a sitemap are fetched (None: all).
        warn: called with what cannot be followed in a source.
    """

    drafts: bool = False
    future: bool = False
    now: datetime | None = None
    url_templates: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = ""
    site: str = ""
    content: str = ""
    fetch: FetchOptions = field(default_factory=FetchOptions)
    max_pages: int | None = None
    warn: Callable[[str], None] = lambda message: None

    def template_for(self, section: str) -> str:
        """The URL template of a section."""
        return self.url_templates.get(section, self.url_templates.get("", ""))

    def excludes(self, path: str) -> bool:
        """Whether `include` and `exclude` leave a file out; `path` is below the content."""
        if any(fnmatchcase(path, pattern) for pattern in self.exclude):
            return True
        return bool(self.include) and not any(map(partial(fnmatchcase, path), self.include))

    def check_selectors(self) -> None:
        """Check `content` and the CSS selectors in `exclude`.

        Raises:
            SourceError: a selector is invalid.
        """
        page = LexborHTMLParser("")
        for selector in filter(None, (self.content, *self.selectors())):
            try:
                page.css(selector)
            except SelectolaxError:
                remedy = "Write one such as `article`, `.post` or `#content`."
                raise SourceError(f"{selector!r} is not a CSS selector.", remedy) from None

    def selectors(self) -> tuple[str, ...]:
        """The CSS selectors in `exclude`."""
        return tuple(pattern for pattern in self.exclude if pattern.startswith((".", "#")))

    def moment(self) -> datetime:
        """The moment after which a post is in the future."""
        return self.now or datetime.now(UTC)


def is_url(spec: str) -> bool:
    """Whether it is a URL, and not the name of a file."""
    return spec.lower().startswith(("http://", "https://"))


def bare_host(netloc: str) -> str:
    """A host without `www.` before it."""
    return netloc.lower().removeprefix("www.")


def is_valid_url(url: str) -> bool:
    """Whether a URL, or a path on a site, can be parsed; `http://[::1` cannot."""
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def completed(post: RawPost, options: SourceOptions) -> RawPost:
    """The post with the URL of the site before a path on it, and with a language if it has none."""
    language = post.language or options.language or post.language
    url, image = _on_site(post.url, options), _on_site(post.image, options)
    url = without_tracking(url) if isinstance(url, str) else url
    is_complete = (url, image, language) == (post.url, post.image, post.language)
    return post if is_complete else replace(post, url=url, image=image, language=language)


def _on_site(url: Any, options: SourceOptions) -> Any:
    if options.site and isinstance(url, str) and url.startswith("/") and not url.startswith("//"):
        return f"{options.site.rstrip('/')}{url}"
    return url


def image_of(stated: Any) -> str | None:
    """The image that a page or its front matter states: a URL or a path on the site, a table with
    one, or a list of them. None for anything else, such as a file beside the post: only the
    generator knows its address."""
    if isinstance(stated, list):
        stated = next(iter(stated), None)
    if isinstance(stated, Mapping):
        stated = next(filter(None, map(stated.get, ("src", "url", "path", "image"))), None)
    if not isinstance(stated, str) or not is_valid_url(stated.strip()):
        return None
    url = stated.strip()
    on_site = url.startswith("/") and not url.startswith("//")
    return url if on_site or (is_url(url) and urlsplit(url).netloc) else None


def unexpected(error: Exception, origin: Origin, oid: str | None) -> Reject:
    """The Reject for an unexpected error while one file, page or entry is read.

    One of them must not end the run, and the message must say which it was.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
    reason = f"unexpected {type(error).__name__} in {where}: {error!s:.200}"
    return Reject(origin, oid, reason, "Report it as a bug, with what was read.")


class Source(ABC):
    """A stream of posts from one place.

    Args:
        spec: the place as the user named it.
        fetched: the response by which its kind was detected; it is read once.
    """

    kind: ClassVar[str]
    """The value of `--source`."""
    is_remote: ClassVar[bool] = False
    """Whether it may be read from a URL."""
    is_folder: ClassVar[bool] = False
    """Whether it is a folder, so that standard input cannot have it."""

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        self.spec = spec
        self._options = options
        self._fetched = fetched

    @abstractmethod
    def read(self) -> Iterator[SourceItem]:
        """Every post, or why something is not one; only one at a time is in memory.

        Raises:
            SourceError: also in mid-stream, when the rest cannot be read. A source never just
                ends early, because the caller would take what is missing for removed.
        """

    def _content(self, place: str, fetcher: Fetcher) -> Fetched:
        """The decompressed content of a file or a URL.

        Raises:
            SourceError: it cannot be read or fetched, or is too large.
        """
        most = self._options.fetch.max_bytes
        if not is_url(place):
            return Fetched(place, File(place).content(most))
        page, self._fetched = self._fetched or fetcher.get(place), None
        return replace(page, body=unzipped_bytes(page.body, page.url, most))

    def _each(
        self,
        entries: Sequence[T],
        item_of: Callable[[T], SourceItem],
        name_of: Callable[[T], tuple[Origin, str | None]],
    ) -> Iterator[SourceItem]:
        """The item of each entry; an unexpected error is a reject, and does not end the run.

        Args:
            name_of: an entry's origin, and its oid if that is certain.
        """
        for entry in entries:
            try:
                yield item_of(entry)
            except SourceError:
                raise
            except Exception as error:  # noqa: BLE001 - see above
                yield unexpected(error, *name_of(entry))
