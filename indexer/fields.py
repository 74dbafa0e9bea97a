"""What each field of a post or a comment may be; anything else is refused with what to do."""

import html
import re
from datetime import datetime
from typing import Any

from indexer.dates import TAKEN, NoDate, moment
from indexer.html_text import TooDeep, one_line, readable
from indexer.records import When

MAX_OID = 200
"""Bytes; an `_id` holds two of them and may have 512."""
MAX_TITLE = 1_000
MAX_TEXT = 1_000_000
"""Characters as stored: `index.highlight.max_analyzed_offset`, past which highlighting fails."""
MAX_HTML = 5 * MAX_TEXT
"""Characters of HTML, looked at before it is parsed."""
MAX_URL = 2_000
MAX_LABEL = 200
MAX_LABELS = 100

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TO_ENCODE = re.compile('[ "<>`]')


class Refused(Exception):
    """Why a post or comment is no document."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


def oid_of(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        found = "is missing" if value is None else f"is a {type(value).__name__}: {value!r:.80}"
        raise Refused(f"oid {found}", "Give every post and comment a string or a whole number.")
    oid = value.strip()
    if not oid:
        raise Refused("oid is empty", "Give every post and comment an oid of its own.")
    if _CONTROL.search(oid):
        raise Refused(f"oid {oid!r:.80} has a control character", "Take it out.")
    if len(oid.encode()) > MAX_OID:
        reason = f"oid {oid[:40]!r}… has {len(oid.encode())} bytes"
        raise Refused(reason, f"At most {MAX_OID} can be taken.")
    return oid


def title_of(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)  # what YAML makes of `title: 1984`
    if value is not None and not isinstance(value, str):
        raise Refused(f"title is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    title = one_line(value or "")
    if not title:
        raise Refused("title is missing", "Give the post a title.")
    if len(title) > MAX_TITLE:
        reason = f"the title has {len(title):,} characters"
        raise Refused(reason, f"At most {MAX_TITLE:,} can be taken; is it the text?")
    return html.escape(title, quote=False)


def texts_of(name: str, value: Any) -> tuple[str, str]:
    """Prose and code, escaped as they are stored."""
    if value is None:
        return "", ""
    if not isinstance(value, str):
        raise Refused(f"{name} is a {type(value).__name__}: {value!r:.80}", "Make it HTML.")
    split = "Split it into several posts; one so long is no hit that helps anyone."
    if len(value) > MAX_HTML:
        raise Refused(f"{name} has {len(value):,} characters of HTML", split)
    try:
        found = readable(value)
    except TooDeep as error:
        raise Refused(f"{name}: {error}", "Close the elements, or leave the post out.") from None
    prose, code = html.escape(found.prose, quote=False), html.escape(found.code, quote=False)
    if max(len(prose), len(code)) > MAX_TEXT:
        size = max(len(prose), len(code))
        raise Refused(f"{name} has {size:,} characters, more than {MAX_TEXT:,}", split)
    return prose, code


def author_of(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise Refused(f"author is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    return html.escape(one_line(value or "")[:MAX_LABEL], quote=False)


def date_of(name: str, value: When) -> datetime | None:
    try:
        return moment(value)
    except NoDate as error:
        raise Refused(f"{name}: {error}", f"{TAKEN[0].upper()}{TAKEN[1:]}.") from None


def url_of(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise Refused(f"url is a {type(value).__name__}: {value!r:.80}", "Make it a string.")
    url = value.strip()
    remedy = "Taken are http:// and https:// addresses, and paths on the site that start with /."
    site_relative = url.startswith("/") and not url.startswith("//")
    if not (site_relative or re.match(r"https?://[^/\s?#]", url, re.IGNORECASE)):
        raise Refused(f"url {url!r:.80} is no address of a page", remedy)
    if _CONTROL.search(url) or "\\" in url:
        raise Refused(f"url {url!r:.80} has a backslash or a control character", remedy)
    if len(url) > MAX_URL:
        raise Refused(f"url has {len(url):,} characters", f"At most {MAX_URL:,} can be taken.")
    return _TO_ENCODE.sub(lambda found: f"%{ord(found[0]):02X}", url)


def labels_of(name: str, value: Any) -> list[str]:
    remedy = "Make it a list of strings, or one string with commas."
    if isinstance(value, str):
        value = value.split(",")
    elif value is None:
        value = ()
    if not isinstance(value, list | tuple):
        raise Refused(f"{name} is a {type(value).__name__}: {value!r:.80}", remedy)
    labels: dict[str, None] = {}
    for entry in value:
        if not isinstance(entry, str | int | float) or isinstance(entry, bool):
            raise Refused(f"{name} has a {type(entry).__name__}: {entry!r:.80}", remedy)
        label = one_line(str(entry))
        if len(label) > MAX_LABEL:
            raise Refused(f"{name}: {label[:40]!r}… has {len(label)} characters", remedy)
        if label:
            labels[label] = None
    if len(labels) > MAX_LABELS:
        raise Refused(f"{name} has {len(labels)} entries", f"At most {MAX_LABELS} can be taken.")
    return list(labels)
