"""The look of a blog, for `make run SITE=…`: what its home page says of its name and its colour."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
from selectolax.lexbor import LexborHTMLParser

from devstack.terminal import DevstackError, say

_TIMEOUT_S = 15.0
_SHEETS = 3  # style sheets that are read
# The colours that sites call their own, in the order in which they are trusted.
_ACCENTS = (
    re.compile(
        r"--[\w-]*(?:accent|primary|brand|link)[\w-]*\s*:\s*(#[0-9a-f]{3,8}|rgb\([^)]+\))", re.I
    ),
    re.compile(r"(?<![\w.#-])a(?::link)?\s*\{[^}]*?[;{\s]color\s*:\s*(#[0-9a-f]{3,8})", re.I),
)
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.I)


@contextmanager
def look_of(site: str) -> Iterator[dict[str, str]]:
    """The settings that make the search page look like a blog, for as long as the block runs.

    Raises:
        DevstackError: the home page cannot be fetched.
    """
    if not site.startswith(("http://", "https://")):
        raise DevstackError(f"SITE is {site!r}; it must be a URL such as https://blog.example.org")
    page = _fetched(site)
    tree = LexborHTMLParser(page)
    name = _content(tree, "meta[property='og:site_name']") or _title(tree) or _host(site)
    host = re.sub(r"[^a-z0-9]+", "-", _host(site).lower()).strip("-")
    settings = {
        "BLOGSEARCH_INDEX": f"site-{host}"[:70].strip("-") + "-posts",
        "BLOGSEARCH_SITE_URL": site,
        "BLOGSEARCH_SITE_NAME": name[:80],
    }
    if _is_local(site):
        settings["BLOGSEARCH_FETCH_ALLOW_PRIVATE"] = "on"
    with tempfile.TemporaryDirectory(prefix="blogsearch-look-") as folder:
        if accent := _accent(tree, site):
            style = Path(folder) / "look.css"
            dark = f"color-mix(in srgb, {accent} 55%, white)"
            style.write_text(f":root {{ --accent: light-dark({accent}, {dark}); }}\n")
            settings["BLOGSEARCH_SITE_STYLE"] = str(style)
        say(
            f"the search page gets the name {name!r}"
            + (f" and the colour {accent}" if accent else "")
        )
        yield settings


def _fetched(url: str) -> str:
    try:
        response = requests.get(url, timeout=_TIMEOUT_S, headers={"User-Agent": "blogsearch"})
        response.raise_for_status()
    except requests.RequestException as error:
        raise DevstackError(f"{url} cannot be fetched: {error}") from None
    if "charset" not in response.headers.get("Content-Type", ""):
        response.encoding = "utf-8"  # and not latin-1, as RFC 2616 had it
    return response.text


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return " ".join(title.text().split()) if title else ""


def _content(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get("content") or "").strip() if node else ""


def _host(site: str) -> str:
    return urlsplit(site).hostname or site


def _is_local(site: str) -> bool:
    host = _host(site)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _accent(tree: LexborHTMLParser, site: str) -> str:
    """A colour of the site that is dark enough for links on white; "" if none is found."""
    sheets = [node.text() for node in tree.css("style")]
    links = tree.css("link[rel=stylesheet][href]")[:_SHEETS]
    for link in links:
        try:
            sheets.append(_fetched(urljoin(site, link.attributes["href"] or "")))
        except DevstackError as error:
            say(f"note: {error.message}")
    css = "\n".join(sheets)
    named = [_content(tree, "meta[name=theme-color]")]
    named += [match for pattern in _ACCENTS for match in pattern.findall(css)]
    return next((colour for colour in named if _HEX.fullmatch(colour) and _is_readable(colour)), "")


def _is_readable(colour: str) -> bool:
    """Whether a text of this colour has a contrast of 4.5 with white (WCAG 2), and is no grey."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(part * c for part, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 1.05 / (luminance + 0.05) >= 4.5 and max(channels) - min(channels) > 0.15
