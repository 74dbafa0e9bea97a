"""Connections to public addresses only, each with a time limit for connecting and for the header.

The address is checked when the connection is made, not when the URL is read: the name could
resolve to another address in between (DNS rebinding).
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Timer
from typing import Any

import certifi
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from indexer.fetch.types import AddressRefused

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Not public by IANA's registries; Python 3.11 counts them as global.
_SPECIAL = [
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "64:ff9b:1::/48", "5f00::/16")
]


def public_pools(*, allow_private: bool, connections: int) -> PoolManager:
    """Pools of connections that refuse private addresses unless they are allowed."""
    pools = PoolManager(
        connections, maxsize=connections, ca_certs=certifi.where(), cert_reqs="CERT_REQUIRED"
    )
    pools.pool_classes_by_scheme = {  # called as the classes are
        "http": partial(_Pool, allow_private=allow_private),  # type: ignore[dict-item]
        "https": partial(_TLSPool, allow_private=allow_private),  # type: ignore[dict-item]
    }
    return pools


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet.

    False for loopback, private, link-local, site-local, carrier-grade NAT, multicast and reserved
    addresses, and for IPv6 addresses that embed such an IPv4 address (mapped, 6to4, Teredo,
    NAT64).
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
        if ip.is_site_local:  # fec0::/10, deprecated; Python counts it as global
            return False
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@contextmanager
def cancelled_after(seconds: float, cancel: Callable[[], None]) -> Iterator[Event]:
    """Call `cancel` from another thread when the block takes longer than `seconds`.

    Yields an event that is set when the time is up. A socket timeout does not replace this: a
    server that sends one byte now and then never exceeds it. `cancel` may fail with an OSError,
    ValueError or RuntimeError when the block has just ended by itself.
    """
    expired = Event()

    def expire() -> None:
        expired.set()
        with suppress(OSError, ValueError, RuntimeError):
            cancel()

    timer = Timer(max(0.0, seconds), expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


class _Connection(HTTPConnection):
    """A connection to public addresses only; the whole header must arrive within the timeout."""

    def __init__(self, *args: Any, allow_private: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._allow_private = allow_private

    def connect(self) -> None:
        with self._time_limited():
            super().connect()

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as in urllib3
        with self._time_limited() as expired:
            response = super().getresponse()
            if expired.is_set():
                response.close()
            return response

    def _new_conn(self) -> socket.socket:
        if self._allow_private:
            return super()._new_conn()
        try:
            entries = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, _as_gaierror(error)) from error
        addresses = [str(entry[4][0]) for entry in entries]
        refused = next((address for address in addresses if not is_public(address)), None)
        if refused:
            raise AddressRefused(self.host, refused)
        return self._connect_to_first(addresses)

    def _connect_to_first(self, addresses: list[str]) -> socket.socket:
        fault: OSError | None = None
        for address in addresses:
            try:
                return create_connection(
                    (address, self.port),
                    self.timeout,
                    source_address=self.source_address,
                    socket_options=self.socket_options,
                )
            except OSError as error:
                fault = error
        if isinstance(fault, TimeoutError):
            raise ConnectTimeoutError(self, f"connecting to {self.host} timed out") from fault
        raise NewConnectionError(self, f"cannot connect to {self.host}: {fault}") from fault

    @contextmanager
    def _time_limited(self) -> Iterator[Event]:
        seconds = self.timeout if isinstance(self.timeout, int | float) else 30.0
        with cancelled_after(seconds, lambda: _shut(self.sock)) as expired:
            try:
                yield expired
            except Exception:
                if not expired.is_set():
                    raise
        if expired.is_set():  # also without an error: http.client accepts a truncated header
            raise TimeoutError(f"no complete response within {seconds:g} s")


class _TLSConnection(_Connection, HTTPSConnection):
    """The same over TLS; the certificate is checked against the host name."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


def _as_gaierror(error: socket.gaierror | UnicodeError) -> socket.gaierror:
    return error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))


def _shut(connection: socket.socket | None) -> None:
    """Shut down the plain socket: a TLS socket's own shutdown frees state in use by a thread."""
    if connection is not None:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
