"""The values and errors of fetching."""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from indexer.errors import SourceError
from indexer.retry import Retry


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


def shown(url: str) -> str:
    """A URL as messages may show it: without user name and password, also if it is invalid."""
    try:
        parts = urlsplit(url)
        valid = parts.port != 0  # a / in a password ends the host and makes an invalid port
    except ValueError:
        valid = False
    if not valid:
        scheme, separator, rest = url.partition("://")
        return f"{scheme}{separator}{rest.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


_RETRY = Retry(total=5.0, first_pause=0.5)


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch; times in seconds, sizes in bytes.

    `deadline` bounds one URL with all its redirects and retries; `max_bytes` counts after
    decompression. `retry` is the policy for temporary faults; of a `Retry-After` header at most
    `retry_after_max` is honoured. `allow_private` permits private addresses. The
    part of `user_agent` before its slash is the name looked up in robots.txt.
    """

    user_agent: str = "blogsearch"
    allow_private: bool = False
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    deadline: float = 60.0
    max_bytes: int = 50_000_000  # the largest sitemap that sitemaps.org allows
    max_redirects: int = 5
    retry: Retry = _RETRY
    retry_after_max: float = 30.0
    connections: int = 4


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response body. `url` is the final URL, after redirects; `robots` its X-Robots-Tag."""

    url: str
    body: bytes
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    robots: str = ""
