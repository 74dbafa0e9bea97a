"""robots.txt (RFC 9309)."""

import time
from threading import Lock
from urllib.parse import urlsplit

from protego import Protego

from indexer.fetch.fetcher import Fetcher
from indexer.fetch.types import FetchFailed

_MAX_DELAY = 10.0


class Robots:
    """The rules of each site, fetched once.

    Where robots.txt cannot be fetched nothing else may be (RFC 9309, section 2.3.1.4): that is an
    error, as it says nothing about a page.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._agent = fetcher.options.user_agent.partition("/")[0].strip()
        self._rules: dict[str, Protego | FetchFailed] = {}
        self._turns: dict[str, float] = {}
        self._lock = Lock()

    def allows(self, url: str) -> bool:
        """Whether this URL may be fetched.

        Raises:
            FetchFailed: the site's robots.txt cannot be fetched.
        """
        return bool(self._of(url).can_fetch(url, self._agent))

    def delay(self, url: str) -> float:
        """Seconds to wait between two requests to this site, at most 10.

        Raises:
            FetchFailed: the site's robots.txt cannot be fetched.
        """
        return min(_MAX_DELAY, self._of(url).crawl_delay(self._agent) or 0.0)

    def wait(self, url: str) -> None:
        """Pause as long as the delay between two requests to this site says.

        Raises:
            FetchFailed: the site's robots.txt cannot be fetched.
        """
        if delay := self.delay(url):
            site = urlsplit(url).netloc
            with self._lock:
                turn = max(time.monotonic(), self._turns.get(site, 0.0))
                self._turns[site] = turn + delay
            time.sleep(max(0.0, turn - time.monotonic()))

    def _of(self, url: str) -> Protego:
        parts = urlsplit(url)
        file = f"{parts.scheme}://{parts.netloc}/robots.txt"
        with self._lock:
            if file not in self._rules:
                self._rules[file] = self._fetched(file)
            rules = self._rules[file]
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
