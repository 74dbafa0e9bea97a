"""Writing posts and comments over HTTP; closed until a token is set.

POST accepts one document or many, and responds with a result for each; GET, PUT and DELETE name one
in the URL. An oid may contain slashes, but not `/comments/`, which separates a post's oid from its
comment's.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from elasticsearch import Elasticsearch
from flask import Blueprint, Response, g, jsonify, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import PathConverter

from app.elastic import translated
from app.errors import BadRequest, BlogsearchError, NoIndex, NotFound, OutdatedIndex, Unavailable
from app.logs import note
from app.search.request import parse_parameters
from app.service import Service
from app.views import current_service
from app.views.items import Result, comment_items, failure, post_items, refused
from app.views.write_request import authorize, read_entries
from indexer.generations import check_writable, live
from indexer.passages import with_passages
from indexer.records import Document
from indexer.refusals import Refusal
from indexer.retry import time_limit
from indexer.write.live import Written, read_posts, write
from indexer.write.merge import (
    Change,
    changes_popularity,
    oids,
    over_http,
    with_comments,
    without_comment,
)

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
    parse_parameters(request.args, (), "documents")


@blueprint.teardown_request
def _end_time_limit(_: BaseException | None) -> None:
    if limit := g.pop("time_limit", None):
        limit.close()


@blueprint.get("/documents/<oid:oid>")
def get_document(oid: str) -> Response:
    """A post as it is stored, refreshed or not: texts are HTML-escaped plain text."""
    service = current_service()
    service.admission.require()
    with translated():
        (post,) = read_posts(_client(service), service.settings.index, [oid])
    if post.source is None:
        raise NotFound(f"There is no post {oid!r}.")
    return jsonify({name: value for name, value in post.source.items() if name != "passages"})


@blueprint.post("/documents")
@blueprint.put("/documents/<oid:oid>")
def write_posts(oid: str | None = None) -> Response:
    """Write the valid posts, those with the same oid in their order."""
    items = post_items(_entries(oid))
    documents = [item.content for item in items if isinstance(item.content, Document)]

    def changes(client: Elasticsearch, index: str) -> dict[str, Change]:
        by_oid: dict[str, list[Document]] = {}
        for document in with_passages(documents, current_service().known.model, client, index):
            by_oid.setdefault(document.oid, []).append(document)
        return {oid: over_http(*posts) for oid, posts in by_oid.items()}

    written = _write([document.oid for document in documents], changes)
    results = []
    for item in items:
        post = written.get(item.names["oid"])
        results.append(item.result(post, is_new=post is not None and post.before is None))
    return _answer(results)


@blueprint.delete("/documents/<oid:oid>")
def delete_document(oid: str) -> Response:
    """Delete a post and its comments."""
    written = _write([oid], lambda *_: {oid: lambda stored: None})[oid]
    comments = len((written.before or {}).get("comments", ()))
    names = {"kind": "post", "oid": oid, "comments": comments}
    return _deleted(names, written, was_there=written.before is not None)


@blueprint.post("/documents/<oid:post_oid>/comments")
@blueprint.put("/documents/<oid:post_oid>/comments/<oid:oid>")
def write_comments(post_oid: str, oid: str | None = None) -> Response:
    """Write the valid comments, all at once."""
    items = comment_items(post_oid, _entries(oid))
    comments = [item.content for item in items if isinstance(item.content, Mapping)]
    post: Written | None = None
    if comments:
        post = _write([post_oid], lambda *_: {post_oid: with_comments(comments)})[post_oid]
        if post.before is None and post.refusal is None:
            reason = f"there is no post {post_oid!r} to comment on"
            refusal = Refusal(reason, "Send the post first.", 404)
            post = Written(post_oid, "refused", refusal=refusal)
    former = oids(post.before) if post else set()
    return _answer([item.result(post, is_new=item.names["oid"] not in former) for item in items])


@blueprint.delete("/documents/<oid:post_oid>/comments/<oid:oid>")
def delete_comment(post_oid: str, oid: str) -> Response:
    """Delete one comment."""
    written = _write([post_oid], lambda *_: {post_oid: without_comment(oid)})[post_oid]
    names = {"kind": "comment", "oid": oid, "post_oid": post_oid}
    return _deleted(names, written, was_there=oid in oids(written.before))


def _entries(oid: str | None) -> list[Any]:
    """The entries of the body; of a PUT the only one, with the oid of the URL.

    Raises:
        BadRequest: several entries, not an object, or an object with another oid.
    """
    entries = read_entries(request)
    if oid is None:
        return entries
    entry = entries[0]
    if len(entries) != 1 or not isinstance(entry, Mapping):
        raise BadRequest("Send one JSON object. Use POST to send several.")
    if str(entry.get("oid", oid)).strip() != oid:
        raise BadRequest(f"The body has the oid {entry['oid']!r}, the URL has {oid!r}.")
    return [{**entry, "oid": oid}]


def _write(
    oids: Sequence[str], changes: Callable[[Elasticsearch, str], Mapping[str, Change]]
) -> Mapping[str, Written]:
    """Change these posts of the live index; what became of each, also if Elasticsearch is away."""
    service = current_service()
    client, index = _client(service), service.settings.index
    try:
        service.admission.require()
        with translated():
            if generation := live(client, index):
                check_writable(generation)
            written = write(client, index, changes(client, index))
            if any(changes_popularity(one.before, one.after) for one in written.values()):
                service.pins.touch()
            return written
    except (NoIndex, OutdatedIndex):
        raise
    except Unavailable as error:
        service.admission.probe()
        refusal = Refusal(str(error), "Send it again.")
        return {oid: Written(oid, "unknown", refusal=refusal) for oid in oids}


def _deleted(names: Mapping[str, Any], written: Written, *, was_there: bool) -> Response:
    refusal = written.refusal
    if refusal is None and not was_there:
        refusal = Refusal(f"There is no {names['kind']} {names['oid']!r}.", "", 404)
    if refusal:
        return _answer([refused(names, written.result, refusal)])
    return _answer([{**names, "status": 200, "result": "deleted"}])


def _answer(results: list[Result]) -> Response:
    """The result for each document, once searches find what was accepted."""
    unavailable = sum(result["status"] == 503 for result in results)
    accepted = sum(result["status"] < 300 for result in results)
    if request.method != "DELETE":
        note(accepted=accepted, rejected=len(results) - accepted - unavailable)
    # Also if nothing was changed: an earlier request may have been killed before this.
    if unavailable < len(results):
        _make_visible(results)
    if not accepted:
        raise failure(results)
    failed = accepted < len(results)
    response = jsonify({"results": results, "errors": failed})
    response.status_code = 207 if failed else 200
    if request.method == "PUT":
        response.status_code = results[0]["status"]
    return response


def _make_visible(results: list[Result]) -> None:
    """Let searches find what was written, before it is acknowledged."""
    try:
        with translated():
            current_service().generation.publish()
    except BlogsearchError as error:
        message = f"It was written, but searches may not find it yet: {error}"
        raise Unavailable(message, details=results) from error


def _client(service: Service) -> Elasticsearch:
    return service.elastic.options(request_timeout=_TIMEOUT)
