"""The sample posts are what their README says, and the judged queries are true of them."""

import html
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "sample"

TARGET_KINDS = {"phrase", "multi_typo", "multi_nophrase"}
WORD_KINDS = {
    "exact", "typo1", "typo2", "typo_first", "typo_cap", "typo1_indb", "typo_two", "brit", "amer",
    "symbol", "prefix", "synonym", "several", "comment", "stopwords", "accents",
}  # fmt: skip


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text("utf-8").splitlines()]


def _plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


def _folded(text: str) -> str:
    """Lower case, accents off, quotation marks straight; apart from the project's own analysis."""
    text = text.casefold().replace("ø", "o").replace("’", "'")
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join("".join(letters).split())


def _has(text: str, word: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(_folded(word))}(?!\w)", text))


POSTS = _lines("posts.jsonl")
QUERIES = _lines("queries.jsonl")
OIDS = {post["oid"] for post in POSTS}
TITLES = {post["oid"]: _folded(post["title"]) for post in POSTS}
TEXTS = {post["oid"]: _folded(_plain(post["text"])) for post in POSTS}
COMMENTS = {
    post["oid"]: _folded(" ".join(_plain(remark["comment"]) for remark in post.get("comments", [])))
    for post in POSTS
}


def _posts_with(word: str, *, where: tuple[dict[str, str], ...] = (TITLES, TEXTS)) -> set[str]:
    return {oid for oid in OIDS if any(_has(part[oid], word) for part in where)}


def _expected(query: dict[str, Any]) -> dict[str, int]:
    """The grades that the README's rule gives a query for a word."""
    words = query.get("words", [query["intent"]])
    title, text, comment = (
        set().union(*(_posts_with(word, where=(part,)) for word in words))
        for part in (TITLES, TEXTS, COMMENTS)
    )
    if query["kind"] == "comment":
        text |= comment
    return {oid: 2 if oid in title else 1 for oid in title | text}


def test_queries_name_posts_that_are_there() -> None:
    kinds = WORD_KINDS | TARGET_KINDS | {"nonsense"}

    assert {query["kind"] for query in QUERIES} == kinds
    assert len({(query["q"], query["kind"]) for query in QUERIES}) == len(QUERIES)
    for query in QUERIES:
        assert query.keys() - {"words"} == {"q", "intent", "kind", "grades", "related"}, query["q"]
        assert query["grades"].keys() | set(query["related"]) <= OIDS, query["q"]
        assert query["grades"].keys().isdisjoint(query["related"]), query["q"]
        assert set(query["grades"].values()) <= {1, 2}, query["q"]
        assert bool(query["grades"]) == (query["kind"] != "nonsense"), query["q"]


def _of_kinds(kinds: set[str]) -> list[dict[str, Any]]:
    return [query for query in QUERIES if query["kind"] in kinds]


@pytest.mark.parametrize("query", _of_kinds(WORD_KINDS), ids=lambda judged: judged["kind"])
def test_grades_of_a_word_follow_the_rule(query: dict[str, Any]) -> None:
    expected = _expected(query)
    if query["kind"] == "prefix" and query["q"] == query["intent"]:
        whole = _posts_with(query["q"], where=(TITLES,))
        expected = {oid: 2 if oid in whole else 1 for oid in expected}

    assert query["grades"] == expected


@pytest.mark.parametrize("query", _of_kinds(TARGET_KINDS), ids=lambda judged: judged["q"])
def test_grades_of_several_words_name_the_post_they_are_from(query: dict[str, Any]) -> None:
    (target,) = query["grades"]

    assert query["grades"] == {target: 2}
    assert all(_has(TITLES[target], word) for word in query["intent"].split())
    if query["kind"] == "multi_nophrase":
        assert not _has(TITLES[target], query["intent"])
    else:
        assert _has(TITLES[target], query["intent"])
        assert not [oid for oid in OIDS - {target} if _has(TITLES[oid], query["intent"])]
