"""Implements the `fallback` strategy: a simple algorithm published in 2017, the bench's baseline.

A term suggester on every searched field gives alternatives for the query. The five best texts are
searched for as phrases; if none matches and the query has several words, as single words. In 2017
comments were hits of their own; here a hit is a post with its matching comments. Two faults of the
published code are corrected: suggesters of the same name overwrote each other, and words were
replaced by substring, which depended on case and changed other words that contained them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from elasticsearch.dsl import Q, Search
from elasticsearch.dsl.query import Query

from analyzers.languages import ENGLISH, Language
from app.search.answer import SearchAnswer
from app.search.clauses import post_filters
from app.search.found import post_hit
from app.search.render import Marker, highlight_fields
from app.search.request import SearchRequest
from app.search.searches import comments_clause, page
from app.search.session import SearchSession

SUGGESTED_FIELDS = ("title", "text", "comment_texts")

# The numbers of 2017, as they were published.
_MIN_SCORE = 0.6  # the least similarity of a suggester's option that is searched for
_TYPED_SCORE = 1.1  # of the text as typed: above every option, which scores 1 at most
_TERMS = 5  # texts in one search
_TITLE_FACTOR = 2.0
_COMMENT_FACTOR = 0.5


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A text to search for, its score as a suggestion, and the boost of a match."""

    term: str
    score: float
    boost: float

    @property
    def boosts(self) -> dict[str, float]:
        """The boost for each field. In 2017 code was a part of the text."""
        return {
            "title": self.boost * _TITLE_FACTOR,
            "text": self.boost,
            "code.forms": self.boost,
            "comment_texts": self.boost * _COMMENT_FACTOR,
        }

    def explain(self) -> dict[str, Any]:
        """Return the term for `debug-search`."""
        boosts = {
            f"boost_{name.partition('.')[0].removesuffix('_texts')}": round(boost, 4)
            for name, boost in self.boosts.items()
        }
        return {"term": self.term, "score": self.score, **boosts}


def answer(session: SearchSession, request: SearchRequest) -> tuple[SearchAnswer, dict[str, Any]]:
    """Return the answer's body, and its explanation."""
    suggested: Mapping[str, list[Any]] = {}
    if request.typos:
        response = session.send("suggest", suggest_plan(request.q).to_dict())[0]
        suggested = response.get("suggest", {})
    terms = search_terms(request.q, suggested)
    kind: Literal["match_phrase", "match"]
    for kind in ("match_phrase", "match"):
        search = search_plan(request, kind, terms, session.view.language)
        (response,) = session.send(kind, search.to_dict())
        if (count := response["hits"]["total"]["value"]) or len(request.q.split()) < 2:
            break
    body: SearchAnswer = {
        "q": request.q,
        "count": count,
        "page": request.page,
        "size": request.size,
        "strategy": kind,
        "hits": [post_hit(hit, Marker()) for hit in response["hits"]["hits"]],
    }
    debug = {
        "strategy": "fallback",
        "search_terms": [term.explain() for term in terms],
        "requests": session.explain(bodies=request.debug_requests),
    }
    return body, debug


def suggest_plan(q: str) -> Search:
    """Return the search for alternatives of every word, with one suggester for each field."""
    search = Search().extra(size=0)
    for name in SUGGESTED_FIELDS:
        search = search.suggest(f"{name}_suggestions", q, term={"field": name})
    return search


def search_terms(q: str, suggested: Mapping[str, list[Any]]) -> list[SearchTerm]:
    """Return the texts to search for, best first; `suggested` is the response's `suggest` part."""
    scores, units = {q: _TYPED_SCORE}, q.encode("utf-16-le")  # Elasticsearch counts these
    for name in SUGGESTED_FIELDS:
        for word in suggested.get(f"{name}_suggestions", []):
            start, end = 2 * word["offset"], 2 * (word["offset"] + word["length"])
            before, after = units[:start].decode("utf-16-le"), units[end:].decode("utf-16-le")
            for option in word["options"]:
                better = before + option["text"] + after
                if option["score"] >= _MIN_SCORE:
                    scores[better] = max(option["score"], scores.get(better, 0.0))
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
    return [
        SearchTerm(term, score, (len(best) - rank) * score)
        for rank, (term, score) in enumerate(best)
    ]


def search_plan(
    request: SearchRequest, kind: str, terms: Iterable[SearchTerm], language: Language
) -> Search:
    """Return the search for any of the terms; `kind` is `match_phrase` or `match`."""
    terms = list(terms)
    matches: list[Query] = [
        Q(kind, **{name: {"query": _text(term.term, kind), "boost": boost}})
        for term in terms
        for name, boost in term.boosts.items()
        if request.comments or name != "comment_texts"
    ]
    field = "comments.comment"
    in_comments = Q("bool", should=[Q(kind, **{field: _text(term.term, kind)}) for term in terms])
    query = Q(
        "bool",
        must=[Q("bool", should=matches, minimum_should_match=1)],
        should=[Q(comments_clause(in_comments.to_dict(), highlight_fields(field)))],
        filter=post_filters(request, language),
    )
    search = Search().query(query).source(excludes=["text", "code", "comments"])
    return search.extra(
        **{"sort": ["_score", "oid"], **page(request)},
        track_total_hits=True,
        highlight=highlight_fields("title", "text", "code.forms"),
    )


def _text(term: str, kind: str) -> str:
    if kind == "match_phrase":
        return term
    words = [word for word in term.split() if word.lower() not in ENGLISH.stop_words]
    return " ".join(words) or term
