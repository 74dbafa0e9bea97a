"""Progress of a long operation, as reported to its caller."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["reading", "copying", "adding", "verifying", "replaying", "swapping", "comparing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The current phase, the documents done in it, and the fraction done (0 to 1) if known."""

    phase: Phase
    done: int = 0
    fraction: float | None = None
    rejected: int = 0


OnProgress = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """Do nothing with it."""
