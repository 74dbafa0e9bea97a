"""Reads the body of an answer: no more of it than is allowed, and not for longer."""

import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from urllib3.exceptions import HTTPError

from indexer.fetched import Fetched, FetchFailed
from indexer.watchdog import ended_after

_CHUNK = 1 << 16
_RAISE = "Raise BLOGSEARCH_FETCH_MAX_BYTES, or leave it out."


def read_body(url: str, response: requests.Response, most: int, deadline: float) -> bytes:
    """The unpacked body; `deadline` is a moment of the monotonic clock.

    Raises:
        FetchFailed: more than `most` bytes, or not all there in time.
        urllib3.exceptions.HTTPError: a broken connection or a damaged encoding.
    """
    announced = response.headers.get("Content-Length", "").strip()
    if announced.isdigit() and int(announced[:20]) > most:
        raise FetchFailed(url, f"more than {most:,} bytes", _RAISE)
    body = bytearray()
    with ended_after(deadline - time.monotonic(), response.raw.shutdown) as late:
        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > most:
                    raise FetchFailed(url, f"more than {most:,} bytes", _RAISE)
        except HTTPError:
            if not late.is_set():
                raise
    if late.is_set():
        raise FetchFailed(url, "not all there when its time was up")
    return bytes(body)


def read_file(url: str, most: int) -> Fetched:
    """What a `file:` address holds."""
    try:
        with Path(url2pathname(urlsplit(url).path)).open("rb") as stream:
            body = stream.read(most + 1)
    except OSError as error:
        raise FetchFailed(url, error.strerror or str(error)) from error
    if len(body) > most:
        raise FetchFailed(url, f"more than {most:,} bytes", _RAISE)
    return Fetched(url, body)
