"""URLs of posts, in whichever spelling they come."""

import re
from urllib.parse import urlsplit

_COUNTING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|twclid|yclid|igshid|mc_[ce]id|mkt_tok|"
    r"_hsenc|_hsmi|ref_src)=|source=rss\b",
    re.IGNORECASE,
)
_FEED_FRAGMENT = re.compile(r"(?:atom|rss)(?:-|$)|utm_")
_NOT_IN_HOST = re.compile(r"[\s%\"<>\\^`{|}]")


def is_address(url: str) -> bool:
    """Whether it is a URL that a browser can open, without a user name or a password, or a path
    on a site."""
    if url.startswith("/"):
        return not url.startswith("//")
    try:
        parts = urlsplit(url)
        is_open = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    return is_open and parts.scheme in ("http", "https") and not _NOT_IN_HOST.search(parts.netloc)


def only_counts(name: str) -> bool:
    """Whether a parameter of a query only counts visitors, or evades a cache, as `_`."""
    return name == "_" or _COUNTING.match(f"{name}=") is not None


def without_tracking(url: str) -> str:
    """The URL without what only counts visitors: `?utm_source=x`, `?fbclid=x`, `#atom-everything`.

    Other parameters and fragments may name a post, and stay.
    """
    rest, _, fragment = url.partition("#")
    path, _, query = rest.partition("?")
    kept = "&".join(part for part in query.split("&") if not _COUNTING.match(part))
    if _FEED_FRAGMENT.match(fragment):
        fragment = ""
    return f"{path}{'?' * bool(kept)}{kept}{'#' * bool(fragment)}{fragment}"
