"""What the response to one plan says of its posts, computed once. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.search.answer import Correction, Tier
from app.search.clauses import HAS, IS, PHRASE, pin_score
from app.search.plan import ALL, ANY, BY_WORDS, MOST, Plan
from app.search.query_parser import QueryTerm
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """The posts that a plan finds.

    `hits` are those of the page, `matched` how many posts match by the names of `searches.counts`.
    `count` posts are listed, `by_words` of them not only because they are pinned; `with_most` have
    more than half of the words. `needed` words have the posts of which categories and years are
    counted. `dropped` are words that no post has; `requires_unmatched`: one of them is required.
    """

    plan: Plan
    hits: tuple[Json, ...]
    matched: Mapping[str, int]
    count: int
    by_words: int
    with_most: int
    with_all: int
    needed: int
    tier: Tier | None
    dropped: tuple[str, ...]
    corrected: Correction | None
    requires_unmatched: bool

    def missing(self, hit: Json) -> list[str]:
        """The significant terms that a hit does not have, as typed."""
        names = hit.get("matched_queries", ())
        return _texts([term for term in self.plan.query.examined if HAS + term.key not in names])

    def pinned(self, hit: Json) -> float:
        """What being pinned adds to the score of a hit; 0 for others."""
        return pin_score(self.plan.pins, hit["_source"]["oid"])


def read_found(plan: Plan, hits: Sequence[Json], matched: Mapping[str, int]) -> Found:
    """What a plan has found; `matched` is what `searches.counts` counted."""
    by_words = matched.get(BY_WORDS, matched[ANY])
    best = {term.term.key: _best_variant(term, hits, plan) for term in plan.terms}
    # A single significant term, which no post has: no other term tells whether another spelling is
    # meant.
    is_doubtful = len(plan.query.examined) == 1 and any(
        term.doubtful and best[term.term.key].kind != "split" for term in plan.required
    )
    required = {term.term.key for term in plan.required}
    unmatched = [
        term
        for term in plan.query.examined
        if is_doubtful or term.key not in required or matched.get(HAS + term.key) == 0
    ]
    is_enough = plan.most <= len(plan.required) and not is_doubtful
    with_most = matched.get(MOST, by_words) if is_enough else 0
    with_all = 0 if unmatched else matched.get(ALL, with_most)
    tier: Tier | None = None
    if with_all:
        names = {name for hit in hits for name in hit.get("matched_queries", ())}
        only_quoted = plan.query.quoted and not plan.terms
        has_phrase = only_quoted or PHRASE + "title" in names or PHRASE + "text" in names
        tier = "phrase" if has_phrase else "all words"
    elif by_words:
        tier = "most words" if with_most else "some words"
    meant = plan.written([best[term.term.key] for term in plan.terms])
    q = plan.request.q
    return Found(
        plan=plan,
        hits=tuple(hits),
        matched=matched,
        count=matched[ANY],
        by_words=by_words,
        with_most=with_most,
        with_all=with_all,
        needed=max(plan.most, plan.needed) if with_most else plan.needed,
        tier=tier,
        dropped=tuple(_texts(unmatched)) if by_words else (),
        corrected={"from": q, "to": meant} if meant != q and hits else None,
        requires_unmatched=any(matched.get(HAS + key) == 0 for key in required),
    )


def _best_variant(term: Interpretation, hits: Iterable[Json], plan: Plan) -> TermVariant:
    """The variant that the best hit has, the term as typed if that is none of the others.

    The best hit has the words beside it too: `developer surey` is survey, and not surely; a
    doubtful term must have other words beside it.
    """
    variants: list[TermVariant] = []
    for hit in () if term.as_typed else hits:
        names = hit.get("matched_queries", ())
        if pin_score(plan.pins, hit["_source"]["oid"]):
            continue
        alone = sum(name.startswith(HAS) for name in names) == 1
        matched = [
            variant
            for number, variant in enumerate(term.variants)
            if f"{IS}{term.term.key} {number}" in names
            and not (alone and term.doubtful and variant.kind == "spelling")
        ]
        variants += sorted(matched, key=lambda variant: -variant.weight)
    if not variants:
        return TermVariant(term.term.text)
    best_first = term.likeliest.kind != "typed" and plan.request.sort == "relevance"
    return variants[0] if best_first else min(variants, key=term.variants.index)


def _texts(terms: Sequence[QueryTerm]) -> list[str]:
    """The terms as typed; pairs of characters that overlap are one text."""
    texts: list[str] = []
    end = -1
    for term in terms:
        if term.continues and term.start == end:
            texts[-1] += term.text[1:]
        else:
            texts.append(term.text)
        end = term.end
    return texts
