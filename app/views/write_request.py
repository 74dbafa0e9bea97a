"""Checks of a write request: its token and its body."""

import hmac
import logging
import time
from collections.abc import Sequence
from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import BadRequest, TooLarge, Unauthorized, WritesClosed, WrongToken
from app.settings import Settings

MAX_DOCUMENTS = 10_000
"""Posts and comments in one request: a worker answers nothing else while it validates them."""
MAX_BYTES = 10_000_000
"""The largest body: a worker holds it in memory, and a larger one can be sent in parts."""

_WRONG_TOKEN_DELAY = 0.5  # seconds; slows down guessing

log = logging.getLogger(__name__)


def authorize(request: Request, settings: Settings, closed: str = "Writing over HTTP") -> None:
    """Check that a request has a token that may write; `closed` is what is closed without one.

    Raises:
        WritesClosed, Unauthorized: no token is set, or was sent.
        WrongToken: it is unknown, which is logged and takes a while.
    """
    _authorize(request, settings.accepted_tokens, closed, "BLOGSEARCH_WRITE_TOKENS")


def authorize_metrics(request: Request, settings: Settings) -> None:
    """Check that a request has the token for `/metrics`, or one that may write; raises the same."""
    tokens = tuple(filter(None, (settings.metrics_token, *settings.accepted_tokens)))
    _authorize(request, tokens, "/metrics", "BLOGSEARCH_METRICS_TOKEN")


def _authorize(request: Request, tokens: Sequence[str], what: str, setting: str) -> None:
    if not tokens:
        raise WritesClosed(
            f"{what} is closed. Set {setting} to a long random string (`openssl rand -hex 32`), "
            "restart the service, and send it as `Authorization: Bearer …`."
        )
    if not sent_token(request):
        raise Unauthorized(f"Send the token of {setting}: `Authorization: Bearer …`.")
    if not _has_one(request, tokens):
        log.warning("a wrong token was sent by %s", request.remote_addr)
        time.sleep(_WRONG_TOKEN_DELAY)
        raise WrongToken(f"The token is not that of {setting}.")


def is_operator(request: Request, settings: Settings) -> bool:
    """Whether a request has a token that may write."""
    return _has_one(request, settings.accepted_tokens)


def _has_one(request: Request, tokens: Sequence[str]) -> bool:
    sent = sent_token(request).encode()
    # Compares all of them, so that the time does not depend on which one matches.
    matching = [hmac.compare_digest(sent, token.encode()) for token in tokens]
    return any(matching)


def sent_token(request: Request) -> str:
    """The token of a request, right or wrong; "" if none was sent."""
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    return sent.strip() if scheme.lower() == "bearer" else ""


def read_entries(request: Request) -> list[Any]:
    """The entries of the body: one, or those of an array.

    Raises:
        BadRequest: not JSON, incomplete, or of another type.
        TooLarge: larger than `MAX_BYTES`, or more than `MAX_DOCUMENTS`.
    """
    if request.mimetype != "application/json":
        raise BadRequest(
            f"The Content-Type {request.mimetype or '(none)'} is not supported. Send "
            "application/json: one document or an array."
        )
    try:
        content = orjson.loads(read_body(request, MAX_BYTES))
    except orjson.JSONDecodeError as error:
        complaint = {"line": error.lineno, "column": error.colno, "message": error.msg}
        raise BadRequest(f"The body is not JSON: {error}.", details=[complaint]) from None
    entries = content if isinstance(content, list) else [content]
    if not entries:
        raise BadRequest("The body has no document.")
    comments = (entry.get("comments") for entry in entries if isinstance(entry, dict))
    if len(entries) + sum(len(of) for of in comments if isinstance(of, list)) > MAX_DOCUMENTS:
        raise TooLarge(
            f"The body has more than {MAX_DOCUMENTS:,} posts and comments. Send it in parts."
        )
    return entries


def read_body(request: Request, most: int) -> bytes:
    """The body of a request, not parsed.

    Raises:
        BadRequest: it is empty or incomplete.
        TooLarge: it has more than `most` bytes.
    """
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
    return body
