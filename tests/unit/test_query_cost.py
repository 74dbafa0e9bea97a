"""No query makes searches that are much larger than those of a usual one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from analyzers.languages import ENGLISH
from app.errors import BadRequest
from app.search.first_request import FirstResponse, build, examined_terms, plan_first
from app.search.known import Known
from app.search.query_builder import ANY, counts_search, hits_search
from app.search.request import MAX_QUERY, SearchRequest
from app.search.second_request import plan_second, without_doubtful
from app.search.spelling import TermStats, TermVariant

_LEAVES = {"match", "match_phrase", "multi_match", "combined_fields", "prefix", "term", "terms"}
MOST_CLAUSES = 1200
MOST_CLAUSES_BY_HITS = 3200
MOST_LETTERS, MOST_LETTERS_OF_TWO_ERRORS = 80, 32


def _leaves(body: Any) -> int:
    if isinstance(body, dict):
        return sum((name in _LEAVES) + _leaves(inner) for name, inner in body.items())
    if isinstance(body, list):
        return sum(map(_leaves, body))
    return 0


def _letters(suggesters: Sequence[Any]) -> int:
    return sum(len(suggester["text"].replace(" ", "")) for suggester in suggesters)


def _unknown(request: SearchRequest) -> Iterator[Any]:
    """All searches for a query of which no post has a word, and each has many other spellings."""
    plan = plan_first(request, ENGLISH, Known().rules.phrases, recency=True)
    if plan.query.empty:
        return
    yield from build(plan, plan)
    options = {
        term.token: [
            {"text": f"{term.token}{letter}", "freq": 50, "score": 0.9} for letter in "abcdefghij"
        ]
        for term in examined_terms(plan)
    }
    stats = {term.key: TermStats() for term in examined_terms(plan)}
    matched = {ANY: 0}
    first = FirstResponse({"hits": {"hits": []}}, matched, stats, options, 1000, "blog-000001")
    second = plan_second(plan, first, Known().rules.phrases)
    if second:
        yield from (hits_search(second), counts_search(second))


words = st.text(
    st.characters(categories=["Ll", "Lu", "Lo", "Nd"]) | st.sampled_from(".-_/'"), min_size=1
)


@given(st.lists(words, min_size=1).map(lambda words: " ".join(words)[:MAX_QUERY]))
@settings(max_examples=150, deadline=None)
def test_clauses_are_bounded(q: str) -> None:
    assert sum(map(_leaves, _unknown(SearchRequest(q)))) <= MOST_CLAUSES


@pytest.mark.parametrize(
    "q",
    [
        " ".join(f"fooBarBazQuxQuu{letter}" for letter in "abcdefghijkl"),
        " ".join("abcdefghijklmnopqrstuvwxyz" * 4)[:MAX_QUERY],
        "가나다라마바사아자차" * 20,
        "日本語検索処理言語" * 22,
        "a.b-c/d_e" * 22,
        "abcdefghij" * 20,
        " ".join(["pyhton", "djagno", "databsae"] * 10)[:MAX_QUERY],
    ],
)
def test_expensive_queries_are_bounded(q: str) -> None:
    searches = list(_unknown(SearchRequest(q[:MAX_QUERY])))
    assert sum(map(_leaves, searches)) <= MOST_CLAUSES
    suggesters = [suggester for body in searches for suggester in body.get("suggest", {}).values()]
    assert _letters(suggesters) <= MOST_LETTERS
    of_two_errors = [suggester for suggester in suggesters if suggester["term"]["max_edits"] > 1]
    assert _letters(of_two_errors) <= MOST_LETTERS_OF_TWO_ERRORS


@pytest.mark.parametrize(
    ("words", "size"), [(1, 50), (2, 50), (10, 40), (20, 20), (21, 10), (40, 10)]
)
def test_words_times_hits_are_bounded(words: int, size: int) -> None:
    q = " ".join(["a"] * words)
    assert SearchRequest.parse(MultiDict({"q": q, "size": str(size)})).size == size
    with pytest.raises(BadRequest, match="size must be"):
        SearchRequest.parse(MultiDict({"q": q, "size": str(size + 1)}))


@pytest.mark.parametrize("q", ["日本語検索処理言語" * 30, "site.name." * 30, "x" * MAX_QUERY])
def test_characters_times_hits_are_bounded(q: str) -> None:
    q = q[:MAX_QUERY]
    assert SearchRequest.parse(MultiDict({"q": q, "size": "20"})).size == 20
    with pytest.raises(BadRequest, match="size must be"):
        SearchRequest.parse(MultiDict({"q": q, "size": "21"}))


@pytest.mark.parametrize(
    ("q", "size"),
    [
        (" ".join(["pyhton", "djagno", "databsae", "langauge"] * 2), 50),
        (" ".join(["pyhton", "djagno", "databsae"] * 10)[:MAX_QUERY], 13),
        (("site.name.word " * 13)[:MAX_QUERY], 20),
    ],
)
def test_the_hits_of_a_large_page_are_highlighted_once(q: str, size: int) -> None:
    searches = list(_unknown(SearchRequest(q, size=size)))
    highlighted = [body["highlight"] for body in searches if "highlight" in body]
    assert len(highlighted) == 1
    assert _leaves(highlighted) * size <= MOST_CLAUSES_BY_HITS


def test_a_small_page_is_highlighted_in_the_first_request() -> None:
    assert "highlight" in next(_unknown(SearchRequest("pyhton djagno")))


def test_long_and_large_searches_are_not_repeated_without_corrections() -> None:
    def repeated(words: int, size: int) -> bool:
        q = " ".join(f"wrod{letter}" for letter in "abcdefghijkl"[:words])
        plan = plan_first(SearchRequest(q, size=size), ENGLISH, Known().rules.phrases, recency=True)
        known, *doubtful = plan.required
        other = TermVariant("another", kind="spelling", cost=1.7)
        required = (known, *(replace(term, variants=(other,)) for term in doubtful))
        return without_doubtful(replace(plan, required=required)) is not None

    assert repeated(words=3, size=10)
    assert not repeated(words=10, size=10)
    assert not repeated(words=5, size=40)


def test_a_usual_query_is_searched_as_a_whole() -> None:
    q = "how do i write tests for a flask service that uses elasticsearch and redis"
    searches = list(_unknown(SearchRequest(q)))
    assert "elasticsearch" in json.dumps(searches)
    assert "redis" in json.dumps(searches[0]["query"])
