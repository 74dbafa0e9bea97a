"""What a long operation tells while it runs, and what it did in the end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["reading", "copying", "adding", "verifying", "catching up", "swapping", "comparing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an operation stands: documents done, and which part (0 to 1) where that is known."""

    phase: Phase
    done: int = 0
    part: float | None = None
    rejected: int = 0


Report = Callable[[Progress], None]


def in_silence(_: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Documents of each kind."""

    posts: int = 0
    comments: int = 0

    @property
    def total(self) -> int:
        """Documents of either kind."""
        return self.posts + self.comments

    def __str__(self) -> str:
        return f"{self.posts:,} posts and {self.comments:,} comments"


@dataclass(frozen=True, slots=True)
class Built:
    """A generation that went live: its name, what is in it, and what it took the place of.

    `rules` is the digest of its synonym rules, as the cache's generation wants it. `carried` is
    the number of writes that arrived during the build and were carried over.
    """

    index: str
    rules: str
    counts: Counts
    previous: str | None
    carried: int
    seconds: float
    orphans: tuple[str, ...] = ()
