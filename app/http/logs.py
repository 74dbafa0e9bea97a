"""Format log lines, and collect the fields of each request's line.

It imports only the standard library, so that every module can import it.
"""

import json
import logging
import re
import time
from contextvars import ContextVar
from typing import Any

# The fields of the current request; None outside of requests.
_fields: ContextVar[dict[str, Any] | None] = ContextVar("fields", default=None)
_started: ContextVar[float] = ContextVar("started")

_AMBIGUOUS = re.compile(r"[\s=\"]|^$")
_STANDARD = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def begin(**fields: Any) -> dict[str, Any]:
    """Begin the fields of a request; `note` and `add_time` add to the returned dict."""
    _started.set(time.perf_counter())
    _fields.set(fields)
    return fields


def elapsed() -> float:
    """Return the seconds since the current request began."""
    return time.perf_counter() - _started.get()


def note(**fields: Any) -> None:
    """Add fields to the log line of the current request, if there is one."""
    current = _fields.get()
    if current is not None:
        current.update(fields)


def add_time(part: str, seconds: float) -> None:
    """Add seconds to the field of a part of the current request, if there is one."""
    current = _fields.get()
    if current is not None:
        name = f"{part}_ms"
        current[name] = round(current.get(name, 0.0) + seconds * 1000, 2)


class Formatter(logging.Formatter):
    """A formatter for people and programs: the message, then the fields in `extra` as `name=value`
    or `name="a value"`.

    Characters that begin a new line, control a terminal or change the reading order are escaped, as
    a client may send them.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields = [item for item in record.__dict__.items() if item[0] not in _STANDARD]
        extra = "".join(f" {name}={_quote(value)}" for name, value in fields)
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {record.getMessage()}"
        line += extra
        if not line.isprintable():
            line = "".join(map(_printable, line))
        if record.exc_info:  # the message of the error may imitate log lines, so indent them
            trace = self.formatException(record.exc_info).splitlines()
            line = "\n  ".join([line, *("".join(map(_printable, part)) for part in trace)])
        return line


def _quote(value: object) -> str:
    """Return a value as text, in quotes if it could be read as more than one."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if _AMBIGUOUS.search(text) else text


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def configuration() -> dict[str, Any]:
    """Return the `logging` configuration for a process of the service, which logs to stderr."""
    # No formatter prints what these add to each record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": Formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": "INFO", "handlers": ["stderr"]},
        "loggers": {
            "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
            # It would warn at every probe during an outage, which the service logs itself.
            "elastic_transport": {"level": "ERROR"},
        },
    }
