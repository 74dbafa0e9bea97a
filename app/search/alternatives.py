"""Searches that find something in place of one that found nothing. Pure."""

from dataclasses import replace

from analyzers.rules import Phrases
from app.search.first_request import FirstResponse, plan_first
from app.search.query_builder import Plan
from app.search.query_parser import ParsedQuery
from app.search.second_request import plan_second


def alternatives(plan: Plan, first: FirstResponse, phrases: Phrases) -> dict[str, Plan]:
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
