"""Defines the errors that clients see, each with its HTTP status and its stable code.

A client gets an error as `{"error": {"code": …, "message": …, "details": […]}}`: `message` says
what is wrong and what to do, `details` lists every complaint. `translate_errors` in
`app.engines.elastic` translates errors of Elasticsearch into these.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from analyzers.errors import BlogsearchError as BlogsearchError
from indexer.errors import NoIndex as NoIndex
from indexer.errors import OutdatedIndex as OutdatedIndex
from indexer.errors import Unavailable as Unavailable


class ErrorDescription(TypedDict):
    """A description of an error; `details` about parameters have `parameter`, `got`, `message`."""

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
    """The token is missing or wrong."""

    status = 401
    code = "unauthorized"


class WritesClosed(BlogsearchError):
    """A write, or a request for operators, while no token is configured."""

    status = 403
    code = "writes_closed"


class Forbidden(BlogsearchError):
    """Another site sent the request."""

    status = 403
    code = "forbidden"


class NotFound(BlogsearchError):
    """The document or URL does not exist."""

    status = 404
    code = "not_found"


class Conflict(BlogsearchError):
    """An older version would have overwritten a newer one."""

    status = 409
    code = "conflict"


class TooLarge(BlogsearchError):
    """The body is larger than the configured size."""

    status = 413
    code = "too_large"


class Unprocessable(BlogsearchError):
    """Documents are valid JSON, but not valid posts or comments."""

    status = 422
    code = "unprocessable"


class RateLimited(BlogsearchError):
    """The client sent more requests than `rate_limit` allows; see `Retry-After`."""

    status = 429
    code = "rate_limited"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Busy(Unavailable):
    """This process already computes its maximum number of searches."""

    code = "busy"
    retry_after = 1
