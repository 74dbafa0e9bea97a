"""The `blended` strategy: the query as typed, and a second request if a term looks wrong."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from analyzers.languages import LANGUAGES
from analyzers.rules.compile import Phrases
from app.search import first_request, scoring
from app.search.answer import Outcome, SearchAnswer, comments_of
from app.search.details import facets_search, read_facets
from app.search.explain import explain
from app.search.filters import post_filters
from app.search.first_request import (
    NOTHING,
    FirstResponse,
    plan_first,
    read_counts,
    tells_corrections,
)
from app.search.highlighting import mark_words
from app.search.known import Known, Words
from app.search.pins import Pins, words_of
from app.search.query_builder import ANY, Plan, counts_search, hits_search
from app.search.query_parser import ParsedQuery
from app.search.request import SearchRequest
from app.search.second_request import plan_second, without_doubtful
from app.search.session import SearchSession
from app.settings import Settings

Json = dict[str, Any]


def answer(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[SearchAnswer, Json, str]:
    """The answer's body, its explanation, and the index that answered.

    At most three requests are sent: the query as typed, the corrected one, and what is shown beside
    the hits. A query whose correction is remembered is sent as it is corrected. Rules and pinned
    results are read where they have changed.
    """
    phrases = known.rules.phrases
    typed, plan, first = _first(session, request, settings, known)
    outcome = Outcome(plan, first, first.hits, first.matched)
    is_answered = plan is not typed and outcome.with_most and not outcome.requires_unmatched
    second = None if is_answered else _corrected(typed, first, known)
    if typed.is_large and first.matched[ANY]:
        second = second or typed
    alternatives = {} if first.matched[ANY] else _alternatives(typed, first, phrases)
    if second or alternatives:
        outcome = _second(session, outcome, second, alternatives)
    outcome = _with_details(session, outcome)
    if request.debug:
        return outcome.body(), explain(outcome, session, known, settings), first.index
    return outcome.body(), {"requests": session.explain()}, first.index


def _first(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[Plan, Plan, FirstResponse]:
    """The query as typed, as it was sent, and the response to it, by the rules and pinned results
    of now."""
    former, first, remembered = None, NOTHING, NOTHING
    language = LANGUAGES[settings.language]
    while True:
        typed = plan_first(request, language, known.rules.phrases, recency=settings.recency)
        typed = _with_meaning(_with_pins(typed, known.pins), known)
        if typed.query.empty or (typed == former and remembered is NOTHING):
            return typed, typed, first
        words = known.words
        # What is remembered may be out of date once: the shards' copies may differ in their state.
        remembered = NOTHING if former else words.recall(typed)
        plan = _remembered_correction(typed, remembered, known) or typed
        searches = first_request.build(plan, typed, remembered, words.state)
        responses, version = session.send_with(known.version_search(), "first", *searches)
        first = first_request.read(responses, words.state)
        changed = known.update(session, first.index, version)
        if first.state != words.state:
            changed = changed or remembered is not NOTHING
            words = known.words = Words(first.state)
        words.remember(typed, first)
        if not changed:
            return typed, plan, first.completed(remembered)
        former = typed


def _corrected(typed: Plan, first: FirstResponse, known: Known) -> Plan | None:
    """The corrected query, None if the query as typed is right."""
    plan = plan_second(typed, first, known.rules.phrases)
    return plan and _with_meaning(_with_pins(plan, known.pins), known)


def _remembered_correction(typed: Plan, remembered: FirstResponse, known: Known) -> Plan | None:
    """The corrected query, if former responses tell all that a correction depends on."""
    if typed.request.typing or typed.request.sort != "relevance":
        return None  # how many posts match the query as typed may decide
    if typed.is_large:
        return None  # its hits are asked for once
    if not tells_corrections(remembered, typed):
        return None
    return _corrected(typed, replace(remembered, matched={ANY: 1}), known)


def _second(
    session: SearchSession, outcome: Outcome, plan: Plan | None, alternatives: dict[str, Plan]
) -> Outcome:
    """The outcome of the corrected query, and which of the other searches find posts.

    If no post has most of its words, that without doubtful corrections counts, and in an order by
    date posts with any of the words. Whether that is so is only known from the response, so all is
    asked for at once.
    """
    is_sent = plan == outcome.plan and not outcome.plan.is_large
    plans = [plan] if plan and not is_sent else []
    if plan and (less := without_doubtful(plan)):
        plans.append(less)
    elif plan and plan.needed > 1:
        plans.append(replace(plan, needed=1))
    searches = [hits_search(plan) for plan in plans]
    searches += [counts_search(plan) for plan in plans if plan != outcome.plan]
    tried = [counts_search(other) for other in alternatives.values()]
    if not searches and not tried:
        return outcome
    responses = iter(session.send("second", *searches, *tried))
    pages = [next(responses) for _ in plans]
    answered = [outcome] if is_sent else []
    for plan, page in zip(plans, pages, strict=True):
        is_counted = plan == outcome.plan
        matched = outcome.matched if is_counted else read_counts(next(responses))
        answered.append(Outcome(plan, outcome.first, page, matched))
    finding = tuple(q for q in alternatives if read_counts(next(responses))[ANY])
    with_most = [answer for answer in answered if answer.with_most]
    # A term that no post has in any variant would leave nothing to tell phrases and titles by.
    without_unmatched = [answer for answer in with_most if not answer.requires_unmatched]
    outcome = next(iter(without_unmatched or with_most), [outcome, *answered][-1])
    return outcome if outcome.matched[ANY] else replace(outcome, alternatives=finding)


def _with_details(session: SearchSession, outcome: Outcome) -> Outcome:
    """The outcome with all marks, and with its facets, by one request, if they are wanted."""
    plan = outcome.plan
    mark_words(outcome.hits, plan.terms, plan.language)
    for hit in outcome.hits:
        mark_words(comments_of(hit), plan.terms, plan.language)
    # Where filters leave nothing, the counts tell what another choice would find.
    filtered = post_filters(plan.request, plan.language)
    if not plan.request.facets or not (outcome.count or filtered):
        return outcome
    (response,) = session.send("details", facets_search(plan, outcome.needed))
    return replace(outcome, facets=read_facets(response))


def _alternatives(plan: Plan, first: FirstResponse, phrases: Phrases) -> dict[str, Plan]:
    """Searches to try, by their queries: with corrections, if they were turned off, and without
    quotation marks and exclusions. Others find nothing either, as one word is enough to match."""
    tried: dict[str, Plan] = {}
    if not plan.request.typos:
        tolerant = replace(plan, request=replace(plan.request, typos=True))
        if corrected := plan_second(tolerant, first, phrases):
            tried[" ".join(term.likeliest.text for term in corrected.terms)] = corrected
    if plan.query.quoted or plan.query.excluded:
        q = _plain_words(plan.query)
        relaxed = replace(plan.request, q=q, typos=True)
        tried[q] = plan_first(relaxed, plan.language, phrases, recency=plan.recency)
    return {q: other for q, other in tried.items() if q and not other.query.empty}


def _plain_words(query: ParsedQuery) -> str:
    """The words of a query in their order, without quotation marks and exclusions."""
    places = [(term.start, term.text) for term in query.terms]
    places += zip(query.quoted_at, query.quoted, strict=True)
    return " ".join(text for _, text in sorted(places))


def _with_meaning(plan: Plan, known: Known) -> Plan:
    """The plan with the meaning of the query as it is corrected, if that counts.

    It counts for a question, which has function words, and for a text of many words, once it has
    been typed.
    """
    if known.model is None or known.model.name != known.rules.model or plan.request.typing:
        return plan
    is_question = any(term.term.light for term in plan.terms)
    least = scoring.MEANING_WORDS_OF_QUESTION if is_question else scoring.MEANING_WORDS
    if len(plan.required) < least:
        return plan
    # The parts of a split word mean something else, and nobody knows yet whether a post has them.
    words = (
        term.term.text if term.likeliest.kind == "split" else term.likeliest.text
        for term in plan.terms
    )
    return replace(plan, vector=known.model.vector(" ".join(words)))


def _with_pins(plan: Plan, pins: Pins) -> Plan:
    """The plan with its pinned results. Rules for the query as typed win over those for a
    correction. In an order by date no post comes first."""
    if not pins or plan.pins:
        return plan
    words = words_of(plan.terms, plan.query, plan.language)
    matched = pins.match(words, datetime.now(UTC).date())
    return replace(plan, pins=matched if plan.request.sort == "relevance" else matched.only_never())
