"""The adapter of the session: public addresses only, retries, and a time limit for each fetch.

The address is checked when the connection is made, not when the URL is read: the name could
resolve to another address in between (DNS rebinding). Each redirect is checked as well.
"""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Timer
from typing import Any

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError
from urllib3.util.retry import Retry

from indexer.fetch.types import AddressRefused, FetchOptions, check_url

_TEMPORARY = (429, 500, 502, 503, 504)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        # By IANA's registries; Python 3.11 counts them as global.
        *("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "64:ff9b:1::/48", "5f00::/16"),
        *("2001::/32", "2002::/16", "fec0::/10"),  # Teredo, 6to4, site-local
    )
]


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet.

    False for loopback, private, link-local, carrier-grade NAT, multicast and reserved addresses,
    and for IPv6 addresses that embed such an IPv4 address.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.ipv4_mapped
        if inner:
            return is_public(str(inner))
    if any(ip in network for network in _NOT_PUBLIC):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@dataclass
class Limits:
    """What one fetch may, and the socket that it reads from."""

    allow_private: bool
    is_over: bool = False
    reading: socket.socket | None = None


_limits: ContextVar[Limits] = ContextVar("limits")


@contextmanager
def limited(options: FetchOptions) -> Iterator[Limits]:
    """Limit what this thread fetches inside the block.

    A socket's timeout is not enough: a server that sends one byte now and then never exceeds it.
    """
    limits = Limits(options.allow_private)

    def end() -> None:
        limits.is_over = True
        if limits.reading is not None:
            with suppress(OSError):  # closed meanwhile; shutdown() of TLS is not safe in threads
                socket.socket.shutdown(limits.reading, socket.SHUT_RDWR)

    timer = Timer(options.deadline, end)
    timer.daemon = True
    timer.start()
    token = _limits.set(limits)
    try:
        yield limits
    finally:
        _limits.reset(token)
        timer.cancel()


class PublicAdapter(HTTPAdapter):
    """Sends requests inside of `limited`, and repeats them after temporary faults."""

    def __init__(self, options: FetchOptions) -> None:
        retry = Retry(
            total=options.retries,
            other=0,  # such as a certificate that is not valid
            status_forcelist=_TEMPORARY,
            raise_on_status=False,
            backoff_factor=options.first_pause,
            retry_after_max=options.longest_pause,
        )
        super().__init__(options.connections, options.connections, max_retries=retry)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Use the connections below."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send a request, also to the target of a redirect."""
        check_url(request.url or "")
        return super().send(request, *args, **kwargs)


class _Connection(HTTPConnection):
    """A connection to public addresses only."""

    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        try:
            entries = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, socket.gaierror(str(error))) from error
        addresses = [str(entry[4][0]) for entry in entries]
        refused = next((address for address in addresses if not is_public(address)), None)
        if refused and not _limits.get().allow_private:
            raise AddressRefused(self.host, refused)
        while True:
            self._dns_host = addresses.pop(0)  # which the superclass connects to
            try:
                return super()._new_conn()
            except ConnectTimeoutError:  # also of other failures to connect
                if not addresses:
                    raise
            finally:
                self._dns_host = name

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as in urllib3
        limits = _limits.get()
        limits.reading = self.sock
        response = super().getresponse() if not limits.is_over else None
        if response and (limits.is_over or response.status != 200):
            # Nobody needs the body, and requests would read all of it, however long it is.
            response.close()
            self.close()
        if response is None or limits.is_over:  # a header that ends early passes for a whole one
            raise TimeoutError
        return response


class _TLSConnection(_Connection, HTTPSConnection):
    """The same over TLS; the certificate is checked against the host name."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection
