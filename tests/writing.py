"""An index as a build makes it, and writes to it as they come over HTTP, without HTTP."""

from collections.abc import Iterable
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from analyzers.languages import ENGLISH, Language
from analyzers.rules.compile import NO_RULES, Rules
from indexer.posts.normalise import check_post, comment_of
from indexer.posts.records import Origin, Post, RawComment, RawPost, Reject, batches
from indexer.schema import index_body
from indexer.store.bulk import operation
from indexer.store.generations import check_writable, live_alias, require_live
from indexer.write.live import Written, over_http, with_comments, without_comment, write


def no_reject(reject: Reject) -> None:
    """For `on_reject`, where every post is valid."""
    pytest.fail(f"{reject.origin}: {reject.reason}")


def accepted(raw: RawPost) -> Post:
    post, rejects = check_post(raw)
    assert post, rejects
    assert not rejects
    return post


def write_posts(client: Elasticsearch, index: str, raws: Iterable[RawPost]) -> None:
    """Posts as a source has them."""
    for part in batches(map(accepted, raws), 500):
        operations: list[Any] = [operation("index", post.oid, post).payload for post in part]
        assert not client.bulk(index=index, operations=operations, refresh=True)["errors"]


def index_at_once(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[RawPost],
    rules: Rules = NO_RULES,
    language: Language = ENGLISH,
) -> None:
    """The first generation of an alias.

    A build has a lock, a state index and a swap, and takes Elasticsearch five times as long.
    """
    name = f"{alias}-000001"
    body = index_body(rules, shards=1, language=language)
    body["settings"]["refresh_interval"] = "1s"
    aliases = {alias: {}, live_alias(name): {"is_hidden": True}}
    client.indices.create(index=name, aliases=aliases, **body)
    write_posts(client, name, raws)


def put_post(
    client: Elasticsearch, alias: str, raw: RawPost | str, title: str = "Over HTTP"
) -> Written:
    """A post, or one with this oid."""
    if isinstance(raw, str):
        raw = RawPost(Origin("test"), raw, title, "<p>x</p>")
    post = accepted(raw)
    check_writable(require_live(client, alias))
    return write(client, alias, {post.oid: over_http(post)})[post.oid]


def put_comments(client: Elasticsearch, alias: str, post_oid: str, *oids: str) -> Written:
    comments = [comment_of(RawComment(oid, f"About {oid}")) for oid in oids]
    return write(client, alias, {post_oid: with_comments(comments)})[post_oid]


def delete_post(client: Elasticsearch, alias: str, oid: str) -> Written:
    return write(client, alias, {oid: lambda stored: None})[oid]


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> Written:
    return write(client, alias, {post_oid: without_comment(oid)})[post_oid]
