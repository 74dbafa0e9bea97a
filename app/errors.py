"""The errors that callers are meant to see, each with its HTTP status and its stable code.

A client gets an error as `{"error": {"code": …, "message": …, "details": […]}}`: `message` says
what is wrong and what to do, `details` lists every complaint. Errors of Elasticsearch become errors
of these in `app.engines.elastic.translate_errors`.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from analyzers.errors import BlogsearchError as BlogsearchError
from indexer.errors import NoIndex as NoIndex
from indexer.errors import OutdatedIndex as OutdatedIndex
from indexer.errors import Unavailable as Unavailable


class ErrorDescription(TypedDict):
    """What went wrong; `details` about parameters have `parameter`, `got` and `message`."""

    code: str
    message: str
    details: list[Mapping[str, Any]]


class ErrorAnswer(TypedDict):
    """The body of every error."""

    error: ErrorDescription


class BadSettings(BlogsearchError):
    """A setting in the environment or in blogsearch.toml is invalid; the process does not start."""

    code = "bad_settings"


class FolderUnusable(BlogsearchError):
    """The synonyms folder does not exist, or this process cannot read or change it."""

    code = "folder_unusable"


class BadRequest(BlogsearchError):
    """Parameters or a body are invalid; `details` has every complaint."""

    status = 400
    code = "bad_request"


class Unauthorized(BlogsearchError):
    """No token, or a wrong one."""

    status = 401
    code = "unauthorized"


class WritesClosed(BlogsearchError):
    """A write, or what is for operators, while no token is configured."""

    status = 403
    code = "writes_closed"


class Forbidden(BlogsearchError):
    """A page that is closed, or a form that another site sent."""

    status = 403
    code = "forbidden"


class NotFound(BlogsearchError):
    """There is no such document or URL."""

    status = 404
    code = "not_found"


class Conflict(BlogsearchError):
    """An older version would have overwritten a newer one."""

    status = 409
    code = "conflict"


class TooLarge(BlogsearchError):
    """A body over the configured size."""

    status = 413
    code = "too_large"


class Unprocessable(BlogsearchError):
    """Documents that are valid JSON but not valid posts or comments."""

    status = 422
    code = "unprocessable"


class RateLimited(BlogsearchError):
    """More requests than `rate_limit` allows; `Retry-After` says when to try again."""

    status = 429
    code = "rate_limited"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Busy(Unavailable):
    """This process computes as many searches as it may."""

    code = "busy"
    retry_after = 1
