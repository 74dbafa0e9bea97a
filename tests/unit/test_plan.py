"""Plans are values: whole bodies, compared without a server."""

from datetime import date
from typing import Any

import pytest

from app.search import relevance
from app.search.blended import readings, reworded, sought
from app.search.clauses import begins, has_word
from app.search.fallback import search_plan as fallback_plan
from app.search.fallback import search_terms, suggest_plan
from app.search.known import words_to_ask_about
from app.search.phrases import phrase_clauses
from app.search.plan import Wanted, first_plan, second_plan
from app.search.request import SearchRequest
from app.search.spelling import Known
from app.search.words import understand


def wanted(q: str, known: dict[str, Known] | None = None, **changes: Any) -> Wanted:
    request = SearchRequest(q=q, **changes)
    query = understand(q)
    return Wanted(request, query, sought(query, {}, known or {}, typos=request.typos))


def first(q: str, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = first_plan(wanted(q, **changes)).to_dict()
    return body


def test_the_first_plan_asks_for_alternatives_of_whole_words() -> None:
    assert first("Pythn is")["suggest"] == {
        "alternatives": {
            "text": "pythn",
            "term": {
                "field": "spelling",
                "size": relevance.SUGGEST_SIZE,
                "max_inspections": relevance.SUGGEST_INSPECTIONS,
                "suggest_mode": "always",
                "prefix_length": 0,
                "min_word_length": 3,
            },
        }
    }


@pytest.mark.parametrize("q", ["python3", '"pythn"', "the", "c++"])
def test_nothing_is_suggested_for_what_is_never_mended(q: str) -> None:
    assert "suggest" not in first(q)


def test_typos_off_asks_for_the_hits_only() -> None:
    body = first("pythn", typos=False)
    assert "suggest" not in body
    assert "aggs" not in body
    assert "prefix" not in str(body)


def test_every_search_counts_exactly_and_leaves_long_texts_behind() -> None:
    body = first("x", page=3, size=7)
    assert (body["from"], body["size"]) == (14, 7)
    assert body["track_total_hits"] is True
    assert body["_source"] == {"excludes": ["text", "code", "comment"]}


def test_filters_and_order() -> None:
    body = first(
        "x",
        sort="newest",
        categories=("linux", "tools"),
        since=date(2016, 1, 1),
        until=date(2016, 12, 31),
    )
    assert body["query"]["bool"]["filter"] == [
        {"term": {"kind": "post"}},
        {"terms": {"categories": ["linux", "tools"]}},
        {"range": {"pub_date": {"gte": "2016-01-01", "lte": "2016-12-31||/d"}}},
    ]
    assert body["sort"] == [{"pub_date": {"order": "desc", "missing": "_last"}}, "_score"]
    assert "function_score" not in body["query"]


def test_age_is_added_not_multiplied_and_can_be_left_out() -> None:
    assert first("x")["query"]["function_score"]["boost_mode"] == "sum"
    query = understand("x")
    bare = Wanted(SearchRequest(q="x"), query, sought(query, {}, {}, typos=True), recency=False)
    assert "bool" in first_plan(bare).to_dict()["query"]


def test_the_second_plan_counts_posts_by_the_number_of_words() -> None:
    body = second_plan(wanted("one two three")).to_dict()
    assert set(body["aggs"]["tiers"]["filters"]["filters"]) == {"1", "2", "3"}
    names = body["aggs"]["tiers"]["aggs"]["words"]["filters"]["filters"]
    assert list(names) == ["word 0", "word 1", "word 2"]


def test_newest_first_still_puts_more_words_above() -> None:
    body = second_plan(wanted("one two", sort="newest")).to_dict()
    assert body["sort"] == ["_score", {"pub_date": {"order": "desc", "missing": "_last"}}]


def test_alternatives_are_in_the_query_with_their_weight() -> None:
    query = understand("pythn")
    known = {"0": Known()}
    option = {"text": "python", "freq": 9, "score": 0.8}
    found = readings(query, known, {"pythn": [option]})
    seen = sought(query, found, known, typos=True)
    assert [(one.text, one.weight) for one in seen[0].spellings] == [
        ("pythn", relevance.UNKNOWN_TYPED),
        ("python", 1.0),
    ]
    assert "python" in str(has_word(seen[0]))


@pytest.mark.parametrize(("option", "grows"), [("math", True), ("mesh", False)])
def test_a_beginning_is_mistyped_by_one_slip_at_most(option: str, grows: bool) -> None:
    query = understand("meth" if grows else "mpeh")
    known = {"0": Known()}
    options = {query.words[0].token: [{"text": option, "freq": 1, "score": 0.5}]}
    seen = sought(query, readings(query, known, options), known, typos=True)
    assert [(one.text, one.prefix) for one in seen[0].spellings[1:]] == [(option, grows)]


def test_phrases_skip_stop_words_where_these_are_not_indexed() -> None:
    words = wanted("controlling the style").sought
    clauses = phrase_clauses(words, {"title.words": 2.0, "title": 1.0})
    rules = [
        next(iter(clause["constant_score"]["filter"]["intervals"].values()))["all_of"]
        for clause in clauses
    ]
    assert [(len(rule["intervals"]), rule["max_gaps"]) for rule in rules] == [(3, 0), (2, 1)]


def test_a_single_word_is_no_phrase() -> None:
    assert phrase_clauses(wanted("python").sought, relevance.PHRASE_GAINS) == []


def test_words_that_only_stand_together_are_joined() -> None:
    query = understand("post gres")
    known = {"0": Known(words=9), "1": Known(), "0+1": Known(words=4)}
    assert [word.token for word in reworded(query, known).words] == ["postgres"]
    known["1"] = Known(words=2)
    assert reworded(query, known) == query


def test_a_glued_word_that_stands_nowhere_is_taken_apart() -> None:
    query = understand("node.jss")
    known = {"0": Known(), "0.0": Known(words=3), "0.1": Known()}
    assert [word.token for word in reworded(query, known).words] == ["node", "jss"]
    known["0"] = Known(words=1)
    assert reworded(query, known) == query


def test_very_many_pieces_are_not_taken_apart() -> None:
    query = understand(".".join("abcdefghijklmnopqrstuvwxyz"))
    known = {"0": Known()}
    assert reworded(query, known) == query
    assert [word.at for word in words_to_ask_about(query)] == ["0"]


def test_beginnings_are_looked_for_as_they_are_indexed() -> None:
    assert begins("title.words", "Résum") == {"prefix": {"title.words": {"value": "resum"}}}


def test_numbers_of_ranking_keep_their_order() -> None:
    gains = relevance.GAINS
    title, text, code = gains["title.forms", "title.words"], gains["text.forms", "text.words"], 0.9
    assert gains["code.forms",] == code
    assert title > text > code > gains["title",] + gains["text",]
    assert code > sum(relevance.COMMENT_GAINS.values())
    assert min(relevance.PHRASE_GAINS.values()) > relevance.PHRASE_WORDS * (title + text + code + 1)
    most = sum(relevance.PHRASE_GAINS.values()) + relevance.PHRASE_WORDS * (title + text + code + 1)
    assert most < relevance.TIER


# -- the strategy of 2017 --------------------------------------------------------------------------


def test_2017_asks_each_field_under_a_name_of_its_own() -> None:
    assert suggest_plan("pythn").to_dict() == {
        "size": 0,
        "suggest": {
            f"{field}_suggestions": {"text": "pythn", "term": {"field": field}}
            for field in ("title", "text", "comment")
        },
    }


def test_2017_takes_the_five_best_and_boosts_by_rank() -> None:
    options = [{"text": text, "score": 0.9 - n / 20} for n, text in enumerate("bcdefgh")]
    suggested = {
        "title_suggestions": [{"text": "a", "offset": 4, "length": 1, "options": options}],
        "text_suggestions": [{"text": "a", "offset": 4, "length": 1, "options": [
            {"text": "z", "score": 0.59}, {"text": "b", "score": 0.7},
        ]}],
    }  # fmt: skip
    terms = search_terms("Not A", suggested)
    assert [term.term for term in terms] == ["Not A", "Not b", "Not c", "Not d", "Not e"]
    assert [term.boost for term in terms] == pytest.approx([5.5, 3.6, 2.55, 1.6, 0.75])
    assert terms[0].explain() == {
        "term": "Not A",
        "score": 1.1,
        "boost_title": 11.0,
        "boost_text": 5.5,
        "boost_code": 5.5,
        "boost_comment": 2.75,
    }


def test_2017_drops_stop_words_when_it_looks_for_single_words() -> None:
    terms = search_terms("the Date", {})
    match = str(fallback_plan(SearchRequest(q="the Date"), "match", terms).to_dict())
    phrase = str(fallback_plan(SearchRequest(q="the Date"), "match_phrase", terms).to_dict())
    assert "the Date" not in match
    assert "the Date" in phrase
    only = search_terms("the", {})
    assert "'the'" in str(fallback_plan(SearchRequest(q="the"), "match", only).to_dict())
