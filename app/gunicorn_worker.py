"""gunicorn's worker, with its own errors in the shape of the service's.

gunicorn refuses a request that it cannot parse before the application sees it.
"""

import json
import socket
from typing import Any

import gevent  # type: ignore[import-untyped]
from gunicorn.glogging import Logger as GunicornLogger  # type: ignore[import-untyped]
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    ConfigurationProblem,
    ExpectationFailed,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.util import write_nonblock  # type: ignore[import-untyped]
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]

_LINGER = 1.0  # seconds for which more of a refused request is read

Status = tuple[int, str]

_BAD_REQUEST: Status = (400, "Bad Request")
_INTERNAL: Status = (500, "Internal Server Error")
_STATUSES: dict[type[BaseException], Status] = {
    LimitRequestLine: (414, "URI Too Long"),
    LimitRequestHeaders: (431, "Request Header Fields Too Large"),
    ExpectationFailed: (417, "Expectation Failed"),
    UnsupportedTransferCoding: (501, "Not Implemented"),
    # Mistakes of the service, not of the client.
    ConfigurationProblem: _INTERNAL,
    InvalidResponseHeader: _INTERNAL,
    InvalidResponseHeaderName: _INTERNAL,
}


class Logger(GunicornLogger):  # type: ignore[misc]
    """Prepares no access log if none is written: that took a tenth of a cached search."""

    @property
    def access_log_enabled(self) -> bool:
        """Whether an access log is configured; with `logconfig_dict` gunicorn assumes it."""
        return bool(self.cfg.accesslog)


class Worker(GeventWorker):  # type: ignore[misc]
    """Answers with JSON and the headers of security where gunicorn would with HTML."""

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Answer a request when the other connections have had their turn.

        A greenlet whose client has always sent the next request never waits, so that by itself it
        would neither let others run nor the worker tell gunicorn that it is alive.
        """
        gevent.sleep(0)
        super().handle_request(listener_name, req, sock, addr)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a request that cannot be parsed, or that failed outside of the application."""
        default = _BAD_REQUEST if isinstance(exc, ParseException) else _INTERNAL
        status = _STATUSES.get(type(exc), default)
        if status is _INTERNAL:
            message = "An unexpected error occurred; the log of the service has the details."
            self.log.error("a request failed: %s", exc, exc_info=exc)
        else:
            message = f"The request is invalid: {exc}"
            self.log.warning("invalid request of %s: %r", addr[0] if addr else "-", str(exc))
        try:
            write_nonblock(client, response(status, message))
            # Closing a connection with unread data resets it, and the response is lost.
            client.shutdown(socket.SHUT_WR)
            with gevent.Timeout(_LINGER, False):
                while client.recv(65_536):
                    pass
        except OSError:
            self.log.debug("the client does not read the error")


def response(status: Status, message: str) -> bytes:
    """A whole HTTP response with an error."""
    # Imported here: gunicorn's arbiter imports this module, and needs no Flask.
    from app.views.responses import SAFETY

    number, phrase = status
    code = "internal" if status is _INTERNAL else phrase.lower().replace(" ", "_")
    error = {"code": code, "message": message, "details": []}
    body = json.dumps({"error": error}).encode()
    headers = {
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
        **SAFETY,
    }
    lines = [f"HTTP/1.1 {number} {phrase}", *map(": ".join, headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
