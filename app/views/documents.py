"""Posts and comments in over HTTP; closed until a token is set.

POST takes one or many and answers for each; PUT and DELETE name one in the address. An oid may
have slashes, but for `/comments/`, behind which a comment's begins.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from elasticsearch import Elasticsearch
from flask import Blueprint, Response, current_app, jsonify, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import PathConverter

from app.errors import BadRequest, NoIndex, NotFound, ServiceError, Unavailable
from app.freshness import Freshness
from app.service import EXTENSION, Service
from app.views import current_service
from app.views.slots import Slot, comment_slots, failure, post_slots, taken, told
from app.views.writing import authorize, entries, wants_waiting
from indexer.write.delete import delete_comment, delete_post
from indexer.write.put import put

blueprint = Blueprint("documents", __name__)

_FRESHNESS = "blogsearch-freshness"
_TIMEOUT = 30.0  # seconds; a write may take longer than a search


class _Oid(PathConverter):
    """Any text: a path has no slash at its beginning, and would be redirected to another post."""

    regex = r"[\s\S]+?"
    part_isolating = False


@blueprint.record_once
def _set_up(state: BlueprintSetupState) -> None:
    service: Service = state.app.extensions[EXTENSION]
    state.app.url_map.converters["oid"] = _Oid
    state.app.extensions[_FRESHNESS] = Freshness(
        service.elastic.options(request_timeout=_TIMEOUT), service.cache, service.settings.index
    )


@blueprint.before_request
def _only_with_a_token() -> None:
    authorize(request, current_service().settings)
    try:
        request.environ["PATH_INFO"].encode("latin-1").decode()
    except UnicodeError:
        # Werkzeug would put the same sign for every such byte, and one post for another.
        raise BadRequest("The oid in the address is not UTF-8; percent-encode it so.") from None


@blueprint.post("/documents")
def post_documents() -> Response:
    """Take posts in: one, a JSON array, or NDJSON."""
    return _take(post_slots(_entries()))


@blueprint.put("/documents/<oid:oid>")
def put_document(oid: str) -> Response:
    """Take one post in, under the oid of the address."""
    return _take(post_slots(_named(oid)))


@blueprint.delete("/documents/<oid:oid>")
def delete_document(oid: str) -> Response:
    """Remove a post and its comments."""
    wait = wants_waiting(request)
    service = current_service()
    with _told():
        found, comments = delete_post(_client(service), service.settings.index, oid)
    if not found and not comments:
        raise NotFound(f"There is no post {oid!r}.")
    _make_visible(wait)
    return _gone({"kind": "post", "oid": oid, "comments": comments})


@blueprint.post("/documents/<oid:post_oid>/comments")
def post_comments(post_oid: str) -> Response:
    """Take comments on a post in: one, a JSON array, or NDJSON."""
    return _take(comment_slots(post_oid, _entries()))


@blueprint.put("/documents/<oid:post_oid>/comments/<oid:oid>")
def put_comment(post_oid: str, oid: str) -> Response:
    """Take one comment in, under the oid of the address."""
    return _take(comment_slots(post_oid, _named(oid)))


@blueprint.delete("/documents/<oid:post_oid>/comments/<oid:oid>")
def remove_comment(post_oid: str, oid: str) -> Response:
    """Remove one comment."""
    wait = wants_waiting(request)
    service = current_service()
    with _told():
        found = delete_comment(_client(service), service.settings.index, post_oid, oid)
    if not found:
        raise NotFound(f"There is no comment {oid!r} on the post {post_oid!r}.")
    _make_visible(wait)
    return _gone({"kind": "comment", "oid": oid, "post_oid": post_oid})


def _take(slots: list[Slot]) -> Response:
    """Write what can be written, and answer for every document."""
    wait = wants_waiting(request)
    service = current_service()
    writes = [slot.write for slot in slots if slot.write]
    with _told():
        written = iter(put(_client(service), service.settings.index, writes))
    results = [slot.result(next(written) if slot.write else None) for slot in slots]
    if any(result["status"] == 503 for result in results):
        _freshness().soon()
    if not any(taken(result) for result in results):
        raise failure(results)
    _make_visible(wait)
    failed = not all(taken(result) for result in results)
    response = jsonify({"results": results, "errors": failed})
    first = cast(int, results[0]["status"])
    response.status_code = 207 if failed else first if request.method == "PUT" else 200
    return response


def _make_visible(wait: bool) -> None:
    freshness = _freshness()
    if not wait:
        freshness.soon()
        return
    try:
        with told():
            if not freshness.now():
                freshness.soon()
    except ServiceError as error:
        freshness.soon()
        raise Unavailable(
            f"It was taken, but searches may not find it yet: {error.message}"
        ) from error


@contextmanager
def _told() -> Iterator[None]:
    """As `told`; a write that may have been taken all the same is made visible.

    Sent again, a deletion that was taken is a 404, and nobody would tell the cache.
    """
    try:
        with told():
            yield
    except NoIndex:
        raise
    except Unavailable:
        _freshness().soon()
        raise


def _freshness() -> Freshness:
    freshness: Freshness = current_app.extensions[_FRESHNESS]
    return freshness


def _entries() -> list[tuple[int | None, Any]]:
    wants_waiting(request)  # a bad parameter is told before a big body is read
    return entries(request, current_service().settings)


def _named(oid: str) -> list[tuple[int | None, Any]]:
    """The one entry of a PUT, with the oid of the address.

    Raises:
        BadRequest: more than one, no object, or with another oid in it.
    """
    found = _entries()
    entry = found[0][1]
    if len(found) != 1 or not isinstance(entry, Mapping):
        raise BadRequest("Send one JSON object; POST takes several.")
    if str(entry.get("oid", oid)) != oid:
        raise BadRequest(f"The body has the oid {entry['oid']!r}, the address {oid!r}.")
    return [(None, {**entry, "oid": oid})]


def _gone(what: dict[str, Any]) -> Response:
    return jsonify({"results": [{**what, "status": 200, "result": "deleted"}], "errors": False})


def _client(service: Service) -> Elasticsearch:
    return service.elastic.options(request_timeout=_TIMEOUT)
