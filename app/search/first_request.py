"""The first request: the query as typed, and what the index knows of its terms.

It holds two searches, which Elasticsearch runs side by side: one for the posts, and a lookup that
counts the posts that match and those of each term, and asks the term suggester for other spellings.
Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from app.search import scoring
from app.search.query_builder import (
    ALL,
    ANY,
    BY_WORDS,
    HAS,
    MOST,
    Plan,
    counts,
    has_term,
    hits_search,
    match_phrase,
    terms_needed,
)
from app.search.query_parser import ParsedQuery, QueryTerm, apart, joined, parse_query
from app.search.request import SearchRequest
from app.search.spelling import Interpretation, TermStats, TermVariant, as_typed, mark_phrases

Json = dict[str, Any]

_LOOKED_UP = 40
"""Terms, pieces of compound ones and neighbours as one: twelve words as people write them have
fewer."""

_CORRECTED, _OF_TWO_ERRORS = 80, 32
"""Letters of all words that the suggester gets, and of the first ones of them, which may have two
errors; further ones may have one, which takes a fifth of the time. The twelve words that are
examined of a sentence have fewer; those of twelve camelCase words took as long as 25 usual
searches."""


State = tuple[str, int, float | None]
"""The name of an index, its number of posts, and the number of its last write."""


@dataclass(frozen=True, slots=True)
class FirstResponse:
    """What the first request says.

    `hits` is the response for the posts, and `matched` how many posts match, by the names of
    `query_builder.counts`. `stats` has the counts of each term by its key, `options` the
    suggester's options by token. `total` is the number of posts in the index, `index` its name, ""
    for an index without documents, and `last_change` the greatest number of a write. Each of
    its `shards` has numbers of its own.
    """

    hits: Json
    matched: Mapping[str, int]
    stats: Mapping[str, TermStats]
    options: Mapping[str, Sequence[Json]]
    total: int
    index: str
    last_change: float | None = None
    shards: int = 1

    @property
    def state(self) -> State:
        """Another one after every change of an index of one shard."""
        return self.index, self.total, self.last_change

    def completed(self, remembered: "FirstResponse") -> "FirstResponse":
        """The response with what was not asked for, as it is remembered."""
        stats = {**remembered.stats, **self.stats}
        options = {**remembered.options, **self.options}
        return replace(self, stats=stats, options=options)


NOTHING = FirstResponse({"hits": {"hits": []}}, {ANY: 0}, {}, {}, 0, "")
"""For a query without a word: nothing is sent."""

_POSTS, _INDEX, _CHANGES, _TERM = "posts", "index", "changes", "term "
"""Aggregations of the lookup: the number of posts, the name of the index, the writes that are newer
than what is known, the counts of a term."""


def plan_first(
    request: SearchRequest, language: Language, phrases: Phrases, *, recency: bool
) -> Plan:
    """The query as typed; `phrases` are those of the index."""
    query = parse_query(request.q, language)
    terms = mark_phrases([as_typed(term) for term in query.terms], phrases)
    if request.typing:
        terms = tuple(_begun(term, request.q) for term in terms)
    examined = {term.key for term in query.examined}
    required = tuple(term for term in terms if term.term.key in examined)
    needed = terms_needed(len(required), request)
    return Plan(request, query, terms, required, needed, 0, recency, language)


def _begun(term: Interpretation, q: str) -> Interpretation:
    """The term as the beginning of a word if the query ends with it."""
    if term.term.end < len(q) or len(term.term.pieces) > 1 or not term.term.token.isalnum():
        return term
    begun = TermVariant(term.term.text, kind="begun")
    return replace(term, variants=(begun,), reason="being typed", phrase="")


def build(
    plan: Plan, typed: Plan, remembered: FirstResponse = NOTHING, since: State = NOTHING.state
) -> list[Json]:
    """The searches of the first request: for the posts, and for what is not `remembered` of the
    terms of the query as typed, and for writes `since` a state of the index. The hits of a large
    page are only those that tell which terms posts have together."""
    return [hits_search(plan, refined=not plan.is_large), _lookup(plan, typed, remembered, since)]


def read(responses: Sequence[Json], since: State = NOTHING.state) -> FirstResponse:
    """The responses to what `build` returned, read."""
    hits, lookup = responses
    aggs = lookup["aggregations"]
    stats = {
        name.removeprefix(_TERM): TermStats(
            **{kind: bucket["doc_count"] for kind, bucket in counted["buckets"].items()}
        )
        for name, counted in aggs.items()
        if name.startswith(_TERM)
    }
    entries = chain.from_iterable(lookup.get("suggest", {}).values())
    options = {entry["text"]: entry["options"] for entry in entries}
    indices = [bucket["key"] for bucket in aggs[_INDEX]["buckets"]]
    index = "".join(indices)
    last_change = aggs[_CHANGES]["last"]["value"]
    if last_change is None and index == since[0]:
        last_change = since[2]
    total, shards = aggs[_POSTS]["doc_count"], lookup["_shards"]["total"]
    matched = read_counts(lookup)
    return FirstResponse(hits, matched, stats, options, total, index, last_change, shards)


def read_counts(response: Json) -> dict[str, int]:
    """The counts of `query_builder.counts` from a response."""
    return {
        name: aggregation["doc_count"]
        for name, aggregation in response["aggregations"].items()
        if name in (ANY, MOST, ALL, BY_WORDS) or name.startswith(HAS)
    }


def examined_terms(plan: Plan) -> list[QueryTerm]:
    """The terms to look up: the required ones, pieces of compound ones, neighbours as one."""
    terms = [required.term for required in plan.required]
    pieces = [piece for term in terms for piece in (term, *apart(term, plan.language))]
    examined = [piece for piece in pieces if not piece.stop]
    for first, second in pairwise(terms):
        if first.correctable and second.correctable:
            examined.append(joined(first, second, plan.language))
    return examined[:_LOOKED_UP]


def tells_corrections(first: FirstResponse, typed: Plan) -> bool:
    """Whether a response has all that the corrections of a query depend on, and none depends on
    its hits, as that of a word does which few posts have."""
    terms = examined_terms(typed)
    if not first.options.keys() >= set(tokens_to_correct(terms)):
        return False
    for term in terms:
        stats = first.stats.get(term.key)
        if stats is None:
            return False
        if (stats.words or stats.forms) and not stats.titles and first.options.get(term.token):
            return False
    return True


def _lookup(plan: Plan, typed: Plan, remembered: FirstResponse, since: State) -> Json:
    terms = examined_terms(typed)
    # The greatest of all numbers would be read from every document.
    is_newer = {"range": {"_seq_no": {"gt": -1 if since[2] is None else int(since[2])}}}
    counted = {
        _TERM + term.key: {"filters": {"filters": _counted(term, typed.query)}}
        for term in terms
        if term.key not in remembered.stats
    }
    body: Json = {
        "size": 0,
        "track_total_hits": False,
        "aggs": {
            _INDEX: {"terms": {"field": "_index", "size": 1}},
            _POSTS: {"filter": {"match_all": {}}},
            _CHANGES: {"filter": is_newer, "aggs": {"last": {"max": {"field": "_seq_no"}}}},
            **counted,
            **counts(plan),
        },
    }
    tokens = tokens_to_correct(terms)
    asked = {token: tokens[token] for token in tokens if token not in remembered.options}
    if asked:
        body["suggest"] = _suggesters(asked)
    return body


def tokens_to_correct(terms: Sequence[QueryTerm]) -> dict[str, int]:
    """The words that the suggester gets, and how many errors each may have: the first ones, as many
    as have `_CORRECTED` letters."""
    tokens = dict.fromkeys(term.token for term in terms if term.correctable and "+" not in term.key)
    letters = accumulate(map(len, tokens))
    return {
        token: 2 if total <= _OF_TWO_ERRORS else 1
        for token, total in zip(tokens, letters, strict=True)
        if total <= _CORRECTED
    }


def _suggesters(tokens: Mapping[str, int]) -> Json:
    options = {
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
    suggesters: Json = {}
    for name, errors in (("spelling", 2), ("spelling, one error", 1)):
        if text := " ".join(token for token in tokens if tokens[token] == errors):
            suggesters[name] = {"text": text, "term": {**options, "max_edits": errors}}
    return suggesters


def written(term: QueryTerm, query: ParsedQuery) -> str:
    """The text of a term; of two as one, with the space between them."""
    if "+" not in term.key:
        return term.text
    return " ".join(piece.text for piece in query.terms if piece.key in term.key.split("+"))


def _counted(term: QueryTerm, query: ParsedQuery) -> dict[str, Json]:
    """What is counted of a term; see `TermStats`."""
    if "+" in term.key:
        return {
            "words": {"term": {"all.words": {"value": term.token}}},
            "stems": {"match": {"all": term.token}},
            "apart": match_phrase("text.words", written(term, query)),
        }
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
