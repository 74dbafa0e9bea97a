"""Explains an answer for `debug-search`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analyzers.languages import Language
from analyzers.rules.compile import Rules
from app.index.synonyms import explain_rules, rules_in_use
from app.search.clauses import COMMENTS, has_name, variant_name
from app.search.found import Found
from app.search.plan import Understanding
from app.search.render import Marker, marked_texts, marked_words
from app.search.searches import scores_search
from app.search.session import EngineHit, SearchSession
from app.search.spelling import Facts, Interpretation, TermVariant, Word, WordFacts
from app.settings import Settings

Json = dict[str, Any]


def explain(
    found: Found,
    understanding: Understanding,
    session: SearchSession,
    settings: Settings,
) -> Json:
    """Return each word with its variants, the words that were looked up, the synonym rules and pins
    that applied, the parts of each hit's score, and the requests that were sent."""
    plan, facts = found.plan, understanding.facts
    rules = rules_in_use(session.view.rules, settings, plan.language)
    return {
        "strategy": "blended",
        "tier": found.tier,
        "words": [_word(term, found, facts, session.view.posts) for term in plan.terms],
        "lookup": [
            _lookup(word, facts[key], remembered=key not in understanding.new)
            for key, (_, word) in understanding.words.items()
        ],
        "synonyms": explain_rules(
            [piece for term in plan.terms for piece in term.tokens], rules, plan.language
        ),
        "pins": [f"{rule.file}:{rule.line}" for rule in plan.pins.rules],
        "hits": _hits(found, session, rules),
        "requests": session.explain(bodies=plan.request.debug_requests),
    }


# -- words -----------------------------------------------------------------------------------------


def _word(term: Interpretation, found: Found, facts: Facts, total: int) -> Json:
    known = facts.get(term.typed.key)
    posts = term.likeliest.posts or (known.stats.posts if known else 0)
    return {
        "word": term.typed.text,
        "required": term in found.plan.required,
        "reason": term.reason,
        "weight": _weight(posts, total),
        "variants": [_variant(variant) for variant in term.variants],
        "similar": [_variant(variant) for variant in term.similar],
    }


def _lookup(word: Word, known: WordFacts, *, remembered: bool) -> Json:
    """Return how many posts have a word, the suggested spellings, and whether they were remembered
    from an earlier search."""
    spellings = [{"text": option.text, "posts": option.posts} for option in known.options]
    counts = asdict(known.stats)
    return {"word": word.text, **counts, "spellings": spellings, "remembered": remembered}


def _weight(posts: int, total: int) -> float | None:
    """Return BM25's inverse document frequency of a word that `posts` of `total` posts have."""
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


def _hits(found: Found, session: SearchSession, rules: Rules | str) -> list[Json]:
    """Return the hits, each with the parts of its score and why it ranks below the previous one.

    Scores them again with a name for each clause, which costs about a fifth of the search. Pages
    beyond the rescored posts have no scores of the rescoring clauses.
    """
    if not found.hits:
        return []
    scores = session.scores(scores_search(found.plan, [hit["_id"] for hit in found.hits]))
    hits: list[Json] = []
    marker = Marker.of(found.plan)
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
                "matched": _find_matched(hit, found),
                "same": _same(hit, found, marker, rules),
                "missing": [] if pinned else found.missing(hit),
                "reason": _reason(parts, hits[-1] if hits else None, bool(pinned)),
            }
        )
    return hits


def _find_matched(hit: EngineHit, found: Found) -> Json:
    """Return the variants that a hit has, for each significant word."""
    names = set(hit.get("matched_queries", ()))
    return {
        term.typed.text: [
            variant.readable
            for number, variant in enumerate(term.variants)
            if term.as_typed or variant_name(term.typed, number) in names
        ]
        for term in found.plan.required
        if has_name(term.typed) in names
    }


def _same(hit: EngineHit, found: Found, marker: Marker, rules: Rules | str) -> list[Json]:
    """Return, for each marked word that was not typed, why it counts as a word of the query."""
    comments = hit.get("inner_hits", {}).get(COMMENTS, {}).get("hits", {}).get("hits", ())
    texts = [text for one in (hit, *comments) for text in marked_texts(one, marker).values()]
    typed = found.plan.request.q.lower()
    reasons = []
    for word in marked_words(texts):
        if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", typed):
            of = (_why(word, term, found.plan.language, rules) for term in found.plan.terms)
            why = next(filter(None, of), "The index analyzes both to the same token.")
            reasons.append({"word": word, "why": why})
    return reasons


def _why(word: str, term: Interpretation, language: Language, rules: Rules | str) -> str:
    """Return why a marked word counts as a term, "" if it does not."""
    typed, written = term.typed.text, language.written(word)
    for variant in (*term.variants, *term.similar):
        own = term.typed.token if variant.kind == "typed" else variant.text
        if language.fold(own) == language.fold(written):
            if variant.kind == "spelling":
                return f"spelling: {typed} is taken for {variant.readable}"
            return f"normalisation: {typed} and {word} become {language.fold(own)}"
        if variant.is_beginning and language.fold(written).startswith(term.typed.folded):
            return f"beginning: {typed}"
        if language.stem(own) == language.stem(written):
            is_given = not {own, written}.isdisjoint(language.stemming.words)
            kind = "override" if is_given else "stem"
            return f"{kind}: {own} and {written} become {language.stem(own)}"
    if isinstance(rules, Rules):
        others = term.phrase.split() or term.tokens
        theirs, applied_to_word = _tokens(others, language, rules)
        tokens, applied_to_typed = _tokens(
            [language.written(w) for w in word.split()], language, rules
        )
        if stems := set(map(language.stem, theirs)) & set(map(language.stem, tokens)):
            places = dict.fromkeys([*applied_to_typed, *applied_to_word])
            return f"rule: {'; '.join(places)} → {', '.join(sorted(stems))}"
    return ""


def _tokens(
    words: Sequence[str], language: Language, rules: Rules
) -> tuple[Sequence[str], list[str]]:
    """Return the tokens that the rules produce from words, and the rules that applied."""
    groups = [group for *_, group in rules.explain(words, language)]
    tokens = [token for group in groups for token in group.tokens] or words
    return tokens, [f"{rule.file}:{rule.line}: {rule}" for group in groups for rule in group.rules]


def _reason(parts: Mapping[str, float], above: Json | None, pinned: bool) -> str:
    """Return why a hit is first, or why it ranks below the one above it."""
    if pinned:
        return "It is pinned."
    if not above or above["pinned"]:
        best = ", ".join(f"{score:.1f} for {part}" for part, score in list(parts.items())[:3])
        return f"Highest scores: {best}." if best else ""
    theirs = {part["part"]: part["score"] for part in above["parts"]}
    less = sum(theirs.values()) - sum(parts.values())
    if less < 0.00005:
        return "The same score as the hit above, or the order is not by score."
    most = max(theirs, key=lambda part: theirs[part] - parts.get(part, 0.0))
    return (
        f"{less:.2f} less than the hit above, mostly for {most}: {parts.get(most, 0.0):.2f} "
        f"instead of {theirs[most]:.2f}."
    )
