"""Fetching over HTTP: patient with a blog's server, and safe from what it may send."""

import time
from http.cookiejar import DefaultCookiePolicy
from types import TracebackType
from typing import Self
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

import requests
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import RequestException, SSLError, Timeout
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError
from urllib3.util.retry import Retry

from indexer.body import read_body, read_file
from indexer.fetched import AddressRefused, Fetched, FetchFailed, FetchOptions, Store
from indexer.guarded import GuardedAdapter

__all__ = ["AddressRefused", "FetchFailed", "FetchOptions", "Fetched", "Fetcher", "Store"]

_REDIRECTS = (301, 302, 303, 307, 308)
_LEAST = 0.01
"""Seconds; a timeout of 0 means another thing."""
_ALLOW = "Allow it with BLOGSEARCH_FETCH_ALLOW_PRIVATE=true."


class Fetcher:
    """One session; may be used by several threads at a time.

    No proxy, no `.netrc` and no cookies: what the environment holds is for its user, not for a
    blog's server.
    """

    def __init__(self, options: FetchOptions, store: Store | None = None) -> None:
        self.options = options
        self._store = store
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.headers["User-Agent"] = options.user_agent
        adapter = GuardedAdapter(
            allow_private=options.allow_private, connections=options.connections
        )
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        self._policy = Retry(
            total=options.retries,
            status_forcelist=(429, 500, 502, 503, 504),
            backoff_factor=options.backoff,
            backoff_jitter=options.backoff / 2,
            retry_after_max=options.retry_after_max,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()

    def get(self, url: str) -> Fetched:
        """What is at `url`.

        Raises:
            FetchFailed: no answer in time, an error for an answer, too large, too many redirects.
            AddressRefused: an address inside the own network.
        """
        deadline = time.monotonic() + self.options.deadline
        stored = self._store.get(url) if self._store else None
        target, been = urldefrag(url).url, set[str]()
        while True:
            if target in been or len(been) > self.options.max_redirects:
                circle = "redirects in a circle" if target in been else "redirects too often"
                raise FetchFailed(url, circle, "Name the address where the page is.")
            been.add(target)
            if _scheme(target, self.options.allow_private) == "file":
                if target != url:
                    raise FetchFailed(url, "redirects to a file")
                return read_file(target, self.options.max_bytes)
            found = self._patiently(target, stored, deadline)
            if isinstance(found, Fetched):
                if self._store and found is not stored:
                    self._store.put(url, found)
                return found
            target = urldefrag(urljoin(target, found)).url

    def _patiently(self, url: str, stored: Fetched | None, deadline: float) -> Fetched | str:
        """The page, or where it has gone; asks again after a fault that may pass."""
        policy = self._policy
        while True:
            pause = None
            try:
                with self._ask(url, stored, deadline) as response:
                    if not policy.is_retry("GET", response.status_code):
                        return self._taken(url, response, stored, deadline)
                    pause = _retry_after(policy, response)
                    fault = _refusal(url, response)
            except SSLError as error:
                raise FetchFailed(url, f"no safe connection: {_innermost(error)}") from error
            except (NoConnection, Timeout, HTTPError) as error:
                fault = FetchFailed(url, f"no whole answer: {_innermost(error)}")
            except (RequestException, ValueError) as error:
                raise FetchFailed(url, f"cannot be asked: {error}") from error
            try:
                policy = policy.increment("GET", url, error=fault)
            except MaxRetryError:
                raise fault from None
            pause = policy.get_backoff_time() if pause is None else pause
            if time.monotonic() + pause > deadline:
                raise fault
            time.sleep(pause)

    def _ask(self, url: str, stored: Fetched | None, deadline: float) -> requests.Response:
        headers = {"Accept-Encoding": "gzip, deflate"}
        if stored and stored.etag:
            headers["If-None-Match"] = stored.etag
        if stored and stored.last_modified:
            headers["If-Modified-Since"] = stored.last_modified
        left = max(_LEAST, deadline - time.monotonic())
        timeout = (min(left, self.options.connect_timeout), min(left, self.options.read_timeout))
        return self._session.get(
            url, headers=headers, timeout=timeout, stream=True, allow_redirects=False
        )

    def _taken(
        self, url: str, response: requests.Response, stored: Fetched | None, deadline: float
    ) -> Fetched | str:
        if response.status_code in _REDIRECTS and "Location" in response.headers:
            return _utf8(response.headers["Location"])
        if response.status_code == 304 and stored:
            return stored
        if response.status_code != 200:
            raise _refusal(url, response)
        return Fetched(
            url=url,
            body=read_body(url, response, self.options.max_bytes, deadline),
            content_type=response.headers.get("Content-Type", ""),
            etag=response.headers.get("ETag", ""),
            last_modified=response.headers.get("Last-Modified", ""),
        )


def _scheme(url: str, allow_private: bool) -> str:
    """Refuses what is no address of a page, before anything is asked."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise FetchFailed(url, f"no address: {error}") from error
    if parts.scheme == "file" and not allow_private:
        raise FetchFailed(url, "files are not fetched", _ALLOW)
    if parts.scheme not in ("http", "https", "file"):
        raise FetchFailed(url, "neither http nor https")
    if parts.username is not None or parts.password is not None:
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        raise FetchFailed(bare, "an address with a name and password in it", "Leave them out.")
    return parts.scheme


def _refusal(url: str, response: requests.Response) -> FetchFailed:
    answer = f"answered {response.status_code} {response.reason or ''}".strip()
    return FetchFailed(url, answer, status=response.status_code)


def _retry_after(policy: Retry, response: requests.Response) -> float | None:
    try:
        return policy.get_retry_after(response.raw)
    except (InvalidHeader, ValueError, OverflowError):
        return None


def _innermost(error: BaseException) -> str:
    """The fault itself, out of the layers that each library puts around it."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _utf8(header: str) -> str:
    """A header as its server meant it; http.client reads every header as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header
