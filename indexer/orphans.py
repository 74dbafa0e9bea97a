"""The comments of posts that go, which have to go with them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from elasticsearch import Elasticsearch

from indexer.catch_up import documents_of
from indexer.items import Item, to_delete
from indexer.records import Document

_OIDS = 1_000  # posts in one query; a `terms` query may have 65,536


def comments(client: Elasticsearch, index: str, post_oids: list[str]) -> Iterator[Document]:
    """Every comment of some posts, as of the last refresh."""
    for start in range(0, len(post_oids), _OIDS):
        query = {"terms": {"post_oid": post_oids[start : start + _OIDS]}}
        yield from documents_of(client, index, query)


def comments_of(client: Elasticsearch, index: str, gone: Mapping[str, int]) -> Iterator[Item]:
    """Deletions of every comment of the posts that are gone.

    Args:
        gone: a post's oid → version of its deletion (ms since 1970). A comment of a later version
            goes too, since nothing is left that it could stand under.
    """
    for comment in comments(client, index, list(gone)):
        version = max(comment.version, gone[comment.routing])
        yield to_delete(replace(comment, version=version))
