"""Fetches over HTTP: limits of time and size, retries, public addresses only, robots.txt.

with Fetcher(FetchOptions()) as fetcher:
    if Robots(fetcher).allows("https://blog.example.org/a"):
        page = fetcher.get("https://blog.example.org/a")
"""

import ipaddress
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from threading import Lock, Timer
from typing import Any, Self
from urllib.parse import urldefrag, urljoin, urlsplit

from protego import Protego
from requests import PreparedRequest, RequestException, Response, Session
from requests.adapters import HTTPAdapter
from requests.exceptions import SSLError, TooManyRedirects
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NameResolutionError
from urllib3.util.retry import Retry

from indexer.errors import SourceError
from indexer.posts.addresses import hide_credentials

_CHUNK = 1 << 16
_LATE = "the response was not complete within the time limit"
_TEMPORARY = (429, 500, 502, 503, 504)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        # By IANA's registries; Python 3.11 counts them as global.
        *("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "64:ff9b:1::/48", "5f00::/16"),
        *("2001::/32", "2002::/16", "fec0::/10"),  # Teredo, 6to4, site-local
    )
]


class FetchFailed(SourceError):
    """A URL that could not be fetched; `response_status` is None if there was no response."""

    def __init__(self, url: str, reason: str, remedy: str = "", status: int | None = None) -> None:
        super().__init__(f"{hide_credentials(url)}: {reason}.", remedy)
        self.reason = reason
        self.response_status = status


class AddressRefused(SourceError):
    """A host in a private network, which may not be fetched."""

    def __init__(self, host: str, address: str) -> None:
        resolved = host if address == host.strip("[]") else f"{host} resolves to {address}, which"
        super().__init__(
            f"{resolved} is not a public address.",
            "Allow private addresses with BLOGSEARCH_FETCH_ALLOW_PRIVATE=on.",
        )


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch; times in seconds, sizes in bytes.

    `deadline` limits all requests for one URL, with redirects and retries; `max_bytes` counts after
    decompression. The part of `user_agent` before the slash is looked up in robots.txt.
    """

    user_agent: str = "blogsearch"
    allow_private: bool = False
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    deadline: float = 60.0
    max_bytes: int = 50_000_000  # the largest sitemap that sitemaps.org allows
    max_redirects: int = 5
    retries: int = 3
    first_pause: float = 0.5
    longest_pause: int = 10
    connections: int = 4


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response. `url` is the final URL, after redirects; names of `headers` are case-insensitive;
    `robots` has one X-Robots-Tag a line."""

    url: str
    body: bytes
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)
    robots: str = field(default="", compare=False)


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


class Fetcher:
    """A session of requests, safe to use from several threads.

    Ignores proxies, `.netrc` and cookies: they are the user's; a blog's server must not see them.
    """

    def __init__(self, options: FetchOptions) -> None:
        self.options = options
        self._session = Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self._session.max_redirects = options.max_redirects
        self._session.headers["User-Agent"] = options.user_agent
        self._session.headers["Accept-Encoding"] = "gzip, deflate"
        adapter = _PublicAdapter(options)
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
        with _limit(self.options) as limits:
            try:
                with self._session.get(url, stream=True, timeout=timeouts) as response:
                    body = _body(url, response, self.options.max_bytes)
            except (RequestException, HTTPError, ValueError) as error:
                raise _failure(url, error, limits) from error
            if limits.is_over:  # a body without a length just ends
                raise FetchFailed(url, _LATE)
        return Fetched(
            url=urldefrag(response.url).url,
            body=body,
            content_type=response.headers.get("Content-Type", ""),
            headers=response.headers,
            robots="\n".join(response.raw.headers.getlist("X-Robots-Tag")),
        )


def _body(url: str, response: Response, max_bytes: int) -> bytes:
    """Return the decompressed body."""
    status = response.status_code
    if status != 200:
        reason = f"the server answered {status} {response.reason or ''}".strip()
        raise FetchFailed(url, reason, "Check the URL." if status in (404, 410) else "", status)
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


def _failure(url: str, error: Exception, limits: "_Limits") -> FetchFailed:
    """Translate the exceptions of requests and urllib3."""
    inner: BaseException = error
    while nested := inner.__cause__ or inner.__context__:
        inner = nested
    cause = f"{type(inner).__name__}: {inner}".removesuffix(": ")
    if isinstance(inner, socket.gaierror):
        cause = "there is no host of this name"
    tried = error.args[0] if error.args else None
    if limits.is_over:
        return FetchFailed(url, _LATE)
    if isinstance(error, TooManyRedirects):
        return FetchFailed(url, "too many redirects", "Use the final URL.")
    if isinstance(error, SSLError):
        return FetchFailed(url, f"TLS failed: {cause}", "Check the server's certificate.")
    if isinstance(tried, MaxRetryError) and isinstance(tried.reason, ConnectTimeoutError):
        return FetchFailed(url, f"no connection: {cause}", "Check the host and the port.")
    return FetchFailed(url, f"the response is incomplete: {cause}")


# -- connections -----------------------------------------------------------------------------------


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet.

    False for loopback, private, link-local, carrier-grade NAT, multicast and reserved addresses,
    and for IPv6 addresses that embed such an IPv4 address.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.ipv4_mapped
        if inner:
            return is_public(str(inner))
    if any(ip in network for network in _NOT_PUBLIC):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@dataclass
class _Limits:
    """The limits of one fetch, and the socket that it reads from."""

    allow_private: bool
    is_over: bool = False
    reading: socket.socket | None = None


_limits: ContextVar[_Limits] = ContextVar("limits")


@contextmanager
def _limit(options: FetchOptions) -> Iterator[_Limits]:
    """Limit the fetch of this thread inside the block.

    A socket's timeout is not enough: a server that sends one byte now and then never exceeds it.
    """
    limits = _Limits(options.allow_private)

    def end() -> None:
        limits.is_over = True
        if limits.reading is not None:
            with suppress(OSError):  # closed meanwhile; shutdown() of TLS is not safe in threads
                socket.socket.shutdown(limits.reading, socket.SHUT_RDWR)

    timer = Timer(options.deadline, end)
    timer.daemon = True
    timer.start()
    token = _limits.set(limits)
    try:
        yield limits
    finally:
        _limits.reset(token)
        timer.cancel()


class _PublicAdapter(HTTPAdapter):
    """Sends requests inside `_limit`, and retries after temporary faults.

    The address is checked when the connection is made, not when the URL is read: the name could
    resolve to another address in between (DNS rebinding). Each redirect is checked, too.
    """

    def __init__(self, options: FetchOptions) -> None:
        retry = Retry(
            total=options.retries,
            other=0,  # such as an invalid certificate
            status_forcelist=_TEMPORARY,
            raise_on_status=False,
            backoff_factor=options.first_pause,
            retry_after_max=options.longest_pause,
        )
        super().__init__(options.connections, options.connections, max_retries=retry)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        check_url(request.url or "")
        return super().send(request, *args, **kwargs)


class _Connection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        try:
            entries = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, socket.gaierror(str(error))) from error
        addresses = [str(entry[4][0]) for entry in entries]
        refused = next((address for address in addresses if not is_public(address)), None)
        if refused and not _limits.get().allow_private:
            raise AddressRefused(self.host, refused)
        while True:
            self._dns_host = addresses.pop(0)  # the superclass connects to it
            try:
                return super()._new_conn()
            except ConnectTimeoutError:  # also raised for other failures to connect
                if not addresses:
                    raise
            finally:
                self._dns_host = name

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as in urllib3
        limits = _limits.get()
        limits.reading = self.sock
        response = super().getresponse() if not limits.is_over else None
        if response and (limits.is_over or response.status != 200):
            # The body is not needed, and requests would read all of it, however long it is.
            response.close()
            self.close()
        if response is None or limits.is_over:  # a truncated header passes for a whole one
            raise TimeoutError
        return response


class _TLSConnection(_Connection, HTTPSConnection):
    """A `_Connection` over TLS; the certificate is checked against the host name."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


# -- robots.txt ------------------------------------------------------------------------------------


class Robots:
    """The robots.txt rules of each site (RFC 9309), fetched once.

    If robots.txt cannot be fetched, nothing else may be (section 2.3.1.4): every method then raises
    FetchFailed, as that says nothing about a page.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._agent = fetcher.options.user_agent.partition("/")[0].strip()
        self._rules: dict[str, Protego | FetchFailed] = {}
        self._lock = Lock()

    def allows(self, url: str) -> bool:
        """Whether this URL may be fetched."""
        return bool(self._of(url).can_fetch(url, self._agent))

    def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps in the robots.txt of this URL's site."""
        return [urljoin(url, sitemap) for sitemap in self._of(url).sitemaps]

    def _of(self, url: str) -> Protego:
        file = urljoin(url, "/robots.txt")
        with self._lock:
            rules = self._rules.get(file) or self._fetched(file)
            self._rules[file] = rules
        if isinstance(rules, FetchFailed):
            reason = f"{rules.reason}; no page of the site is fetched without its robots.txt"
            raise FetchFailed(file, reason, "Try again later.")
        return rules

    def _fetched(self, file: str) -> Protego | FetchFailed:
        """Fetch robots.txt; without one (4xx, except too many requests), everything is allowed."""
        try:
            return Protego.parse(self._fetcher.get(file).body.decode("utf-8", "replace"))
        except FetchFailed as error:
            status = error.response_status or 0
            is_absent = 400 <= status < 500 and status != HTTPStatus.TOO_MANY_REQUESTS
            return Protego.parse("") if is_absent else error
