"""Read and check the JSON body of a request."""

from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import BadRequest, TooLarge
from indexer.posts.records import load_json

MAX_DOCUMENTS = 10_000
"""The maximum of posts and comments in a request: a worker is blocked while it validates them."""
MAX_BYTES = 10_000_000
"""The maximum size of a body, which a worker holds in memory; more can be sent in parts."""


def read_entries(request: Request) -> list[Any]:
    """Return the entries of the body: one, or the elements of an array.

    Raises:
        BadRequest: the body is not JSON, empty or incomplete, or the Content-Type another one.
        TooLarge: it has more than `MAX_BYTES` or `MAX_DOCUMENTS`.
    """
    content = read_json(request, MAX_BYTES)
    entries = content if isinstance(content, list) else [content]
    if not entries:
        raise BadRequest("The body has no document.")
    comments = (entry.get("comments") for entry in entries if isinstance(entry, dict))
    if len(entries) + sum(len(of) for of in comments if isinstance(of, list)) > MAX_DOCUMENTS:
        raise TooLarge(
            f"The body has more than {MAX_DOCUMENTS:,} posts and comments. Send it in parts."
        )
    return entries


def read_json(request: Request, most: int) -> Any:
    """Parse the JSON body of a request.

    Raises:
        BadRequest: it is empty, incomplete, or not JSON, or the Content-Type is another one.
        TooLarge: it has more than `most` bytes.
    """
    if request.mimetype != "application/json":
        kind = request.mimetype or "(none)"
        raise BadRequest(f"The Content-Type {kind} is not supported. Send application/json.")
    request.max_content_length = most + 1  # Werkzeug truncates a chunked body silently
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        body = None
    except Exception:  # noqa: BLE001 - each server has errors of its own for invalid chunks
        body = b""
    if body is None or len(body) > most:
        raise TooLarge(f"The body has more than {most:,} bytes. Send it in parts.")
    if len(body) < (request.content_length or 1):
        raise BadRequest("The body is empty or incomplete. Nothing was written.")
    try:
        return load_json(body)
    except orjson.JSONDecodeError as error:
        complaint = {"line": error.lineno, "column": error.colno, "message": error.msg}
        raise BadRequest(f"The body is not JSON: {error}.", details=[complaint]) from None
