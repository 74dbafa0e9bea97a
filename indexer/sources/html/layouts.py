"""Reads layouts.toml, the page layouts of known generators and themes."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True, slots=True)
class Layout:
    """The page layout of a generator or theme; every field from `has` on is a CSS selector.

    Args:
        name: the name; docs/sources.md has the version that was checked.
        generator: a regular expression for the beginning of `meta[name=generator]`.
        has: elements that only its pages have; a page must match both `generator` and `has` if both
            are given.
        content, title, date, updated, tags, categories: elements of a post.
        drop: elements that do not belong to the text of a post.
        code: blocks of code other than `<pre>`.
        post, list: elements that only posts have, or only lists and other tools.
        unsearched: elements of a page that its author has excluded from the search.
        marked: elements in which the generator itself writes `data-pagefind-ignore`.
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
    """Return the rows of layouts.toml; the first one that fits a page counts."""
    table = tomllib.loads(files(__package__).joinpath("layouts.toml").read_text("utf-8"))
    return tuple(Layout(name=name, **row) for name, row in table.items())


def layout_of(page: LexborHTMLParser) -> Layout:
    """Return the layout of a parsed page, or one without a name if it is unknown."""
    nodes = page.css("meta[name=generator i][content]")
    stated = [node.attributes.get("content") or "" for node in nodes]
    for row in layouts():
        is_stated = any(re.match(row.generator, text, re.IGNORECASE) for text in stated)
        if (not row.generator or is_stated) and (not row.has or page.css_first(row.has)):
            return row
    return Layout()
