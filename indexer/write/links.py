"""Keeps the field `link_texts` of each post equal to the texts of the links that lead to it.

A post has its own links in the field `links`, from which those of other posts follow. Both are in
Elasticsearch only, and the first is part of the digest of a post, the second is not. Updates follow
the rules of `write/comments.py`: who writes or deletes a post calls `update_link_texts` with the
slugs of its former and its new version (`slugs_of`). Where two of them write the same post at the
same time, the next `sync` or build, which compare all posts, may have to correct a text.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer.bulk import BulkLimits
from indexer.normalise import UNMISTAKABLE_SLUG
from indexer.records import batches
from indexer.scan import scan
from indexer.write.comments import field_update, read_posts, send_updates, update_until_equal

MAX_LINK_TEXTS = 100
"""Different texts of one post."""
_BATCH = 200  # slugs in one query
_PAGE = 2_000  # posts


@dataclass(frozen=True, slots=True)
class LinkedPost:
    """What tells which links lead to a post, the links that it has, and its field `link_texts`."""

    oid: str
    title: str
    slug: str
    address: str
    links: Sequence[str] = ()
    link_texts: Collection[str] = ()


def stored_link_texts(client: Elasticsearch, index: str) -> dict[str, list[str]]:
    """The field `link_texts` of posts, by their oid, as of the last refresh."""
    query = {"exists": {"field": "link_texts"}}
    fields = ("oid", "link_texts.keyword")
    return {
        hit["fields"]["oid"][0]: hit["fields"]["link_texts.keyword"]
        for hit in scan(client, index, query=query, doc_values=fields, size=_PAGE)
    }


def slugs_of(client: Elasticsearch, index: str, post_oids: Iterable[str]) -> set[str]:
    """The slugs of posts and of their links: of every post whose field `link_texts` may differ if
    these posts are written or deleted."""
    slugs: set[str] = set()
    for post in read_posts(client, index, post_oids, ["slug", "links"]).values():
        slugs.add(post.source.get("slug", ""))
        slugs.update(link.partition("\n")[0] for link in post.source.get("links", ()))
    return slugs - {""}


def update_link_texts(
    client: Elasticsearch,
    alias: str,
    slugs: Collection[str] | None,
    limits: BulkLimits,
    unblock: Callable[[], None] | None = None,
) -> None:
    """Make the field `link_texts` of posts equal to the texts of links.

    Args:
        alias: that of the live index or of a build.
        slugs: of the posts to compare; None compares all.
        limits: as for `update_comments`.
        unblock: as for `send_chunk`.

    Raises:
        As `update_comments`.
    """
    parts: list[list[str] | None] = [None]
    if slugs is not None:
        parts = list(batches(sorted(slugs), _BATCH))

    def update(part: list[str] | None) -> bool:
        posts = list(_linked_posts(client, alias, part))
        texts = texts_by_post(posts)
        differing = [
            post.oid
            for post in posts
            if (part is None or post.slug in part)
            and set(texts.get(post.oid, ())) != set(post.link_texts)
        ]
        for oids in batches(differing, limits.chunk_documents):
            stored = read_posts(client, alias, oids, ["link_texts"])
            updates = [
                field_update(post, "link_texts", texts.get(oid, [])) for oid, post in stored.items()
            ]
            send_updates(client, alias, updates, limits, unblock)
        return bool(differing)

    update_until_equal(client, alias, "link_texts", parts, update, limits)


def texts_by_post(posts: Collection[LinkedPost]) -> dict[str, list[str]]:
    """The texts of the links that lead to each post, by its oid.

    A link leads to the posts at its address, else to the only post with its slug, if that is
    unmistakable. Other links lead to none of the posts. A text without other words than those of
    the title is left out: it finds nothing that the title does not.
    """
    by_slug: dict[str, list[LinkedPost]] = {}
    for post in posts:
        by_slug.setdefault(post.slug, []).append(post)
    texts: dict[str, set[str]] = {}
    for source in posts:
        for link in source.links:
            slug, address, text = link.split("\n")
            same_slug = by_slug.get(slug, [])
            targets = [post for post in same_slug if post.address == address]
            if not targets and len(same_slug) == 1 and len(slug) >= UNMISTAKABLE_SLUG:
                targets = same_slug
            for target in targets:
                if target.oid != source.oid and not _words(text) <= _words(target.title):
                    texts.setdefault(target.oid, set()).add(text)
    return {oid: sorted(of_post)[:MAX_LINK_TEXTS] for oid, of_post in texts.items()}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _linked_posts(
    client: Elasticsearch, alias: str, slugs: Collection[str] | None
) -> Iterator[LinkedPost]:
    """The posts with these slugs, and those with a link that has one of them; None: all posts."""
    query: dict[str, Any] = {"term": {"kind": "post"}}
    if slugs is not None:
        linking = [{"prefix": {"links": {"value": f"{slug}\n"}}} for slug in slugs]
        query = {"bool": {"should": [{"terms": {"slug": list(slugs)}}, *linking]}}
    fields = ("oid", "title.keyword", "slug", "address", "links", "link_texts.keyword")
    for hit in scan(client, alias, query=query, doc_values=fields, size=_PAGE):
        values = hit["fields"]
        yield LinkedPost(
            oid=values["oid"][0],
            title=values["title.keyword"][0],
            slug=values.get("slug", [""])[0],
            address=values.get("address", [""])[0],
            links=values.get("links", ()),
            link_texts=values.get("link_texts.keyword", ()),
        )
