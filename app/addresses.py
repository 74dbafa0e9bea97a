"""Addresses of clients, and the names under which they are counted."""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+")  # IPv6, IPv4
_CLIENT, _SITE = 64, 48  # bits of an IPv6 address: networks that a client, or a site, usually has


def parse_address(text: str) -> IPv4Address | IPv6Address | str:
    """An address in X-Forwarded-For, to which some proxies add a port; the text if it is invalid.

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
def network_of(address: str | None) -> str:
    """The name of a client for rate limits and counts: its IPv4 address, or its IPv6 network."""
    parsed = parse_address(address or "")
    if isinstance(parsed, str):
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ip_network((parsed, _CLIENT), strict=False))


@lru_cache(maxsize=1024)
def names_of(address: str | None) -> tuple[str, ...]:
    """The name of a client, and that of the site which an IPv6 network is a part of."""
    network = network_of(address)
    if ":" not in network:
        return (network,)
    return network, str(ip_network(network).supernet(new_prefix=_SITE))
