"""Parses the dates of sources as moments with their offset from UTC."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any

from dateutil.parser import ParserError, parse

from indexer.posts.records import When

TAKEN = (
    "Use ISO 8601 (2024-01-31, 2024-01-31T09:30:00+01:00; without a zone: UTC), "
    "RFC 2822 (Wed, 31 Jan 2024 09:30:00 +0100), 2024/1/31 9:30, January 31, 2024 or Unix time"
)
"""The accepted formats, for error messages."""

_YEARS = range(1000, 10_000)
_HOURS = {"UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "CET": 1, "CEST": 2, "EDT": -4, "EST": -5, "CDT": -5}
_HOURS |= {"CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}  # RFC 2822, section 4.3
_YEAR_FIRST = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:$|[Tt\s])|\d{8}(?:$|[Tt])")
_MONTH_NAMED = re.compile(
    r"(?=.*\b\d{4}\b)(?=.*\b\d{1,2}(?:st|nd|rd|th)?\b)"
    r".*\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_MONTH = r"[^\W\d_]{3,12}\.?"
DATE_IN_TEXT = re.compile(
    r"(?<![\w/-])(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
    rf"(?:\d{{4}}[-./年]\s?\d{{1,2}}[-./月]\s?\d{{1,2}}日?(?![\d/-])|\d{{1,2}}[-./]\d{{1,2}}[-./]\d{{4}}(?!\d)"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de |of )?{_MONTH},? (?:de )?\d{{4}}(?!\d|-\d\d-)"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}(?!\d))"
    r"(?:,? (?:at )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?)?",
    re.IGNORECASE,
)
"""A date as sites show it to readers, with its weekday and time."""
_ZONE_AND_OFFSET = re.compile(r"\b(?:GMT|UTC) ?(?=[+-]\d)")
_OFFSET_AND_ZONE = re.compile(r"([+-]\d\d:?\d\d) (?:[A-Z]{3,5}|[+-]\d\d(?:\d\d)?|\(.*\))$")
"""Times as Go and JavaScript print them: `+0100 CET`, `+0300 +03`, `-0500 (CDT)`."""
_UNIX = re.compile(r"1\d{9}(?:\d{3})?")
"""Seconds or milliseconds since 1970, as Dendron, Statamic and old exports of Ghost write them."""
_UNSET = re.compile(r"0001-01-01|\bjan\w* 0?1,? 0001\b|\b0?1 jan\w* 0001\b", re.IGNORECASE)
"""Go's zero time, which Hugo writes for a page without a date."""
_EARLY_YEAR = re.compile(r"(?<![+-])\b0\d{3}\b")
_MAX_LENGTH = 100
_MAX_OFFSET = timedelta(hours=18)
"""The limit of Java, and therefore of Elasticsearch."""


class NoDate(ValueError):
    """A value that is not a date in an accepted format; the message contains the value."""


def moment(when: When) -> datetime | None:
    """Parse a date; its offset from UTC shows on which day the site published a post.

    None for None, an empty string and Go's zero time. A day is its midnight in UTC.

    Raises:
        NoDate: an unknown or ambiguous format (`01/02/2024`), a date that does not exist, or a
            year outside 1000 to 9999.
    """
    if when is None or _is_unset(when):
        return None
    try:
        given = when
        if _UNIX.fullmatch(str(when).strip()):
            given = datetime.fromtimestamp(int(str(when).strip()[:10]), UTC)
        elif isinstance(when, str):
            given = _parse(when.strip())
        if isinstance(given, date) and not isinstance(given, datetime):
            given = datetime.combine(given, time(), UTC)
        if not isinstance(given, datetime):
            raise NoDate(f"{when!r:.80} is a {type(when).__name__}, not a date")
        given = given.replace(tzinfo=given.tzinfo or UTC)
        offset = given.utcoffset() or timedelta()
        is_readable = not offset % timedelta(minutes=1) and abs(offset) <= _MAX_OFFSET
        parsed = given.astimezone(timezone(offset) if offset and is_readable else UTC)
    except NoDate:
        raise
    except (ValueError, OverflowError):
        raise NoDate(f"{when!r:.80} is not a date") from None
    if parsed.year not in _YEARS:
        raise NoDate(f"{when!r:.80} is in the year {parsed.year}")
    return parsed


def moments(values: Iterable[Any]) -> Iterator[datetime]:
    """Yield the values that are dates."""
    for value in values:
        with suppress(NoDate):
            if isinstance(value, str) and (when := moment(value)):
                yield when


def iso(when: datetime) -> str:
    """Format a moment for Elasticsearch: `2024-01-31T09:30:00+01:00`, or with `Z` for UTC; with
    milliseconds if it has any."""
    spec = "milliseconds" if when.microsecond else "seconds"
    return when.isoformat(timespec=spec).replace("+00:00", "Z")


def _is_unset(when: When) -> bool:
    if isinstance(when, str):
        return not when.strip() or bool(_UNSET.search(when[:_MAX_LENGTH]))
    return isinstance(when, date) and (when.year, when.month, when.day) == (1, 1, 1)


def _parse(text: str) -> date:
    """Parse a moment, with a zone if the text has one; a `date` if it has neither time nor zone.

    dateutil alone would guess the day of `May 2024` and the month of `01/02/2024`.
    """
    if len(text) > _MAX_LENGTH:  # the patterns below would take quadratic time
        raise ValueError(text)
    try:
        if len(text) >= 10:  # not `2024-W05`
            parsed = datetime.fromisoformat(text)
            return parsed.date() if len(text) == 10 else parsed
    except ValueError:
        pass
    text = _OFFSET_AND_ZONE.sub(r"\1", _ZONE_AND_OFFSET.sub("", text))
    if not (_YEAR_FIRST.match(text) or _MONTH_NAMED.match(text)):
        raise ValueError(text)
    first, second = (
        parse(text, default=datetime(2000, number, number, number), tzinfos=_zone)
        for number in (1, 2)
    )
    if first.date() != second.date():  # the day or the month came from the default
        raise ValueError(text)
    if str(first.year) not in text and _EARLY_YEAR.search(text):  # dateutil makes 1999 of 0099
        raise ValueError(text)
    if first.hour == second.hour:
        return first
    first = first.replace(hour=0)  # the hour came from the default
    return first if first.tzinfo else first.date()


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    if name is None:
        return None
    if name.upper() not in _HOURS:
        raise ParserError(f"unknown time zone {name}")
    return timezone(timedelta(hours=_HOURS[name.upper()]))
