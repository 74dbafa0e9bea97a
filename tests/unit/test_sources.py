"""Inputs of every kind, and what is read of them.

Each folder in tests/data/sources is one input, beside its `expected.json`:

    why       what is to be seen here, in one sentence
    source    the file or folder to read, below the folder of the case; by default the whole folder
    kind      the kind that is detected (or, with `"named": true`, that is named)
    options   of `SourceOptions`, such as {"site": "https://blog.example.org"}
    posts     every post, in the order of the source, each with the fields that matter: those of
              `RawPost`, dates in ISO 8601; `text` and `code` as plain text, `headings` as
              [text, level, id]; `has` and `lacks` are lists of words in title, text and code;
              `comments` are objects of the same kind
    skipped   the reasons for what is left out, in order; by default none
    rejected  a part of each reason, in order; by default none
    warnings  a part of each, in order; by default they are not looked at
    error     a part of the error and its remedy, instead of all that
"""

import json
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.posts.dates import iso, moment
from indexer.posts.html_text import Readable, readable
from indexer.posts.records import RawComment, RawPost, Reject, Skipped
from indexer.sources import SourceOptions, open_source
from indexer.sources.base import complete

CASES = Path(__file__).parent.parent / "data/sources"
_DATES = ("pub_date", "modified")


@pytest.mark.parametrize("case", sorted(path.parent.name for path in CASES.glob("*/expected.json")))
def test_source(case: str) -> None:
    folder = CASES / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    warnings: list[str] = []
    options = SourceOptions(warn=warnings.append, **expected.get("options", {}))
    kind = expected["kind"] if expected.get("named") else None
    if "error" in expected:
        with pytest.raises(SourceError) as caught:
            list(open_source(str(folder / expected.get("source", "")), kind, options).read())
        assert expected["error"] in str(caught.value)
        return
    source = open_source(str(folder / expected.get("source", "")), kind, options)
    assert source.kind == expected["kind"]
    items = list(source.read())
    posts = [complete(item, options) for item in items if isinstance(item, RawPost)]
    wanted = expected.get("posts", [])
    assert [_seen(post, fields) for post, fields in zip(posts, wanted, strict=False)] == wanted
    assert [post.title for post in posts[len(wanted) :]] == []
    skipped = [item for item in items if isinstance(item, Skipped)]
    assert [item.reason for item in skipped] == expected.get("skipped", [])
    asking = [item for item in skipped if item.reason.startswith("asks") and item.oid]
    assert all(item.declared for item in asking)  # `sync` keeps the post after a mere guess
    rejects = [item for item in items if isinstance(item, Reject)]
    _assert_parts(
        expected.get("rejected", []), [f"{item.reason} {item.remedy}" for item in rejects]
    )
    if "warnings" in expected:
        _assert_parts(expected["warnings"], warnings)


def _assert_parts(parts: list[str], texts: list[str]) -> None:
    assert len(texts) == len(parts), texts
    for part, text in zip(parts, texts, strict=True):
        assert part in text


def _seen(item: RawPost | RawComment, fields: dict[str, Any]) -> dict[str, Any]:
    """What is said of the item in those fields."""
    seen: dict[str, Any] = {}
    text = item.text if isinstance(item, RawPost) else item.comment
    if not isinstance(text, Readable):
        text = readable(str(text or ""))
    title = item.title if isinstance(item, RawPost) else ""
    whole = f"{title}\n{text.prose}\n{text.code}"
    for name, wanted in fields.items():
        if name == "has":
            seen[name] = [word for word in wanted if word in whole]
        elif name == "lacks":
            seen[name] = [word for word in wanted if word not in whole]
        elif name == "comments":
            pairs = zip(getattr(item, name), wanted, strict=True)
            seen[name] = [_seen(comment, fields) for comment, fields in pairs]
        elif name == "headings":
            seen[name] = [[heading.text, heading.level, heading.id] for heading in text.headings]
        elif name in ("text", "comment"):
            seen[name] = text.prose
        elif name == "code":
            seen[name] = text.code
        else:
            value = getattr(item, name)
            if name in _DATES and value is not None:
                value = (when := moment(value)) and iso(when)
            seen[name] = value
    return seen
