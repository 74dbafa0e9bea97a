"""What the responses to a search say: which posts, how well, and what was corrected. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from analyzers.chains import readable
from app.search.answer_types import Correction, Facets, Hit, SearchAnswer, Tier
from app.search.first_request import FirstResponse
from app.search.query_builder import (
    ALL,
    ANY,
    BY_WORDS,
    HAS,
    IS,
    MOST,
    PHRASE,
    Plan,
    pin_score,
)
from app.search.render import post_hit
from app.search.spelling import Interpretation

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The responses to a search.

    `plan` is that of the last request, `response` has its hits, and `matched` says how many posts
    match, by the names of `query_builder.counts`. `comments` has the matching comments by the oid
    of their post. `alternatives` are searches that find something if this one does not.
    """

    plan: Plan
    first: FirstResponse
    response: Json
    matched: Mapping[str, int]
    alternatives: tuple[str, ...] = ()
    comments: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    facets: Facets | None = None

    @property
    def hits(self) -> list[Json]:
        """The hits of this page, as Elasticsearch returned them."""
        hits: list[Json] = self.response["hits"]["hits"]
        return hits

    @property
    def count(self) -> int:
        """How many posts are listed: those that match by their words, and pinned ones."""
        return self.matched[ANY]

    @property
    def by_words(self) -> int:
        """How many posts match by their words."""
        return self.matched.get(BY_WORDS, self.matched[ANY])

    @property
    def with_most(self) -> int:
        """How many posts have more than half of the words."""
        plan = self.plan
        return self.matched.get(MOST, self.by_words) if plan.most <= len(plan.required) else 0

    @property
    def with_all(self) -> int:
        """How many posts have every word; none if no post has one of those that were typed."""
        return 0 if self._unmatched else self.matched.get(ALL, self.with_most)

    @property
    def needed(self) -> int:
        """How many words the posts have of which categories and years are counted: most of them,
        or as many as the plan needs if no post has so many."""
        return max(self.plan.most, self.plan.needed) if self.with_most else self.plan.needed

    @property
    def tier(self) -> Tier | None:
        """What the best posts have; None if no post matches by its words."""
        if not self.by_words:
            return None
        if self.with_all:
            only_quoted = self.plan.query.quoted and not self.plan.terms
            return "phrase" if only_quoted or self._any_has_phrase else "all words"
        return "most words" if self.with_most else "some words"

    @property
    def _any_has_phrase(self) -> bool:
        names = (name for hit in self.hits for name in hit.get("matched_queries", ()))
        return any(name.startswith(PHRASE) for name in names)

    @property
    def _unmatched(self) -> set[str]:
        """The keys of the significant terms that no post has in any variant."""
        required = {term.term.key for term in self.plan.required}
        return {
            term.key
            for term in self.plan.query.examined
            if term.key not in required or self.matched.get(HAS + term.key) == 0
        }

    def missing(self, hit: Json) -> list[str]:
        """The significant terms that a hit does not have, as typed; none for a pinned one."""
        if self.pin_score(hit):
            return []
        matched = hit.get("matched_queries", ())
        return [term.text for term in self.plan.query.examined if HAS + term.key not in matched]

    def pin_score(self, hit: Json) -> float:
        """What being pinned adds to the score of a hit; 0 for others."""
        return pin_score(self.plan.pins, hit["_source"]["oid"])

    @property
    def dropped(self) -> list[str]:
        """The significant terms that no post has in any variant."""
        if not self.by_words:
            return []
        return [term.text for term in self.plan.query.examined if term.key in self._unmatched]

    @property
    def corrected(self) -> Correction | None:
        """The query as typed and as it was understood, if another spelling found the posts."""
        q = self.plan.request.q
        to, end = "", 0
        for one in self.plan.terms:
            to += q[end : one.term.start] + self._understood(one, q[one.term.start : one.term.end])
            end = one.term.end
        to += q[end:]
        return {"from": q, "to": to} if to != q and self.hits else None

    def _understood(self, one: Interpretation, typed: str) -> str:
        """The variant that the best hit has, as a person would write it.

        The best hit has the words beside it too: `developer surey` is survey, and not surely.
        The likeliest variant that a hit has if that is the word as typed, or if the first hit is
        not the best one.
        """
        if "+" in one.term.key:
            return one.term.text
        if one.as_typed:
            return typed
        found = [
            number
            for hit in self.hits
            for number in range(len(one.variants))
            if not self.pin_score(hit)
            and f"{IS}{one.term.key} {number}" in hit.get("matched_queries", ())
        ]
        if not found:
            return typed
        best_first = one.likeliest.kind != "typed" and self.plan.request.sort == "relevance"
        variant = one.variants[found[0] if best_first else min(found)]
        if variant.kind in ("typed", "prefix", "begun"):
            return typed
        return readable(variant.text) or typed

    def body(self) -> SearchAnswer:
        """The JSON answer."""
        request = self.plan.request
        body: SearchAnswer = {
            "q": request.q,
            "count": self.count,
            "page": request.page,
            "size": request.size,
            "strategy": "blended",
            "tier": self.tier,
            "matches": {
                "all_words": self.with_all,
                "most_words": self.with_most,
                "some_words": self.by_words,
            },
            "hits": [self._hit(hit) for hit in self.hits],
        }
        if self.corrected:
            body["corrected"] = self.corrected
            body["instead"] = "/search?" + urlencode(request.parameters(typos=False))
        if self.dropped:
            body["dropped"] = self.dropped
        if self.alternatives:
            body["alternatives"] = list(self.alternatives)
        if self.facets is not None:
            body["facets"] = self.facets
        return body

    def _hit(self, hit: Json) -> Hit:
        found = post_hit(hit, self.comments.get(hit["_source"]["oid"], ()))
        if pinned := self.pin_score(hit):
            found["pinned"] = True
            found["score"] = round(hit["_score"] - pinned, 2)
        if missing := self.missing(hit):
            found["missing"] = missing
        return found
