"""Checks, compares and displays URLs."""

import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

MAX_URL = 2_000
_LONGEST_URL = 10_000  # characters of a URL that is parsed

_COUNTING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|twclid|yclid|igshid|mc_[ce]id|mkt_tok|"
    r"_hsenc|_hsmi|ref_src)=|source=rss\b",
    re.IGNORECASE,
)
_FEED_FRAGMENT = re.compile(r"(?:atom|rss)(?:-|$)|utm_")
_BEFORE_HOST = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)
_INDEX = re.compile(r"(?:(?<![^/])index)?+\.html?$")
_FILE = re.compile(r"(?:(?<![^/])_?index)?+\.(?:html?|mdx?)$")
_NOT_IN_HOST = re.compile(r"[\s%\"<>\\^`{|}]")


def is_address(url: str) -> bool:
    """Whether it is a path on a site, or a URL for a browser, without user name and password."""
    if url.startswith("/"):
        return not url.startswith("//")
    try:
        parts = urlsplit(url)
        is_open = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    return is_open and parts.scheme in ("http", "https") and not _NOT_IN_HOST.search(parts.netloc)


def only_counts(name: str) -> bool:
    """Whether a query parameter only counts visitors, or evades a cache, as `_` does."""
    return name == "_" or _COUNTING.match(f"{name}=") is not None


def without_tracking(url: str) -> str:
    """Remove parameters that only count visitors: `?utm_source=x`, `?fbclid=x`, `#atom-everything`.

    Other parameters and fragments may identify a post, and stay.
    """
    if "?" not in url and "#" not in url:
        return url
    rest, _, fragment = url.partition("#")
    path, _, query = rest.partition("?")
    kept = "&".join(part for part in query.split("&") if not _COUNTING.match(part))
    if _FEED_FRAGMENT.match(fragment):
        fragment = ""
    return f"{path}{'?' * bool(kept)}{kept}{'#' * bool(fragment)}{fragment}"


def is_url(spec: str) -> bool:
    """Whether it is a URL, and not a file name."""
    return spec.lower().startswith(("http://", "https://"))


def is_valid_url(url: str) -> bool:
    """Whether a URL, or a path on a site, can be parsed; `http://[::1` cannot.

    Very long URLs are not parsed: Python normalises the host in quadratic time.
    """
    try:
        return len(url) <= _LONGEST_URL and bool(urlsplit(url))
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Return the host and port of a URL without `www.`; "" if it has none or is invalid."""
    return urlsplit(url).netloc.lower().removeprefix("www.") if is_valid_url(url) else ""


def is_path(url: Any) -> bool:
    """Whether it is a path on the site."""
    return isinstance(url, str) and url.startswith("/") and not url.startswith("//")


def is_local(url: str) -> bool:
    """Whether a URL leads to the machine that built the site, which nobody else can reach."""
    host = (urlsplit(url).hostname or "") if url.startswith("http") else ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.endswith((".local", ".localhost", ".internal")) or host == "localhost"


def address_of(url: str) -> str:
    """Return what all spellings of a page's URL have in common: `blog.example.org/posts/a`; a path
    on the site (`/posts/a`) gets no host."""
    url = without_tracking(url)
    before = _BEFORE_HOST.match(url)
    host, slash, path = url[before.end() if before else 0 :].partition("/")
    path = unquote(_INDEX.sub("", path)).rstrip("/")
    return f"{host.lower()}{slash}{path}"[:MAX_URL]


def slug_of(address: str) -> str:
    """Return the last part of an address without a file extension: `a` of
    `blog.example.org/posts/a`; "" for the front page of a site."""
    path = _FILE.sub("", address).rstrip("/")
    return path.partition("/")[2].rpartition("/")[2].lower()


def absolute(url: str | None, base: str) -> str:
    """Return the absolute URL of a post; "" if it is not one of the web, such as `javascript:`."""
    if not url or is_url(url):
        return url or ""
    try:
        address = urljoin(base, url)
    except ValueError:  # such as an invalid IPv6 host
        return ""
    return address if is_url(address) else ""


def hide_credentials(url: str) -> str:
    """Remove user name and password from a URL for messages, even if it is invalid."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.port != 0:  # a / in a password ends the host and makes an invalid port
            return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def without_password(url: str) -> str:
    """Remove user name, password and parameters from a URL for errors and logs.

    Also right for an unescaped / in the password; "the URL" if the secret part is unclear.
    """
    scheme, separator, rest = url.strip().partition("://")
    before, _, shown = rest.rpartition("@")
    if not separator or "?" in before:
        return "the URL"
    return f"{scheme}{separator}{shown.partition('?')[0]}"
