"""The client of a request: its address behind trusted proxies, and its rate limit."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request
from werkzeug.middleware.proxy_fix import ProxyFix

from app.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# Blueprints; documents can only be written with a token, and the widget and the description of the
# API are answered from memory.
_UNLIMITED = {"operations", "documents", "widget", "api"}
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+")  # IPv6, IPv4
_IPV6_PREFIX = 64  # bits; a client usually has all addresses of its /64 network


def register(app: Flask, settings: Settings) -> None:
    """Take the client's address from trusted proxies, and limit its rate."""
    if settings.trusted_networks:
        app.wsgi_app = TrustedProxies(app.wsgi_app, settings.trusted_networks)  # type: ignore[method-assign]
    if settings.rate_limit:
        _limit_rate(app, settings)


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
        senders = [_address(each) for each in (*forwarded, environ.get("REMOTE_ADDR", ""))]
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


def network_of(address: str | None) -> str:
    """The key of a client for rate limits and counts: its IPv4 address, or its IPv6 network."""
    parsed = _address(address or "")
    if isinstance(parsed, str):
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))


def _address(text: str) -> IPv4Address | IPv6Address | str:
    """An address in X-Forwarded-For, to which some proxies add a port; the text if it is invalid.

    An IPv4-mapped IPv6 address (dual-stack sockets) is returned as IPv4.
    """
    text = text.strip()
    found = _WITH_PORT.fullmatch(text)
    try:
        parsed = ipaddress.ip_address(found[1] or found[2] if found else text)
    except ValueError:
        return text
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


def _limited_by() -> str:
    """The key that requests are counted under: suggestions come with every letter, and so are
    counted apart from searches."""
    network = network_of(request.remote_addr)
    return f"{network} suggest" if request.blueprint == "suggest" else network


def _storage(redis_url: str) -> str:
    """The URL of Redis as the package limits writes it."""
    if redis_url.startswith("unix://"):
        return f"redis+{redis_url}"
    if redis_url.startswith("redis+sentinel://"):
        return re.sub(r"/\d+$", "", redis_url)  # it knows no database here
    return redis_url or "memory://"


def _limit_rate(app: Flask, settings: Settings) -> None:
    # Imported here: most installations set no limit.
    from flask_limiter import Limiter, RateLimitExceeded

    from app.cache.redis_client import bounded_pool

    options: dict[str, Any] = {
        "socket_timeout": settings.cache_timeout,
        "socket_connect_timeout": settings.cache_timeout,
        "protocol": 2,
        "driver_info": None,
    }
    prefix = f"blogsearch:{{{settings.index}}}:rate"
    storage = _storage(settings.redis_url)
    if pool := bounded_pool(settings.redis_url, prefix, settings.ca_file, **options):
        storage, options = "redis://", {"connection_pool": pool}
    in_redis = storage != "memory://"
    limiter = Limiter(
        key_func=_limited_by,
        application_limits=[settings.rate_limit],
        storage_uri=storage,
        storage_options=options if in_redis else {},
        key_prefix=prefix,
        # While Redis is unavailable each process counts by itself.
        in_memory_fallback_enabled=in_redis,
        headers_enabled=True,
        retry_after="delta-seconds",
    )

    # The limiter sets Retry-After of every response to the end of its window. Functions run in
    # reverse order: these two after and before the limiter's.
    def restore_retry_after(response: Response) -> Response:
        if response.status_code != 429:
            response.headers.pop("Retry-After", None)
            if own := g.pop("retry_after", None):
                response.headers["Retry-After"] = own
        return response

    def keep_retry_after(response: Response) -> Response:
        g.retry_after = response.headers.get("Retry-After")
        return response

    app.after_request(restore_retry_after)
    limiter.init_app(app)
    app.after_request(keep_retry_after)
    limiter.request_filter(
        lambda: (
            request.blueprint in _UNLIMITED
            or request.endpoint in (None, "static")
            or request.method == "OPTIONS"
        )
    )

    def exceeded(error: RateLimitExceeded) -> Response:
        from app.views.errors import error_response, rate_limited

        return error_response(rate_limited(error))

    app.register_error_handler(RateLimitExceeded, exceeded)
