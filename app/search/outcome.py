"""What came of a search: how many posts are meant, from which tier, and what was mended. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from analyzers.chains import readable
from app.search import relevance
from app.search.clauses import Sought
from app.search.plan import Wanted
from app.search.render import post_hit
from app.search.spelling import Reading

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The responses to a search and what they say.

    `second` is None where the first request was enough; `wanted` belongs to the last one sent.
    """

    wanted: Wanted
    readings: Mapping[str, Reading]
    first: Json
    second: Json | None

    @property
    def response(self) -> Json:
        """The response whose hits are the answer."""
        return self.first if self.second is None else self.second

    @property
    def matched(self) -> int:
        """How many of the required words the posts of the answer have; 0 when there are none."""
        if self.second is None:
            return len(self.wanted.required) if self._total else 0
        counts = self._tiers
        return max((int(words) for words in counts if counts[words]["doc_count"]), default=0)

    @property
    def count(self) -> int:
        """The posts that are meant: those with the most words, not all that share one."""
        if self.second is None or len(self.wanted.required) < 2:
            return self._total
        return int(self._tiers[str(self.matched)]["doc_count"]) if self.matched else 0

    @property
    def tier(self) -> str | None:
        """`phrase`, `all words` or `some words`: the best that any post could offer."""
        if not self.count:
            return None
        if self.matched < len(self.wanted.required):
            return "some words"
        phrases = self.response.get("aggregations", {}).get("phrases", {}).get("doc_count")
        only_quoted = self.wanted.query.quoted and not self.wanted.query.words
        return "phrase" if phrases or only_quoted else "all words"

    @property
    def dropped(self) -> list[str]:
        """The words that were given up: those that no post of the answer has as they were typed,
        before those that the fewest have."""
        missing = len(self.wanted.required) - self.matched
        if not self.count or not missing:
            return []
        given_up = {one.word.at for one in sorted(self.wanted.required, key=self._doubt)[:missing]}
        return [one.word.text for one in self.wanted.required if one.word.at in given_up]

    def _doubt(self, sought: Sought) -> tuple[bool, int]:
        """How little the posts of the answer speak for a word; the smallest is given up first."""
        buckets = self._tiers[str(self.matched)]
        typed = buckets["spellings"]["buckets"][sought.spelling_name(sought.spellings[0])]
        having = buckets["words"]["buckets"][sought.name]["doc_count"]
        return bool(typed["doc_count"]), having

    @property
    def corrected(self) -> dict[str, str] | None:
        """What was typed and what it was taken for, where the latter is what found the posts."""
        q = self.wanted.request.q
        to, end = "", 0
        changed = False
        given_up = self.dropped
        for sought in self.wanted.sought:
            word = sought.word
            typed = q[word.start : word.end]
            meant = typed if word.text in given_up else self._meant(sought, typed)
            changed = changed or meant != typed
            to, end = to + q[end : word.start] + meant, word.end
        return {"from": q, "to": to + q[end:]} if changed and self.count else None

    def _meant(self, sought: Sought, typed: str) -> str:
        """The word as it was understood, as a real word of the index; as typed when that is it."""
        if self.second is None or not self.matched:
            return typed
        counts = self._tiers[str(self.matched)]["spellings"]["buckets"]
        best = max(
            (
                spelling
                for spelling in sought.spellings
                if counts.get(sought.spelling_name(spelling), {}).get("doc_count")
            ),
            key=lambda spelling: spelling.weight,
            default=None,
        )
        # Where its stem finds posts the typed word is best: another inflection corrects nothing.
        if best is None or (best is sought.spellings[0] and "+" not in sought.word.at):
            return typed
        return readable(best.text) or typed

    @property
    def _total(self) -> int:
        return int(self.response["hits"]["total"]["value"]) if self.response else 0

    @property
    def _tier_score(self) -> float:
        """What the number of words alone put on every score of the answer."""
        if self.second is None or len(self.wanted.required) < 2:
            return 0.0
        return relevance.TIER * self.matched

    @property
    def _tiers(self) -> dict[str, Json]:
        buckets: dict[str, Json] = self.response["aggregations"]["tiers"]["buckets"]
        return buckets

    @property
    def hits(self) -> list[Json]:
        """The hits of this page that belong to the answer, as Elasticsearch gave them."""
        if not self.response:
            return []
        request = self.wanted.request
        left = max(0, self.count - (request.page - 1) * request.size)
        hits: list[Json] = self.response["hits"]["hits"][:left]
        return hits

    def body(self) -> Json:
        """The JSON answer."""
        request = self.wanted.request
        body: Json = {
            "q": request.q,
            "count": self.count,
            "page": request.page,
            "size": request.size,
            "strategy": "blended",
            "tier": self.tier,
            "hits": [post_hit(hit, self._tier_score) for hit in self.hits],
        }
        if self.corrected:
            body["corrected"] = self.corrected
            body["instead"] = "/search?" + urlencode(request.parameters(typos=False))
        if self.dropped:
            body["dropped"] = self.dropped
        return body
