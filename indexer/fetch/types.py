"""The values and errors of fetching."""

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from indexer.errors import SourceError


class FetchFailed(SourceError):
    """A URL that could not be fetched; `response_status` is None if there was no response."""

    def __init__(self, url: str, reason: str, remedy: str = "", status: int | None = None) -> None:
        super().__init__(f"{shown(url)}: {reason}.", remedy)
        self.reason = reason
        self.response_status = status


class AddressRefused(SourceError):
    """A host in a private network, while only public addresses may be fetched."""

    def __init__(self, host: str, address: str) -> None:
        resolved = host if address == host.strip("[]") else f"{host} resolves to {address}, which"
        super().__init__(
            f"{resolved} is not a public address.",
            "Allow private addresses with BLOGSEARCH_FETCH_ALLOW_PRIVATE=on.",
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


def shown(url: str) -> str:
    """A URL as messages may show it: without user name and password, also if it is invalid."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.port != 0:  # a / in a password ends the host and makes an invalid port
            return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch; times in seconds, sizes in bytes.

    `deadline` bounds the requests for one URL, with all its redirects and retries; `max_bytes`
    counts after decompression. After a temporary fault there are up to `retries` more attempts,
    after pauses that double, or as long as a `Retry-After` header says, up to `longest_pause`. The
    part of `user_agent` before its slash is the name looked up in robots.txt.
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
    """A response body. `url` is the final URL, after redirects; `robots` its X-Robots-Tag."""

    url: str
    body: bytes
    content_type: str = ""
    robots: str = ""
