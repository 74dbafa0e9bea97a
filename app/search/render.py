"""Responses of Elasticsearch → the JSON answer. Pure; whatever a post contains, the page is safe.

Stored texts are HTML-escaped plain text already. Fragments are decoded and escaped again all the
same, so that a document some other indexer wrote cannot put markup into a page.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from analyzers.chains import OPERATORS
from app.search.answer_types import CommentHit, Highlight, Hit
from app.search.snippets import MARK, UNMARK, snippets

Json = dict[str, Any]

_MARKED = re.compile(f"{MARK}([^{MARK}{UNMARK}]*){UNMARK}")
_EMPTY = re.compile(f"{MARK}\\s*{UNMARK}")
# The analysis makes words of operators, and Lucene's marks for them are off by some characters.
_OPERATOR = re.compile("|".join(f"[{MARK}{UNMARK}]*".join(map(re.escape, s)) for s in OPERATORS))
_STRAY = re.compile(f"[{MARK}{UNMARK}]")


def plain(stored: str | None) -> str:
    """A stored text as a person reads it."""
    return html.unescape(stored or "")


def safe(fragment: str) -> str:
    """A highlighted plain text with nothing but our own `<mark>` in it."""
    marked = _EMPTY.sub("", _OPERATOR.sub(_mark_whole, fragment.strip()))
    escaped = html.escape(marked, quote=False)
    # Faster than a replacement with a group, which is expanded in Python.
    parts = _MARKED.split(escaped)
    parts[1::2] = [f"<mark>{word}</mark>" for word in parts[1::2]]
    return _STRAY.sub("", "".join(parts))


def _mark_whole(operator: re.Match[str]) -> str:
    """An operator with a mark somewhere inside, marked as a whole."""
    found = operator.group()
    return f"{MARK}{_STRAY.sub('', found)}{UNMARK}" if MARK in found else found


def highlights(hit: Mapping[str, Any]) -> dict[str, list[str]]:
    """The highlights of a hit by field, whichever of its sub-fields was highlighted."""
    return {field.split(".")[0]: found for field, found in hit.get("highlight", {}).items()}


def _highlight(hit: Mapping[str, Any], title: str) -> Highlight:
    # Decoded before they are cut, so that no entity is.
    found = {
        field: [plain(fragment) for fragment in fragments]
        for field, fragments in highlights(hit).items()
    }
    marked_title = found["title"][0] if "title" in found else title
    texts, code = found.get("text", []), found.get("code", [])
    if not any(MARK in text for text in texts):
        # Without a match in it the text gives its beginning, which says less than the code does.
        texts = [] if code else texts
    parts = [*snippets([*texts, *code], marked_title), *snippets(found.get("comment", []))]
    return {"title": safe(marked_title), "text": [safe(part) for part in parts]}


def post_hit(hit: Mapping[str, Any], comments: Sequence[Json] = ()) -> Hit:
    """One post of the answer, from a hit of Elasticsearch and the hits of its comments."""
    source = hit["_source"]
    title = plain(source.get("title"))
    found: Hit = {
        "oid": source["oid"],
        "kind": "post",
        "title": title,
        "url": source.get("url"),
        "pub_date": source.get("pub_date"),
        "categories": source.get("categories", []),
        "score": None if hit["_score"] is None else round(hit["_score"], 4),
        "highlight": _highlight(hit, title),
    }
    if language := source.get("language"):
        found["language"] = language
    if comments:
        found["comments"] = [_comment(comment, source.get("url")) for comment in comments]
    return found


def _comment(hit: Json, post_url: str | None) -> CommentHit:
    """A comment that speaks for its post: who wrote it, where it is, the matching part of it."""
    source = hit["_source"]
    comment_texts = [plain(text) for text in hit.get("highlight", {}).get("comment", [])]
    return {
        "oid": source["oid"],
        "author": plain(source.get("author")) or None,
        "pub_date": source.get("pub_date"),
        "url": f"{post_url}#comment-{quote(source['oid'])}" if post_url else None,
        "highlight": [safe(part) for part in snippets(comment_texts)],
    }


def comment_hit(hit: Json) -> Hit:
    """One comment of the answer, with the oid, title and url of its post."""
    source = hit["_source"]
    parents = hit["inner_hits"]["post"]["hits"]["hits"]
    # A comment can outlive its post for the moment between two deletes; it still has the oid.
    post = parents[0]["_source"] if parents else {"oid": source["post_oid"]}
    title = plain(post.get("title"))
    return {
        "oid": post["oid"],
        "kind": "comment",
        "title": title,
        "url": post.get("url"),
        "pub_date": source.get("pub_date"),
        "score": hit["_score"],
        "highlight": _highlight(hit, title),
        "comment": {"oid": source["oid"], "author": plain(source.get("author"))},
    }


def concrete_index(response: Json) -> str:
    """The index behind the alias, as the hits tell it; "" when there are none."""
    return next((str(hit["_index"]) for hit in response["hits"]["hits"]), "")
