"""An index as a build makes it, and writes to it as they come over HTTP, without HTTP."""

from collections.abc import Iterable

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from analyzers.languages import ENGLISH, Language
from analyzers.rules.compile import NO_RULES, Rules
from indexer.generations import check_writable, live_alias, require_live
from indexer.normalise import comment_of, document_of
from indexer.records import Document, Origin, RawComment, RawPost, Reject
from indexer.schema import index_body
from indexer.write.live import Written, over_http, with_comments, without_comment, write


def no_reject(reject: Reject) -> None:
    """For `on_reject`, where every post is valid."""
    pytest.fail(f"{reject.origin}: {reject.reason}")


def accepted(raw: RawPost) -> Document:
    document, rejects = document_of(raw)
    assert document, rejects
    assert not rejects
    return document


def write_posts(client: Elasticsearch, index: str, raws: Iterable[RawPost]) -> None:
    """Posts as a source has them."""
    documents = map(accepted, raws)
    actions = ({"_index": index, "_id": one.oid, **one.source} for one in documents)
    bulk(client, actions, refresh=True)


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
    document = accepted(raw)
    check_writable(require_live(client, alias))
    return write(client, alias, {document.oid: over_http(document)})[document.oid]


def put_comments(client: Elasticsearch, alias: str, post_oid: str, *oids: str) -> Written:
    comments = [comment_of(RawComment(oid, f"About {oid}")) for oid in oids]
    return write(client, alias, {post_oid: with_comments(comments)})[post_oid]


def delete_post(client: Elasticsearch, alias: str, oid: str) -> Written:
    return write(client, alias, {oid: lambda stored: None})[oid]


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> Written:
    return write(client, alias, {post_oid: without_comment(oid)})[post_oid]
