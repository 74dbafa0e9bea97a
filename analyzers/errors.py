"""The root of the error tree; `app.errors` has the errors of the service."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar


class BlogsearchError(Exception):
    """An error that users are meant to see; its text is `message`, then `remedy`.

    Args:
        message: what is wrong.
        remedy: what to do about it.
        details: every complaint, for errors that have several.
    """

    status: ClassVar[int] = 500  # of HTTP, where a request ends with this error
    code: ClassVar[str] = "internal"  # a stable name, for programs
    retry_after: int | None = None  # seconds; None if the request must change first

    def __init__(
        self, message: str, remedy: str = "", details: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.details = list(details)
