"""The `blended` strategy: the query as typed, and a second request if a term looks wrong."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from analyzers.languages import LANGUAGES
from app.search import comments, facets, first_request
from app.search.answer import Outcome
from app.search.answer_types import SearchAnswer
from app.search.explain import explain
from app.search.first_request import NOTHING
from app.search.pins import NO_PINS, Pins, words_of
from app.search.query_builder import PlanInput, count_matched, hits_search, terms_needed
from app.search.query_parser import parse_query
from app.search.request import SearchRequest
from app.search.second_request import any_term, plan_second
from app.search.session import SearchSession
from app.search.spelling import as_typed
from app.search.synonyms import mark_phrases
from app.settings import Settings

Json = dict[str, Any]

MAX_RELAXED = 3
"""If more terms than this are needed, posts with a single one of them are not meant."""


def answer(
    session: SearchSession, request: SearchRequest, settings: Settings, pins: Pins = NO_PINS
) -> tuple[SearchAnswer, Json, str]:
    """The answer's body, its explanation, and the index that answered."""
    plan = _with_pins(plan_first(request, settings), pins)
    if plan.query.empty:
        outcome = Outcome(plan, NOTHING, NOTHING.hits, {})
        return outcome.body(), explain(outcome, session, settings), ""
    first = first_request.read(session.send("first", *first_request.build(plan)))
    response = first.hits
    second = plan_second(plan, first, settings)
    if second:
        plan, response = _send_second(session, _with_pins(second, pins))
    found = comments.found(session, plan, response["hits"]["hits"])
    outcome = Outcome(plan, first, response, found)
    body = outcome.body()
    if request.facets:
        body["facets"] = facets.found(session, plan)
    return body, explain(outcome, session, settings), outcome.index


def _send_second(session: SearchSession, plan: PlanInput) -> tuple[PlanInput, Json]:
    """The second request, and the plan that its response answers.

    If no post has enough of the terms, those with any of them are the answer. Whether that is so is
    only known from the response, so both are asked for at once.
    """
    several = 1 < plan.needed <= MAX_RELAXED
    plans = [plan, any_term(plan)] if several else [plan]
    responses = session.send("second", *map(hits_search, plans))
    answered = zip(plans, responses, strict=True)
    return next((pair for pair in answered if count_matched(pair[1])), (plans[-1], responses[-1]))


def _with_pins(plan: PlanInput, pins: Pins) -> PlanInput:
    """The plan with its pinned results. Rules for the query as typed win over those for a
    correction. In an order by date no post comes first."""
    if not pins or plan.pins:
        return plan
    words = words_of(plan.terms, plan.query, plan.language)
    found = pins.match(words, datetime.now(UTC).date())
    return replace(plan, pins=found if plan.request.sort == "relevance" else found.only_never())


def plan_first(request: SearchRequest, settings: Settings) -> PlanInput:
    """The query as typed."""
    language = LANGUAGES[settings.language]
    query = parse_query(request.q, language)
    terms = mark_phrases([as_typed(term) for term in query.terms], settings)
    examined = {term.key for term in query.examined}
    required = tuple(one for one in terms if one.term.key in examined)
    needed = terms_needed(len(required), request)
    return PlanInput(request, query, terms, required, needed, 0, settings.recency, language)
