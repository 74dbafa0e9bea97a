"""The HTTP client: retries, redirects, conditional requests, limits of time and size."""

import time
from types import TracebackType
from typing import Self
from urllib.parse import urldefrag, urljoin, urlsplit

from urllib3 import BaseHTTPResponse, Timeout
from urllib3.exceptions import HTTPError, InvalidHeader, LocationValueError, SSLError
from urllib3.exceptions import NewConnectionError as NoConnection
from urllib3.util.retry import Retry as URLLibRetry

from indexer.fetch.page_store import PageStore
from indexer.fetch.transport import cancelled_after, public_pools
from indexer.fetch.types import Fetched, FetchFailed, FetchOptions, shown

_REDIRECTS = (301, 302, 303, 307, 308)
_TEMPORARY = (429, 500, 502, 503, 504)
_MIN_TIMEOUT = 0.01
"""Seconds; urllib3 rejects a timeout of 0."""
_CHUNK = 1 << 16
_TOO_LARGE = "Split it, or leave it out."


class Fetcher:
    """Pools of connections; safe to use from several threads.

    Ignores proxies, `.netrc` and cookies of the environment: those are the user's, and a blog's
    server must not see them.
    """

    def __init__(self, options: FetchOptions, store: PageStore | None = None) -> None:
        self.options = options
        self._store = store
        self._pools = public_pools(
            allow_private=options.allow_private, connections=options.connections
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pools.clear()

    def get(self, url: str) -> Fetched:
        """Fetch `url`.

        Raises:
            FetchFailed: no response in time, an error status, too large, too many redirects.
            AddressRefused: an address in a private network.
        """
        deadline = time.monotonic() + self.options.deadline
        stored = self._store.get(url) if self._store else None
        target, visited = urldefrag(url).url, set[str]()
        while True:
            if target in visited or len(visited) > self.options.max_redirects:
                reason = "redirects in a loop" if target in visited else "redirects too often"
                raise FetchFailed(url, reason, "Use the final URL.")
            visited.add(target)
            check_url(target)
            answer = self._get_with_retries(target, stored, deadline)
            if isinstance(answer, Fetched):
                if self._store and answer is not stored:
                    self._store.put(url, answer)
                return answer
            try:
                target = urldefrag(urljoin(target, answer)).url
            except ValueError:
                raise FetchFailed(url, f"redirects to an invalid URL: {shown(answer)}") from None

    def _get_with_retries(self, url: str, stored: Fetched | None, deadline: float) -> Fetched | str:
        """The page, or the target of a redirect."""
        wanted = 0.0  # the pause that the server asks for

        def wait(seconds: float) -> bool:
            seconds = max(seconds, wanted)
            if is_late := time.monotonic() + seconds > deadline:
                return is_late
            time.sleep(seconds)
            return False

        fault = FetchFailed(url, "it was not requested")
        for _ in self.options.retry.attempts(wait):
            wanted = 0.0
            try:
                response = self._request(url, stored, deadline)
                try:
                    if response.status not in _TEMPORARY:
                        return self._read(url, response, stored, deadline)
                    wanted = min(self.options.retry_after_max, _retry_after(response))
                    fault = _status_error(url, response)
                finally:
                    response.close()
            except SSLError as error:
                remedy = "Check the server's certificate, and that it speaks TLS on this port."
                raise FetchFailed(url, f"TLS failed: {_innermost(error)}", remedy) from error
            except (LocationValueError, ValueError) as error:
                raise FetchFailed(url, f"the request cannot be sent: {error}") from error
            except NoConnection as error:
                remedy = "Check the host and the port."
                fault = FetchFailed(url, f"no connection: {_innermost(error)}", remedy)
            except HTTPError as error:
                fault = FetchFailed(url, f"the response is incomplete: {_innermost(error)}")
        raise fault

    def _request(self, url: str, stored: Fetched | None, deadline: float) -> BaseHTTPResponse:
        headers = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate"}
        headers["User-Agent"] = self.options.user_agent
        if stored and stored.etag:
            headers["If-None-Match"] = stored.etag
        if stored and stored.last_modified:
            headers["If-Modified-Since"] = stored.last_modified
        left = max(_MIN_TIMEOUT, deadline - time.monotonic())
        timeout = Timeout(
            min(left, self.options.connect_timeout), min(left, self.options.read_timeout)
        )
        return self._pools.request(
            "GET",
            url,
            headers=headers,
            timeout=timeout,
            preload_content=False,
            redirect=False,
            retries=False,
        )

    def _read(
        self, url: str, response: BaseHTTPResponse, stored: Fetched | None, deadline: float
    ) -> Fetched | str:
        if response.status in _REDIRECTS and "Location" in response.headers:
            return _utf8(response.headers["Location"])
        if response.status == 304 and stored:
            return stored
        if response.status != 200:
            raise _status_error(url, response)
        return Fetched(
            url=url,
            body=_read_body(url, response, self.options.max_bytes, deadline),
            content_type=response.headers.get("Content-Type", ""),
            etag=response.headers.get("ETag", ""),
            last_modified=response.headers.get("Last-Modified", ""),
            robots=response.headers.get("X-Robots-Tag", ""),
        )


def check_url(url: str) -> None:
    """Check a URL before any request.

    Raises:
        FetchFailed: the URL is invalid, or its scheme is not allowed.
    """
    try:
        parts = urlsplit(url)
        if parts.port == 0:
            raise ValueError
    except ValueError:  # its message may contain a password
        raise FetchFailed(url, "the URL is invalid") from None
    if parts.scheme not in ("http", "https"):
        raise FetchFailed(url, "the scheme is neither http nor https")
    if parts.username is not None or parts.password is not None:
        raise FetchFailed(url, "the URL contains a user name or password", "Remove them.")


def _read_body(url: str, response: BaseHTTPResponse, max_bytes: int, deadline: float) -> bytes:
    """The decompressed body; `deadline` is a time of the monotonic clock.

    Raises:
        FetchFailed: more than `max_bytes`, or incomplete at the deadline.
        urllib3.exceptions.HTTPError: a broken connection or an invalid encoding.
    """
    too_large = FetchFailed(url, f"more than {max_bytes:,} bytes", _TOO_LARGE)
    announced = response.headers.get("Content-Length", "").strip()
    if announced.isdigit() and int(announced[:20]) > max_bytes:
        raise too_large
    body = bytearray()
    with cancelled_after(deadline - time.monotonic(), response.shutdown) as expired:
        try:
            for chunk in response.stream(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > max_bytes:
                    raise too_large
        except HTTPError:
            if not expired.is_set():
                raise
    if expired.is_set():
        raise FetchFailed(url, "the response was incomplete when its time was up")
    return bytes(body)


def _status_error(url: str, response: BaseHTTPResponse) -> FetchFailed:
    answer = f"the server answered {response.status} {response.reason or ''}".strip()
    remedy = "Check the URL." if response.status in (404, 410) else ""
    return FetchFailed(url, answer, remedy, status=response.status)


def _retry_after(response: BaseHTTPResponse) -> float:
    """The seconds that the server asks to wait; 0 if it asks for none."""
    header = response.headers.get("Retry-After", "")
    try:
        return URLLibRetry().parse_retry_after(header) if header else 0.0
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0


def _innermost(error: BaseException) -> str:
    """The root cause, without the exceptions that requests and urllib3 wrap around it."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _utf8(header: str) -> str:
    """Decode a header value as UTF-8; http.client decodes every header as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header
