"""How an answer came about, for `debug-search`. Pure."""

from collections.abc import Mapping
from typing import Any

from app.search.execute import Conversation
from app.search.outcome import Outcome
from app.search.spelling import Known
from app.search.synonyms import applied
from app.search.words import Word, understand
from app.settings import Settings

Json = dict[str, Any]

_WHY = {
    None: "no post has any of the words",
    "phrase": "a post has the words side by side, in their order",
    "all words": "posts have every word, as typed or as mended",
    "some words": "no post has every word; these have the most of them",
}


def explain(
    outcome: Outcome,
    known: Mapping[str, Known],
    conversation: Conversation,
    settings: Settings,
) -> Json:
    """The tier and why, each word with its alternatives, the synonyms that applied, each hit with
    its clauses, and the requests that were sent; empty where nobody asked for it."""
    if not outcome.wanted.request.debug:
        return {"strategy": "blended", "requests": conversation.explain()}
    meant = understand(outcome.corrected["to"]) if outcome.corrected else outcome.wanted.query
    tokens = [piece for word in meant.words for piece in word.pieces]
    return {
        "strategy": "blended",
        "tier": outcome.tier,
        "why": _WHY[outcome.tier],
        "mended": _why_mended(outcome),
        "words": [_word(sought.word, outcome, known) for sought in outcome.wanted.sought],
        "synonyms": applied(tokens, conversation.rules_digest(), settings),
        "quoted": list(outcome.wanted.query.quoted),
        "kept_out": list(outcome.wanted.query.out),
        "hits": [_hit(hit) for hit in outcome.hits],
        "requests": conversation.explain(),
    }


def _why_mended(outcome: Outcome) -> str:
    if not outcome.wanted.request.typos:
        return "typos=off: searched for exactly what was typed"
    if outcome.second is None:
        return "one request was enough: nothing looked wrong"
    return "a second request: a word looked wrong, or no post had every word as typed"


def _word(word: Word, outcome: Outcome, known: Mapping[str, Known]) -> Json:
    reading = outcome.readings.get(word.at)
    counts = known.get(word.at)
    found: Json = {
        "word": word.text,
        "required": word in outcome.wanted.query.required,
        "typed_weight": reading.typed_weight if reading else 1.0,
        "why": reading.why if reading else "as typed",
        "alternatives": [other.explain() for other in reading.alternatives] if reading else [],
    }
    if counts:
        found["documents"] = {
            "as_typed": counts.words,
            "either_spelling": counts.forms,
            "any_inflection": counts.stems,
            "in_titles": counts.titles,
            "as_beginning": counts.begins,
        }
    return found


def _hit(hit: Json) -> Json:
    """The clauses a hit matched and what each added; a group stands beside its parts."""
    matched = hit.get("matched_queries", {})
    scores = matched if isinstance(matched, dict) else dict.fromkeys(matched)
    return {"oid": hit["_source"]["oid"], "score": hit["_score"], "clauses": scores}
