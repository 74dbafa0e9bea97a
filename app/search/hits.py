"""Hits of Elasticsearch → the JSON of an answer. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from app.search.answer import CommentHit, Facets, Hit, SearchAnswer, Section
from app.search.clauses import COMMENTS
from app.search.found import Found
from app.search.highlighting import Marker, marked_texts
from app.search.render import Passage, excerpts, plain, safe, unmarked

Json = dict[str, Any]


def answer_body(found: Found, finding: Sequence[str], facets: Facets | None) -> SearchAnswer:
    """The answer to a search; `finding` are other searches, which find something."""
    request = found.plan.request
    marker = Marker.of(found.plan)
    body: SearchAnswer = {
        "q": request.q,
        "count": found.count,
        "page": request.page,
        "size": request.size,
        "strategy": "blended",
        "tier": found.tier,
        "matches": {
            "all_words": found.with_all,
            "most_words": found.with_most,
            "some_words": found.by_words,
        },
        "hits": [_hit(hit, found, marker) for hit in found.hits],
    }
    if answer := _answer(body["hits"], found):
        body["answer"] = answer
    if found.corrected:
        body["corrected"] = found.corrected
        body["instead"] = "/search?" + urlencode(request.parameters(typos=False))
    if found.dropped:
        body["dropped"] = list(found.dropped)
    if finding:
        body["alternatives"] = list(finding)
    if facets is not None:
        body["facets"] = facets
    return body


def _answer(hits: Sequence[Hit], found: Found) -> Section | None:
    """The section of the first post that shows most of the words of a question, two at least."""
    request, terms = found.plan.request, found.plan.terms
    is_question = any(term.term.light for term in terms)
    if not (hits and is_question and request.page == 1 and request.sort == "relevance"):
        return None
    shown = [(_marked_words(section), section) for section in hits[0].get("sections", ())]
    words, section = max(shown, key=lambda one: one[0], default=(0, None))
    return section if words >= max(2, found.plan.most) else None


def _marked_words(section: Section) -> int:
    # As in render: words that begin with the same letters count as one.
    marked = re.findall("<mark>([^<]{1,5})", section["highlight"] + section["snippet"])
    return len({word.casefold() for word in marked})


def _hit(hit: Json, found: Found, marker: Marker) -> Hit:
    post = post_hit(hit, found.plan.request.q, marker)
    if pinned := found.pinned(hit):
        post["pinned"] = True
        post["score"] = round(hit["_score"] - pinned, 2)
    elif missing := found.missing(hit):
        post["missing"] = missing
    return post


def post_hit(hit: Mapping[str, Any], q: str, marker: Marker) -> Hit:
    """One post of the answer to `q`, from a hit of Elasticsearch, with its comments that match."""
    source = hit["_source"]
    title, url = plain(source.get("title")), source.get("url")
    marked = marked_texts(hit, marker)
    loose, sections = excerpts(marked, source.get("headings", ()), q, title)
    post: Hit = {
        "oid": source["oid"],
        "title": title,
        "url": url,
        "pub_date": source.get("pub_date"),
        "categories": source.get("categories", []),
        "score": None if hit["_score"] is None else round(hit["_score"], 4),
        "highlight": {
            "title": safe(marked.get("title", title)),
            "text": [safe(snippet) for snippet in loose],
        },
    }
    if sections:
        post["sections"] = [_section(*section, title, url) for section in sections]
    if language := source.get("language"):
        post["language"] = language
    if image := source.get("image"):
        post["image"] = image
    if COMMENTS in hit.get("inner_hits", ()):
        comments = hit["inner_hits"][COMMENTS]["hits"]["hits"]
        if comments:
            post["comments"] = [_comment(comment, url, marker) for comment in comments]
    return post


def _section(passage: Passage, snippet: str, title: str, url: str | None) -> Section:
    """A section of a post; its title is not said again above the heading."""
    section: Section = {
        "heading": unmarked(passage.heading),
        "highlight": safe(passage.heading),
        "url": passage.url(url) if url else None,
        "snippet": safe(snippet),
    }
    above = [unmarked(heading) for heading in passage.above]
    if above := [heading for heading in above if heading != title]:
        section["above"] = above
    return section


def _comment(hit: Json, post_url: str | None, marker: Marker) -> CommentHit:
    """A comment that speaks for its post: who wrote it, where it is, the matching part of it."""
    source = hit["_source"]
    loose, _ = excerpts({"text": marked_texts(hit, marker).get("comments", "")})
    return {
        "oid": source["oid"],
        "author": plain(source.get("author")) or None,
        "pub_date": source.get("pub_date"),
        "url": f"{post_url}#comment-{quote(source['oid'])}" if post_url else None,
        "highlight": [safe(snippet) for snippet in loose],
    }
