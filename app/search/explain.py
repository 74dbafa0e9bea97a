"""How an answer came about, for `debug-search`."""

import html
from collections.abc import Mapping
from typing import Any

from analyzers import meaning
from analyzers.symbols import readable
from app.search import scoring
from app.search.answer import Outcome
from app.search.known import Known
from app.search.pins import MatchedPins
from app.search.query_builder import HAS, IS, WORD, compounds, scores_search
from app.search.render import highlights, passages, unmarked, words_of
from app.search.session import SearchSession
from app.search.spelling import Interpretation, TermVariant
from app.search.synonyms import applied
from app.settings import Settings

Json = dict[str, Any]

_SECTIONS = 10
"""Sections of a hit that are listed."""

_TIERS = {
    None: "no post has any of the words",
    "phrase": "a post has the words side by side, in their order",
    "all words": "a post has all words",
    "most words": "no post has all words; these have more than half of them",
    "some words": "no post has all words; these have the most important of them",
}


def explain(outcome: Outcome, session: SearchSession, known: Known, settings: Settings) -> Json:
    """The tier, each word with its variants, the synonyms that applied, what each hit scored for
    which part of the query, and the requests that were sent."""
    plan = outcome.plan
    scored = _scored(outcome, session)
    tokens = [piece for term in plan.terms for piece in term.tokens]
    return {
        "strategy": "blended",
        "tier": outcome.tier,
        "reason": _TIERS[outcome.tier],
        "first_hit": _first_hit(outcome, scored),
        "words": [_word(term, outcome) for term in plan.terms],
        "words_needed": plan.needed,
        "matches": dict(outcome.matched),
        "posts": outcome.first.total,
        "synonyms": applied(tokens, known.rules.digest, settings),
        "quoted": list(plan.query.quoted),
        "excluded": list(plan.query.excluded),
        "pins": _pins(plan.pins),
        "hits": [_hit(hit, outcome, scored) for hit in outcome.hits],
        "requests": session.explain(bodies=plan.request.debug_requests),
    }


def _scored(outcome: Outcome, session: SearchSession) -> Mapping[str, Json]:
    """The hits by their `_id`, with what each named clause added to the score; also with the text
    and its vectors if meaning counts.

    Only these posts are scored again, which costs about a fifth of the search. On pages after the
    posts whose order is refined only words count.
    """
    if not outcome.hits:
        return {}
    body = scores_search(outcome.plan, [hit["_id"] for hit in outcome.hits])
    return {hit["_id"]: hit for hit in session.scores(body)["hits"]["hits"]}


def _parts(hit: Json, outcome: Outcome, scored: Mapping[str, Json]) -> list[Json]:
    """The parts of a hit's score, the largest first; they add up to the score."""
    words = {WORD + term.term.key: term.phrase or term.term.text for term in outcome.plan.terms}
    words |= {WORD + text: text for text in compounds(outcome.plan.terms)}
    scores = scored.get(hit["_id"], {}).get("matched_queries", {})
    parts = [
        {"part": words.get(name, name), "score": round(score, 4)}
        for name, score in scores.items()
        if score
    ]
    return sorted(parts, key=lambda part: -part["score"])


def _nearest_passage(hit: Json, outcome: Outcome, scored: Mapping[str, Json]) -> str:
    """The passage of a hit that is nearest to the query in meaning."""
    source = scored.get(hit["_id"], {}).get("_source", {})
    if "text" not in source:
        return ""
    title, text = html.unescape(source["title"]), html.unescape(source["text"])
    bits = {passage["digest"]: passage["vector"] for passage in source.get("passages", ())}
    similarities = (
        (meaning.similarity(outcome.plan.vector, bits[name]), passage)
        for passage, whole in meaning.passages(title, text)
        if (name := meaning.digest(whole)) in bits
    )
    return html.escape(max(similarities, default=(0.0, ""))[1], quote=False)


def _first_hit(outcome: Outcome, scored: Mapping[str, Json]) -> str | None:
    """One sentence on why the first hit is first."""
    if not outcome.hits:
        return None
    first = outcome.hits[0]
    if outcome.pin_score(first):
        return f"It is pinned by {', '.join(rule.place for rule in outcome.plan.pins.rules)}."
    parts = _parts(first, outcome, scored)
    named = [f"{part['score']:.1f} for {part['part']}" for part in parts[:3]]
    score = f"{first['_score'] or 0:.1f}"
    rest = ", and less for the rest" if len(parts) > 3 else ""
    if outcome.plan.request.sort == "newest":
        return "It is the newest post that matches."
    return f"It scores most, {score}: {', '.join(named)}{rest}."


def _pins(pins: MatchedPins) -> Json:
    rules = [{"file": rule.file, "line": rule.line} for rule in pins.rules]
    return {"rules": rules, "first": list(pins.first), "never": list(pins.never)}


def _word(term: Interpretation, outcome: Outcome) -> Json:
    total = outcome.first.total
    stats = outcome.first.stats.get(term.term.key)
    posts = term.likeliest.posts or (max(stats.words, stats.forms) if stats else 0)
    word: Json = {
        "word": term.term.text,
        "required": term in outcome.plan.required,
        "reason": term.reason,
        "weight": round(scoring.idf(posts, total), 3) if total and posts else None,
        "variants": [_variant(variant) for variant in term.variants],
    }
    if stats:
        word["posts"] = {
            "as_typed": stats.words,
            "or_synonym": stats.forms,
            "any_inflection": stats.stems,
            "in_title": stats.titles,
            "as_prefix": stats.prefix,
        }
    return word


def _variant(variant: TermVariant) -> Json:
    return {
        "text": readable(variant.text) or variant.text,
        "kind": variant.kind,
        "weight": round(variant.weight, 4),
        "posts": variant.posts,
        "score": round(variant.score, 4),
        "cost": round(variant.cost, 3),
    }


def _hit(hit: Json, outcome: Outcome, scored: Mapping[str, Json]) -> Json:
    pinned = outcome.pin_score(hit)
    passage = _nearest_passage(hit, outcome, scored)
    return {
        "oid": hit["_source"]["oid"],
        "score": round((hit["_score"] or 0) - pinned, 2 if pinned else 4),
        "pinned": bool(pinned),
        "parts": _parts(hit, outcome, scored),
        "matched": _matched(hit, outcome),
        "missing": outcome.missing(hit),
        "sections": _sections(hit, outcome),
        **({"nearest_passage": passage} if passage else {}),
    }


def _sections(hit: Json, outcome: Outcome) -> list[Json]:
    """The sections of a hit that match, the worthiest first."""
    marked = highlights(hit)
    shown = words_of(marked.get("title", ""))
    headings = hit["_source"].get("headings", ())
    rated: list[Json] = [
        {
            "heading": " › ".join(map(unmarked, (*passage.above, passage.heading))),
            "worth": round(passage.worth(shown, outcome.plan.request.q), 2),
            "words": len(passage.words),
        }
        for passage in passages(marked.get("text", ""), marked.get("code", ""), headings)
        if passage.heading and passage.words
    ]
    return sorted(rated, key=lambda section: -section["worth"])[:_SECTIONS]


def _matched(hit: Json, outcome: Outcome) -> Json:
    """The variants of each significant word that a hit has."""
    matched = set(hit.get("matched_queries", ()))
    return {
        term.term.text: [
            readable(variant.text) or variant.text
            for number, variant in enumerate(term.variants)
            if term.as_typed or f"{IS}{term.term.key} {number}" in matched
        ]
        for term in outcome.plan.required
        if HAS + term.term.key in matched
    }
