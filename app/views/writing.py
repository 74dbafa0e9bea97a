"""What every write over HTTP has to pass: the token, the parameters, the body."""

import hmac
from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import BadRequest, TooLarge, Unauthorized, WritesClosed
from app.settings import Settings

_NDJSON = {"application/x-ndjson", "application/ndjson", "application/jsonl"}
_REFRESH = {"wait_for", "false"}


def authorize(request: Request, settings: Settings) -> None:
    """Let the request pass, or raise.

    Raises:
        WritesClosed: no token is set.
        Unauthorized: none was sent, or none of ours.
    """
    tokens = [one.strip() for one in settings.write_tokens.get_secret_value().split(",")]
    tokens = [one for one in tokens if one]
    if not tokens:
        raise WritesClosed(
            "Writing over HTTP is closed. Set BLOGSEARCH_WRITE_TOKENS to a long random string "
            "(`openssl rand -hex 32`), restart the service, and send it as "
            "`Authorization: Bearer …`."
        )
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not sent.strip():
        raise Unauthorized("Send a token: `Authorization: Bearer …`.")
    given = sent.strip().encode()
    # All of them are compared, whichever fits: the time taken tells nothing.
    fitting = sum(hmac.compare_digest(given, token.encode()) for token in tokens)
    if not fitting:
        raise Unauthorized("This is none of the tokens in BLOGSEARCH_WRITE_TOKENS.")


def wants_waiting(request: Request) -> bool:
    """Whether the answer is to wait until searches find what was written; the default.

    Raises:
        BadRequest: an unknown parameter or value.
    """
    complaints = [
        {"parameter": name, "message": f"Unknown parameter {name!r}; known is 'refresh'."}
        for name in request.args
        if name != "refresh"
    ]
    value = request.args.get("refresh", "wait_for")
    if value not in _REFRESH or len(request.args.getlist("refresh")) > 1:
        complaints.append(
            {"parameter": "refresh", "message": "refresh is 'wait_for' (the default) or 'false'."}
        )
    if complaints:
        raise BadRequest("The parameters cannot be used.", complaints)
    return value == "wait_for"


def entries(request: Request, settings: Settings) -> list[tuple[int | None, Any]]:
    """What the body holds: one entry, those of an array, or those of NDJSON with their lines.

    Raises:
        BadRequest: not JSON, cut off, or of another type; with every line that is none.
        TooLarge: more than `write_max_bytes`.
    """
    kind = request.mimetype
    if kind not in _NDJSON | {"application/json"}:
        raise BadRequest(
            f"The body is {kind or 'of no type'}; send Content-Type: application/json (one or an "
            "array) or application/x-ndjson (one a line)."
        )
    body = _body(request, settings.write_max_bytes)
    found = _lines(body) if kind in _NDJSON else _json(body)
    if not found:
        raise BadRequest("The body is empty.")
    return found


def _body(request: Request, most: int) -> bytes:
    # One more than allowed: a chunked body is cut off at Werkzeug's limit without a word.
    request.max_content_length = most + 1
    too_large = TooLarge(
        f"The body has more than {most:,} bytes. Send it in parts, or raise "
        "BLOGSEARCH_WRITE_MAX_BYTES."
    )
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        raise too_large from None
    except Exception:  # noqa: BLE001
        # For chunks that are none each server raises errors of its own, gunicorn bare Exceptions.
        raise BadRequest("The body broke off, or its chunks are none; nothing was taken.") from None
    if len(body) > most:
        raise too_large
    if len(body) < (request.content_length or 0):
        # A server hands over what it got before the connection was cut: of NDJSON, a part.
        raise BadRequest(
            f"The body broke off after {len(body):,} of {request.content_length:,} bytes; "
            "nothing was taken."
        )
    return body


def _json(body: bytes) -> list[tuple[int | None, Any]]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        complaint = {"line": error.lineno, "column": error.colno, "message": error.msg}
        raise BadRequest(f"The body is not JSON: {error}.", [complaint]) from None
    return [(None, entry) for entry in found] if isinstance(found, list) else [(None, found)]


def _lines(body: bytes) -> list[tuple[int | None, Any]]:
    complaints: list[dict[str, Any]] = []
    found: list[tuple[int | None, Any]] = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append((number, orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            complaints.append({"line": number, "message": f"not JSON: {error}"})
    if complaints:
        where = ", ".join(str(one["line"]) for one in complaints[:10])
        raise BadRequest(
            f"{len(complaints):,} lines are not JSON (line {where}); nothing was taken.",
            complaints[:100],
        )
    return found
