"""What browsers and CDNs are told: may it be kept, is it still the same, in which coding."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from werkzeug.http import parse_etags

from app.cache.answer import Cached


class RequestHeaders(Protocol):
    """A dict will do; Flask's headers are no Mapping."""

    def get(self, key: str, default: str, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a view sends: 200 with the body, or 304 without one."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def reply(cached: Cached, request: RequestHeaders, max_age: int, stale_for: int) -> Reply:
    """The answer as a client that sent these headers gets it.

    `max_age`: seconds a browser or CDN may use it without asking; `stale_for`: seconds it may go on
    using it while we fail (RFC 5861).
    """
    headers = {
        "ETag": cached.etag,
        "Cache-Control": _cache_control(cached, max_age, stale_for),
        "Vary": "Accept-Encoding",
        "X-Cache": cached.state,
    }
    if parse_etags(request.get("If-None-Match", "")).contains_weak(_opaque(cached.etag)):
        return Reply(304, b"", headers)
    body, coding = cached.payload(request.get("Accept-Encoding", ""))
    headers["Content-Type"] = "application/json"
    if coding:
        headers["Content-Encoding"] = coding
    return Reply(200, body, headers)


def _cache_control(cached: Cached, max_age: int, stale_for: int) -> str:
    """Short, because nobody can recall what a browser keeps when the index is swapped.

    A stale answer has to be asked for again at once: nobody should keep it a minute longer than
    Elasticsearch is gone.
    """
    if cached.state == "STALE" or not max_age:
        return "no-cache"
    return (
        f"public, max-age={max_age}, stale-while-revalidate={max_age}, stale-if-error={stale_for}"
    )


def _opaque(etag: str) -> str:
    return etag.removeprefix("W/").strip('"')
