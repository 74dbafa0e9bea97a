"""Identify the client of a request: its address behind trusted proxies, its names for limits."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING

import flask
from flask import Flask
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header
from werkzeug.utils import cached_property

from app.settings import Settings, is_path_prefix

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_MOST_PROXIES = 10  # addresses in X-Forwarded-For that are read, from its end
_LONGEST = 1_000  # characters of X-Forwarded-For that are read, from its end
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+")  # IPv6, IPv4
_CLIENT, _SITE = 64, 48  # bits of an IPv6 address: networks that a client, or a site, usually has
_LONGEST_LANGUAGES = 200  # characters of Accept-Language, which is read before the request counts


class Request(flask.Request):
    """A request that reads no more of Accept-Language than browsers send.

    `is_counted`: the look-up of its answer counts it for the rate limit.
    """

    is_counted = False

    @cached_property
    def accept_languages(self) -> LanguageAccept:
        """The languages that the visitor's browser accepts."""
        sent = self.headers.get("Accept-Language", "")
        if len(sent) > _LONGEST_LANGUAGES:
            sent = sent[:_LONGEST_LANGUAGES].rpartition(",")[0]
        return parse_accept_header(sent, LanguageAccept)


def register(app: Flask, settings: Settings) -> None:
    """Use our `Request`, and take the client's address and the prefix from trusted proxies."""
    app.request_class = Request
    if settings.trusted_networks or settings.path_prefix:
        app.wsgi_app = TrustedProxies(  # type: ignore[method-assign]
            app.wsgi_app, settings.trusted_networks, settings.path_prefix
        )


class TrustedProxies:
    """WSGI middleware that trusts X-Forwarded-For, -Proto and -Prefix only from these networks.

    The client is the last address in X-Forwarded-For that is not itself a trusted proxy. `prefix`
    is the path of the service without X-Forwarded-Prefix. A proxy may remove the prefix from the
    path or keep it.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        networks: Sequence[IPv4Network | IPv6Network],
        prefix: str = "",
    ) -> None:
        self._app = app
        self._networks = networks
        self._prefix = prefix

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        client = parse_address(environ.get("REMOTE_ADDR", ""))
        prefix = self._prefix
        if self._trusts(client):
            forwarded = _forwarded_for(environ)
            while forwarded and self._trusts(client):
                client = parse_address(forwarded.pop())
            environ["REMOTE_ADDR"] = "unknown" if isinstance(client, str) else str(client)
            environ.pop("HTTP_X_FORWARDED_FOR", None)
            scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip()
            if scheme in {"http", "https"}:
                environ["wsgi.url_scheme"] = scheme
            given = environ.get("HTTP_X_FORWARDED_PREFIX", "").rstrip("/")
            prefix = given if is_path_prefix(given) else prefix
        if prefix:
            environ["SCRIPT_NAME"] = prefix
            path = environ.get("PATH_INFO", "")
            if f"{path}/".startswith(f"{prefix}/"):
                environ["PATH_INFO"] = path.removeprefix(prefix) or "/"
        return self._app(environ, start_response)

    def _trusts(self, address: IPv4Address | IPv6Address | str) -> bool:
        return not isinstance(address, str) and any(address in known for known in self._networks)


def _forwarded_for(environ: "WSGIEnvironment") -> list[str]:
    """Return the last addresses in X-Forwarded-For; earlier ones may be forged by the client."""
    header: str = environ.get("HTTP_X_FORWARDED_FOR", "")
    return [part for part in header[-_LONGEST:].split(",")[-_MOST_PROXIES:] if part.strip()]


def counted_clients(request: Request) -> tuple[str, ...]:
    """Return the client names of a request for the look-up that counts it; mark it as counted."""
    request.is_counted = True
    return client_names(request)


def client_names(request: flask.Request) -> tuple[str, ...]:
    """Return the names for a request's rate limits: the client, and a network that it shares.

    A proxy at a private address that is not in `trusted_proxies` counts as such a network, because
    the client that it names may be forged.
    """
    if forwarded := _forwarded_for(request.environ):
        proxy = parse_address(request.remote_addr or "")
        if not isinstance(proxy, str) and proxy.is_private:
            return f"{names_of(forwarded[-1])[0]} behind {proxy}", str(proxy)
    return names_of(request.remote_addr)


# -- addresses ---------------------------------------------------------------------------------


def parse_address(text: str) -> IPv4Address | IPv6Address | str:
    """Parse an address, to which some proxies add a port; return the text if it is invalid.

    An IPv4-mapped IPv6 address (dual-stack sockets) is returned as IPv4.
    """
    text = text.strip()
    match = _WITH_PORT.fullmatch(text)
    try:
        parsed = ip_address(match[1] or match[2] if match else text)
    except ValueError:
        return text
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


@lru_cache(maxsize=1024)
def names_of(address: str | None) -> tuple[str, ...]:
    """Return the names of a client for limits and counts: its IPv4 address, or its /64 IPv6 network
    and the /48 network of its site."""
    parsed = parse_address(address or "")
    if isinstance(parsed, str):
        return ("unknown",)
    if parsed.version == 4:
        return (str(parsed),)
    client, site = (ip_network((parsed, bits), strict=False) for bits in (_CLIENT, _SITE))
    return str(client), str(site)
