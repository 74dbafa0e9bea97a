"""The `blended` strategy: the query as typed, and a second request if a term looks wrong."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from analyzers.languages import LANGUAGES
from app.search import details, first_request, scoring
from app.search.alternatives import alternatives
from app.search.answer import Outcome
from app.search.answer_types import SearchAnswer
from app.search.explain import explain
from app.search.first_request import NOTHING, FirstResponse, plan_first, read_counts
from app.search.known import Known
from app.search.pins import Pins, words_of
from app.search.query_builder import ANY, Plan, counts_search, hits_search
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
    the hits. Rules and pinned results are read where they have changed.
    """
    plan, first = _first(session, request, settings, known)
    outcome = Outcome(plan, first, first.hits, first.matched)
    second = plan_second(plan, first, known.rules.phrases)
    others = {} if first.matched[ANY] else alternatives(plan, first, known.rules.phrases)
    if second or others:
        second = second and _with_meaning(_with_pins(second, known.pins), known)
        outcome = _second(session, outcome, second, others)
    outcome = details.added(session, outcome)
    return outcome.body(), explain(outcome, session, known, settings), first.index


def _first(
    session: SearchSession, request: SearchRequest, settings: Settings, known: Known
) -> tuple[Plan, FirstResponse]:
    """The query as typed and the response to it, by the rules and pinned results of now."""
    plan, first = None, NOTHING
    while True:
        former = plan
        plan = plan_first(
            request, LANGUAGES[settings.language], known.rules.phrases, recency=settings.recency
        )
        plan = _with_meaning(_with_pins(plan, known.pins), known)
        if plan.query.empty or plan == former:
            return plan, first
        searches = first_request.build(plan)
        responses, version = session.send_with(known.version_search(), "first", *searches)
        first = first_request.read(responses)
        if not known.update(session, first.index, version):
            return plan, first


def _second(
    session: SearchSession, outcome: Outcome, plan: Plan | None, others: dict[str, Plan]
) -> Outcome:
    """The outcome of the corrected query, and which of the other searches find posts.

    If no post has most of its words, that without doubtful corrections counts, and in an order by
    date posts with any of the words. Whether that is so is only known from the response, so all is
    asked for at once.
    """
    plans = [plan] if plan else []
    if plan and (less := without_doubtful(plan)):
        plans.append(less)
    elif plan and plan.needed > 1:
        plans.append(replace(plan, needed=1))
    searches = [body for plan in plans for body in (hits_search(plan), counts_search(plan))]
    tried = [counts_search(other) for other in others.values()]
    responses = iter(session.send("second", *searches, *tried))
    answered = [
        Outcome(plan, outcome.first, next(responses), read_counts(next(responses)))
        for plan in plans
    ]
    finding = tuple(q for q in others if read_counts(next(responses))[ANY])
    outcome = next((found for found in answered if found.with_most), [outcome, *answered][-1])
    return outcome if outcome.matched[ANY] else replace(outcome, alternatives=finding)


def _with_meaning(plan: Plan, known: Known) -> Plan:
    """The plan with the meaning of the query as it is corrected, if that counts.

    It counts for a question, which has function words, and for a text of many words, once it has
    been typed.
    """
    if known.model is None or not known.rules.semantic or plan.request.typing:
        return plan
    is_question = any(term.term.light for term in plan.terms)
    least = scoring.MEANING_WORDS_OF_QUESTION if is_question else scoring.MEANING_WORDS
    if len(plan.required) < least:
        return plan
    vector = known.model.vector(" ".join(term.likeliest.text for term in plan.terms))
    return replace(plan, vector=tuple(vector or ()))


def _with_pins(plan: Plan, pins: Pins) -> Plan:
    """The plan with its pinned results. Rules for the query as typed win over those for a
    correction. In an order by date no post comes first."""
    if not pins or plan.pins:
        return plan
    words = words_of(plan.terms, plan.query, plan.language)
    matched = pins.match(words, datetime.now(UTC).date())
    return replace(plan, pins=matched if plan.request.sort == "relevance" else matched.only_never())
