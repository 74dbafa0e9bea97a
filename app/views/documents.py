"""Write posts and comments over HTTP; closed until a token is set.

POST accepts one document or many, and responds with a result for each; GET, PUT and DELETE name one
in the URL. An oid may contain slashes, but not `/comments/`, which separates a post's oid from a
comment's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch
from flask import Blueprint, Response, g, jsonify, request
from flask.blueprints import BlueprintSetupState
from msgspec import to_builtins
from msgspec.structs import replace
from werkzeug.routing import PathConverter

from app.engines.elastic import translate_errors
from app.errors import (
    BadRequest,
    BlogsearchError,
    NotFound,
    Unavailable,
    Unprocessable,
)
from app.http.access import access
from app.http.logs import note
from app.search.request import parse_parameters
from app.views import current_service
from app.views.write_request import read_entries
from indexer.errors import IndexingError
from indexer.posts.normalise import Invalid, check_post, comment_of, oid_of_reject
from indexer.posts.passages import with_passages
from indexer.posts.records import Comment, Origin, Post, Reject
from indexer.runs.refusals import Refusal
from indexer.store.generations import check_writable, live
from indexer.store.retry import time_limit
from indexer.write.live import (
    Change,
    Written,
    over_http,
    read_posts,
    with_comments,
    without_comment,
    write,
)

blueprint = Blueprint("documents", __name__)

_TIMEOUT = 30.0  # seconds for the whole request; a write may take longer than a search
_LONGEST = 100  # characters of an unknown field
_TOLD = 20  # unknown fields, or problems of a post, that are named


Result = dict[str, Any]
"""The outcome of one document's write; `WriteResult` in app/openapi.json."""


@dataclass(frozen=True, slots=True)
class Item:
    """A post or comment to write, or the reason why it is invalid.

    `names` identifies it in the response, and has a note on unknown fields.
    """

    names: Mapping[str, Any]
    content: Post | Comment | Refusal

    def result(self, written: Written | None, *, is_new: bool) -> Result:
        """Return the entry in the response; `written` is None for an invalid document."""
        if isinstance(self.content, Refusal):
            return describe_refusal(self.names, "rejected", self.content)
        if written and written.refusal:
            return describe_refusal(self.names, written.result, written.refusal)
        if is_new:
            return {**self.names, "status": 201, "result": "created"}
        is_same = written is None or written.result == "unchanged"
        return {**self.names, "status": 200, "result": "unchanged" if is_same else "updated"}


class _OidConverter(PathConverter):
    """A converter for any text: werkzeug's own one would redirect an oid with a leading slash."""

    regex = r"[\s\S]+?"
    part_isolating = False

    def to_python(self, value: str) -> str:
        """Return the oid as it is stored."""
        return value.strip()


@blueprint.record_once
def _set_up(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["oid"] = _OidConverter


@blueprint.before_request
def _check_request() -> None:
    g.time_limit = ExitStack()
    g.time_limit.enter_context(time_limit(_TIMEOUT))
    parse_parameters(request.args, (), "documents")


@blueprint.teardown_request
def _end_time_limit(_: BaseException | None) -> None:
    if limit := g.pop("time_limit", None):
        limit.close()


@blueprint.get("/documents/<oid:oid>")
@access("", only_for="writer")
def get_document(oid: str) -> Response:
    """Return a post as stored, even before a refresh; its texts are HTML-escaped plain text."""
    service = current_service()
    client = service.elastic.options(request_timeout=_TIMEOUT)
    service.admission.require()
    with translate_errors():
        (stored,) = read_posts(client, service.settings.index, [oid])
    if stored.post is None:
        raise NotFound(f"There is no post {oid!r}.")
    return jsonify(to_builtins(replace(stored.post, passages=())))


@blueprint.post("/documents")
@blueprint.put("/documents/<oid:oid>")
@access("", only_for="writer")
def write_posts(oid: str | None = None) -> Response:
    """Write the valid posts; several with the same oid are applied in order."""
    items = post_items(_entries(oid))
    posts = [item.content for item in items if isinstance(item.content, Post)]

    def changes(client: Elasticsearch, index: str) -> dict[str, Change]:
        by_oid: dict[str, list[Post]] = {}
        for post in with_passages(posts, current_service().model, client, index):
            by_oid.setdefault(post.oid, []).append(post)
        return {oid: over_http(*of_it) for oid, of_it in by_oid.items()}

    written = _write([post.oid for post in posts], changes)
    results = []
    there = {oid for oid, result in written.items() if result.before is not None}
    for item in items:
        oid = item.names["oid"]
        results.append(item.result(written.get(oid), is_new=oid in written and oid not in there))
        there.add(oid)
    return _answer(results)


@blueprint.delete("/documents/<oid:oid>")
@access("", only_for="writer")
def delete_document(oid: str) -> Response:
    """Delete a post and its comments."""
    written = _write([oid], lambda *_: {oid: lambda stored: None})[oid]
    comments = written.before.comments if written.before else ()
    names = {"kind": "post", "oid": oid, "comments": len(comments)}
    return _answer_deletion(names, written, was_there=written.before is not None)


@blueprint.post("/documents/<oid:post_oid>/comments")
@blueprint.put("/documents/<oid:post_oid>/comments/<oid:oid>")
@access("", only_for="writer")
def write_comments(post_oid: str, oid: str | None = None) -> Response:
    """Write the valid comments in one write of the post."""
    items = comment_items(post_oid, _entries(oid))
    comments = [item.content for item in items if isinstance(item.content, Comment)]
    post: Written | None = None
    if comments:
        post = _write([post_oid], lambda *_: {post_oid: with_comments(comments)})[post_oid]
        if post.before is None and post.refusal is None:
            reason = f"there is no post {post_oid!r} to comment on"
            refusal = Refusal(reason, "Send the post first.", 404)
            post = Written(post_oid, "refused", refusal=refusal)
    former = post.before.comment_oids() if post and post.before else set()
    return _answer([item.result(post, is_new=item.names["oid"] not in former) for item in items])


@blueprint.delete("/documents/<oid:post_oid>/comments/<oid:oid>")
@access("", only_for="writer")
def delete_comment(post_oid: str, oid: str) -> Response:
    """Delete one comment."""
    written = _write([post_oid], lambda *_: {post_oid: without_comment(oid)})[post_oid]
    names = {"kind": "comment", "oid": oid, "post_oid": post_oid}
    former = written.before.comment_oids() if written.before else set()
    return _answer_deletion(names, written, was_there=oid in former)


def _entries(oid: str | None) -> list[Any]:
    """Return the entries of the body; for a PUT, the only one, with the oid of the URL.

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
    """Change these posts of the live index; return each outcome, also if Elasticsearch is away."""
    service = current_service()
    client, index = service.elastic.options(request_timeout=_TIMEOUT), service.settings.index
    try:
        service.admission.require()
        with translate_errors():
            if generation := live(client, index):
                check_writable(generation)
            return write(client, index, changes(client, index))
    except IndexingError:
        raise
    except Unavailable as error:
        service.admission.probe()
        refusal = Refusal(str(error), "Send it again.")
        return {oid: Written(oid, "unknown", refusal=refusal) for oid in oids}


def _answer_deletion(names: Mapping[str, Any], written: Written, *, was_there: bool) -> Response:
    refusal = written.refusal
    if refusal is None and not was_there:
        refusal = Refusal(f"There is no {names['kind']} {names['oid']!r}.", "", 404)
    if refusal:
        return _answer([describe_refusal(names, written.result, refusal)])
    return _answer([{**names, "status": 200, "result": "deleted"}])


def _answer(results: list[Result]) -> Response:
    """Publish the accepted documents to searches, then respond with a result for each document."""
    unavailable = sum(result["status"] == 503 for result in results)
    accepted = sum(result["status"] < 300 for result in results)
    if request.method != "DELETE":
        note(accepted=accepted, rejected=len(results) - accepted - unavailable)
    # Even if nothing changed: an earlier request may have been killed before it published.
    if accepted or any(result["status"] == 404 for result in results):
        try:
            with translate_errors():
                current_service().watch.publish()
        except BlogsearchError as error:
            message = f"Searches may not show this write yet: {error}"
            raise Unavailable(message, details=results) from error
    if not accepted:
        raise failure(results)
    failed = accepted < len(results)
    response = jsonify({"results": results, "errors": failed})
    response.status_code = 207 if failed else 200
    if request.method == "PUT":
        response.status_code = results[0]["status"]
    return response


# -- the documents of a request, and their results ----------------------------------------------


_HIDDEN = "not public: the field `{why}` says so"
_DELETE = "Send only what is public. If it was public before, delete it here."


def describe_refusal(names: Mapping[str, Any], result: str, refusal: Refusal) -> Result:
    """Return the entry in the response for a document that was not written."""
    why = {"reason": refusal.reason, "remedy": refusal.remedy}
    return {**names, "status": refusal.status, "result": result, **why}


def post_items(entries: Iterable[Any]) -> list[Item]:
    """Read posts with comments, in the order sent; an invalid comment makes its post invalid."""
    # Imported here: it loads all kinds of sources, which a service that only searches never needs.
    from indexer.sources.json_lines import FIELDS, count_hidden, raw_post, why_left_out

    items = []
    for entry in entries:
        raw = raw_post(entry, origin := Origin("the request"))
        if why := why_left_out(entry):
            oid = oid_of_reject(entry.get("oid"))
            raw = Reject(origin, oid, _HIDDEN.format(why=why), _DELETE)
        post, rejects = (None, [raw]) if isinstance(raw, Reject) else check_post(raw)
        names = {"kind": "post", "oid": post.oid if post else rejects[0].oid}
        content: Post | Refusal
        if post and not rejects:
            content = post
        else:
            reasons = "; ".join(reject.reason for reject in rejects[:_TOLD])
            remedies = dict.fromkeys(reject.remedy for reject in rejects[:_TOLD])
            content = Refusal(reasons, " ".join(remedies), 422)
        items.append(Item({**names, **_note(entry, FIELDS, count_hidden(entry, raw))}, content))
    return items


def comment_items(post_oid: str, entries: Iterable[Any]) -> list[Item]:
    """Read the comments on one post, in the order sent."""
    from indexer.sources.json_lines import (  # as in `post_items`
        COMMENT_FIELDS,
        raw_comment,
        why_left_out,
    )

    items = []
    for entry in entries:
        oid = oid_of_reject(entry.get("oid")) if isinstance(entry, Mapping) else None
        names = {"kind": "comment", "oid": oid, "post_oid": post_oid}
        content: Comment | Refusal
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("not an object", 'Send {"oid": …, "comment": …}.')
            if why := why_left_out(entry):
                raise Invalid(_HIDDEN.format(why=why), _DELETE)
            content = comment_of(raw_comment(entry))
        except Invalid as invalid:
            content = Refusal(str(invalid), invalid.remedy, 422)
        items.append(Item({**names, **_note(entry, COMMENT_FIELDS)}, content))
    return items


def _note(entry: Any, fields: tuple[str, ...], hidden: int = 0) -> dict[str, str]:
    """Return a note on fields with unknown names, and on comments that are left out."""
    from indexer.sources.json_lines import hint, unknown_fields

    unknown = unknown_fields(entry, fields) if isinstance(entry, Mapping) else []
    notes = [
        f"there is no field {name!r:.80}: {hint(name[:_LONGEST], fields)}"
        for name in unknown[:_TOLD]
    ]
    notes += [f"comments that are not public are left out: {hidden}"] if hidden else []
    return {"note": "; ".join(notes)} if notes else {}


def failure(results: list[Result]) -> BlogsearchError:
    """Return the error for a request without an accepted document."""
    statuses = {result["status"] for result in results}
    if 503 in statuses:  # the client may send all again, including invalid documents
        statuses = {503}
    message = f"{results[0]['reason'].rstrip('.')}. {results[0]['remedy']}".strip()
    if len(results) > 1:
        message = f"None of {len(results):,} documents was accepted; the first: {message}"
    errors = {400: BadRequest, 404: NotFound, 503: Unavailable}
    error = errors.get(statuses.pop(), Unprocessable) if len(statuses) == 1 else Unprocessable
    return error(message, details=results)
