"""What is sent to Elasticsearch: whole bodies, without a server."""

import json
from datetime import date
from typing import Any

import pytest

from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import Phrases
from app.search import first_request, scoring
from app.search.fallback import search_plan as fallback_plan
from app.search.fallback import search_terms, suggest_plan
from app.search.first_request import FirstResponse, examined_terms, plan_first
from app.search.query_builder import ANY, Plan, hits_search, readings, relative_boost, terms_needed
from app.search.request import SearchRequest
from app.search.second_request import plan_second
from app.search.spelling import Interpretation, TermStats, TermVariant

Json = dict[str, Any]
PHRASES = Phrases.of(["time zone, timezone => timezone"])
KNOWN = TermStats(words=20, forms=20, stems=25)
NO_HITS: Json = {"hits": {"hits": []}}


def plan(q: str, language: Language = ENGLISH, **changes: Any) -> Plan:
    return plan_first(SearchRequest(q=q, **changes), language, PHRASES, recency=True)


def response(
    stats: dict[str, TermStats], options: dict[str, list[Json]], hits: Json = NO_HITS
) -> FirstResponse:
    return FirstResponse(hits, {ANY: 2}, stats, options, 100, "blog-000001")


def first(q: str, **changes: Any) -> list[Json]:
    return first_request.build(typed := plan(q, **changes), typed)


def second(q: str, stats: dict[str, TermStats], options: dict[str, list[Json]]) -> Plan | None:
    return plan_second(plan(q), response(stats, options), PHRASES)


def option(text: str, freq: int = 9) -> Json:
    return {"text": text, "freq": freq, "score": 0.8}


def test_the_first_request_of_one_word() -> None:
    hits, lookup = first("Rust")
    assert hits["query"]["bool"]["filter"] == [
        {"match_all": {}},
        {"bool": {"should": [has("Rust")], "minimum_should_match": 1}},
    ]
    assert "aggs" not in hits
    assert hits["track_total_hits"] is False
    assert lookup["suggest"]["spelling"]["text"] == "rust"
    assert lookup["aggs"]["term 0"]["filters"]["filters"]["prefix"] == {
        "prefix": {"all.forms": {"value": "rust"}}
    }
    assert lookup["size"] == 0


def has(text: str) -> Json:
    match = {"query": text, "operator": "and", "fields": ["all", "all.forms", "all.words"]}
    return {"bool": {"should": [{"multi_match": match}], "minimum_should_match": 1}}


@pytest.mark.parametrize("q", ["python3", "c++", "node.js", "ab", "the", "1984", '"pythn"'])
def test_nothing_is_suggested_for_what_is_never_corrected(q: str) -> None:
    suggested = [body["suggest"]["spelling"]["text"] for body in first(q) if "suggest" in body]
    # As a piece of their own they may be words.
    assert set(suggested) <= {"node", "python"}


def test_filters_order_and_page() -> None:
    hits = first(
        "x",
        sort="newest",
        page=3,
        size=7,
        categories=("linux", "tools"),
        since=date(2016, 1, 1),
        until=date(2016, 12, 31),
    )[0]
    assert hits["query"]["bool"]["filter"][1:3] == [
        {"terms": {"categories": ["linux", "tools"]}},
        {"range": {"day": {"gte": "2016-01-01", "lte": "2016-12-31"}}},
    ]
    newest = {"pub_date": {"order": "desc", "missing": "_last"}}
    assert hits["sort"] == [newest, "_score", "oid"]
    assert (hits["from"], hits["size"]) == (14, 7)
    assert "rescore" not in hits


@pytest.mark.parametrize(("words", "most"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (12, 7)])
def test_a_word_is_enough_but_for_an_order_by_date(words: int, most: int) -> None:
    assert terms_needed(words, SearchRequest(q="x")) == 1
    assert terms_needed(words, SearchRequest(q="x", sort="newest")) == words
    assert plan(" ".join(["word"] * words)).most == most


def test_function_words_are_not_needed_and_weigh_half() -> None:
    planned = plan("how do I learn rust")
    assert [clause.term.text for clause in planned.required] == ["learn", "rust"]
    words = hits_search(planned)["query"]["bool"]["should"][:2]
    combined = [group["bool"]["should"][0]["combined_fields"] for group in words]
    assert [(clause["query"], clause["boost"]) for clause in combined] == [
        ("learn rust", 1.0),
        ("how do I", scoring.LIGHT_BOOST),
    ]


@pytest.mark.parametrize(
    ("q", "pairs"),
    [
        ("why is my build slow", ["my build", "build slow"]),
        ("how do I learn rust", ["I learn", "learn rust"]),
        ("how do I", []),
    ],
)
def test_function_words_side_by_side_count_nothing(q: str, pairs: list[str]) -> None:
    clauses = hits_search(plan(q))["rescore"]["query"]["rescore_query"]["bool"]["should"]
    phrases = [clause.get("match_phrase", {}).get("text.words", {}) for clause in clauses]
    assert [clause["query"] for clause in phrases if "slop" in clause] == pairs


@pytest.mark.parametrize(
    ("q", "fields"),
    [
        ("rust", {"title", "text", "code.forms"}),
        ("the", {"title.words", "text", "code.forms"}),
        ('"static site" rust', {"title", "text", "code.forms"}),
    ],
)
def test_each_field_is_highlighted_for_its_own_clauses(q: str, fields: set[str]) -> None:
    highlight = hits_search(plan(q))["highlight"]
    assert "highlight_query" not in highlight
    assert highlight["fields"].keys() == fields
    for name, field in highlight["fields"].items():
        clauses = field["highlight_query"]["bool"]["should"]
        assert clauses
        assert {of for query in clauses for clause in query.values() for of in clause} == {name}


def test_a_known_word_needs_no_second_request() -> None:
    assert second("rust", {"0": KNOWN}, {}) is None


def test_a_misspelled_word_is_searched_in_its_variants() -> None:
    corrected = second("pythn", {"0": TermStats()}, {"pythn": [option("python")]})
    assert corrected is not None
    assert [variant.text for variant in corrected.terms[0].variants] == ["python"]
    assert corrected.needed == 1


def test_what_stands_beside_a_misspelled_word_chooses_among_its_variants() -> None:
    options = {"govement": [option("movement"), option("government", 400)]}
    corrected = second("digital govement", {"0": KNOWN, "1": TermStats()}, options)
    assert corrected is not None
    texts = readings(corrected.terms)
    assert texts[0] == "digital movement"
    assert "digital government" in texts
    sent = json.dumps(hits_search(corrected)["rescore"])
    phrase = {"query": "digital government", "slop": scoring.NEIGHBOURS_SLOP}
    assert json.dumps(phrase).strip("{}") in sent


def test_a_word_that_no_post_has_is_not_needed() -> None:
    stats = {"0": KNOWN, "1": KNOWN, "2": TermStats()}
    corrected = second("date format xq", stats, {})
    assert corrected is not None
    assert [term.term.text for term in corrected.required] == ["date", "format"]


def test_terms_that_are_only_known_as_one_word_are_joined() -> None:
    stats = {"0": TermStats(), "1": KNOWN, "0+1": KNOWN}
    corrected = second("post gres", stats, {})
    assert corrected is not None
    assert [term.text for term in corrected.query.terms] == ["postgres"]


def test_two_words_that_posts_write_as_one_are_searched_for_as_one_too() -> None:
    rare, common = TermStats(words=5, stems=5), TermStats(words=60, stems=60)
    stats = {"0": rare, "1": common, "0+1": TermStats(stems=9)}

    def searched(q: str, *matched: str, typos: bool = True) -> Plan | None:
        hits = {"hits": {"hits": [{"matched_queries": matched}]}}
        return plan_second(plan(q, typos=typos), response(stats, {}, hits), PHRASES)

    corrected = searched("key board", "has 0", "has 1")
    assert corrected is not None
    assert [(term.term.text, term.compound) for term in corrected.required] == [
        ("key", "keyboard"),
        ("board", "keyboard"),
    ]
    assert '"query": "keyboard"' in json.dumps(hits_search(corrected))
    beside = searched("key board", "has 0", "has 1", "phrase in text")
    assert beside is not None
    assert beside.required == corrected.required
    beside_another = searched("key board games", "has 0", "has 1")
    assert beside_another is not None
    assert [term.compound for term in beside_another.terms] == ["keyboard", "keyboard", ""]
    assert readings(beside_another.terms) == ("key board games", "keyboard games")
    stats["0+1"] = TermStats(words=9, stems=9, apart=9)
    assert searched("open source", "has 0", "has 1") is None  # as many have them side by side
    assert searched("time zone", "has 0", "has 1") is None  # a synonym rule finds timezone
    assert searched("key board", "has 0", "has 1", typos=False) is None
    stats["0+1"] = TermStats(stems=9)
    stats["1"] = TermStats()  # misspelled: the stem of both is that of another word by accident
    corrected = searched("digital govement", "has 0")
    assert corrected is not None
    assert [term.compound for term in corrected.terms] == ["", ""]


def test_a_compound_word_that_no_post_has_is_split() -> None:
    stats = {"0": TermStats(), "0.0": KNOWN, "0.1": KNOWN}
    corrected = second("foo.bar", stats, {})
    assert corrected is not None
    assert [term.text for term in corrected.query.terms] == ["foo", "bar"]


def test_a_number_is_split_from_a_word_that_posts_have() -> None:
    corrected = second("python3", {"0": TermStats(), "0.0": KNOWN, "0.1": KNOWN}, {})
    assert corrected is not None
    assert [term.term.text for term in corrected.required] == ["python", "3"]
    assert second("python3", {"0": TermStats(), "0.0": TermStats(), "0.1": KNOWN}, {}) is None


def test_a_number_is_neither_corrected_nor_joined() -> None:
    terms = examined_terms(plan("rust 2018 edition"))
    assert [term.key for term in terms] == ["0", "1", "2"]
    assert not terms[1].correctable


def test_what_is_sent_grows_with_the_number_of_words() -> None:
    def size(words: int) -> int:
        q = " ".join(f"word{chr(97 + n)}" for n in range(words))
        return len(json.dumps(first(q)))

    assert size(5) < 13_500
    assert size(10) - size(5) <= 1.3 * (size(5) - size(0 + 1)) * 5 / 4


def test_the_longest_query_stays_small() -> None:
    assert len(json.dumps(first(" ".join(["abc"] * 50)))) < 40_000


def test_the_language_of_a_query_is_the_setting() -> None:
    assert plan("x").language is ENGLISH
    german = plan("und Häuser", LANGUAGES["german"])
    assert [term.term.text for term in german.required] == ["Häuser"]


def test_2017_asks_each_field_under_a_name_of_its_own() -> None:
    assert suggest_plan("pythn") == {
        "size": 0,
        "suggest": {
            f"{field}_suggestions": {"text": "pythn", "term": {"field": field}}
            for field in ("title", "text", "comment_texts")
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
    match = str(fallback_plan(SearchRequest(q="the Date"), "match", terms, ENGLISH))
    phrase = str(fallback_plan(SearchRequest(q="the Date"), "match_phrase", terms, ENGLISH))
    assert "the Date" not in match
    assert "the Date" in phrase
    only = search_terms("the", {})
    assert "'the'" in str(fallback_plan(SearchRequest(q="the"), "match", only, ENGLISH))


def boost_as_typed(q: str) -> float:
    body = hits_search(plan(q))
    return float(
        next(
            clause["combined_fields"]["boost"]
            for clause in body["query"]["bool"]["should"][0]["bool"]["should"]
            if "title.forms^2" in clause.get("combined_fields", {}).get("fields", ())
        )
    )


def test_the_form_as_typed_counts_less_in_a_long_query() -> None:
    few = "neighbours phrases titles words dates"
    assert boost_as_typed(few) == 1
    assert boost_as_typed(f"{few} comments code languages numbers synonyms") == 0.5
    assert boost_as_typed(f"how do I {few}") == 1, "only words that matter are counted"


def test_a_phrase_is_searched_for_in_any_inflection_too() -> None:
    body = json.dumps(first("heroku value"))
    for field in ("title", "text"):
        fields = f'["{field}", "{field}.words"]'
        phrase = f'"query": "heroku value", "type": "phrase", "fields": {fields}'
        assert phrase in body


def test_a_frequent_spelling_has_no_advantage_over_a_rarer_likelier_one() -> None:
    rare, frequent = (
        TermVariant(text, weight, "spelling", posts)
        for text, weight, posts in (("paper", 1.0, 2), ("pepper", 0.5, 60))
    )
    term = plan("papper").terms[0].term
    assert relative_boost(frequent, Interpretation(term, (rare, frequent), ""), 100) == 0.5
    typed = TermVariant("papper", 1.0, "typed", 2)
    assert relative_boost(frequent, Interpretation(term, (typed, frequent), ""), 100) > 0.5


def test_a_word_that_is_being_typed_scores_as_much_as_a_finished_one() -> None:
    finished = json.dumps(hits_search(plan("linux kernel")))
    typing = json.dumps(hits_search(plan("linux kernel", typing=True)))
    for field in ("title^2", "title.forms^2", "title.lookup"):
        assert field in finished
        assert field in typing
    phrase = '"query": "linux kernel", "type": "phrase"'
    assert finished.count(phrase) == typing.count(phrase)


def test_a_single_word_in_a_heading_does_not_outrank_titles() -> None:
    assert "headings.text" not in json.dumps(hits_search(plan("kernel"))["rescore"])
    assert "headings.text" in json.dumps(hits_search(plan("linux kernel"))["rescore"])


def test_a_phrase_with_one_word_that_is_no_stop_word_is_not_looked_for_by_its_stem() -> None:
    rescore = json.dumps(hits_search(plan("the who"))["rescore"])
    assert '"fields": ["title.words"]' in rescore


def test_a_title_or_link_with_most_of_the_words_scores_once_more() -> None:
    def words_in(field: str, q: str) -> list[Json]:
        best = first(q)[0]["rescore"]["query"]["rescore_query"]["bool"]["should"]
        return [clause["match"][field] for clause in best if field in clause.get("match", {})]

    for field in ("title", "link_texts"):
        (match,) = words_in(field, "how to build the ember app")
        assert match["query"] == "build ember app"
        assert match["minimum_should_match"] == "60%"
        assert words_in(field, "how to build") == []


def test_of_several_unknown_words_each_has_all_its_splits_or_none() -> None:
    def kinds(q: str) -> list[list[str]]:
        unknown = {str(place): TermStats() for place in range(len(q.split()))}
        planned = second(q, unknown, {})
        assert planned
        return [[variant.kind for variant in term.variants] for term in planned.terms]

    assert kinds("gomodules") == [["split"] * 6]
    assert kinds("gomodules webaccess") == [["split"] * 6] * 2
    # Of twelve variants each of three words may have four.
    assert kinds("gomodules webaccess pythons") == [["typed"], ["typed"], ["split"] * 4]


@pytest.mark.parametrize(
    ("counted", "tells"),
    [
        (TermStats(), True),
        (TermStats(stems=2), True),
        (TermStats(words=2, titles=1), True),
        (TermStats(words=2), False),  # whether it is right depends on the words beside it in a hit
    ],
)
def test_what_a_correction_depends_on(counted: TermStats, tells: bool) -> None:
    typed = plan("pythn")
    options = {"pythn": [option("python")]}
    assert first_request.tells_corrections(response({"0": counted}, options), typed) is tells
    assert not first_request.tells_corrections(response({"0": counted}, {}), typed)
    assert not first_request.tells_corrections(response({}, options), typed)
