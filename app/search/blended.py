"""One search from top to bottom: `search` answers with the strategy of the settings, `answer` with
`blended`: the query as typed, and a second request if a term looks wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers.languages import LANGUAGES
from analyzers.rules.compile import Phrases
from app.search import fallback, scoring
from app.search.answer import Facets, SearchAnswer
from app.search.clauses import post_filters
from app.search.explain import explain
from app.search.found import Found, answer_body, read_found
from app.search.pins import matching, words_of
from app.search.plan import ANY, Plan, plan_corrected, plan_typed, without_doubtful
from app.search.query_parser import ParsedQuery
from app.search.request import SearchRequest
from app.search.searches import (
    counts_search,
    facets_search,
    hits_search,
    lookup_search,
    read_counts,
    read_facets,
    read_lookup,
    together,
)
from app.search.session import Known, SearchSession, read_index_rules
from app.search.spelling import Lookup
from app.settings import Settings

Json = dict[str, Any]

_NOTHING = Lookup({}, {}, {ANY: 0})


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON answer without `debug`, and how it came about."""

    body: SearchAnswer
    debug: dict[str, Any]


def search(
    client: Elasticsearch,
    index: str,
    request: SearchRequest,
    settings: Settings,
    known: Known | None = None,
) -> Answer:
    """Answer a search with the strategy of the settings.

    `known` is what the process knows of the index; only `blended` uses it.
    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    session = SearchSession(client, index, settings.elasticsearch_timeout)
    try:
        if settings.strategy == "fallback":
            return Answer(*fallback.answer(session, request, LANGUAGES[settings.language]))
        return Answer(*answer(session, request, settings, known or Known()))
    except BadRequestError:
        read_index_rules(session)  # an index with other fields is the likeliest reason
        raise


def answer(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[SearchAnswer, Json]:
    """The answer's body, and its explanation.

    The requests: the query as typed, with what the index knows of its words; if one looks wrong,
    the query as it is meant, and where no post has most of its words, once more with less; and the
    counts by category and year, if they are wanted. Rules and pinned results are read where they
    have changed.
    """
    typed, lookup, hits = _first(session, request, settings, known)
    found = read_found(typed, hits, lookup.matched)
    phrases = known.rules.phrases
    corrected = plan_corrected(typed, lookup, together(hits), phrases)
    if corrected:
        corrected = _with_rules(corrected, known)
    elif typed.is_large and found.count:
        corrected = typed  # its page is asked for once
    others = {} if found.count else _alternatives(typed, lookup, phrases)
    finding: tuple[str, ...] = ()
    if corrected or others:
        found, finding = _second(session, found, corrected, others)
    body = answer_body(found, finding, _facets(session, found))
    if request.debug:
        return body, explain(found, lookup, session, known, settings)
    return body, {"requests": session.explain()}


def _first(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[Plan, Lookup, Sequence[Json]]:
    """The query as typed, by the rules and pinned results of now, what the index knows of its
    words, and its hits."""
    language = LANGUAGES[settings.language]

    def plan() -> Plan:
        phrases = known.rules.phrases
        return _with_rules(plan_typed(request, language, phrases, recency=settings.recency), known)

    typed, sent = plan(), None
    lookup, hits = _NOTHING, []
    while typed != sent and not typed.query.empty:
        bodies = hits_search(typed, refined=not typed.is_large), lookup_search(typed)
        responses, version = session.send_with(known.version_search(), "first", *bodies)
        hits, lookup = responses[0]["hits"]["hits"], read_lookup(responses[1])
        sent = typed
        if known.update(session, lookup.index, version):
            typed = plan()
    return typed, lookup, hits


def _second(
    session: SearchSession, typed: Found, plan: Plan | None, others: Mapping[str, Plan]
) -> tuple[Found, tuple[str, ...]]:
    """What the query finds as it is meant, and which of the other searches find posts."""
    bodies = [hits_search(plan), counts_search(plan)] if plan else []
    responses = session.send("second", *bodies, *map(counts_search, others.values()))
    counted = map(read_counts, responses[len(bodies) :])
    finding = tuple(q for q, matched in zip(others, counted, strict=True) if matched[ANY])
    found = _with_less(session, _found(plan, *responses[:2])) if plan else typed
    return found, () if found.count else finding


def _with_less(session: SearchSession, found: Found) -> Found:
    """If no post has most of the words, what is found without doubtful corrections, or in an order
    by date with any of the words."""
    plan = found.plan
    less = without_doubtful(plan) or (replace(plan, needed=1) if plan.needed > 1 else None)
    # A term that no post has in any variant would leave nothing to tell phrases and titles by.
    if not less or (found.with_most and not found.requires_unmatched):
        return found
    other = _found(less, *session.send("third", hits_search(less), counts_search(less)))
    is_better = other.with_most and not other.requires_unmatched
    return found if found.with_most and not is_better else other


def _found(plan: Plan, page: Json, counted: Json) -> Found:
    return read_found(plan, page["hits"]["hits"], read_counts(counted))


def _facets(session: SearchSession, found: Found) -> Facets | None:
    """The counts by category and year, by one more request, if they are wanted."""
    plan = found.plan
    # Where filters leave nothing, the counts tell what another choice would find.
    is_counted = found.count or post_filters(plan.request, plan.language)
    if not plan.request.facets or not is_counted:
        return None
    (response,) = session.send("facets", facets_search(plan, found.needed))
    return read_facets(response)


def _alternatives(plan: Plan, lookup: Lookup, phrases: Phrases) -> dict[str, Plan]:
    """Searches to try, by their queries: with corrections, if they were turned off, and without
    quotation marks, exclusions and operators. Others find nothing either, as one word is enough."""
    tried: dict[str, Plan] = {}
    if not plan.request.typos:
        tolerant = replace(plan, request=replace(plan.request, typos=True))
        if corrected := plan_corrected(tolerant, lookup, frozenset(), phrases):
            tried[" ".join(term.likeliest.text for term in corrected.terms)] = corrected
    query = plan.query
    if query.quoted or query.excluded or query.in_title or query.categories:
        q = _plain_words(plan.query)
        relaxed = replace(plan.request, q=q, typos=True)
        tried[q] = plan_typed(relaxed, plan.language, phrases, recency=plan.recency)
    return {q: other for q, other in tried.items() if q and not other.query.empty}


def _plain_words(query: ParsedQuery) -> str:
    """The words of a query in their order, without quotation marks and exclusions."""
    places = [(term.start, term.text) for term in query.terms]
    places += zip(query.quoted_at, query.quoted, strict=True)
    return " ".join(text for _, text in sorted(places))


def _with_rules(plan: Plan, known: Known) -> Plan:
    """The plan with its pinned results, popularity, and the meaning of the query if that counts.

    Rules for the query as typed win over those for a correction. In an order by date no post comes
    first.
    """
    if known.pins and not plan.pins:
        words = words_of(plan.terms, plan.query, plan.language)
        pins = matching(known.pins, words)
        by_date = plan.request.sort != "relevance"
        plan = replace(plan, pins=pins.only_never() if by_date else pins)
    plan = replace(plan, popularity=known.rules.popularity)
    model = known.model
    if model is None or model.name != known.rules.model or not _has_meaning(plan):
        return plan
    # The parts of a split word mean something else, and nobody knows yet whether a post has them.
    texts = (
        term.term.text if term.likeliest.kind == "split" else term.likeliest.text
        for term in plan.terms
    )
    return replace(plan, vector=model.vector(" ".join(texts)))


def _has_meaning(plan: Plan) -> bool:
    """Whether the meaning counts: of a question, which has function words, and of a text of many
    words, once it has been typed."""
    is_question = any(term.term.light for term in plan.terms)
    least = scoring.MEANING_WORDS_OF_QUESTION if is_question else scoring.MEANING_WORDS
    return len(plan.required) >= least and not plan.request.typing
