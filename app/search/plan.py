"""SearchRequest + what the words may mean → one dsl Search. Pure, opens nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elasticsearch.dsl import Search

from app.search import relevance
from app.search.clauses import (
    Clause,
    Sought,
    constant,
    either,
    match,
    out_clause,
    phrase_clauses,
    quoted_clause,
    word_clause,
)
from app.search.filters import highlight_fields, page, post_filters
from app.search.request import SearchRequest
from app.search.words import Query, Word


@dataclass(frozen=True, slots=True)
class Wanted:
    """What both plans of a search are made from.

    `sought` has every word, stop words too; `required` those that a post should have.
    """

    request: SearchRequest
    query: Query
    sought: tuple[Sought, ...]
    recency: bool = True

    @property
    def required(self) -> list[Sought]:
        places = {word.at for word in self.query.required}
        return [sought for sought in self.sought if sought.word.at in places]


def first_plan(wanted: Wanted) -> Search:
    """What was typed, all of it; what the index knows of each word; what it may have been."""
    search = _search(wanted, all_words(wanted))
    mendable = [word.token for word in wanted.query.words if word.mendable]
    if not wanted.request.typos:
        return search
    if wanted.query.words:
        search.aggs.bucket("index", "global").bucket(
            "known", "filters", filters=known_filters(wanted.query.words)
        )
    if mendable:
        search = search.suggest(
            "alternatives",
            " ".join(dict.fromkeys(mendable)),
            term={
                "field": "spelling",
                "size": relevance.SUGGEST_SIZE,
                "suggest_mode": "always",
                "prefix_length": 0,
                "min_word_length": 3,
                "sort": "score",
                "max_inspections": 10,
            },
        )
    return search


def second_plan(wanted: Wanted) -> Search:
    """Every word in all its readings: posts with all of them, and below those with some."""
    required = wanted.required
    if len(required) < 2:
        return _search(wanted, all_words(wanted))
    search = _search(wanted, some_words(wanted))
    search.aggs.bucket(
        "tiers",
        "filters",
        filters={str(count): _at_least(count, required) for count in range(1, len(required) + 1)},
    )
    return search


def known_filters(words: Sequence[Word]) -> dict[str, Clause]:
    """Per word: as typed, in either spelling, in any inflection."""
    found: dict[str, Clause] = {}
    for word in words:
        if word.stop:
            continue
        glued = len(word.pieces) > 1
        twins = [match(field, word.text) for field in ("title.words", "text.words", "code.forms")]
        found[f"{word.at} words"] = either(twins) if glued else match("spelling", word.text)
        for kind, twin in (("forms", ".forms"), ("stems", "")):
            fields = [f"{name}{twin}" for name in ("title", "text", "comment")]
            if kind == "forms":
                fields.append("code.forms")
            found[f"{word.at} {kind}"] = either(match(field, word.text) for field in fields)
    return found


def all_words(wanted: Wanted) -> Clause:
    """Posts with every required word; phrases and stop words only lift."""
    must = [word_clause(sought, named=wanted.request.debug) for sought in wanted.required]
    must += [quoted_clause(text) for text in wanted.query.quoted]
    return {"bool": {"must": must or [{"match_all": {}}], "should": phrase_clauses(wanted.sought)}}


def some_words(wanted: Wanted) -> Clause:
    """Posts with any of the words, ordered by how many they have."""
    should = []
    for sought in wanted.required:
        clause = word_clause(sought, named=wanted.request.debug)
        should += [clause, constant(_has(sought), relevance.TIER)]
    return {
        "bool": {
            "must": [either(should), *(quoted_clause(text) for text in wanted.query.quoted)],
            "should": phrase_clauses(wanted.sought),
        }
    }


def _has(sought: Sought) -> Clause:
    """Whether a post has a word in any of its readings, in as few clauses as may be."""
    return word_clause(sought, named=False)


def _at_least(count: int, required: Sequence[Sought]) -> Clause:
    should = [_has(sought) for sought in required]
    return {"bool": {"should": should, "minimum_should_match": count}}


def _search(wanted: Wanted, query: Clause) -> Search:
    request = wanted.request
    outer: dict[str, Any] = {
        "must": [query],
        "filter": [{"term": {"kind": "post"}}, *(q.to_dict() for q in post_filters(request))],
    }
    if wanted.query.out:
        outer["must_not"] = [out_clause(text) for text in wanted.query.out]
    scored: Clause = {"bool": outer}
    if wanted.recency and request.sort == "relevance":
        scored = recent(scored)
    search = Search.from_dict({"query": scored})
    search = page(search, request).source(excludes=["text", "code", "comment"])
    return search.extra(highlight=highlight_fields("title", "text", "code"))


def recent(query: Clause) -> Clause:
    """A little on top for newer posts: added, not multiplied, so that it only parts equals."""
    return {
        "function_score": {
            "query": query,
            "functions": [
                {
                    "filter": {"exists": {"field": "pub_date"}},
                    "exp": {"pub_date": {"origin": "now", "scale": relevance.RECENCY_SCALE}},
                    "weight": relevance.RECENCY,
                },
                # Where no function applies Elasticsearch would add 1.
                {"filter": {"match_all": {}}, "weight": 0},
            ],
            "score_mode": "sum",
            "boost_mode": "sum",
        }
    }
