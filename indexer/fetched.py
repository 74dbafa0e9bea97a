"""What fetching gives and takes: options, a fetched page, where pages are kept, and why not."""

from dataclasses import dataclass
from typing import Protocol

from indexer.errors import SourceError


class FetchFailed(SourceError):
    """One address that could not be fetched; `status` is the server's answer, if it gave one."""

    def __init__(self, url: str, reason: str, remedy: str = "", status: int | None = None) -> None:
        super().__init__(f"{url}: {reason}.", remedy)
        self.reason = reason
        self.status = status


class AddressRefused(SourceError):
    """An address inside the own network, while only public ones may be fetched."""

    def __init__(self, host: str, address: str) -> None:
        means = host if address == host.strip("[]") else f"{host} means {address}, which"
        super().__init__(
            f"{means} is no public address.",
            "Allow addresses inside the own network with BLOGSEARCH_FETCH_ALLOW_PRIVATE=true.",
        )


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch; times in seconds, sizes in bytes.

    `deadline` bounds one address with all its redirects and retries; `max_bytes` counts after
    unpacking. `allow_private` opens `file:` and addresses inside the own network. The first part
    of `user_agent`, up to its slash, is the name that robots.txt is asked about.
    """

    user_agent: str = "blogsearch"
    allow_private: bool = False
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    deadline: float = 60.0
    max_bytes: int = 20_000_000
    max_redirects: int = 5
    retries: int = 3
    backoff: float = 0.5
    retry_after_max: int = 30
    connections: int = 4


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address holds. `url` is where it was found in the end, after redirects."""

    url: str
    body: bytes
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""


class Store(Protocol):
    """Keeps what was fetched, so that an unchanged page need not be sent again.

    Bodies and not validators alone: a source must always yield every post, or the caller would
    take the unchanged ones for removed.
    """

    def get(self, url: str) -> Fetched | None:
        """What was kept for this address."""

    def put(self, url: str, fetched: Fetched) -> None:
        """Keeps it in place of what was kept before."""
