"""Answers and posts as Markdown, for programs that read for somebody. Pure.

    answer_markdown(body, "https://search.example.org/")
    post_markdown(source)

Texts of posts are quoted or stand below the heading of their post, without marks. Comments are left
out: anybody writes them, and they could give orders to a reader's agent.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from app.search.answer import Hit, SearchAnswer
from indexer.posts.addresses import absolute

Json = Mapping[str, Any]

_MARK = re.compile(r"</?mark>")
_IN_LINK = re.compile(r"([\\\[\]`])")
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)
_BEFORE: Json = {"line": -1, "code_line": 0, "level": 1}
"""What stands before the first heading."""


def answer_markdown(body: SearchAnswer, base: str) -> str:
    """The answer to a search: for each hit its title, address, date, categories and passages.

    Args:
        base: the URL against which addresses without a host are resolved.
    """
    first = (body["page"] - 1) * body["size"] + 1
    last = first + len(body["hits"]) - 1
    lines = [f"# Search: {_line(body['q'])}", ""]
    if corrected := body.get("corrected"):
        lines += [f"Searched for “{_line(corrected['to'])}”, too.", ""]
    if dropped := body.get("dropped"):
        lines += [f"No post has: {_line(', '.join(dropped))}.", ""]
    lines.append(f"Posts found: {body['count']}.")
    if body["hits"]:
        lines[-1] += f" Shown: {first} to {last}."
    for number, hit in enumerate(body["hits"], first):
        about = [_day(hit["pub_date"]), ", ".join(hit["categories"])]
        lines += ["", f"## {number}. {link(hit['title'], hit['url'], base)}", ""]
        lines += [text for text in [" · ".join(filter(None, about))] if text]
        lines += ["", passage_markdown(hit, base)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def passage_markdown(hit: Hit, base: str) -> str:
    """What of a post answers: its best passages, each quoted below its heading."""
    parts = [_quoted(plain_text(text)) for text in hit["highlight"]["text"]]
    for section in hit.get("sections", ()):
        address = (section["url"] or "").partition(":~:")[0].rstrip("#")
        heading = link(plain_text(section["heading"]), address, base)
        parts += [f"### {heading}", _quoted(plain_text(section["snippet"]))]
    return "\n\n".join(part for part in parts if part)


def plain_text(fragment: str) -> str:
    """The text of a highlight, which is HTML with `<mark>`."""
    return html.unescape(_MARK.sub("", fragment))


def link(text: str, url: str | None, base: str) -> str:
    """A link, or the text if there is no address of a web page."""
    text = _IN_LINK.sub(r"\\\1", _line(text))
    address = absolute(url, base)
    return f"[{text}]({quote(address, safe=_SAFE)})" if address else text


_SAFE = "%/:?#@!$&'*+,;=~-._"
"""What stays in an address: a space or a parenthesis would end the link."""


def post_markdown(source: Json, base: str) -> str:
    """A stored post: title, address, date, categories, and its text under its headings."""
    title = html.unescape(source["title"])
    about = [absolute(source.get("url"), base), _day(source.get("pub_date"))]
    about.append(", ".join(source.get("categories", ())))
    head = [f"# {_line(title)}", *filter(None, about)]
    return "\n\n".join([*head, *_sections(source, title)]) + "\n"


def _sections(source: Json, title: str) -> Iterator[str]:
    lines = html.unescape(source.get("text", "")).split("\n")
    code = html.unescape(source.get("code", "")).split("\n")
    headings: Sequence[Json] = source.get("headings", ())
    last = {"line": len(lines), "code_line": len(code)}
    for heading, following in pairwise([_BEFORE, *headings, last]):
        name = lines[heading["line"]] if 0 <= heading["line"] < len(lines) else ""
        if name and name.casefold() != title.casefold():
            yield f"{'#' * min(max(heading['level'], 2), 6)} {name}"
        yield from filter(str.strip, lines[heading["line"] + 1 : following["line"]])
        if block := "\n".join(code[heading["code_line"] : following["code_line"]]).strip("\n"):
            ticks = max([3, *(len(found) + 1 for found in _FENCE.findall(block))])
            yield f"{'`' * ticks}\n{block}\n{'`' * ticks}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines() if line.strip())


def _line(text: str) -> str:
    return " ".join(text.split())


def _day(date: str | None) -> str:
    return (date or "")[:10]
