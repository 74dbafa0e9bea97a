"""The client of a request: its address behind trusted proxies, and its rate limit."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING

from flask import Flask, request
from werkzeug.middleware.proxy_fix import ProxyFix

from app.rate_limit import network_of, parse_address
from app.service import Service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# Blueprints whose requests are counted before their views are called. Searches and suggestions are
# counted with their first request to Redis. Documents can only be written with a token, and the
# other blueprints are answered from memory.
_COUNTED = ("page", "insights")


def register(app: Flask, service: Service) -> None:
    """Take the client's address from trusted proxies, and limit its rate."""
    networks = service.settings.trusted_networks
    if networks:
        app.wsgi_app = TrustedProxies(app.wsgi_app, networks)  # type: ignore[method-assign]

    def count() -> None:
        if request.method != "OPTIONS":
            service.count(limited_client())

    for blueprint in _COUNTED:
        app.before_request_funcs[blueprint].append(count)


class TrustedProxies:
    """WSGI middleware: trusts X-Forwarded-For and X-Forwarded-Proto of these networks only.

    The client is the last address in X-Forwarded-For that is not itself a trusted proxy.
    """

    def __init__(
        self, app: "WSGIApplication", networks: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        self._app = app
        self._networks = networks

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        forwarded = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
        senders = [parse_address(sender) for sender in (*forwarded, environ.get("REMOTE_ADDR", ""))]
        depth = 0
        while depth < len(forwarded) and self._trusted(senders[-1 - depth]):
            depth += 1
        if depth:
            environ["HTTP_X_FORWARDED_FOR"] = ",".join(map(str, senders[:-1]))
            return ProxyFix(self._app, x_for=depth, x_proto=1, x_host=0)(environ, start_response)
        return self._app(environ, start_response)

    def _trusted(self, address: IPv4Address | IPv6Address | str) -> bool:
        if isinstance(address, str):
            return False
        return any(address in network for network in self._networks)


def limited_client() -> str:
    """Whose rate limit the current request counts for; "" if it counts for none.

    A proxy that `trusted_proxies` does not name has no limit: all visitors would share it.
    """
    environ, address = request.environ, request.remote_addr
    is_proxy = "HTTP_X_FORWARDED_FOR" in environ and "werkzeug.proxy_fix.orig" not in environ
    return "" if is_proxy and _is_private(address) else network_of(address)


@lru_cache(maxsize=1024)
def _is_private(address: str | None) -> bool:
    parsed = parse_address(address or "")
    return not isinstance(parsed, str) and parsed.is_private
