"""What a query is understood as, and the searches that are made of it, without a server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from analyzers.languages import ENGLISH
from analyzers.rules.compile import Phrases
from app.errors import BadRequest
from app.search.clauses import best_clauses, readings, whole_title
from app.search.fallback import search_terms
from app.search.plan import Plan, examined_words, plan_corrected, plan_typed
from app.search.request import MAX_QUERY, SearchRequest
from app.search.searches import counts_searches, hits_search
from app.search.searches import lookup_search as search_for
from app.search.session import WordMemo
from app.search.spelling import Option, TermStats, WordFacts

Json = dict[str, Any]
PHRASES = Phrases.of(["time zone, timezone => timezone"])
KNOWN, RARE, NOWHERE = TermStats(20, 20, 25), TermStats(1, 1, 1), TermStats()


def typed(q: str, **changes: Any) -> Plan:
    return plan_typed(SearchRequest(q=q, **changes), ENGLISH, PHRASES, recency=True)


def lookup_search(plan: Plan) -> Json:
    """As for a plan of whose words none is known."""
    return search_for(plan, examined_words(plan).values())


def corrected(q: str, stats: dict[str, TermStats], *options: str, **changes: Any) -> Plan:
    """The plan if the index has so much of the terms; the suggester offers `options` for each."""
    plan = typed(q, **changes)
    offered = tuple([Option(text, 30) for text in options])
    facts = {key: WordFacts(known, offered) for key, known in stats.items()}
    return plan_corrected(plan, facts)


def words(plan: Plan) -> list[str]:
    return [term.typed.text for term in plan.required]


@pytest.mark.parametrize("number", [1, 2, 12])
def test_a_word_is_enough_but_for_an_order_by_date(number: int) -> None:
    q = " ".join(["word"] * number)
    assert (typed(q).needed, typed(q, sort="newest").needed) == (1, number)


@pytest.mark.parametrize("q", ["python3", "c++", "node.js", "ab", "the", "1984", '"pythn"'])
def test_nothing_is_suggested_for_what_is_never_corrected(q: str) -> None:
    suggesters = lookup_search(typed(q)).get("suggest", {}).values()
    # As a piece of their own they may be words.
    assert {suggester["text"] for suggester in suggesters} <= {"node", "python"}


def test_one_long_identifier_is_corrected_by_one_edit() -> None:
    long, longer = "enable" * 5, "disable" * 5
    suggest = lookup_search(typed(f"{long} {longer} pythn"))["suggest"]
    asked = [(suggester["text"], suggester["term"]["max_edits"]) for suggester in suggest.values()]
    assert asked == [(f"{long} pythn", 1)]


@pytest.mark.parametrize(
    ("q", "stats", "options", "expected"),
    [
        ("date format xq", {"0": KNOWN, "1": KNOWN, "2": NOWHERE}, (), ["date", "format"]),
        ("post gres", {"0": NOWHERE, "1": KNOWN, "0+1": KNOWN}, (), ["postgres"]),
        ("foo.bar", {"0": NOWHERE, "0.0": KNOWN, "0.1": KNOWN}, (), ["foo", "bar"]),
        ("python3", {"0": NOWHERE, "0.0": KNOWN, "0.1": KNOWN}, (), ["python", "3"]),
        ("h264", {"0": NOWHERE, "0.0": KNOWN, "0.1": KNOWN}, (), ["h", "264"]),
        ("h264", {"0": NOWHERE, "0.0": KNOWN, "0.1": NOWHERE}, (), ["h264"]),
        ("word2vec", {"0": NOWHERE, "0.0": KNOWN, "0.1": NOWHERE}, (), ["word2vec"]),
        ("es 6", {"0": NOWHERE, "1": KNOWN, "0+1": KNOWN}, (), ["es6"]),
        ("on-line", {"0": NOWHERE, "0.1": KNOWN, "0.0+0.1": KNOWN}, (), ["online"]),
        ("7 zip", {"0": KNOWN, "1": NOWHERE, "0+1": KNOWN}, (), ["7zip"]),
        ("ES-6", {"0": NOWHERE, "0.0": KNOWN, "0.1": NOWHERE, "0.0+0.1": KNOWN}, (), ["es6"]),
        ("pythn", {"0": NOWHERE}, ("python",), ["pythn"]),
        ("wish", {"0": RARE}, ("wich",), ["wish"]),
    ],
)
def test_a_query_is_understood_otherwise(
    q: str, stats: dict[str, TermStats], options: tuple[str, ...], expected: list[str]
) -> None:
    assert words(corrected(q, stats, *options)) == expected


def test_a_word_written_apart_leaves_the_operators() -> None:
    stats = {"0": NOWHERE, "1": KNOWN, "0+1": KNOWN}
    query = corrected("-category:sql category:go in:title post gres", stats).query
    assert (query.other_categories, query.categories, query.in_title) == (("sql",), ("go",), True)


@pytest.mark.parametrize(
    ("q", "stats"),
    [
        ("rust", {"0": KNOWN}),
        ("python3", {"0": NOWHERE, "0.0": NOWHERE, "0.1": KNOWN}),
        ("open source", {"0": KNOWN, "1": KNOWN, "0+1": TermStats(9, stems=9)}),
    ],
)
def test_a_query_that_is_right_as_it_is(q: str, stats: dict[str, TermStats]) -> None:
    assert corrected(q, stats) == typed(q)


def test_a_beginning_is_no_word_whose_inflections_come_first() -> None:
    whole, begun = (dict(best_clauses(typed("car", typing=on))) for on in (False, True))
    assert whole.keys() - begun.keys() == {"all words, inflected"}


def test_what_stands_beside_a_misspelled_word_chooses_among_its_variants() -> None:
    plan = corrected("digital govement", {"0": KNOWN, "1": NOWHERE}, "movement", "government")
    assert {"digital movement", "digital government"} <= set(readings(plan.terms))
    assert {"digital movement", "digital government"} <= set(plan.texts)
    assert "digital government" in json.dumps(hits_search(plan)["rescore"])


def test_a_phrase_of_a_rule_is_spelled_right() -> None:
    plan = corrected("time zone", {"0": NOWHERE, "1": NOWHERE}, "lime", "tone")
    assert [(term.as_typed, term.phrase) for term in plan.terms] == [(True, "time zone")] * 2
    assert not corrected("time out", {"0": NOWHERE, "1": KNOWN}, "lime").terms[0].as_typed


def test_a_word_that_posts_have_is_not_one_that_resembles_it() -> None:
    plan = corrected("latter", {"0": RARE}, "later")
    assert plan.terms[0].as_typed
    assert [variant.text for variant in plan.terms[0].similar] == ["later"]
    # Its posts match, and are not counted as having the word, nor marked.
    assert "later" in json.dumps(hits_search(plan)["query"])
    (counts,) = counts_searches(plan)
    assert "later" not in json.dumps(counts)
    assert "later" not in json.dumps(hits_search(plan)["highlight"])


def test_of_several_unknown_words_each_has_all_its_splits_or_none() -> None:
    plan = corrected("gomodules webaccess pythons", dict.fromkeys("012", NOWHERE))
    kinds = [[variant.kind for variant in term.variants] for term in plan.terms]
    assert kinds == [["typed"], ["typed"], ["split"] * 4]


def test_each_field_is_highlighted_for_its_own_clauses() -> None:
    for q in ("rust", "the", '"static site" rust'):
        for name, field in hits_search(typed(q))["highlight"]["fields"].items():
            clauses = field["highlight_query"]["bool"]["should"]
            assert {of for query in clauses for clause in query.values() for of in clause} == {name}


def test_words_that_were_asked_for_last_are_remembered() -> None:
    memo = WordMemo(most=2)
    examined = {word: examined_words(typed(word))["0"] for word in ("ant", "bee", "cat")}
    facts = WordFacts(TermStats(words=1), (Option("bees", 3),))
    memo.learn(examined, {"ant": facts, "bee": facts})
    assert memo.recall({"ant": examined["ant"]}) == {"ant": facts}
    memo.learn(examined, {"cat": facts})
    assert memo.recall(examined).keys() == {"ant", "cat"}


# -- cost ------------------------------------------------------------------------------------------

_LEAVES = {"match", "match_phrase", "multi_match", "combined_fields", "prefix", "term", "terms"}
MOST_CLAUSES, MOST_BYTES = 1200, 40_000


def _leaves(body: Any) -> int:
    if isinstance(body, dict):
        return sum((name in _LEAVES) + _leaves(inner) for name, inner in body.items())
    return sum(map(_leaves, body)) if isinstance(body, list) else 0


def _unknown(request: SearchRequest) -> Iterator[Json]:
    """All searches for a query of which no post has a word, and each has many other spellings."""
    plan = plan_typed(request, ENGLISH, PHRASES, recency=True)
    if plan.query.empty:
        return
    if not plan.is_large:
        yield hits_search(plan)
    yield lookup_search(plan)
    terms = [term for term, _ in examined_words(plan).values()]
    facts = {
        term.key: WordFacts(NOWHERE, tuple([Option(term.token + end, 50) for end in "abcdefghij"]))
        for term in terms
    }
    if (second := plan_corrected(plan, facts)) != plan:
        yield from (hits_search(second), *counts_searches(second))


@pytest.mark.parametrize(
    "q",
    [
        " ".join(f"fooBarBazQuxQuu{letter}" for letter in "abcdefghijkl"),
        " ".join("abcdefghijklmnopqrstuvwxyz" * 4),
        "가나다라마바사아자차" * 20,
        "日本語検索処理言語" * 22,
        "a.b-c/d_e" * 22,
        "abcdefghij" * 20,
        " ".join(["pyhton", "djagno", "databsae"] * 10),
    ],
)
def test_expensive_queries_are_bounded(q: str) -> None:
    searches = list(_unknown(SearchRequest(q[:MAX_QUERY])))
    assert sum(map(_leaves, searches)) <= MOST_CLAUSES
    suggesters = [suggester for body in searches for suggester in body.get("suggest", {}).values()]
    sizes = {s["term"]["max_edits"]: len(s["text"].replace(" ", "")) for s in suggesters}
    assert sum(sizes.values()) <= 80
    assert sizes.get(2, 0) <= 32


@pytest.mark.parametrize(
    ("q", "size"), [("a", 50), ("a " * 10, 40), ("a " * 21, 10), ("日本語検索処理言語" * 23, 20)]
)
def test_words_times_hits_are_bounded(q: str, size: int) -> None:
    parameters = {"q": q[:MAX_QUERY], "size": str(size)}
    assert SearchRequest.parse(MultiDict(parameters)).size == size
    with pytest.raises(BadRequest, match="size must be"):
        SearchRequest.parse(MultiDict(parameters | {"size": str(size + 1)}))


@pytest.mark.parametrize(("q", "size"), [("pyhton djagno databsae " * 8, 13), ("pyhton " * 8, 50)])
def test_the_hits_of_a_large_page_are_highlighted_once(q: str, size: int) -> None:
    request = SearchRequest(q.strip()[:MAX_QUERY], size=size)
    assert ["highlight" in body for body in _unknown(request)] == [False, True, False]


def test_what_is_sent_is_bounded() -> None:
    plan = typed(" ".join(f"word{chr(97 + n % 26)}" for n in range(40)))
    assert len(json.dumps([hits_search(plan), lookup_search(plan)])) < MOST_BYTES


@pytest.mark.parametrize("q", ["go!", "home -security"])
def test_a_title_as_typed_is_asked_only_where_the_whole_title_matches(q: str) -> None:
    """It is compared with all titles, as its field is not indexed."""
    ((_, query),) = whole_title(typed(q))
    required = query.get("constant_score", {}).get("filter", query)["bool"]
    assert "title.exact" in json.dumps(required.get("must") or required["filter"])
    assert "title.keyword" in json.dumps(required)


# -- the strategy fallback -------------------------------------------------------------------------


def test_2017_takes_the_five_best_and_boosts_by_rank() -> None:
    options = [{"text": text, "score": 0.9 - n / 20} for n, text in enumerate("bcdefgh")]
    other = [{"text": "z", "score": 0.59}, {"text": "b", "score": 0.7}]
    suggested = {
        "title_suggestions": [{"text": "a", "offset": 4, "length": 1, "options": options}],
        "text_suggestions": [{"text": "a", "offset": 4, "length": 1, "options": other}],
    }
    # Elasticsearch counts UTF-16 code units: two for the first sign.
    after_emoji = search_terms("\N{PINEAPPLE}  A", suggested)
    assert after_emoji[1].term == "\N{PINEAPPLE}  b"
    terms = search_terms("Not A", suggested)
    assert [term.term for term in terms] == ["Not A", "Not b", "Not c", "Not d", "Not e"]
    assert [term.boost for term in terms] == pytest.approx([5.5, 3.6, 2.55, 1.6, 0.75])
    assert terms[0].explain()["boost_title"] == 2 * terms[0].explain()["boost_text"] == 11
