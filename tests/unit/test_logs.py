"""Log lines."""

import logging

from app.http.logs import Formatter


def _record(message: str, **extra: object) -> logging.LogRecord:
    record = logging.makeLogRecord({"name": "app.test", "levelname": "WARNING", "msg": message})
    record.__dict__.update(extra)
    return record


def test_what_a_client_sent_neither_begins_a_line_nor_controls_a_terminal() -> None:
    sent = "/a\nERROR forged\r\0\x1b[2J\x9b2J\x85\u2028\u202e\u200b\x7f\ud800 é 漢"
    for record in (_record("request", path=sent), _record("invalid request: " + sent)):
        line = Formatter().format(record)
        assert line.isprintable()
        assert "é 漢" in line


def test_a_value_neither_forges_a_field_nor_a_line() -> None:
    path = '/a status=200 "x'
    line = Formatter().format(_record("request", path=path, status=404, empty=""))
    assert line.endswith(r' path="/a status=200 \"x" status=404 empty=""')
    try:
        raise ValueError("x\n2026-11-28 ERROR forged\x1b[2J")
    except ValueError as error:
        record = _record("unexpected", exc_info=(ValueError, error, error.__traceback__))
    lines = Formatter().format(record).split("\n")
    assert len(lines) > 2
    assert all(line.startswith("  ") and line.isprintable() for line in lines[1:])
