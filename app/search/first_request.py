"""The first request: the query as typed, and what the index knows of its terms.

It holds two searches, which Elasticsearch runs side by side: one for the posts, and a lookup that
counts the posts of each term and asks the term suggester for other spellings. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.search import scoring
from app.search.query_builder import PlanInput, has_term, hits_search
from app.search.query_parser import QueryTerm, apart, joined
from app.search.spelling import TermStats, as_typed

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FirstResponse:
    """What the first request says.

    `hits` is the response for the posts. `stats` has the counts of each term by its key, `options`
    the suggester's options by token, `total` is the number of posts in the index.
    """

    hits: Json
    stats: Mapping[str, TermStats]
    options: Mapping[str, Sequence[Json]]
    total: int


NOTHING = FirstResponse({"hits": {"hits": [], "total": {"value": 0}}}, {}, {}, 0)
"""For a query without a word: nothing is sent."""


_POSTS = "posts"
"""The aggregation that counts all posts; the others have the keys of terms."""


def build(plan: PlanInput) -> list[Json]:
    """The searches of the first request."""
    examined = examined_terms(plan)
    return [hits_search(plan), _lookup(examined)] if examined else [hits_search(plan)]


def read(responses: Sequence[Json]) -> FirstResponse:
    """The responses to what `build` returned, read."""
    if len(responses) == 1:
        return FirstResponse(responses[0], {}, {}, 0)
    hits, lookup = responses
    aggs = lookup["aggregations"]
    stats = {}
    for key, counted in aggs.items():
        if key != _POSTS:
            counts = {name: found["doc_count"] for name, found in counted["buckets"].items()}
            stats[key] = TermStats(**counts)
    entries = lookup.get("suggest", {}).get("spelling", [])
    options = {entry["text"]: entry["options"] for entry in entries}
    return FirstResponse(hits, stats, options, aggs[_POSTS]["doc_count"])


def examined_terms(plan: PlanInput) -> list[QueryTerm]:
    """The terms to look up: the required ones, pieces of compound ones, neighbours as one."""
    terms = [one.term for one in plan.required]
    found = [term for one in terms for term in (one, *apart(one, plan.language)) if not term.stop]
    for first, second in pairwise(terms):
        if first.correctable and second.correctable:
            found.append(joined(first, second, plan.language))
    return found


def _lookup(terms: Sequence[QueryTerm]) -> Json:
    counts: Json = {term.key: {"filters": {"filters": _counted(term)}} for term in terms}
    body: Json = {
        "size": 0,
        "track_total_hits": False,
        "aggs": {_POSTS: {"filter": {"term": {"kind": "post"}}}, **counts},
    }
    tokens = dict.fromkeys(term.token for term in terms if term.correctable and "+" not in term.key)
    if tokens:
        term_suggester = {
            "field": "all.words",
            "size": scoring.SUGGEST_SIZE,
            "max_inspections": scoring.SUGGEST_INSPECTIONS,
            # A word of more posts than this is taken as correct. Rare ones may be misspelled in a
            # post, and the first letter may be the wrong one.
            "suggest_mode": "always",
            "max_term_freq": scoring.RARE_POSTS,
            "prefix_length": 0,
            "min_word_length": 3,
        }
        body["suggest"] = {"spelling": {"text": " ".join(tokens), "term": term_suggester}}
    return body


def _counted(term: QueryTerm) -> dict[str, Json]:
    """What is counted of a term; see `TermStats`."""
    if "+" in term.key:
        words = {"term": {"all.words": {"value": term.token}}}
        return {"words": words, "stems": {"match": {"all": term.token}}}
    if len(term.pieces) > 1:
        return {"words": has_term(as_typed(term))}
    text = {"query": term.text, "operator": "and"}
    counted: dict[str, Json] = {
        "words": {"match": {"all.words": text}},
        "forms": {"match": {"all.forms": text}},
        "stems": {"match": {"all": text}},
        "titles": {"match": {"title.words": text}},
    }
    if len(term.token) >= scoring.PREFIX_MIN and term.token.isalnum():
        counted["prefix"] = {"prefix": {"all.forms": {"value": term.folded}}}
    return counted
