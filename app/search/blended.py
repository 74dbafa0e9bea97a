"""Runs a whole search: `search` with the strategy of the settings, `answer` with `blended`, which
sends a second request if a word that is looked up in the first one looks wrong.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.search import fallback
from app.search.answer import Facets, SearchAnswer
from app.search.clauses import hidden_clauses, post_filters
from app.search.explain import explain
from app.search.found import Found, answer_body, read_facets, read_found, read_lookup
from app.search.plan import Plan, Understanding
from app.search.request import SearchRequest
from app.search.searches import counts_searches, facets_search, hits_search, lookup_search
from app.search.session import SearchSession
from app.search.translations import with_translations
from app.settings import Settings

if TYPE_CHECKING:
    from analyzers.meaning import Model


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON answer without `debug`, and its explanation."""

    body: SearchAnswer
    debug: dict[str, Any]


def search(
    session: SearchSession, request: SearchRequest, settings: Settings, model: "Model | None" = None
) -> Answer:
    """Answer a search with the strategy of the settings; `model` is for semantic search, if on.

    Exceptions of the Elasticsearch client pass through; `app.engines.elastic.translate_errors` maps
    them.
    """
    if settings.strategy == "fallback":
        return Answer(*fallback.answer(session, request))
    return Answer(*answer(session, request, settings, model))


def answer(
    session: SearchSession, request: SearchRequest, settings: Settings, model: "Model | None" = None
) -> tuple[SearchAnswer, dict[str, Any]]:
    """Return the answer's body, and its explanation.

    The first request searches with what is known of the words, and looks up those that are new. If
    one of these looks wrong, a second request searches for the corrected query.
    """
    understanding = Understanding(request, session, model, recency=settings.recency)
    plan, new = understanding.plan(), understanding.new
    if plan.query.empty:
        found = read_found(plan)
    elif not new:
        found = _find(session, "first", plan)
    else:  # the hits of a large page are requested only once, when all words are known
        first = [] if plan.is_large else [hits_search(plan)]
        responses = session.send("first", *first, lookup_search(plan, new.values()))
        understanding.learn(read_lookup(responses[-1], new))
        if (meant := understanding.plan()) != plan:
            found = _find(session, "second", meant)
        else:
            found = read_found(meant, *responses)
            if plan.is_large and found.count:
                responses += session.send("second", hits_search(plan))
                found = read_found(meant, *responses[::-1])
    least = 0 if found.plan.query.quoted else 1
    if not found.count and found.plan.needed > least:  # sorted by date, no post has all words
        found = _find(session, "third", replace(found.plan, needed=least))
    if found.plan.has_translations and found.hits:
        found = _with_translations(session, found)
    body = answer_body(found, _facets(session, found), fragments=settings.text_fragments)
    if request.debug:
        return body, explain(found, understanding, session, settings)
    return body, {"requests": session.sent}


def _find(session: SearchSession, kind: str, plan: Plan) -> Found:
    return read_found(plan, *session.send(kind, hits_search(plan), *counts_searches(plan)))


def _with_translations(session: SearchSession, found: Found) -> Found:
    plan = found.plan
    hits = with_translations(
        session,
        hits_search(plan),
        found.hits,
        plan.request.prefer,
        pinned=plan.pins.first,
        hidden=hidden_clauses(plan),
    )
    return replace(found, hits=tuple(hits))


def _facets(session: SearchSession, found: Found) -> Facets | None:
    """Request the counts by category and year, if they are wanted."""
    plan = found.plan
    # If the filters leave no posts, the counts show what other filters would find.
    is_counted = found.count or post_filters(plan.request, plan.language)
    if not plan.request.facets or not is_counted:
        return None
    (response,) = session.send("facets", facets_search(plan))
    return read_facets(response)
