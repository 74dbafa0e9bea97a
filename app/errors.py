"""The error tree: what may go wrong, with the HTTP status and the stable code on the class.

`message` says what was wrong and what to do; `details` lists every complaint. A client gets them as
`{"error": {"code": …, "message": …, "details": […]}}`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypedDict


class ErrorDescription(TypedDict):
    """What went wrong."""

    code: str
    """A stable name."""
    message: str
    """What was wrong, and what to do."""
    details: list[Mapping[str, Any]]
    """Every complaint; about parameters: `parameter`, `got` and `message`."""


class ErrorAnswer(TypedDict):
    """The body of every error."""

    error: ErrorDescription


class ServiceError(Exception):
    """The base class of every error that callers are meant to see."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"

    def __init__(self, message: str, details: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)

    def body(self) -> ErrorAnswer:
        """The JSON body, the same shape for every error."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class BadSettings(ServiceError):
    """A setting in the environment or in blogsearch.toml is invalid; the process does not start."""

    code = "bad_settings"


class FolderNotReadable(ServiceError):
    """The synonyms folder does not exist or cannot be read."""

    code = "folder_not_readable"


class FolderNotWritable(ServiceError):
    """This process cannot change the synonyms folder."""

    code = "folder_not_writable"


class BadRequest(ServiceError):
    """Parameters or a body are invalid; `details` has every complaint."""

    status = 400
    code = "bad_request"


class Unauthorized(ServiceError):
    """A write without a valid token."""

    status = 401
    code = "unauthorized"


class WritesClosed(ServiceError):
    """A write while no token is configured."""

    status = 403
    code = "writes_closed"


class Forbidden(ServiceError):
    """A page that is closed, or a form that another site sent."""

    status = 403
    code = "forbidden"


class NotFound(ServiceError):
    """There is no such document or URL."""

    status = 404
    code = "not_found"


class NotCounted(ServiceError):
    """Searches are not counted."""

    status = 404
    code = "not_counted"


class Conflict(ServiceError):
    """An older version would have overwritten a newer one."""

    status = 409
    code = "conflict"


class TooLarge(ServiceError):
    """A body over the configured size."""

    status = 413
    code = "too_large"


class Unprocessable(ServiceError):
    """Documents that are valid JSON but not valid posts or comments."""

    status = 422
    code = "unprocessable"


class RateLimited(ServiceError):
    """More requests than `rate_limit` allows; `Retry-After` says when to try again."""

    status = 429
    code = "rate_limited"


class Unavailable(ServiceError):
    """Elasticsearch cannot answer now; `Retry-After` says when to try again."""

    status = 503
    code = "engine_unavailable"
    retry_after = 5  # seconds


class StillComputing(Unavailable):
    """Another request computes the same answer, and takes longer than this one may wait."""

    code = "still_computing"
    retry_after = 1


class Busy(Unavailable):
    """This process computes as many searches as it may."""

    code = "busy"
    retry_after = 1


class NoIndex(Unavailable):
    """Elasticsearch answers, but there is no index yet."""

    code = "no_index"
    retry_after = 30


class OutdatedIndex(Unavailable):
    """The index was built by a version of this service that had other fields."""

    code = "index_outdated"
    retry_after = 30


def without_password(url: str) -> str:
    """A URL without user name, password and parameters, as errors and logs may show it.

    Also right for an invalid URL, such as one with an unescaped / in the password. "the URL" where
    it cannot be told what is secret: a ? before the last @ begins the parameters, or is a part of
    the password.
    """
    scheme, separator, rest = url.strip().partition("://")
    before, _, shown = rest.rpartition("@")
    if not separator or "?" in before:
        return "the URL"
    return f"{scheme}{separator}{shown.partition('?')[0]}"
