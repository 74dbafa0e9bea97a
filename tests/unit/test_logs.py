"""Log lines as JSON and as text."""

import json
import logging
import sys

import pytest

from app.logs import JsonFormatter, TextFormatter, add_time, begin, note


def _record(message: str, **extra: object) -> logging.LogRecord:
    record = logging.makeLogRecord({"name": "app.test", "levelname": "WARNING", "msg": message})
    record.__dict__.update(extra)
    return record


def test_a_json_line_has_the_fields_and_the_id_of_its_request() -> None:
    begin(request_id="abc")
    line = json.loads(JsonFormatter().format(_record('a "quoted"\nline', status=200, cache="HIT")))
    assert line["message"] == 'a "quoted"\nline'
    assert (line["level"], line["logger"], line["request_id"]) == ("warning", "app.test", "abc")
    assert (line["status"], line["cache"]) == (200, "HIT")
    assert line["time"].endswith("Z")


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_what_a_client_sent_neither_begins_a_line_nor_controls_a_terminal(
    formatter: logging.Formatter,
) -> None:
    sent = "/a\nERROR forged\r\0\x1b[2J\x9b2J\x85\u2028\u202e\u200b\x7f\ud800 é 漢"
    for record in (_record("request", path=sent), _record("invalid request: " + sent)):
        line = formatter.format(record)
        assert line.isprintable()
        assert "é 漢" in line
        if isinstance(formatter, JsonFormatter):
            assert sent in json.loads(line).values() or sent in json.loads(line)["message"]


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_an_exception_is_in_the_line(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("what went wrong")
    except ValueError:
        record = _record("failed", exc_info=sys.exc_info())
    assert "what went wrong" in formatter.format(record)


def test_times_of_a_part_add_up() -> None:
    fields = begin(request_id="abc")
    add_time("redis", 0.001)
    add_time("redis", 0.002)
    note(cache="HIT")
    assert fields == {"request_id": "abc", "redis_ms": 3.0, "cache": "HIT"}
