"""Interprets `X-Robots-Tag` and `<meta name="robots">`: `noindex`, `unavailable_after: DATE`."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from indexer.posts.dates import moments

_CRAWLERS = ("*", "googlebot", "blogsearch")  # whose rules apply to us, beside those for all
_WITH_VALUE = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_WEEKDAY = re.compile(r"(unavailable_after\s*:\s*)[a-z]{3,9},")
NOINDEX_ELEMENT = re.compile(
    r"""<meta\s(?=[^<>]*\bname=["']?robots\b)[^<>]*\bno(?:index|ne)\b""", re.I
)
"""A `<meta name="robots">` that forbids indexing, anywhere in HTML."""


def forbids_indexing(rules: str, now: datetime) -> bool:
    """Whether rules such as `max-snippet: 50, noindex` forbid indexing; each header or element is a
    line. What follows another crawler's name in a line applies to that crawler only."""
    for line in rules.lower().splitlines():
        is_ours = True
        for rule in re.split("[,;]", _WEEKDAY.sub(r"\1", line)):
            name, _, value = map(str.strip, rule.partition(":"))
            if name not in _WITH_VALUE and value[:1].isalpha():
                is_ours = name in _CRAWLERS
                name, _, value = map(str.strip, value.partition(":"))
            if is_ours and not {"noindex", "none"}.isdisjoint(re.findall(r"[\w-]+", name)):
                return True
            if is_ours and name == "unavailable_after" and _is_past(value.upper(), now):
                return True
    return False


def _is_past(text: str, now: datetime) -> bool:
    """Whether a date is past, in one of our formats or that of RFC 850: `25-Jun-10 15:00:00 PST`.

    False for an invalid date.
    """
    when = next(moments([text]), None)
    with suppress(ValueError):
        when = when or parsedate_to_datetime(text)
    return when is not None and when.replace(tzinfo=when.tzinfo or UTC) < now
