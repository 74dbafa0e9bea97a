"""One search from top to bottom: `search` answers with the strategy of the settings, `answer` with
`blended`: the query by what is known of its words, and a second request if a new word looks wrong.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.search import fallback, scoring
from app.search.answer import Facets, SearchAnswer
from app.search.clauses import hidden_clauses, post_filters
from app.search.explain import explain
from app.search.found import Found, answer_body, read_found
from app.search.pins import match_rules, words_of
from app.search.plan import ANY, Plan, plan_corrected, plan_typed
from app.search.request import SearchRequest
from app.search.searches import (
    counts_searches,
    examined_words,
    facets_search,
    hits_search,
    lookup_search,
    read_counts,
    read_facets,
    read_lookup,
)
from app.search.session import SearchSession
from app.search.spelling import Facts
from app.search.translations import with_translations
from app.search.view import IndexView
from app.settings import Settings

if TYPE_CHECKING:
    from analyzers.meaning import Model


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON answer without `debug`, and how it came about."""

    body: SearchAnswer
    debug: dict[str, Any]


def search(
    session: SearchSession, request: SearchRequest, settings: Settings, model: "Model | None" = None
) -> Answer:
    """Answer a search with the strategy of the settings; `model` is that of meanings, if it is on.

    Exceptions of the Elasticsearch client pass through; `app.engines.elastic.translate_errors` maps
    them.
    """
    if settings.strategy == "fallback":
        return Answer(*fallback.answer(session, request, session.view.language))
    return Answer(*answer(session, request, settings, model))


def answer(
    session: SearchSession, request: SearchRequest, settings: Settings, model: "Model | None" = None
) -> tuple[SearchAnswer, dict[str, Any]]:
    """The answer's body, and its explanation.

    The requests: the query by what is known of its words, and a lookup of the new ones; if one of
    these looks wrong, the query as it is meant; where no post has all words in an order by date,
    once more with any; and the counts by category and year, if they are wanted. The hits of a large
    page are asked for once, when the words are known.
    """
    view, language = session.view, session.view.language
    typed = plan_typed(request, language, view.phrases, recency=settings.recency)
    words = examined_words(typed)
    known = session.words.recall(word for _, word in words.values())
    new = {key: named for key, named in words.items() if named[1] not in known}
    facts = {key: known[word] for key, (_, word) in words.items() if word in known}
    plan = _understand(typed, facts, view)
    if typed.query.empty:
        found = read_found(plan, (), {ANY: 0})
    elif not new:
        found = _find(session, "first", plan, model)
    else:
        sent = _with_meaning(plan, view, model)
        first = [] if plan.is_large else [hits_search(sent)]
        *pages, counted = session.send("first", *first, lookup_search(sent, new.values()))
        learned = read_lookup(counted, new.values())
        if session.is_current:
            session.words.learn(learned)
        facts |= {key: learned[word] for key, (_, word) in new.items()}
        meant, counts = _understand(typed, facts, view), read_counts(*pages, counted)
        if meant != plan:
            found = _find(session, "second", meant, model)
        else:
            if plan.is_large and counts[ANY]:
                pages = session.send("second", hits_search(sent))
            hits = pages[0]["hits"]["hits"] if pages else ()
            found = read_found(_with_meaning(meant, view, model), hits, counts)
    if not found.count and found.plan.needed > 1:  # in an order by date: all words, else any
        found = _find(session, "third", replace(found.plan, needed=1), model)
    if found.plan.has_translations and found.hits:
        found = _with_translations(session, found)
    body = answer_body(found, _facets(session, found), fragments=settings.text_fragments)
    if request.debug:
        looked_up = [(word, facts[key], key not in new) for key, (_, word) in words.items()]
        return body, explain(found, facts, looked_up, session, settings)
    return body, {"requests": session.explain()}


def _understand(typed: Plan, facts: Facts, view: IndexView) -> Plan:
    """The query as it is meant by what is known of its words, with what the view adds.

    Rules for the query as typed win over those for a correction. In an order by date no post comes
    first.
    """
    plan = replace(
        typed,
        popularity=view.popularity,
        has_comments=view.has_comments,
        has_translations=view.has_translations,
    )
    plan = _with_pins(plan, view)
    meant = plan_corrected(plan, facts, view.phrases)
    return meant if meant is plan or meant.pins else _with_pins(meant, view)


def _with_pins(plan: Plan, view: IndexView) -> Plan:
    if not view.pins:
        return plan
    pins = match_rules(view.pins, words_of(plan.terms, plan.query, plan.language))
    by_date = plan.request.sort != "relevance"
    return replace(plan, pins=replace(pins, first=()) if by_date else pins)


def _find(session: SearchSession, kind: str, plan: Plan, model: "Model | None") -> Found:
    plan = _with_meaning(plan, session.view, model)
    page, *counted = session.send(kind, hits_search(plan), *counts_searches(plan))
    return read_found(plan, page["hits"]["hits"], read_counts(page, *counted))


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
    """The counts by category and year, by one more request, if they are wanted."""
    plan = found.plan
    # Where filters leave nothing, the counts tell what another choice would find.
    is_counted = found.count or post_filters(plan.request, plan.language)
    if not plan.request.facets or not is_counted:
        return None
    (response,) = session.send("facets", facets_search(plan))
    return read_facets(response)


def _with_meaning(plan: Plan, view: IndexView, model: "Model | None") -> Plan:
    """The plan with the meaning of the query, if that counts."""
    if model is None or model.name != view.model or not _has_meaning(plan):
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
