"""SearchRequest + what the words may mean → one dsl Search. Pure, opens nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from elasticsearch.dsl import Search

from app.search import relevance
from app.search.clauses import (
    Clause,
    Sought,
    constant,
    either,
    has_spelling,
    has_word,
    out_clause,
    word_clause,
)
from app.search.filters import NEWEST, page, post_filters
from app.search.known import known_filters, words_to_ask_about
from app.search.marks import evidence, marks
from app.search.phrases import phrase_clauses, quoted_clause
from app.search.request import SearchRequest
from app.search.words import Query


@dataclass(frozen=True, slots=True)
class Wanted:
    """What both plans of a search are made from; `sought` has every word, stop words too."""

    request: SearchRequest
    query: Query
    sought: tuple[Sought, ...]
    recency: bool = True

    @property
    def required(self) -> list[Sought]:
        """The words that a post should have."""
        places = {word.at for word in self.query.required}
        return [sought for sought in self.sought if sought.word.at in places]

    def read_as(self, query: Query, sought: tuple[Sought, ...]) -> "Wanted":
        return replace(self, query=query, sought=sought)


def first_plan(wanted: Wanted) -> Search:
    """What was typed, all of it; what the index knows of each word; what it may have been."""
    search = _search(wanted, all_words(wanted))
    aggs = _phrase_count(wanted)
    if not wanted.request.typos:
        return search.extra(aggs=aggs) if aggs else search
    asked = words_to_ask_about(wanted.query)
    if asked:
        known = {"filters": {"filters": known_filters(asked)}}
        aggs["index"] = {"global": {}, "aggs": {"known": known}}
    mendable = dict.fromkeys(word.token for word in asked if word.mendable and "+" not in word.at)
    if mendable:
        term = {
            "field": "spelling",
            "size": relevance.SUGGEST_SIZE,
            "max_inspections": relevance.SUGGEST_INSPECTIONS,
            # The misspelt word may stand in a post, and its first letter may be the wrong one.
            "suggest_mode": "always",
            "prefix_length": 0,
            "min_word_length": 3,
        }
        search = search.suggest("alternatives", " ".join(mendable), term=term)
    return search.extra(aggs=aggs) if aggs else search


def second_plan(wanted: Wanted) -> Search:
    """Every word in all its readings: posts with all of them, and below those with some.

    One request has both, because which of them are wanted is only known from its answer: the
    bucket of `tiers` with the most words that is not empty says how many hits are meant.
    """
    required = wanted.required
    several = len(required) > 1
    search = _search(wanted, some_words(wanted) if several else all_words(wanted))
    if several and wanted.request.sort == "newest":
        search = search.sort("_score", NEWEST)
    spellings = {
        sought.spelling_name(spelling): has_spelling(spelling)
        for sought in required
        for spelling in sought.spellings
    }
    within = {
        "spellings": {"filters": {"filters": spellings}},
        "words": {"filters": {"filters": {sought.name: has_word(sought) for sought in required}}},
    }
    tiers = {str(count): _at_least(count, required) for count in _tiers(len(required))}
    aggs = {"tiers": {"filters": {"filters": tiers}, "aggs": within}, **_phrase_count(wanted)}
    return search.extra(aggs=aggs)


def _tiers(words: int) -> list[int]:
    """How many words a post may have to be meant: all, some fewer, and coarser for long queries."""
    near = range(max(1, words - relevance.TIERS_BELOW), words + 1)
    return sorted({*near, *(max(1, words * part // 4) for part in (3, 2, 1)), 1} - {0})


def all_words(wanted: Wanted) -> Clause:
    """Posts with every required word; phrases and stop words only lift."""
    must = [word_clause(sought, named=wanted.request.debug) for sought in wanted.required]
    must += [quoted_clause(text) for text in wanted.query.quoted]
    return {"bool": {"must": must or [{"match_all": {}}], "should": _phrases(wanted)}}


def some_words(wanted: Wanted) -> Clause:
    """Posts with any of the words, those with more of them above."""
    debug = wanted.request.debug
    each = [
        constant(has_word(sought), relevance.TIER, f"{sought.name} is there" if debug else "")
        for sought in wanted.required
    ]
    lifting: list[Clause] = []
    # When the newest come first, the score is the number of words and nothing else.
    if wanted.request.sort == "relevance":
        lifting = [word_clause(sought, named=debug) for sought in wanted.required]
        lifting += _phrases(wanted)
    must = [
        either(each),
        *(
            {"constant_score": {"filter": quoted_clause(text), "boost": 0}}
            for text in wanted.query.quoted
        ),
    ]
    return {"bool": {"must": must, "should": lifting}}


def _at_least(count: int, required: Sequence[Sought]) -> Clause:
    should = [has_word(sought) for sought in required]
    return {"bool": {"should": should, "minimum_should_match": count}}


def _phrases(wanted: Wanted) -> list[Clause]:
    gains = relevance.PHRASE_GAINS | relevance.PHRASE_LIFTS
    return phrase_clauses(wanted.sought, gains)


def _phrase_count(wanted: Wanted) -> dict[str, Clause]:
    phrases = phrase_clauses(wanted.sought, relevance.PHRASE_GAINS)
    return {"phrases": {"filter": either(phrases)}} if phrases else {}


def _search(wanted: Wanted, query: Clause) -> Search:
    request = wanted.request
    outer: dict[str, Any] = {
        "must": [query],
        "filter": [{"term": {"kind": "post"}}, *(q.to_dict() for q in post_filters(request))],
    }
    comments = evidence(wanted.sought, wanted.query.quoted)
    if comments:
        outer["should"] = [comments]
    if wanted.query.out:
        outer["must_not"] = [out_clause(text) for text in wanted.query.out]
    scored: Clause = {"bool": outer}
    if wanted.recency and request.sort == "relevance":
        scored = recent(scored)
    # As it is, because dsl's own query objects copy each clause at every level: 9 ms a plan.
    search = page(Search().extra(query=scored), request)
    search = search.source(excludes=["text", "code", "comment"])
    return search.extra(highlight=marks(wanted.sought, wanted.query.quoted))


def recent(query: Clause) -> Clause:
    """A little on top for newer posts: added, not multiplied, so that it only parts equals."""
    age = {"pub_date": {"origin": "now", "scale": relevance.RECENCY_SCALE}}
    functions = [
        {"filter": {"exists": {"field": "pub_date"}}, "exp": age, "weight": relevance.RECENCY},
        # Where no function applies Elasticsearch would add 1.
        {"filter": {"match_all": {}}, "weight": 0},
    ]
    return {
        "function_score": {
            "query": query,
            "functions": functions,
            "score_mode": "sum",
            "boost_mode": "sum",
        }
    }
