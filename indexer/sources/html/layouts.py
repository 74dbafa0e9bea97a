"""Reads layouts.toml, the page layouts of known generators and themes."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True, slots=True)
class Layout:
    """The page layout of a generator or theme; every field but the name is a CSS selector.

    Args:
        name: the name; docs/sources.md has the version that was checked.
        has: elements that only its pages have.
        content, title, date, updated, tags, categories: elements of a post.
        drop: elements that do not belong to the text of a post.
        code: blocks of code other than `<pre>`.
        post, list: elements that only posts have, or only lists and other tools.
        unsearched: elements of a page that its author has excluded from the search.
        marked: elements in which the generator itself writes `data-pagefind-ignore`.
    """

    name: str = ""
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
    """Return the layout of a parsed page; the last row fits any."""
    return next(row for row in layouts() if page.css_first(row.has))
