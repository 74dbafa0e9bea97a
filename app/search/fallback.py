"""The `fallback` strategy: a simpler algorithm as it was published in 2017, the bench's baseline.

Alternatives for the whole query come from a term suggester on every searched field; the five best
texts are searched for as phrases, and when no phrase matches, several words are searched for once
more one by one. Two faults of the published code are not kept: suggesters of the same name
overwrote each other, and a replacement, made by substring, minded case and hit inside other words.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from analyzers.languages import ENGLISH, Language
from app.search.answer import Hit, SearchAnswer, comment_hit, concrete_index, post_hit
from app.search.filters import page, post_filters
from app.search.highlighting import highlight_fields
from app.search.request import SearchRequest
from app.search.session import SearchSession

Json = dict[str, Any]

SUGGESTED_FIELDS = ("title", "text", "comment")

# The numbers of 2017, as they were published.
_MIN_SCORE = 0.6  # a suggester's option below this similarity is not searched for
_TYPED_SCORE = 1.1  # of the text as typed: above every option, whose best is 1
_TERMS = 5  # texts that are searched for at once
_TITLE_FACTOR = 2.0
_COMMENT_FACTOR = 0.5  # 2017 kept comments in an index of their own


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """One text that is searched for, and what a match of it is worth in each field."""

    term: str
    score: float
    boost: float

    @property
    def boosts(self) -> dict[str, float]:
        return {
            "title": self.boost * _TITLE_FACTOR,
            "text": self.boost,
            # In 2017 code was a part of the text.
            "code.forms": self.boost,
            "comment": self.boost * _COMMENT_FACTOR,
        }

    def explain(self) -> Json:
        boosts = {
            f"boost_{name.partition('.')[0]}": round(boost, 4)
            for name, boost in self.boosts.items()
        }
        return {"term": self.term, "score": self.score, **boosts}


def suggest_plan(q: str) -> Json:
    """Ask for alternatives of every word, from each field under a name of its own."""
    suggesters = {
        f"{name}_suggestions": {"text": q, "term": {"field": name}} for name in SUGGESTED_FIELDS
    }
    return {"suggest": suggesters, "size": 0}


def search_terms(q: str, suggested: Json) -> list[SearchTerm]:
    """The texts to search for, best first; `suggested` is the suggester's part of a response."""
    scores = {q: _TYPED_SCORE}
    for name in SUGGESTED_FIELDS:
        for word in suggested.get(f"{name}_suggestions", []):
            start, end = word["offset"], word["offset"] + word["length"]
            for option in word["options"]:
                better = q[:start] + option["text"] + q[end:]
                if option["score"] >= _MIN_SCORE:
                    scores[better] = max(option["score"], scores.get(better, 0.0))
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
    return [
        SearchTerm(term, score, (len(best) - rank) * score)
        for rank, (term, score) in enumerate(best)
    ]


def search_plan(
    request: SearchRequest, kind: str, terms: Iterable[SearchTerm], language: Language
) -> Json:
    """All terms in one OR-query; `kind` is `match_phrase` or `match`.

    Args:
        language: that of the index.
    """
    matches = [
        {kind: {name: {"query": _text(term.term, kind), "boost": boost}}}
        for term in terms
        for name, boost in term.boosts.items()
    ]
    # boost 0: the post of a comment is fetched, but adds nothing to the comment's score.
    with_post = {
        "parent_type": "post",
        "query": {"match_all": {}},
        "boost": 0,
        "inner_hits": {"name": "post", "_source": ["oid", "title", "url"]},
    }
    query: Json = {
        "must": [{"bool": {"should": matches, "minimum_should_match": 1}}],
        "should": [{"has_parent": with_post}],
    }
    if filters := _filters(request, language):
        query["filter"] = filters
    return {
        "query": {"bool": query},
        "sort": ["_score", "oid"],
        **page(request),
        "track_total_hits": True,
        "_source": {"excludes": ["text", "code", "comment"]},
        "highlight": highlight_fields("title", "text", "code.forms", "comment"),
    }


def _text(term: str, kind: str) -> str:
    if kind == "match_phrase":
        return term
    words = [word for word in term.split() if word.lower() not in ENGLISH.stop_words]
    return " ".join(words) or term


def _filters(request: SearchRequest, language: Language) -> list[Json]:
    chosen = post_filters(request, language)
    if not chosen:
        return []
    of_parent = {"has_parent": {"parent_type": "post", "query": {"bool": {"filter": chosen}}}}
    post = {"bool": {"filter": [{"term": {"kind": "post"}}, *chosen]}}
    return [{"bool": {"should": [post, of_parent], "minimum_should_match": 1}}]


def answer(
    session: SearchSession, request: SearchRequest, language: Language
) -> tuple[SearchAnswer, Json, str]:
    """The answer's body, its explanation, and the index that answered."""
    suggested: Json = {}
    if request.typos:
        suggested = session.send("suggest", suggest_plan(request.q))[0].get("suggest", {})
    terms = search_terms(request.q, suggested)
    kind: Literal["match_phrase", "match"] = "match_phrase"
    response = session.send(kind, search_plan(request, kind, terms, language))[0]
    if not response["hits"]["total"]["value"] and len(request.q.split()) > 1:
        kind = "match"
        response = session.send(kind, search_plan(request, kind, terms, language))[0]
    body: SearchAnswer = {
        "q": request.q,
        "count": response["hits"]["total"]["value"],
        "page": request.page,
        "size": request.size,
        "strategy": kind,
        "hits": [_hit(hit, request.q) for hit in response["hits"]["hits"]],
    }
    debug = {
        "strategy": "fallback",
        "search_terms": [term.explain() for term in terms],
        "requests": session.explain(bodies=request.debug_requests),
    }
    return body, debug, concrete_index(response)


def _hit(hit: Json, q: str) -> Hit:
    return post_hit(hit, q) if hit["_source"]["kind"] == "post" else comment_hit(hit)
