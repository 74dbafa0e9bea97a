"""A title for a post that its author gave none, as short notes often have."""

from typing import Any

from indexer.html_text import TooDeep, one_line, readable

_LENGTH = 60


def title_or_start(title: Any, html: Any) -> Any:
    """The title, or the first words of the text; None when there is neither."""
    if title is not None and (not isinstance(title, str) or title.strip()):
        return title
    if not isinstance(html, str):
        return None
    try:
        start = one_line(readable(html[:20_000]).prose)
    except TooDeep:
        return None
    if len(start) <= _LENGTH:
        return start or None
    return start[:_LENGTH].rpartition(" ")[0].rstrip(" ,;:–-") + "…"


def plain(title: str) -> str:
    """The text of a title that is HTML."""
    try:
        return one_line(readable(title).prose)
    except TooDeep:
        return title
