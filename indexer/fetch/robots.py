"""robots.txt (RFC 9309)."""

from threading import Lock
from urllib.parse import urlsplit

from protego import Protego

from indexer.fetch.fetcher import Fetcher
from indexer.fetch.types import FetchFailed

_MAX_DELAY = 10.0
_DISALLOW_ALL = "User-agent: *\nDisallow: /"


class Robots:
    """The rules of each site, fetched once."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._agent = fetcher.options.user_agent.partition("/")[0].strip()
        self._rules: dict[str, Protego] = {}
        self._lock = Lock()

    def allows(self, url: str) -> bool:
        """Whether this URL may be fetched; `file:` URLs have no robots.txt."""
        return url.startswith("file:") or self._of(url).can_fetch(url, self._agent)

    def delay(self, url: str) -> float:
        """Seconds to wait between two requests to this site, at most 10."""
        wanted = None if url.startswith("file:") else self._of(url).crawl_delay(self._agent)
        return min(_MAX_DELAY, wanted or 0.0)

    def _of(self, url: str) -> Protego:
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if site not in self._rules:
                self._rules[site] = Protego.parse(self._text(f"{site}/robots.txt"))
            return self._rules[site]

    def _text(self, url: str) -> str:
        """Without a robots.txt (4xx) everything is allowed; on other errors nothing is."""
        try:
            return self._fetcher.get(url).body.decode("utf-8", "replace")
        except FetchFailed as error:
            return "" if error.status and 400 <= error.status < 500 else _DISALLOW_ALL
