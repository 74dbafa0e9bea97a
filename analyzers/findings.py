"""What is wrong with a file of rules: one finding per problem, with its place and its remedy."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem in a rule file; a file with an error cannot be used, one with a warning can.

    `file` is the file's name without its folder; `line` is 0 when the finding is about the whole
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
        """The finding for JSON, one key per field."""
        return asdict(self)


class InvalidLine(Exception):
    """A line that cannot be read. The arguments are code, message and remedy of its finding."""


def shortened(text: str) -> str:
    """A text as a message quotes it: at most 60 characters."""
    return text if len(text) <= 60 else f"{text[:59]}…"
