"""Keeps the field `link_texts` of each post equal to the texts of the links that lead to it.

A build, and a `sync` that may have changed any, compare all links with the posts of their slugs at
the end; writes over HTTP leave this to the next `sync`. Links are read in the order of their slugs,
so that only some are in memory at a time.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from elasticsearch import Elasticsearch

from indexer.errors import IndexingError
from indexer.posts.normalise import UNMISTAKABLE_SLUG
from indexer.posts.records import batches
from indexer.store.bulk import BulkLimits, Operation, operation, send_bulk
from indexer.store.scan import scan

MAX_LINK_TEXTS = 100
"""The maximum number of different texts of one post."""
_PAGE = 10_000  # posts or links; the maximum that Elasticsearch allows
_SLUGS = 1_000  # slugs of links whose posts are read at a time


@dataclass(frozen=True, slots=True)
class LinkedPost:
    """The data that identifies the links to a post, and the post's `link_texts`."""

    oid: str
    title: str
    slug: str
    address: str
    link_texts: Collection[str] = ()
    if_seq_no: int = 0
    if_primary_term: int = 0


def update_link_texts(
    client: Elasticsearch, index: str, target: str, limits: BulkLimits | None = None
) -> None:
    """Correct the field `link_texts` of all posts of an index, through the alias `target`.

    Posts written meanwhile are left to the next `sync`.
    """
    client.indices.refresh(index=index)
    for outcomes in send_bulk(client, target, _updates(client, index), limits):
        for outcome in outcomes:
            refusal = outcome.refusal
            if refusal and not refusal.stale:
                reason = f"{outcome.operation.oid}: {refusal.reason}"
                raise IndexingError(
                    f"The texts of links cannot be written: {reason}.", refusal.remedy
                )


def _updates(client: Elasticsearch, index: str) -> Iterator[Operation]:
    by_slug = groupby(_links(client, index), key=lambda link: link.partition("\n")[0])
    former = None
    # After the last slug with links come posts that have texts of former links.
    for batch in chain(batches(((slug, set(links)) for slug, links in by_slug), _SLUGS), [[]]):
        links = dict(batch)
        last = next(reversed(links), None)
        for slug, group in groupby(
            _posts(client, index, _between(former, last, list(links))), key=lambda post: post.slug
        ):
            posts = list(group)
            texts = texts_by_post(posts, links.get(slug, ()))
            for post in posts:
                if set(texts[post.oid]) != set(post.link_texts):
                    yield operation(
                        "update",
                        post.oid,
                        {"doc": {"link_texts": texts[post.oid]}},
                        if_seq_no=post.if_seq_no,
                        if_primary_term=post.if_primary_term,
                    )
        former = last


def _between(former: str | None, last: str | None, slugs: list[str]) -> dict[str, Any]:
    """Return a query for the posts after the slug `former`, up to `last`, that have one of the
    slugs or texts of links."""
    concerned = [{"terms": {"slug": slugs}}, {"exists": {"field": "link_texts.keyword"}}]
    query: dict[str, Any] = {"filter": [{"bool": {"should": concerned}}]}
    if former is not None:
        query["filter"].append({"range": {"slug": {"gt": former}}})
    if last is not None:
        query["must_not"] = {"range": {"slug": {"gt": last}}}
    return {"bool": query}


def texts_by_post(posts: Collection[LinkedPost], links: Collection[str]) -> dict[str, list[str]]:
    """Return the texts of the links to each post with one slug, by the post's oid.

    A link leads to the posts at its address, else to the only post with its slug, if that is
    unmistakable. A text that only has words of the title is left out: it finds nothing more.
    """
    texts: dict[str, set[str]] = {post.oid: set() for post in posts}
    for link in links:
        slug, address, text = link.split("\n")
        targets = [post for post in posts if post.address == address]
        if not targets and len(posts) == 1 and len(slug) >= UNMISTAKABLE_SLUG:
            targets = list(posts)
        for target in targets:
            if not _words(text) <= _words(target.title):
                texts[target.oid].add(text)
    return {oid: sorted(of_post)[:MAX_LINK_TEXTS] for oid, of_post in texts.items()}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _links(client: Elasticsearch, index: str) -> Iterator[str]:
    """Yield all different links of all posts, sorted by slug first."""
    by_link: dict[str, Any] = {"sources": [{"link": {"terms": {"field": "links"}}}], "size": _PAGE}
    while True:
        response = client.search(
            index=index,
            size=0,
            aggs={"links": {"composite": by_link}},
            track_total_hits=False,
            allow_partial_search_results=False,
        )
        page = response["aggregations"]["links"]
        yield from (bucket["key"]["link"] for bucket in page["buckets"])
        if len(page["buckets"]) < _PAGE:
            return
        by_link["after"] = page["after_key"]


def _posts(client: Elasticsearch, index: str, query: dict[str, Any]) -> Iterator[LinkedPost]:
    """Yield the posts of a query, sorted by slug; "" stands for no slug."""
    by_slug = {"slug": {"order": "asc", "missing": ""}}
    values = ("oid", "title.keyword", "address", "link_texts.keyword")
    for hit in scan(
        client, index, query=query, doc_values=values, size=_PAGE, sort=by_slug, seq_no=True
    ):
        fields = hit["fields"]
        yield LinkedPost(
            oid=fields["oid"][0],
            title=fields["title.keyword"][0],
            slug=hit["sort"][0],
            address=fields.get("address", [""])[0],
            link_texts=fields.get("link_texts.keyword", ()),
            if_seq_no=hit["_seq_no"],
            if_primary_term=hit["_primary_term"],
        )
