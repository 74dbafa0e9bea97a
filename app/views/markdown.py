"""Format answers and posts as Markdown, for programs that read on behalf of somebody. Pure.

    answer_markdown(body, "https://search.example.org/")
    post_markdown(post)

Addresses without a host are resolved against the second argument. Texts of posts are quoted, or
below the heading of their post, without marks. Comments are left out: anybody can write them, and
they could contain instructions to a reader's agent.
"""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from app.search.answer import Hit, SearchAnswer
from app.search.render import passages
from indexer.posts.addresses import absolute

_FENCE = re.compile(r"^`{3,}", re.MULTILINE)
_SAFE = "%/:?#@!$&'*+,;=~-._"
"""The characters not escaped in an address; a space or a parenthesis would end the link."""


def answer_markdown(body: SearchAnswer, base: str) -> str:
    """Format an answer: for each hit its title, address, date, categories and passages."""
    hits, first = body["hits"], (body["page"] - 1) * body["size"] + 1
    parts = [f"# Search: {_line(body['q'])}"]
    if corrected := body.get("corrected"):
        parts.append(f"Also searched for “{_line(corrected['to'])}”.")
    if dropped := body.get("dropped"):
        parts.append(f"No post has: {_line(', '.join(dropped))}.")
    if excluded := body.get("excluded"):
        parts.append(f"Without: {_line(', '.join(excluded))}.")
    shown = f" Shown: {first} to {first + len(hits) - 1}." if hits else ""
    parts.append(f"Posts found: {body['count']}.{shown}")
    for number, hit in enumerate(hits, first):
        about = filter(None, [day(hit), ", ".join(hit["categories"])])
        parts += [f"## {number}. {_link(hit['title'], hit['url'], base)}", " · ".join(about)]
        parts.append(passage_markdown(hit, base))
    return f"{_joined(parts)}\n"


def passage_markdown(hit: Hit, base: str) -> str:
    """Format the best passages of a hit, each quoted below its heading, and its translations."""
    parts = [_quote(text) for text in hit["highlight"]["text"]]
    for section in hit.get("sections", ()):
        address = (section["url"] or "").partition(":~:")[0].rstrip("#")
        heading = _link(section["heading"], address, base)
        parts += [f"### {heading}", _quote(section["snippet"])]
    for other in hit.get("translations", ()):
        parts.append(f"{other['language']}: {_link(other['title'], other['url'], base)}")
    return _joined(parts)


def post_markdown(post: Mapping[str, Any]) -> str:
    """Format the title of a post, and its text under its headings."""
    title = post["title"]
    parts = [f"# {_line(title)}"]
    for passage in passages(post["text"], post["code"], post.get("headings", ()), title):
        level = 2 + sum(name != title for name in passage.above)
        parts.append(f"{'#' * min(level, 6)} {passage.name}" if passage.name else "")
        parts += passage.prose.split("\n")
        if passage.code:
            fence = max(["``", *_FENCE.findall(passage.code)], key=len) + "`"
            parts.append(f"{fence}\n{passage.code}\n{fence}")
    return f"{_joined(parts)}\n"


def day(post: Mapping[str, Any]) -> str:
    """Return the publication day of a post, "" without one."""
    return (post.get("pub_date") or "")[:10]


def _quote(highlight: str) -> str:
    text = html.unescape(re.sub("</?mark>", "", highlight))
    return "\n".join(f"> {line}" for line in text.splitlines() if line.strip())


def _link(text: str, url: str | None, base: str) -> str:
    text = re.sub(r"([\\\[\]`])", r"\\\1", _line(text))
    address = absolute(url, base)
    return f"[{text}]({quote(address, safe=_SAFE)})" if address else text


def _line(text: str) -> str:
    return " ".join(text.split())


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(str.strip, parts))
