"""A moment as a source gives it → a moment in UTC, or the reason why it is none."""

import re
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime

from indexer.records import When

TAKEN = (
    "taken are ISO 8601 (2024-01-31, 2024-01-31T09:30:00+01:00; without a zone: UTC), "
    "RFC 2822 (Wed, 31 Jan 2024 09:30:00 +0100) and January 31, 2024"
)
"""What a remedy says about the formats."""

_YEARS = range(1000, 10_000)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"\d{4}-?\d\d-?\d\d(?:[Tt ]|$)|\d{4}-?W\d\d-?\d")
_ZONE = re.compile(r"\s+(?:(?:UTC|GMT|Z)|([+-]\d\d):?(\d\d))$", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)(?=$|[ T])")
_RFC_2822 = re.compile(r"(?:[a-z]{3},?\s+)?\d{1,2}\s+[a-z]{3}\s+\d{4}\s+\d\d?:\d\d", re.IGNORECASE)
_MONTH_DAY = re.compile(r"(?:[a-z]+,?\s+)?([a-z]{3,9})\.?\s+(\d{1,2}),?\s+(\d{4})", re.IGNORECASE)
_DAY_MONTH = re.compile(r"(?:[a-z]+,?\s+)?(\d{1,2})\.?\s+([a-z]{3,9})\.?,?\s+(\d{4})", re.I)


class NoDate(ValueError):
    """Not a moment in any of the formats taken; the message says what stood there."""


def moment(when: When) -> datetime | None:
    """The moment in UTC; None when there is none (None or an empty string).

    A moment without a zone is taken as UTC, a day as its first second.

    Raises:
        NoDate: for anything else, a day that no calendar has, or a year outside 1000–9999.
    """
    if when is None or (isinstance(when, str) and not when.strip()):
        return None
    try:
        if isinstance(when, datetime):
            found = when
        elif isinstance(when, date):
            found = datetime.combine(when, time())
        elif isinstance(when, str):
            found = _parse(when.strip())
        else:
            raise NoDate(f"{when!r:.80} is no date but a {type(when).__name__}")
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise error if isinstance(error, NoDate) else NoDate(f"{when!r:.80} is no date") from None
    if found.year not in _YEARS:
        raise NoDate(f"{when!r:.80} is in the year {found.year}")
    return found


def iso(when: datetime) -> str:
    """The moment for Elasticsearch: `2024-01-31T08:30:00Z`, with milliseconds where it has them."""
    spec = "milliseconds" if when.microsecond else "seconds"
    return when.astimezone(UTC).isoformat(timespec=spec).replace("+00:00", "Z")


def milliseconds(when: datetime) -> int:
    """Milliseconds since 1970, 0 for anything before; an external version cannot be negative."""
    return max(0, int(when.timestamp() * 1000))


def _parse(text: str) -> datetime:
    text = _SLASHED.sub(_dashed, text)
    if _ISO.match(text):
        return datetime.fromisoformat(_ZONE.sub(_joined_zone, text))
    if _RFC_2822.match(text):
        return parsedate_to_datetime(text)
    if found := _MONTH_DAY.fullmatch(text):
        month, day, year = found.groups()
    elif found := _DAY_MONTH.fullmatch(text):
        day, month, year = found.groups()
    else:
        raise ValueError(text)
    return datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day))


def _dashed(found: re.Match[str]) -> str:
    year, month, day = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}"


def _joined_zone(found: re.Match[str]) -> str:
    hours, minutes = found.groups()
    return f"{hours}:{minutes}" if hours else "+00:00"
