"""robots.txt (RFC 9309)."""

import time
from threading import Lock
from urllib.parse import urljoin, urlsplit

from protego import Protego

from indexer.fetch.fetcher import Fetcher
from indexer.fetch.types import FetchFailed

_MAX_DELAY = 10.0


class Robots:
    """The rules of each site, fetched once.

    Where robots.txt cannot be fetched nothing else may be (RFC 9309, section 2.3.1.4): every
    method then raises FetchFailed, as that says nothing about a page.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._agent = fetcher.options.user_agent.partition("/")[0].strip()
        self._rules: dict[str, Protego | FetchFailed] = {}
        self._turns: dict[str, float] = {}
        self._lock = Lock()

    def allows(self, url: str) -> bool:
        """Whether this URL may be fetched."""
        return bool(self._of(url).can_fetch(url, self._agent))

    def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the site of this URL names."""
        return [urljoin(url, sitemap) for sitemap in self._of(url).sitemaps]

    def wait(self, url: str) -> None:
        """Pause for the time between two requests that the site asks for, at most 10 s."""
        delay = min(_MAX_DELAY, self._of(url).crawl_delay(self._agent) or 0.0)
        with self._lock:
            turn = max(time.monotonic(), self._turns.get(urlsplit(url).netloc, 0.0))
            self._turns[urlsplit(url).netloc] = turn + delay
        time.sleep(max(0.0, turn - time.monotonic()))

    def _of(self, url: str) -> Protego:
        file = urljoin(url, "/robots.txt")
        with self._lock:
            rules = self._rules.get(file) or self._fetched(file)
            self._rules[file] = rules
        if isinstance(rules, FetchFailed):
            reason = f"{rules.reason}; without it nothing of the site is fetched"
            raise FetchFailed(file, reason, "Try again later.")
        return rules

    def _fetched(self, file: str) -> Protego | FetchFailed:
        """Without a robots.txt (4xx) everything is allowed."""
        try:
            return Protego.parse(self._fetcher.get(file).body.decode("utf-8", "replace"))
        except FetchFailed as error:
            is_absent = error.response_status is not None and 400 <= error.response_status < 500
            return Protego.parse("") if is_absent else error
