"""How an answer came about, for `debug-search`."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from app.index.synonyms import applied
from app.search.clauses import HAS, IS
from app.search.found import Found
from app.search.searches import scores_search
from app.search.session import SearchSession
from app.search.spelling import Facts, Interpretation, TermVariant, Word, WordFacts
from app.settings import Settings

Json = dict[str, Any]


def explain(
    found: Found,
    facts: Facts,
    looked_up: Iterable[tuple[Word, WordFacts, bool]],
    session: SearchSession,
    settings: Settings,
) -> Json:
    """Each word with its variants, what was looked up, the rules that applied, what each hit scored
    for which part of the query, and the requests that were sent.

    `looked_up`: each word, what the index has of it, and whether an earlier search had asked.
    """
    plan = found.plan
    return {
        "strategy": "blended",
        "tier": found.tier,
        "words": [_word(term, found, facts, session.view.posts) for term in plan.terms],
        "lookup": [_lookup(*one) for one in looked_up],
        "synonyms": applied(
            [piece for term in plan.terms for piece in term.tokens],
            session.view.rules,
            settings,
            session.view.language,
        ),
        "pins": [f"{rule.file}:{rule.line}" for rule in plan.pins.rules],
        "hits": _hits(found, session),
        "requests": session.explain(bodies=plan.request.debug_requests),
    }


# -- words -----------------------------------------------------------------------------------------


def _word(term: Interpretation, found: Found, facts: Facts, total: int) -> Json:
    known = facts.get(term.term.key)
    posts = term.likeliest.posts or (known.stats.posts if known else 0)
    return {
        "word": term.term.text,
        "required": term in found.plan.required,
        "reason": term.reason,
        "weight": _weight(posts, total),
        "variants": [_variant(variant) for variant in term.variants],
        "similar": [_variant(variant) for variant in term.similar],
    }


def _lookup(word: Word, known: WordFacts, remembered: bool) -> Json:
    """How many posts have a word, and the spellings that the index offers for it."""
    spellings = [{"text": option.text, "posts": option.posts} for option in known.options]
    counts = asdict(known.stats)
    return {"word": word.text, **counts, "spellings": spellings, "remembered": remembered}


def _weight(posts: int, total: int) -> float | None:
    """BM25's inverse document frequency of a word that `posts` of `total` posts have."""
    if not posts or not total:
        return None
    return round(math.log(1 + (max(total - posts, 0) + 0.5) / (posts + 0.5)), 3)


def _variant(variant: TermVariant) -> Json:
    return {
        "text": variant.readable,
        "kind": variant.kind,
        "weight": round(variant.weight, 4),
        "posts": variant.posts,
        "cost": round(variant.cost, 3),
    }


# -- hits ------------------------------------------------------------------------------------------


def _hits(found: Found, session: SearchSession) -> list[Json]:
    """The hits, each with the parts of its score and why it is behind the one above it.

    They are scored once more with a name for each clause, which costs about a fifth of the search.
    On pages after the posts whose order is refined only words count.
    """
    if not found.hits:
        return []
    response = session.scores(scores_search(found.plan, [hit["_id"] for hit in found.hits]))
    scores = {hit["_id"]: hit.get("matched_queries", {}) for hit in response["hits"]["hits"]}
    hits: list[Json] = []
    for hit in found.hits:
        pinned = found.pinned(hit)
        scored = sorted(scores.get(hit["_id"], {}).items(), key=lambda part: -part[1])
        parts = {name: round(score, 4) for name, score in scored if score}
        hits.append(
            {
                "oid": hit["_source"]["oid"],
                "score": round((hit["_score"] or 0) - pinned, 2 if pinned else 4),
                "pinned": bool(pinned),
                "parts": [{"part": name, "score": score} for name, score in parts.items()],
                "matched": _matched(hit, found),
                "missing": [] if pinned else found.missing(hit),
                "reason": _reason(parts, hits[-1] if hits else None, bool(pinned)),
            }
        )
    return hits


def _matched(hit: Json, found: Found) -> Json:
    """The variants of each significant word that a hit has."""
    names = set(hit.get("matched_queries", ()))
    return {
        term.term.text: [
            variant.readable
            for number, variant in enumerate(term.variants)
            if term.as_typed or f"{IS}{term.term.key} {number}" in names
        ]
        for term in found.plan.required
        if HAS + term.term.key in names
    }


def _reason(parts: Mapping[str, float], above: Json | None, pinned: bool) -> str:
    """Why a hit is first, or behind the one above it."""
    if pinned:
        return "It is pinned."
    if not above or above["pinned"]:
        best = ", ".join(f"{score:.1f} for {part}" for part, score in list(parts.items())[:3])
        return f"It scores most: {best}." if best else ""
    theirs = {part["part"]: part["score"] for part in above["parts"]}
    less = sum(theirs.values()) - sum(parts.values())
    if less < 0.00005:
        return "It scores as much as the hit above, or the order is not by score."
    most = max(theirs, key=lambda part: theirs[part] - parts.get(part, 0.0))
    return (
        f"{less:.2f} less than the hit above, most of it for {most}: "
        f"{parts.get(most, 0.0):.2f}, above {theirs[most]:.2f}."
    )
