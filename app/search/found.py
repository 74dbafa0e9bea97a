"""Reads the responses to the searches of a plan, and builds the JSON answer. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import quote, urlencode

from app.search.answer import (
    CommentHit,
    Correction,
    Facet,
    Facets,
    Hit,
    SearchAnswer,
    Section,
    Tier,
)
from app.search.clauses import COMMENTS, PHRASE, has_name, has_names, pin_score, variant_name
from app.search.plan import ALL, ANY, Examined, Plan
from app.search.query_parser import QueryTerm
from app.search.render import (
    Marker,
    Passage,
    excerpts,
    marked_texts,
    marks_all,
    plain,
    safe,
    with_text_fragment,
)
from app.search.request import DEFAULT_SIZE
from app.search.searches import COUNTS, count_name
from app.search.session import EngineHit, Response
from app.search.spelling import Interpretation, Option, TermStats, TermVariant, WordFacts


@dataclass(frozen=True, slots=True)
class Found:
    """The posts that a plan finds.

    `hits`: the hits of the page. `names`: the names of the clauses for the significant terms.
    `count`: the number of posts found. `with_all`: how many of them have every word. `dropped`: the
    words that no post has.
    """

    plan: Plan
    hits: tuple[EngineHit, ...]
    names: frozenset[str]
    count: int
    with_all: int
    tier: Tier | None
    dropped: tuple[str, ...]
    corrected: Correction | None

    def missing(self, hit: EngineHit) -> list[str]:
        """Return the significant terms that a hit does not have, as typed."""
        if self.names.issubset(there := hit.get("matched_queries", ())):
            return []
        return _texts([term for term in self.plan.query.examined if has_name(term) not in there])

    def pinned(self, hit: EngineHit) -> float:
        """Return the part of a hit's score for being pinned; 0 for other hits."""
        return pin_score(self.plan.pins, hit["_source"]["oid"])


def read_found(plan: Plan, *responses: Response) -> Found:
    """Read the responses to the searches of a plan; the first one has the hits, if requested."""
    hits = responses[0]["hits"]["hits"] if responses else []
    matched = read_counts(*responses)
    count = matched.get(ANY, 0)
    names = set().union(*[hit.get("matched_queries", ()) for hit in hits])
    required = {term.typed.key for term in plan.required}
    best = {term.typed.key: _best_variant(term, hits, plan) for term in plan.terms}
    doubted = {
        term.typed.key
        for term in plan.required
        if best[term.typed.key].kind == "typed" and _is_doubtful(term, plan)
    }
    unmatched = [
        term
        for term in plan.query.examined
        if term.key not in required - doubted or matched.get(has_name(term)) == 0
    ]
    with_all = 0 if unmatched else matched.get(ALL, count)
    has_words = with_all or has_names(names) or not plan.pins.first
    tier: Tier | None = None
    if with_all:
        only_quoted = plan.query.quoted and not plan.terms
        has_phrase = only_quoted or PHRASE + "title" in names or PHRASE + "text" in names
        tier = "phrase" if has_phrase else "all words"
    elif count and has_words:
        tier = "some words"
    meant = plan.written(list(best.values()))
    q = plan.request.q
    return Found(
        plan=plan,
        hits=tuple(hits),
        names=frozenset(map(has_name, plan.query.examined)),
        count=count,
        with_all=with_all,
        tier=tier,
        dropped=tuple(_texts(unmatched)) if tier else (),
        corrected={"from": q, "to": meant} if meant != q and hits else None,
    )


def _is_doubtful(term: Interpretation, plan: Plan) -> bool:
    return term.doubtful(alone=len(plan.query.examined) == 1)


def _best_variant(term: Interpretation, hits: Iterable[EngineHit], plan: Plan) -> TermVariant:
    """Return the variant that the best hit has, or the term as typed if no hit has a variant.

    The best hit also has the other words: `developer surey` means survey, not surely. A doubtful
    spelling counts only in a hit that also has another word.
    """
    if term.as_typed:
        return TermVariant(term.typed.text)
    is_first_best = term.likeliest.kind != "typed" and plan.request.sort == "relevance"
    is_doubtful = _is_doubtful(term, plan)
    there: dict[TermVariant, None] = {}
    for hit in hits:
        names = hit.get("matched_queries", ())
        if hit["_source"]["oid"] in plan.pins.first:
            continue
        alone = is_doubtful and len(has_names(names)) == 1
        for number, variant in enumerate(term.variants):
            is_there = variant_name(term.typed, number) in names
            if is_there and not (alone and variant.kind == "spelling"):
                there[variant] = None
        if there and is_first_best:
            return max(there, key=lambda variant: variant.weight)
    return min(there, key=term.variants.index, default=TermVariant(term.typed.text))


def _texts(terms: Sequence[QueryTerm]) -> list[str]:
    """Return the terms as typed; overlapping pairs of characters become one text."""
    texts: list[str] = []
    end = -1
    for term in terms:
        if term.continues and term.start == end:
            texts[-1] += term.text[1:]
        else:
            texts.append(term.text)
        end = term.end
    return texts


# -- counts and words ---------------------------------------------------------------------------


def read_counts(*responses: Response) -> dict[str, int]:
    """Read the counts in responses to searches for hits or counts, by name."""
    counts = {}
    for response in responses:
        if total := response["hits"].get("total"):
            counts[ANY] = total["value"]
        buckets = response.get("aggregations", {}).get(COUNTS, {}).get("buckets", {})
        counts |= {name: _count_posts(bucket) for name, bucket in buckets.items()}
    return counts


def _count_posts(bucket: dict[str, Any]) -> int:
    """Return the number of posts in a bucket; translations of one post count once."""
    count: int = bucket.get("posts", {}).get("value", bucket["doc_count"])
    return count


def read_facets(response: Response) -> Facets:
    """Read the results of the aggregations of `facet_counts`."""

    def values(name: str) -> list[Facet]:
        return [
            {"value": str(one.get("key_as_string", one["key"])), "count": _count_posts(one)}
            for one in response["aggregations"][name]["counts"]["buckets"]
        ]

    return {"categories": values("categories"), "years": values("years")}


def read_lookup(response: Response, examined: Examined) -> dict[str, WordFacts]:
    """Read the facts about these words from the response to `lookup_search`."""
    counts = read_counts(response)
    entries = chain.from_iterable(response.get("suggest", {}).values())
    options = {
        entry["text"]: tuple(Option(one["text"], one["freq"]) for one in entry["options"])
        for entry in entries
    }

    def stats(term: QueryTerm) -> TermStats:
        return TermStats(*[counts.get(count_name(kind, term), 0) for kind in TermStats.__slots__])

    return {
        key: WordFacts(stats(term), options.get(term.token, ()))
        for key, (term, _) in examined.items()
    }


# -- the answer ------------------------------------------------------------------------------------


def answer_body(found: Found, facets: Facets | None, *, fragments: bool = True) -> SearchAnswer:
    """Return the answer to a search; with `fragments`, URLs have text fragments for excerpts."""
    request = found.plan.request
    marker = Marker.of(found.plan)
    body: SearchAnswer = {
        "q": request.q,
        "count": found.count,
        "page": request.page,
        "size": request.size,
        "strategy": "blended",
        "tier": found.tier,
        "matches": {"all_words": found.with_all},
        "hits": [post_hit(hit, marker, fragments=fragments) for hit in found.hits],
    }
    for hit, post in zip(found.hits, body["hits"], strict=True):
        if found.plan.pins.first and (pinned := found.pinned(hit)):
            post["pinned"] = True
            post["score"] = round((hit["_score"] or 0) - pinned, 2)
        elif missing := found.missing(hit):
            post["missing"] = missing
    if answer := _answer(body["hits"], found):
        body["answer"] = answer
    if found.corrected:
        body["corrected"] = found.corrected
        size = [("size", request.size)] if request.size != DEFAULT_SIZE else []
        body["instead"] = "search?" + urlencode([*request.parameters(typos=False), *size])
    if found.plan.query.excluded:
        body["excluded"] = list(found.plan.query.excluded)
    if found.dropped:
        body["dropped"] = list(found.dropped)
    if facets is not None:
        body["facets"] = facets
    return body


def _answer(hits: Sequence[Hit], found: Found) -> Section | None:
    """Return the section of the first hit that shows most words of a question, at least two."""
    request, terms = found.plan.request, found.plan.terms
    asks = found.plan.language.asks([term.typed.token for term in terms])
    is_question = bool(terms) and (request.q.rstrip().endswith(("?", "？", "؟")) or asks)
    if not (hits and is_question and request.page == 1 and request.sort == "relevance"):
        return None
    shown = [(_marked_words(section), section) for section in hits[0].get("sections", ())]
    words, section = max(shown, key=lambda one: one[0], default=(0, None))
    return section if words >= max(2, len(found.plan.query.examined) // 2 + 1) else None


def _marked_words(section: Section) -> int:
    # As in render: words that begin with the same letters count as one.
    marked = re.findall("<mark>([^<]{1,5})", section["highlight"] + section["snippet"])
    return len({word.casefold() for word in marked})


def post_hit(hit: EngineHit, marker: Marker, *, fragments: bool = False) -> Hit:
    """Return one post of the answer from a hit of Elasticsearch, with its matching comments.

    `excerpt_url` leads to its best excerpt; it is left out if the title has all marked words.
    """
    source = hit["_source"]
    title, url = plain(source.get("title")), source.get("url")
    marked = marked_texts(hit, marker)
    loose, sections = excerpts(
        marked, source.get("headings", ()), title, source.get("announced", ())
    )
    post: Hit = {
        "oid": source["oid"],
        "title": title,
        "url": url,
        "pub_date": source.get("pub_date"),
        "categories": source.get("categories", []),
        "score": None if hit["_score"] is None else round(hit["_score"], 4),
        "highlight": {
            "title": safe(marked.get("title", title)),
            "text": list(map(safe, loose)),
        },
    }
    if sections:
        post["sections"] = [_section(*one, title, url, fragments=fragments) for one in sections]
    if url and not marks_all(marked):
        in_section = post["sections"][0]["url"] if sections else None
        fragment = with_text_fragment(url, next(iter(loose), "")) if fragments else None
        if excerpt := in_section or fragment:
            post["excerpt_url"] = excerpt
    if language := source.get("language"):
        post["language"] = language
    if image := source.get("image"):
        post["image"] = image
    if translations := hit.get("translations"):
        post["translations"] = translations
    if COMMENTS in hit.get("inner_hits", ()):
        comments = hit["inner_hits"][COMMENTS]["hits"]["hits"]
        if comments:
            post["comments"] = [_comment(comment, url, marker) for comment in comments]
    return post


def _section(
    passage: Passage, snippet: str, title: str, url: str | None, *, fragments: bool
) -> Section:
    """Return a section of a post; the title of the post is left out of `above`."""
    section: Section = {
        "heading": passage.name,
        "highlight": safe(passage.heading),
        "url": passage.url(url, snippet if fragments else "") if url else None,
        "snippet": safe(snippet),
    }
    if above := [heading for heading in passage.above if heading != title]:
        section["above"] = above
    return section


def _comment(hit: EngineHit, post_url: str | None, marker: Marker) -> CommentHit:
    """Return a matching comment: its author, its URL and its matching part."""
    source = hit["_source"]
    loose, _ = excerpts({"text": marked_texts(hit, marker).get("comments", "")})
    return {
        "oid": source["oid"],
        "author": plain(source.get("author")) or None,
        "pub_date": source.get("pub_date"),
        "url": f"{post_url}#comment-{quote(source['oid'])}" if post_url else None,
        "highlight": list(map(safe, loose)),
    }
