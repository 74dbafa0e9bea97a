"""Log lines as text or JSON, and the fields that a request's line is made of.

Imports nothing but the standard library, because gunicorn's configuration imports it.
"""

import json
import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

# The fields of the request that is answered now; None outside of requests.
_fields: ContextVar[dict[str, Any] | None] = ContextVar("fields", default=None)

_STANDARD = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def begin(**fields: Any) -> dict[str, Any]:
    """Begin the fields of a request; the same dict is filled by `note` and `add_time`."""
    request_fields = dict(fields)
    _fields.set(request_fields)
    return request_fields


def note(**fields: Any) -> None:
    """Add fields to the line of the current request, if there is one."""
    current = _fields.get()
    if current is not None:
        current.update(fields)


def add_time(part: str, seconds: float) -> None:
    """Add seconds to a part of the current request, if there is one."""
    current = _fields.get()
    if current is not None:
        name = f"{part}_ms"
        current[name] = round(current.get(name, 0.0) + seconds * 1000, 2)


def _printable(line: str, escape: Callable[[str], str]) -> str:
    """A line in which characters are escaped that begin a new line, control a terminal or change
    the order of what is read; a client may send them."""
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else escape(char) for char in line)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message and the fields in `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        current = _fields.get()
        if current and "request_id" in current:
            line["request_id"] = current["request_id"]
        line.update((k, v) for k, v in record.__dict__.items() if k not in _STANDARD)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        text = json.dumps(line, ensure_ascii=False, default=str)
        return _printable(text, lambda character: json.dumps(character)[1:-1])

    converter = staticmethod(time.gmtime)


class TextFormatter(logging.Formatter):
    """A line for people, with the fields in `extra` after the message."""

    def format(self, record: logging.LogRecord) -> str:
        extra = "".join(f" {k}={v}" for k, v in record.__dict__.items() if k not in _STANDARD)
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {record.getMessage()}"
        line = _printable(
            line + extra, lambda character: character.encode("unicode_escape").decode()
        )
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def configuration(form: str) -> dict[str, Any]:
    """The configuration of `logging` for a process of the service; everything goes to stderr."""
    # Nothing prints what these add to each record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    formatter = JsonFormatter if form == "json" else TextFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": "INFO", "handlers": ["stderr"]},
        "loggers": {
            "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
            # It would warn with every probe of an outage, which the service logs itself.
            "elastic_transport": {"level": "ERROR"},
        },
    }
