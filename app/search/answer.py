"""The answer of a search: its JSON as types, and how it is made of Elasticsearch's responses. Pure.

mypy checks the code that makes answers against the types, and `/openapi.json` describes them; the
strings below the fields are the descriptions there.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import quote, urlencode

from analyzers.symbols import readable
from app.search.first_request import FirstResponse
from app.search.query_builder import (
    ALL,
    ANY,
    BY_WORDS,
    COMMENTS,
    HAS,
    IS,
    MOST,
    PHRASE,
    Plan,
    pin_score,
)
from app.search.query_parser import QueryTerm
from app.search.render import Passage, excerpts, highlights, plain, safe, unmarked
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]

SHAPE = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=6).hexdigest()
"""Changes with the types below: answers of another shape are not served after an upgrade."""

# -- types -----------------------------------------------------------------------------------------

Tier = Literal["phrase", "all words", "most words", "some words"]


class Highlight(TypedDict):
    """The matching parts of a post, as HTML: escaped text with `<mark>` elements."""

    title: str
    """The whole title."""
    text: list[str]
    """Fragments of the text and code that are in none of `sections`; without a match, the beginning
    of the text."""


class Section(TypedDict):
    """A part of a post that begins with a heading."""

    heading: str
    """Plain text."""
    above: NotRequired[list[str]]
    """The headings above it, the outermost first, as plain text."""
    url: str | None
    """The URL of the post, with the id of the heading if the source states one, else with a text
    fragment."""
    snippet: str
    """A matching fragment of the section, else its beginning, as HTML: escaped text with `<mark>`
    elements."""


class CommentHit(TypedDict):
    """A comment that matches."""

    oid: str
    author: str | None
    pub_date: str | None
    """ISO 8601, with the offset from UTC that it was given with."""
    url: str | None
    """The URL of the post, with a fragment that names the comment."""
    highlight: list[str]
    """Matching fragments as HTML: escaped text with `<mark>` elements."""


class Hit(TypedDict):
    """A post that was found."""

    oid: str
    """The identifier that the blog gave the post."""
    title: str
    """Plain text."""
    url: str | None
    pub_date: str | None
    """ISO 8601, with the offset from UTC that it was given with."""
    categories: list[str]
    language: NotRequired[str]
    """A language tag such as `de` or `pt-br`; absent if the post names none."""
    image: NotRequired[str]
    """The URL of a picture that stands for the post; absent if the post names none."""
    score: float | None
    """Higher is better; comparable within one answer only."""
    highlight: Highlight
    sections: NotRequired[list[Section]]
    """The sections that match, three at most, the best first."""
    comments: NotRequired[list[CommentHit]]
    """The comments of this post that match."""
    pinned: NotRequired[bool]
    """True if a rule of the blog puts this post first for the search."""
    missing: NotRequired[list[str]]
    """Words of the query that this post lacks."""


Correction = TypedDict("Correction", {"from": str, "to": str})
"""The query as typed, and as it was understood."""


class Facet(TypedDict):
    """A category or a year."""

    value: str
    count: int
    """How many posts a search with this filter finds that have most of the words, or any of them if
    no post has most."""


class Facets(TypedDict):
    """How many posts are found by category and by year, if that filter is chosen in place of the
    present one."""

    categories: list[Facet]
    """The most frequent first, 30 at most."""
    years: list[Facet]
    """The most recent first."""


class Matches(TypedDict):
    """How many posts have how much of the query; each number includes the one before it."""

    all_words: int
    """Posts that have every word."""
    most_words: int
    """Posts that have more than half of the words."""
    some_words: int
    """Posts that have a word."""


class SearchAnswer(TypedDict):
    """The answer to a search."""

    q: str
    """The query as it was searched: normalized, with single spaces."""
    count: int
    """How many posts are listed, the best first; the hits are one page of them."""
    page: int
    size: int
    strategy: Literal["blended", "match_phrase", "match"]
    """`blended`; or the query that the strategy `fallback` sent last."""
    tier: NotRequired[Tier | None]
    """What the best posts contain; null if no post has the words. Absent with `fallback`."""
    matches: NotRequired[Matches]
    """How many of them have all words, most or some. Absent with `fallback`."""
    hits: list[Hit]
    corrected: NotRequired[Correction]
    """Present if another spelling than the typed one found the posts."""
    instead: NotRequired[str]
    """With `corrected`: the URL of the search for exactly what was typed."""
    dropped: NotRequired[list[str]]
    """Words of the query that no post has."""
    alternatives: NotRequired[list[str]]
    """If nothing was found: other searches that find something."""
    facets: NotRequired[Facets]
    """With `facets=on`; absent with `fallback`."""
    debug: NotRequired[dict[str, Any]]
    """With `debug-search`: how the answer came about. It may change with every version."""


class Suggestion(TypedDict):
    """A search or a post that is suggested while a visitor types."""

    text: str
    """The search, or the title of the post, as plain text."""
    kind: Literal["search", "post"]
    url: NotRequired[str]
    """The URL of the post."""


class SuggestAnswer(TypedDict):
    """Suggestions, the best first; each leads to a post."""

    suggestions: list[Suggestion]


class NewestPost(TypedDict):
    """A post on the start page."""

    title: str
    url: NotRequired[str | None]
    pub_date: NotRequired[str | None]
    language: NotRequired[str]


class BrowseAnswer(TypedDict):
    """What the page shows without a search."""

    newest: list[NewestPost]
    facets: Facets


# -- responses -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """The responses to a search.

    `plan` is that of the last request, `response` has its hits, and `matched` says how many posts
    match, by the names of `query_builder.counts`. `alternatives` are searches that find something
    if this one does not.
    """

    plan: Plan
    first: FirstResponse
    response: Json
    matched: Mapping[str, int]
    alternatives: tuple[str, ...] = ()
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
        enough = plan.most <= len(plan.required) and not self._only_doubtful
        return self.matched.get(MOST, self.by_words) if enough else 0

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
        if self._only_doubtful:
            return required
        return {
            term.key
            for term in self.plan.query.examined
            if term.key not in required or self.matched.get(HAS + term.key) == 0
        }

    @property
    def _only_doubtful(self) -> bool:
        """Whether the query has a single significant term, which no post has, and no other term
        tells whether another spelling is meant."""
        if len(self.plan.query.examined) > 1:
            return False
        return any(
            term.doubtful and self._best_variant(term).kind != "split"
            for term in self.plan.required
        )

    @property
    def requires_unmatched(self) -> bool:
        """Whether the plan requires a term that no post has in any variant."""
        return any(self.matched.get(HAS + term.term.key) == 0 for term in self.plan.required)

    def missing(self, hit: Json) -> list[str]:
        """The significant terms that a hit does not have, as typed; none for a pinned one."""
        if self.pin_score(hit):
            return []
        matched = hit.get("matched_queries", ())
        return _texts(term for term in self.plan.query.examined if HAS + term.key not in matched)

    def pin_score(self, hit: Json) -> float:
        """What being pinned adds to the score of a hit; 0 for others."""
        return pin_score(self.plan.pins, hit["_source"]["oid"])

    @property
    def dropped(self) -> list[str]:
        """The significant terms that no post has in any variant."""
        if not self.by_words:
            return []
        return _texts(term for term in self.plan.query.examined if term.key in self._unmatched)

    @property
    def corrected(self) -> Correction | None:
        """The query as typed and as it was understood, if another spelling found the posts."""
        q = self.plan.request.q
        to, end = "", 0
        for term in self.plan.terms:
            start, typed_end = term.term.start, term.term.end
            to += q[end:start] + self._understood(term, q[start:typed_end])
            end = typed_end
        to += q[end:]
        return {"from": q, "to": to} if to != q and self.hits else None

    def _understood(self, term: Interpretation, typed: str) -> str:
        """The variant that the best hit has, as a person would write it."""
        if "+" in term.term.key:
            return term.term.text
        variant = self._best_variant(term)
        if variant.kind not in ("spelling", "split"):
            return typed
        return readable(variant.text) or typed

    def _best_variant(self, term: Interpretation) -> TermVariant:
        """The variant that the best hit has, the term as typed if that is none of the others.

        The best hit has the words beside it too: `developer surey` is survey, and not surely; a
        doubtful term must have other words beside it.
        The likeliest variant that a hit has if that is the word as typed, or if the first hit is
        not the best one.
        """
        variants: list[TermVariant] = []
        for hit in self.hits:
            names = hit.get("matched_queries", ())
            alone = sum(name.startswith(HAS) for name in names) == 1
            if self.pin_score(hit) or term.as_typed:
                continue
            matched = [
                variant
                for number, variant in enumerate(term.variants)
                if f"{IS}{term.term.key} {number}" in names
                and not (alone and term.doubtful and variant.kind == "spelling")
            ]
            variants += sorted(matched, key=lambda variant: -variant.weight)
        if not variants:
            return TermVariant(term.term.text)
        best_first = term.likeliest.kind != "typed" and self.plan.request.sort == "relevance"
        return variants[0] if best_first else min(variants, key=term.variants.index)

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
        post = post_hit(hit, self.plan.request.q)
        if pinned := self.pin_score(hit):
            post["pinned"] = True
            post["score"] = round(hit["_score"] - pinned, 2)
        if missing := self.missing(hit):
            post["missing"] = missing
        return post


def _texts(terms: Iterable[QueryTerm]) -> list[str]:
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


# -- hits of Elasticsearch -------------------------------------------------------------------------


def comments_of(hit: Mapping[str, Any]) -> list[Json]:
    """The hits of the comments of a post that match."""
    inner = hit.get("inner_hits", {}).get(COMMENTS, {})
    comments: list[Json] = inner.get("hits", {}).get("hits", [])
    return comments


def post_hit(hit: Mapping[str, Any], q: str) -> Hit:
    """One post of the answer to `q`, from a hit of Elasticsearch, with its comments that match."""
    source = hit["_source"]
    title = plain(source.get("title"))
    marked = highlights(hit)
    loose, sections = excerpts(marked, source.get("headings", ()), q)
    post: Hit = {
        "oid": source["oid"],
        "title": title,
        "url": source.get("url"),
        "pub_date": source.get("pub_date"),
        "categories": source.get("categories", []),
        "score": None if hit["_score"] is None else round(hit["_score"], 4),
        "highlight": {
            "title": safe(marked.get("title", title)),
            "text": [safe(snippet) for snippet in loose],
        },
    }
    if sections:
        post["sections"] = [_section(*section, post) for section in sections]
    if language := source.get("language"):
        post["language"] = language
    if image := source.get("image"):
        post["image"] = image
    if comments := comments_of(hit):
        post["comments"] = [_comment(comment, source.get("url")) for comment in comments]
    return post


def _section(passage: Passage, snippet: str, post: Hit) -> Section:
    """A section of a post; its title is not said again above the heading."""
    above = [unmarked(heading) for heading in passage.above]
    section: Section = {
        "heading": unmarked(passage.heading),
        "url": passage.url(post["url"]) if post["url"] else None,
        "snippet": safe(snippet),
    }
    if above := [heading for heading in above if heading != post["title"]]:
        section["above"] = above
    return section


def _comment(hit: Json, post_url: str | None) -> CommentHit:
    """A comment that speaks for its post: who wrote it, where it is, the matching part of it."""
    source = hit["_source"]
    return {
        "oid": source["oid"],
        "author": plain(source.get("author")) or None,
        "pub_date": source.get("pub_date"),
        "url": f"{post_url}#comment-{quote(source['oid'])}" if post_url else None,
        "highlight": _comment_snippets(hit),
    }


def _comment_snippets(hit: Json) -> list[str]:
    loose, _ = excerpts({"text": highlights(hit).get("comments", "")})
    return [safe(snippet) for snippet in loose]


def concrete_index(response: Json) -> str:
    """The index behind the alias, as the hits tell it; "" when there are none."""
    return next((str(hit["_index"]) for hit in response["hits"]["hits"]), "")
