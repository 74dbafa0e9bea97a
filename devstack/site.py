"""Derive the settings for `make run SITE=…` from a blog: its name, and a separate index."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import requests
from selectolax.lexbor import LexborHTMLParser

from devstack.terminal import DevstackError, say

_TIMEOUT_S = 15.0


def settings_of(site: str) -> dict[str, str]:
    """Return the settings of the service for a blog, from its home page.

    Raises:
        DevstackError: the home page cannot be fetched.
    """
    if not site.startswith(("http://", "https://")):
        raise DevstackError(f"SITE is {site!r}; it must be a URL such as https://blog.example.org")
    tree = LexborHTMLParser(_fetched(site))
    host = urlsplit(site).hostname or site
    name = _content(tree, "meta[property='og:site_name']") or _title(tree) or host
    slug = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")
    say(f"the search page is named {name!r}")
    return {
        "BLOGSEARCH_INDEX": f"site-{slug}"[:70].strip("-") + "-posts",
        "BLOGSEARCH_SITE_URL": site,
        "BLOGSEARCH_SITE_NAME": name[:80],
        **({"BLOGSEARCH_FETCH_ALLOW_PRIVATE": "on"} if _is_local(host) else {}),
    }


def _fetched(url: str) -> str:
    try:
        response = requests.get(url, timeout=_TIMEOUT_S, headers={"User-Agent": "blogsearch"})
        response.raise_for_status()
    except requests.RequestException as error:
        raise DevstackError(f"{url} cannot be fetched: {error}") from None
    if "charset" not in response.headers.get("Content-Type", ""):
        response.encoding = "utf-8"  # not latin-1, the default of RFC 2616
    return response.text


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return " ".join(title.text().split()) if title else ""


def _content(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get("content") or "").strip() if node else ""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
