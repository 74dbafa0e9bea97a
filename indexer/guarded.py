"""Connections that lead only where they may, and that cannot be held up for ever.

An address is looked at where the connection is made, not when its URL is read: between the two a
name can come to mean another machine (DNS rebinding).
"""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from indexer.fetched import AddressRefused
from indexer.watchdog import ended_after

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class GuardedAdapter(HTTPAdapter):
    """For a requests session: refuses private addresses unless allowed."""

    def __init__(self, *, allow_private: bool, connections: int) -> None:
        self._allow_private = allow_private
        super().__init__(pool_connections=connections, pool_maxsize=connections, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Makes the pools that make our connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {
            "http": partial(_Pool, allow_private=self._allow_private),
            "https": partial(_TLSPool, allow_private=self._allow_private),
        }


def is_public(address: str) -> bool:
    """Whether this IP address is one that anybody on the internet means by it.

    False for loopback, private, link-local, carrier-grade NAT, multicast and reserved ones, and
    for IPv6 addresses that stand for such an IPv4 address.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


class _Connection(HTTPConnection):
    """Connects to public addresses only; the whole header must come within the read timeout.

    Without that limit a server could send one byte now and then, each within the timeout of a
    single read, and hold us for days.
    """

    def __init__(self, *args: Any, allow_private: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._allow_private = allow_private

    def connect(self) -> None:
        with self._watched():
            super().connect()

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as in urllib3
        with self._watched() as late:
            response = super().getresponse()
            if late.is_set():
                response.close()
            return response

    def _new_conn(self) -> socket.socket:
        if self._allow_private:
            return super()._new_conn()
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, _as_gaierror(error)) from error
        addresses = [str(entry[4][0]) for entry in found]
        refused = next((each for each in addresses if not is_public(each)), None)
        if refused:
            raise AddressRefused(self.host, refused)
        return self._first_that_answers(addresses)

    def _first_that_answers(self, addresses: list[str]) -> socket.socket:
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
            raise ConnectTimeoutError(self, f"no connection to {self.host} in time") from fault
        raise NewConnectionError(self, f"no connection to {self.host}: {fault}") from fault

    @contextmanager
    def _watched(self) -> Iterator[Event]:
        seconds = self.timeout if isinstance(self.timeout, int | float) else 30.0
        with ended_after(seconds, lambda: _shut(self.sock)) as late:
            try:
                yield late
            except Exception:
                if not late.is_set():
                    raise
        if late.is_set():  # without a fault too: http.client takes a cut header for a whole one
            raise TimeoutError(f"no whole answer within {seconds:g} s")


class _TLSConnection(_Connection, HTTPSConnection):
    """The same for https; the certificate is checked against the name, not the address."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


def _as_gaierror(error: socket.gaierror | UnicodeError) -> socket.gaierror:
    return error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))


def _shut(connection: socket.socket | None) -> None:
    """Not by a TLS socket's own shutdown, which takes away what the other thread uses."""
    if connection is not None:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
