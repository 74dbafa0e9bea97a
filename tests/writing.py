"""Writes to the live index as they come over HTTP, without HTTP."""

import pytest
from elasticsearch import Elasticsearch

from indexer.generations import check_writable, require_live
from indexer.normalise import comment_of, document_of
from indexer.records import Origin, RawComment, RawPost, Reject
from indexer.write.live import Written, write
from indexer.write.merge import over_http, with_comments, without_comment


def no_reject(reject: Reject) -> None:
    """For `on_reject`, where every post is valid."""
    pytest.fail(f"{reject.origin}: {reject.reason}")


def put_post(
    client: Elasticsearch, alias: str, raw: RawPost | str, title: str = "Over HTTP"
) -> Written:
    """A post, or one with this oid."""
    if isinstance(raw, str):
        raw = RawPost(Origin("test"), raw, title, "<p>x</p>")
    document, rejects = document_of(raw)
    assert document, rejects
    assert not rejects
    check_writable(require_live(client, alias))
    return write(client, alias, {document.oid: over_http(document)})[document.oid]


def put_comments(client: Elasticsearch, alias: str, post_oid: str, *oids: str) -> Written:
    comments = [comment_of(RawComment(oid, f"About {oid}")) for oid in oids]
    return write(client, alias, {post_oid: with_comments(comments)})[post_oid]


def delete_post(client: Elasticsearch, alias: str, oid: str) -> Written:
    return write(client, alias, {oid: lambda stored: None})[oid]


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> Written:
    return write(client, alias, {post_oid: without_comment(oid)})[post_oid]
