"""What the responses to a search say: which posts, how well, and what was corrected. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from analyzers.chains import readable
from app.search.answer_types import Correction, Hit, SearchAnswer, Tier
from app.search.first_request import FirstResponse
from app.search.query_builder import (
    HAS,
    IS,
    PHRASE,
    PlanInput,
    best_first,
    count_matched,
    pin_score,
)
from app.search.render import post_hit
from app.search.spelling import Interpretation

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The responses to a search.

    `plan` is that of the last request and `response` what it found; `comments` has the matching
    comments by the oid of their post.
    """

    plan: PlanInput
    first: FirstResponse
    response: Json
    comments: Mapping[str, Sequence[Json]]

    @property
    def hits(self) -> list[Json]:
        """The hits of this page, as Elasticsearch returned them."""
        found: list[Json] = self.response["hits"]["hits"]
        return found

    @property
    def index(self) -> str:
        """The index behind the alias that answered, "" if there was no hit."""
        return str(self.hits[0]["_index"]) if self.hits else ""

    @property
    def count(self) -> int:
        """How many posts are found: those with enough of the terms, and pinned ones."""
        return int(self.response["hits"]["total"]["value"])

    @property
    def _matched(self) -> int:
        """How many posts have enough of the terms."""
        return count_matched(self.response)

    @property
    def tier(self) -> Tier | None:
        """What the best posts have: `phrase`, `all words` or `some words`; None if no post matches
        by its words."""
        if not self._matched:
            return None
        if self._unmatched or self._posts_with("all_words") == 0:
            return "some words"
        only_quoted = self.plan.query.quoted and not self.plan.terms
        return "phrase" if only_quoted or self._any_has_phrase else "all words"

    @property
    def _any_has_phrase(self) -> bool:
        if not best_first(self.plan):
            return bool(self._posts_with("phrase"))
        names = (name for hit in self.hits for name in hit.get("matched_queries", ()))
        return any(name.startswith(PHRASE) for name in names)

    def _posts_with(self, name: str) -> int | None:
        """The count of a named aggregation, None if it was not requested."""
        found = self.response.get("aggregations", {}).get(name)
        return None if found is None else int(found["doc_count"])

    @property
    def _unmatched(self) -> set[str]:
        """The keys of the significant terms that no post has in any variant."""
        counted = {one.term.key for one in self.plan.significant}
        return {
            term.key
            for term in self.plan.query.examined
            if term.key not in counted or self._posts_with(HAS + term.key) == 0
        }

    def missing(self, hit: Json) -> list[str]:
        """The significant terms that a hit does not have, as typed; none for a pinned one."""
        if self.pin_score(hit):
            return []
        matched = set(hit.get("matched_queries", ()))
        has = {one.term.key for one in self.plan.significant if HAS + one.term.key in matched}
        return [term.text for term in self.plan.query.examined if term.key not in has]

    def pin_score(self, hit: Json) -> float:
        """What being pinned adds to the score of a hit; 0 for others."""
        return pin_score(self.plan.pins, hit["_source"]["oid"])

    @property
    def dropped(self) -> list[str]:
        """The significant terms that no post has in any variant."""
        if not self._matched:
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
        if variant.kind in ("typed", "prefix"):
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
            "hits": [self._hit(hit) for hit in self.hits],
        }
        if self.corrected:
            body["corrected"] = self.corrected
            body["instead"] = "/search?" + urlencode(request.parameters(typos=False))
        if self.dropped:
            body["dropped"] = self.dropped
        return body

    def _hit(self, hit: Json) -> Hit:
        found = post_hit(hit, self.comments.get(hit["_source"]["oid"], ()))
        if pinned := self.pin_score(hit):
            found["pinned"] = True
            found["score"] = round(hit["_score"] - pinned, 2)
        if missing := self.missing(hit):
            found["missing"] = missing
        return found
