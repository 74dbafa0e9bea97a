"""The base class of all sources, and the options for reading."""

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from indexer.errors import SourceError
from indexer.posts.addresses import is_path, is_url, is_valid_url, without_tracking
from indexer.posts.records import Origin, RawPost, Reject, Skipped, SourceItem
from indexer.sources.fetch import Fetched, Fetcher, FetchOptions
from indexer.sources.files import File, remedy_of, unzip_bytes

T = TypeVar("T")

FOR_MEMBERS = "for members"
_TEMPLATE_FIELDS = ("year", "month", "day", "slug", "path", "section")
UNREAD = "format not supported"
"""The reason for leaving out a file in another format of posts, whatever the options are."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How to read a source, as docs/sources.md explains; each source uses the options it needs.

    `now` decides what is in the future (None: the time of reading). `warn` is called about options
    and settings that cannot be followed.
    """

    drafts: bool = False
    future: bool = False
    now: datetime | None = None
    url_template: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    language: str = ""
    site: str = ""
    content: str = ""
    title: str = ""
    date: str = ""
    tags: str = ""
    fetch: FetchOptions = field(default_factory=FetchOptions)
    max_pages: int | None = None
    warn: Callable[[str], None] = lambda message: None

    def excludes(self, path: str) -> bool:
        """Whether `include` and `exclude` leave a file out; `path` is relative to the content."""
        matches = partial(fnmatchcase, path)
        return any(map(matches, self.exclude)) or not any(map(matches, self.include or ("*",)))

    def check(self) -> None:
        """Check the CSS selectors and the URL template.

        Raises:
            SourceError: one is invalid.
        """
        try:
            self.url_template.format(**dict.fromkeys(_TEMPLATE_FIELDS, ""))
        except (KeyError, ValueError, IndexError, AttributeError):
            known = ", ".join(f"{{{name}}}" for name in _TEMPLATE_FIELDS)
            reason = f"{self.url_template!r} is not a URL template."
            raise SourceError(reason, f"It may contain {known}.") from None
        page = LexborHTMLParser("")
        named = (self.content, self.title, self.date, self.tags, *self.selectors())
        for selector in filter(None, named):
            try:
                page.css(selector)
            except SelectolaxError:
                remedy = "Write one such as `article`, `.post` or `#content`."
                raise SourceError(f"{selector!r} is not a CSS selector.", remedy) from None

    def selectors(self) -> tuple[str, ...]:
        """Return the CSS selectors in `exclude`."""
        return tuple(pattern for pattern in self.exclude if pattern.startswith((".", "#")))

    def moment(self) -> datetime:
        """Return the time after which a post is in the future."""
        return self.now or datetime.now(UTC)


def complete(post: RawPost, options: SourceOptions) -> RawPost:
    """Add the site's URL to the paths of a post, and a language if it has none; remove the category
    that WordPress and others give a post that has none."""
    url = without_tracking(post.url) if isinstance(post.url, str) else post.url
    key = post.translation_key
    if isinstance(key, list):
        key = [_on_site(address, options.site) for address in key]
    categories = post.categories
    if isinstance(categories, list | tuple):
        categories = [name for name in categories if str(name).lower() != "uncategorized"]
    return replace(
        post,
        categories=categories,
        translation_key=key,
        url=_on_site(url, options.site),
        image=_on_site(post.image, options.site),
        language=post.language or options.language or post.language,
    )


def _on_site(url: Any, site: str) -> Any:
    return f"{site.rstrip('/')}{url}" if site and is_path(url) else url


def image_of(stated: Any) -> str | None:
    """Return the stated image: a URL or a path on the site, a table with one, or a list of them.

    None for anything else, such as a file beside the post: only the generator knows its address.
    """
    if isinstance(stated, list):
        stated = next(iter(stated), None)
    if isinstance(stated, Mapping):
        stated = next(filter(None, map(stated.get, ("src", "url", "path", "image"))), None)
    if not isinstance(stated, str) or not is_valid_url(stated.strip()):
        return None
    url = stated.strip()
    return url if is_path(url) or (is_url(url) and urlsplit(url).netloc) else None


def guard(make: Callable[[], SourceItem], origin: Origin, oid: str | None) -> SourceItem:
    """Return what `make` returns; an error in one item is a Reject and does not end the run.

    A post whose text is None is for members (see `own_text`).

    Raises:
        SourceError: the whole source is refused.
    """
    try:
        item = make()
        if isinstance(item, RawPost) and item.text is None:
            return Skipped(origin, item.oid, FOR_MEMBERS, "locked", declared=True)
        return item
    except SourceError:
        raise
    except OSError as error:
        return Reject(origin, oid, error.strerror or str(error), remedy_of(error))
    except Exception as error:  # noqa: BLE001 - see above
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        reason = f"unexpected {type(error).__name__} in {where}: {error!s:.200}"
        return Reject(origin, oid, reason, "Report it as a bug, with the file or page.")


class Source(ABC):
    """A stream of posts from one place, as the user named it.

    `kind` is the value of `--source`. `is_remote`: it may be read from a URL. `has_comments`: it
    has all comments; a missing one was withdrawn. `fetched`, which gave the kind, is read once.
    """

    kind: ClassVar[str]
    is_remote: ClassVar[bool] = False
    is_folder: ClassVar[bool] = False
    has_comments: ClassVar[bool] = False
    stands_in = False
    """Whether it is read in place of its site's API, which is closed now."""
    total: int | None = None
    """The number of entries, once known."""

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        self.spec = spec
        self._options = options
        self._fetched = fetched

    @cached_property
    def _file(self) -> File:
        return File(self.spec)

    @abstractmethod
    def read(self) -> Iterator[SourceItem]:
        """Yield every post, or the reason why something is none; only one at a time is in memory.

        Raises:
            SourceError: the rest cannot be read, also in mid-stream. A source never just ends,
                because the caller would take the missing posts for removed.
        """

    def _content(self, place: str, fetcher: Fetcher) -> Fetched:
        """Return the decompressed content of a file or a URL."""
        most = self._options.fetch.max_bytes
        if not is_url(place):
            return Fetched(place, File(place).content(most))
        page, self._fetched = self._fetched or fetcher.get(place), None
        return replace(page, body=unzip_bytes(page.body, page.url, most))

    def _each(
        self,
        entries: Sequence[T],
        item_of: Callable[[T], SourceItem],
        name_of: Callable[[T], tuple[Origin, str | None]],
    ) -> Iterator[SourceItem]:
        """Yield the item of each entry by `guard`; `name_of` returns its origin and certain oid."""
        for entry in entries:
            yield guard(partial(item_of, entry), *name_of(entry))
