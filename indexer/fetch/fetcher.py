"""The HTTP client: retries, redirects, limits of time and size."""

from http.cookiejar import DefaultCookiePolicy
from typing import Self
from urllib.parse import urldefrag

from requests import RequestException, Response, Session
from requests.exceptions import SSLError, TooManyRedirects
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError

from indexer.fetch.transport import Limits, PublicAdapter, limited
from indexer.fetch.types import Fetched, FetchFailed, FetchOptions, check_url

_CHUNK = 1 << 16
_LATE = "the response was incomplete when its time was up"


class Fetcher:
    """A session of requests; safe to use from several threads.

    Ignores proxies, `.netrc` and cookies: those are the user's, and a blog's server must not see
    them.
    """

    def __init__(self, options: FetchOptions) -> None:
        self.options = options
        self._session = Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self._session.max_redirects = options.max_redirects
        self._session.headers["User-Agent"] = options.user_agent
        self._session.headers["Accept-Encoding"] = "gzip, deflate"
        adapter = PublicAdapter(options)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def get(self, url: str) -> Fetched:
        """Fetch `url`.

        Raises:
            FetchFailed: no response in time, an error status, too large, too many redirects.
            AddressRefused: an address in a private network.
        """
        check_url(url)
        timeouts = (self.options.connect_timeout, self.options.read_timeout)
        with limited(self.options) as limits:
            try:
                with self._session.get(url, stream=True, timeout=timeouts) as response:
                    if response.status_code != 200:
                        raise _status_error(url, response)
                    body = _body(url, response, self.options.max_bytes)
            except (RequestException, HTTPError, ValueError) as error:
                raise _failure(url, error, limits) from error
            if limits.is_over:  # a body without a length just ends
                raise FetchFailed(url, _LATE)
        return Fetched(
            url=urldefrag(response.url).url,
            body=body,
            content_type=response.headers.get("Content-Type", ""),
            robots=response.headers.get("X-Robots-Tag", ""),
        )


def _body(url: str, response: Response, max_bytes: int) -> bytes:
    """The decompressed body.

    Raises:
        FetchFailed: more than `max_bytes`.
        RequestException: a broken connection or an invalid encoding.
    """
    too_large = FetchFailed(url, f"more than {max_bytes:,} bytes", "Split it, or leave it out.")
    announced = response.headers.get("Content-Length", "").strip()
    if announced.isdigit() and int(announced[:20]) > max_bytes:
        raise too_large
    body = bytearray()
    for chunk in response.iter_content(_CHUNK):
        body += chunk
        if len(body) > max_bytes:
            raise too_large
    return bytes(body)


def _status_error(url: str, response: Response) -> FetchFailed:
    answer = f"the server answered {response.status_code} {response.reason or ''}".strip()
    remedy = "Check the URL." if response.status_code in (404, 410) else ""
    return FetchFailed(url, answer, remedy, status=response.status_code)


def _failure(url: str, error: Exception, limits: Limits) -> FetchFailed:
    """What the exceptions of requests and urllib3 mean."""
    inner: BaseException = error
    while nested := inner.__cause__ or inner.__context__:
        inner = nested
    cause = f"{type(inner).__name__}: {inner}" if str(inner) else type(inner).__name__
    tried = error.args[0] if error.args else None
    if limits.is_over:
        return FetchFailed(url, _LATE)
    if isinstance(error, TooManyRedirects):
        return FetchFailed(url, "redirects too often", "Use the final URL.")
    if isinstance(error, SSLError):
        remedy = "Check the server's certificate, and that it speaks TLS on this port."
        return FetchFailed(url, f"TLS failed: {cause}", remedy)
    if isinstance(error, ValueError):
        return FetchFailed(url, f"the request failed: {error}")
    if isinstance(tried, MaxRetryError) and isinstance(tried.reason, ConnectTimeoutError):
        return FetchFailed(url, f"no connection: {cause}", "Check the host and the port.")
    return FetchFailed(url, f"the response is incomplete: {cause}")
