"""Writing posts and comments over HTTP; closed until a token is set.

POST accepts one document or many, and responds with a result for each; PUT and DELETE name one in
the URL. An oid may contain slashes, but not `/comments/`, which separates a post's oid from its
comment's.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from elasticsearch import Elasticsearch
from flask import Blueprint, Response, g, jsonify, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import PathConverter

from app.elastic import translated
from app.errors import BadRequest, BlogsearchError, NotFound, Unavailable
from app.logs import note
from app.service import Service
from app.views import current_service
from app.views.bulk_items import BulkItem, accepted, comment_items, failure, post_items
from app.views.document_types import WriteAnswer, WriteResult
from app.views.write_request import authorize, read_entries, requested_refresh
from indexer.passages import with_passages
from indexer.retry import time_limit
from indexer.write.live import Write, delete_comment, delete_post, put

blueprint = Blueprint("documents", __name__)

_TIMEOUT = 30.0  # seconds for the whole request; a write may take longer than a search


class _OidConverter(PathConverter):
    """Any text; werkzeug's own converter would redirect an oid with a leading slash."""

    regex = r"[\s\S]+?"
    part_isolating = False

    def to_python(self, value: str) -> str:
        """The oid as it is stored."""
        return value.strip()


@blueprint.record_once
def _set_up(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["oid"] = _OidConverter


@blueprint.before_request
def _check_request() -> None:
    g.time_limit = ExitStack()
    g.time_limit.enter_context(time_limit(_TIMEOUT))
    authorize(request, current_service().settings)
    current_service().admission.require()
    g.refresh = requested_refresh(request)
    try:
        request.environ["PATH_INFO"].encode("latin-1").decode()
    except UnicodeError:
        # Werkzeug would replace every invalid byte alike, and so confuse two oids.
        raise BadRequest("The oid in the URL is not UTF-8. Percent-encode it as UTF-8.") from None


@blueprint.teardown_request
def _end_time_limit(_: BaseException | None) -> None:
    if limit := g.pop("time_limit", None):
        limit.close()


@blueprint.post("/documents")
def post_documents() -> Response:
    """Write posts: one, a JSON array, or NDJSON."""
    return _write(post_items(read_entries(request)))


@blueprint.put("/documents/<oid:oid>")
def put_document(oid: str) -> Response:
    """Write one post, with the oid of the URL."""
    return _write(post_items(_entry_named(oid)))


@blueprint.delete("/documents/<oid:oid>")
def delete_document(oid: str) -> Response:
    """Delete a post and its comments."""
    service = current_service()
    with translated():
        existed, comments = delete_post(_client(service), service.settings.index, oid)
    _make_visible()
    if not existed and not comments:
        raise NotFound(f"There is no post {oid!r}.")
    return _deleted(
        {"kind": "post", "oid": oid, "comments": comments, "status": 200, "result": "deleted"}
    )


@blueprint.post("/documents/<oid:post_oid>/comments")
def post_comments(post_oid: str) -> Response:
    """Write comments on a post: one, a JSON array, or NDJSON."""
    return _write(comment_items(post_oid, read_entries(request)))


@blueprint.put("/documents/<oid:post_oid>/comments/<oid:oid>")
def put_comment(post_oid: str, oid: str) -> Response:
    """Write one comment, with the oid of the URL."""
    return _write(comment_items(post_oid, _entry_named(oid)))


@blueprint.delete("/documents/<oid:post_oid>/comments/<oid:oid>")
def remove_comment(post_oid: str, oid: str) -> Response:
    """Delete one comment."""
    service = current_service()
    with translated():
        deleted = delete_comment(_client(service), service.settings.index, post_oid, oid)
    _make_visible()
    if not deleted:
        raise NotFound(f"There is no comment {oid!r} on the post {post_oid!r}.")
    return _deleted(
        {"kind": "comment", "oid": oid, "post_oid": post_oid, "status": 200, "result": "deleted"}
    )


def _write(items: list[BulkItem]) -> Response:
    """Write the valid documents, and respond with a result for each."""
    service = current_service()
    writes = [item.outcome for item in items if isinstance(item.outcome, Write)]
    client, index = _client(service), service.settings.index
    with translated():
        documents = (write.document for write in writes)
        posts = with_passages(documents, service.known.model, client, index)
        writes = [
            replace(write, document=document) for write, document in zip(writes, posts, strict=True)
        ]
        written = iter(put(client, index, writes))
    results = [
        item.result(next(written) if isinstance(item.outcome, Write) else None) for item in items
    ]
    unavailable = sum(result["status"] == 503 for result in results)
    taken = sum(map(accepted, results))
    note(accepted=taken, rejected=len(results) - taken - unavailable)
    # Also if nothing was written: an earlier request may have been cut off before this.
    _make_visible(results)
    if not any(accepted(result) for result in results):
        raise failure(results)
    failed = not all(accepted(result) for result in results)
    answer: WriteAnswer = {"results": results, "errors": failed}
    response = jsonify(answer)
    first = results[0]["status"]
    response.status_code = 207 if failed else first if request.method == "PUT" else 200
    return response


def _make_visible(results: Sequence[WriteResult] = ()) -> None:
    """Let searches find what was written, before it is acknowledged.

    Raises:
        Unavailable: Elasticsearch does not answer any more.
    """
    try:
        with translated():
            current_service().generation.publish()
    except BlogsearchError as error:
        message = f"It was written, but searches may not find it yet: {error}"
        raise Unavailable(message, details=list(results)) from error


def _entry_named(oid: str) -> list[tuple[int | None, Any]]:
    """The single entry of a PUT, with the oid of the URL.

    Raises:
        BadRequest: several entries, not an object, or an object with another oid.
    """
    entries = read_entries(request)
    entry = entries[0][1]
    if len(entries) != 1 or not isinstance(entry, Mapping):
        raise BadRequest("Send one JSON object. Use POST to send several.")
    if str(entry.get("oid", oid)).strip() != oid:
        raise BadRequest(f"The body has the oid {entry['oid']!r}, the URL has {oid!r}.")
    return [(None, {**entry, "oid": oid})]


def _deleted(result: WriteResult) -> Response:
    answer: WriteAnswer = {"results": [result], "errors": False}
    return jsonify(answer)


def _client(service: Service) -> Elasticsearch:
    return service.elastic.options(request_timeout=_TIMEOUT)
