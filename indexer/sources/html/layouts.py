"""The layouts of known generators and themes, which layouts.toml describes."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a generator or theme puts what; every field from `has` on is a CSS selector.

    Args:
        name: what it is called; docs/sources.md has the version that was looked at.
        generator: how `meta[name=generator]` begins, as a regular expression.
        has: what only its pages have; a page needs one of `generator` and `has`, or both if both
            are given.
        content, title, date, updated, tags, categories: elements of a post.
        drop: elements that are no part of the text of a post.
        code: blocks of code that are no `<pre>`.
        post, list: elements that only pages of posts, or only lists and other tools have.
        unsearched: what a page has that its author does not want searched.
        marked: elements in which `data-pagefind-ignore` is written by the generator itself.
    """

    name: str = ""
    generator: str = ""
    has: str = ""
    content: str = ""
    title: str = ""
    date: str = ""
    updated: str = ""
    tags: str = ""
    categories: str = ""
    drop: str = ""
    code: str = ""
    post: str = ""
    list: str = ""
    unsearched: str = ""
    marked: str = ""


@cache
def layouts() -> tuple[Layout, ...]:
    """The rows of layouts.toml; of several that fit a page, the first one counts."""
    table = tomllib.loads(files(__package__).joinpath("layouts.toml").read_text("utf-8"))
    return tuple(Layout(name=name, **row) for name, row in table.items())


def layout_of(page: LexborHTMLParser) -> Layout:
    """The layout of a parsed page; one without a name if it is not known."""
    nodes = page.css("meta[name=generator i][content]")
    stated = [node.attributes.get("content") or "" for node in nodes]
    for row in layouts():
        is_stated = any(re.match(row.generator, text, re.IGNORECASE) for text in stated)
        if (not row.generator or is_stated) and (not row.has or page.css_first(row.has)):
            return row
    return Layout()
