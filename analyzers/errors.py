"""The root of the error tree (`app.errors` has the service's errors), and findings about rule
files: one per problem, with its place and its remedy."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

Severity = Literal["error", "warning"]


class BlogsearchError(Exception):
    """An error for users to see; its text is `message`, then `remedy`.

    Args:
        message: what is wrong.
        remedy: what to do about it.
        details: every complaint, for errors that have several.
    """

    status: int = 500  # the HTTP status if a request ends with this error
    code: ClassVar[str] = "internal"  # a stable name, for programs
    retry_after: int | None = None  # seconds; None if the request must change first

    def __init__(
        self, message: str, remedy: str = "", details: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.details = list(details)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a rule file. A file with an error cannot be used, one with a warning can.

    `file` is the file's name without its folder; `line` is 0 if the finding is about the whole
    file. `code` is stable and meant for scripts.
    """

    file: str
    line: int
    severity: Severity
    code: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {self.message} {self.remedy} [{self.code}]"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON, one key per field."""
        return asdict(self)


class InvalidLine(Exception):
    """A line that cannot be read. The arguments are code, message and remedy of its finding."""


def shorten(text: str) -> str:
    """Shorten a text for a message, to at most 60 characters."""
    return text if len(text) <= 60 else f"{text[:59]}…"
