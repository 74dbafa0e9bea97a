"""One search from top to bottom: `search` answers with the strategy of the settings, `answer` with
`blended`: the query as typed, and a second request if a term looks wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers.languages import LANGUAGES
from app.search import fallback, scoring
from app.search.answer import Facets, SearchAnswer
from app.search.clauses import post_filters
from app.search.explain import explain
from app.search.found import Found, answer_body, read_found
from app.search.pins import matching, words_of
from app.search.plan import ANY, Plan, plan_corrected, plan_typed
from app.search.request import SearchRequest
from app.search.searches import (
    counts_search,
    facets_search,
    hits_search,
    lookup_search,
    read_counts,
    read_facets,
    read_lookup,
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
    counts by category and year, if they are wanted. A large page is asked for once, when the words
    are known. Rules and pinned results are read where they have changed.
    """
    typed, lookup, hits = _first(session, request, settings, known)
    if corrected := plan_corrected(typed, lookup, known.rules.phrases):
        found = _found(session, "second", _with_rules(corrected, known))
    else:
        if typed.is_large and lookup.matched[ANY]:
            hits = session.send("second", hits_search(typed))[0]["hits"]["hits"]
        found = read_found(typed, hits, lookup.matched)
    if not found.count and found.plan.needed > 1:  # in an order by date: all words, else any
        found = _found(session, "third", replace(found.plan, needed=1))
    body = answer_body(found, _facets(session, found), fragments=settings.text_fragments)
    if request.debug:
        return body, explain(found, lookup, session, known, settings)
    return body, {"requests": session.explain()}


def _first(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[Plan, Lookup, Sequence[Json]]:
    """The query as typed, by the rules and pinned results of now, what the index knows of its
    words, and its hits, but those of a large page."""
    language = LANGUAGES[settings.language]

    def plan() -> Plan:
        phrases = known.rules.phrases
        return _with_rules(plan_typed(request, language, phrases, recency=settings.recency), known)

    typed, sent = plan(), None
    lookup = _NOTHING
    hits: Sequence[Json] = ()
    while typed != sent and not typed.query.empty:
        first = [] if typed.is_large else [hits_search(typed)]
        bodies = [*first, lookup_search(typed)]
        responses, version = session.send_with(known.version_search(), "first", *bodies)
        lookup = read_lookup(responses.pop())
        hits = responses[0]["hits"]["hits"] if responses else []
        sent = typed
        if known.update(session, lookup.index, version):
            typed = plan()
    return typed, lookup, hits


def _found(session: SearchSession, kind: str, plan: Plan) -> Found:
    page, counted = session.send(kind, hits_search(plan), counts_search(plan))
    return read_found(plan, page["hits"]["hits"], read_counts(counted))


def _facets(session: SearchSession, found: Found) -> Facets | None:
    """The counts by category and year, by one more request, if they are wanted."""
    plan = found.plan
    # Where filters leave nothing, the counts tell what another choice would find.
    is_counted = found.count or post_filters(plan.request, plan.language)
    if not plan.request.facets or not is_counted:
        return None
    (response,) = session.send("facets", facets_search(plan))
    return read_facets(response)


def _with_rules(plan: Plan, known: Known) -> Plan:
    """The plan with its pinned results, popularity, and the meaning of the query if that counts.

    Rules for the query as typed win over those for a correction. In an order by date no post comes
    first.
    """
    if known.pins and not plan.pins:
        words = words_of(plan.terms, plan.query, plan.language)
        pins = matching(known.pins, words)
        by_date = plan.request.sort != "relevance"
        plan = replace(plan, pins=replace(pins, first=()) if by_date else pins)
    if known.rules.popularity:
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
