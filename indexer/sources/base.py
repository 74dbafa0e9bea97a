"""What every source is, and what it may be told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from indexer.fetch import FetchOptions, Store
from indexer.records import SourceItem


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a user may ask of a source; each source takes what concerns it.

    `drafts` and `future` take posts in that are not out yet; `now` decides what is future (None:
    when the source is read). `url_template` makes addresses for Markdown posts, such as
    `/{year}/{month}/{slug}/`; `site` is the address of the blog's front page, put before paths on
    the site. `store` keeps pages between runs (None: no conditional
    requests). `warn` is called with what cannot be followed in a source.
    """

    drafts: bool = False
    future: bool = False
    now: datetime | None = None
    url_template: str = ""
    site: str = ""
    fetch: FetchOptions = field(default_factory=FetchOptions)
    store: Store | None = None
    warn: Callable[[str], None] = lambda message: None

    def moment(self) -> datetime:
        """The moment after which a post is in the future."""
        return self.now or datetime.now(UTC)


def is_url(spec: str) -> bool:
    """Whether it is something to fetch, and not the name of a file."""
    return spec.lower().startswith(("http://", "https://", "file:"))


class Source(Protocol):
    """Posts from one place, in a stream."""

    @property
    def kind(self) -> str:
        """The name that `--source` takes."""

    @property
    def spec(self) -> str:
        """The place as the user named it."""

    @property
    def progress(self) -> float | None:
        """The part read so far, 0 to 1; None when the whole is not known."""

    def read(self) -> Iterator[SourceItem]:
        """Every post, or why it is none; nothing is kept in memory but the one at hand.

        Raises:
            SourceError: also in mid-stream, when the rest cannot be read. A source never just
                ends early, because the caller would take what is missing for removed.
        """
