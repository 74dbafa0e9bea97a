"""What a check of rule files has to say: one finding a complaint, with its place and its remedy."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One complaint about a rule file.

    `file` is the file's name without its folder, `line` counts from 1 and is 0 when the whole file
    is meant. `code` is stable and meant for scripts; `remedy` says what to write instead. An
    error keeps the file from being used; a warning is something the keeper ought to have seen.
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
        """The finding for JSON, one key a field."""
        return asdict(self)


def error(file: str, line: int, code: str, message: str, remedy: str) -> Finding:
    """A finding that keeps the file from being used."""
    return Finding(file, line, "error", code, message, remedy)


def warning(file: str, line: int, code: str, message: str, remedy: str) -> Finding:
    """A finding that the keeper ought to have seen."""
    return Finding(file, line, "warning", code, message, remedy)
