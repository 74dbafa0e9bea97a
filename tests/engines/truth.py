"""Thirty posts of all lengths and statuses, and how what came in differs from them."""

import random
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from indexer.posts.dates import moment
from indexer.posts.html_text import Readable, readable
from indexer.posts.records import RawPost, SourceItem

LENGTHS = (10, 12, 15, 20, 30, 40, 60, 80, 120, 200, 300, 500, 800, 1200, 2000)
_SYLLABLES = (
    "ba",
    "ke",
    "li",
    "mo",
    "nu",
    "ra",
    "se",
    "ti",
    "vo",
    "zu",
    "fen",
    "gol",
    "har",
    "pim",
)
_CATEGORIES = ("Baking", "Milling", "River & weir")


@dataclass(frozen=True, slots=True)
class Post:
    """A post; `word` is in its text only."""

    number: int
    status: str
    title: str
    word: str
    paragraphs: tuple[str, ...]
    when: datetime
    categories: tuple[str, ...]

    @property
    def slug(self) -> str:
        """The last part of its address."""
        return f"note-{self.number}"

    @property
    def html(self) -> str:
        """The text as HTML."""
        return "\n".join(f"<p>{paragraph}</p>" for paragraph in self.paragraphs)


def posts(statuses: Iterable[str]) -> list[Post]:
    """A post of each status; the lengths go round."""
    return [_post(number, status) for number, status in enumerate(statuses, start=1)]


def _post(number: int, status: str) -> Post:
    chosen = random.Random(number)
    word, left = f"unique{number}word", LENGTHS[number % len(LENGTHS)] - 1
    words = [word] + ["".join(chosen.choices(_SYLLABLES, k=3)) for _ in range(left)]
    paragraphs = [
        " ".join(words[at : at + 60]).capitalize() + "." for at in range(0, len(words), 60)
    ]
    when = datetime(2026, 1, 5, 9, 30, tzinfo=UTC) + timedelta(days=number * 3)
    if status in ("future", "scheduled"):
        when += timedelta(days=3650)
    title = f"{'Stones & sacks' if number % 2 else 'A day at the weir'}, part {number}"
    categories = (_CATEGORIES[number % 3],)
    return Post(number, status, title, word, tuple(paragraphs), when, categories)


def faults(
    items: Collection[SourceItem], written: Iterable[Post], *, of: Collection[str]
) -> Iterator[str]:
    """What is not as it was written: every post of the statuses `of`, and no word of another."""
    found = {
        str(item.url).rstrip("/").rpartition("/")[2]: item
        for item in items
        if isinstance(item, RawPost)
    }
    whole = "\n".join(_text(post).lower() for post in found.values())
    for post in written:
        item = found.pop(post.slug, None)
        if post.status not in of:
            if item or post.word in whole or post.title in whole:
                yield f"{post.slug} is {post.status}, and came in"
        elif item is None:
            yield f"{post.slug} ({len(post.html.split())} words) is missing"
        else:
            day = moment(item.pub_date)
            if item.title != post.title:
                yield f"{post.slug}: the title is {item.title!r}, not {post.title!r}"
            if day != post.when:
                yield f"{post.slug}: the date is {day}, not {post.when}"
            if not {*post.categories} <= {*item.categories, *item.keywords}:
                yield f"{post.slug}: the categories are {item.categories} {item.keywords}"
            words, wanted = _words(_text(item)), _words(" ".join(post.paragraphs))
            if words != wanted:
                more = [word for word in words if word not in set(wanted)][:12]
                yield f"{post.slug}: {len(words)} words, not {len(wanted)}; foreign: {more}"
    for slug in found:
        yield f"{slug} came in, and is no post"


def _text(item: RawPost) -> str:
    text = item.text if isinstance(item.text, Readable) else readable(str(item.text or ""))
    return f"{text.prose} {text.code}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
