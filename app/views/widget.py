"""`GET /widget.js`, the search box for other pages, and `/related.js`, a list of similar posts;
docs/embedding.md and docs/more.md describe them."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import rcssmin  # type: ignore[import-untyped]
import rjsmin  # type: ignore[import-untyped]
from flask import Blueprint, Response, current_app, jsonify, request
from werkzeug.datastructures import LanguageAccept

from app.errors import BadRequest, Forbidden
from app.http.access import READING, access
from app.insights.search_log import MAX_TEXT
from app.messages import messages_for
from app.views import counted_visitor, current_service, default_language, is_foreign
from app.views.browse import browse

blueprint = Blueprint("widget", __name__)

_FOR_ALL_ORIGINS = {
    "Cache-Control": "public, max-age=3600",  # a new version reaches readers after an hour
    # A page may load it with `crossorigin`, or isolate itself (Cross-Origin-Embedder-Policy).
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_MAX_CLICK = 2_000  # bytes of a body
_SOURCES = ("typing", "widget/request", "widget/results", "widget/element", "widget/placing")


@blueprint.get("/widget.js")
@access()
def widget() -> Response:
    """Return the script, for pages of every origin. It contains nothing from the blog."""
    folder, language = Path(current_app.static_folder or ""), default_language()
    return _response(*_widget(folder, language, current_service().search_log.is_on))


@blueprint.get("/related.js")
@access()
def related() -> Response:
    """Return the script of `<blog-related>`."""
    return _response(*_related(Path(current_app.static_folder or "")))


def _response(script: bytes, compressed: bytes) -> Response:
    response = Response(script, content_type="text/javascript; charset=utf-8")
    if request.accept_encodings["gzip"]:
        response.data = compressed
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    response.headers.update(_FOR_ALL_ORIGINS)
    response.set_etag(hashlib.sha256(script).hexdigest()[:16], weak=True)
    response.make_conditional(request)
    return response


@blueprint.get("/messages")
@access()
def messages() -> Response:
    """Return the widget's messages in the language `lang`, or else in the blog's language."""
    language = LanguageAccept([(request.args.get("lang", ""), 1)])
    response = jsonify(messages_for(language, default_language()).for_widget())
    response.headers.update(_FOR_ALL_ORIGINS)
    return response


@blueprint.get("/start")
@access(origins=READING)
def start() -> Response:
    """Return the content of an empty search box: popular searches and the newest posts.

    Raises:
        Unavailable: Elasticsearch cannot answer, and no older answer is kept.
    """
    service = current_service()
    response = jsonify({"popular": service.popular(), "newest": browse(service).newest})
    response.headers["Cache-Control"] = "no-cache"
    response.vary.add("Accept-Language")
    return response


@blueprint.post("/clicks")
@access()
def count_click() -> tuple[str, int]:
    """Count an opened hit, by `q` and `oid`, unless the visitor asks not to be tracked.

    Raises:
        BadRequest: a field is missing or invalid.
        Forbidden: the request comes from a page of another origin.
    """
    settings = current_service().settings
    site = "/".join(settings.site_url.split("/")[:3])
    origins = {site, *settings.allowed_origins} - {"*", ""}
    # With neither setting any page may have the widget; a visitor still counts only once.
    if origins and is_foreign(request, origins):
        raise Forbidden(
            "Neither BLOGSEARCH_SITE_URL nor BLOGSEARCH_CORS_ORIGINS names this Origin."
        )
    request.max_content_length = _MAX_CLICK
    q, oid = request.form.get("q", "").strip(), request.form.get("oid", "")
    if not (0 < len(q) <= MAX_TEXT and 0 < len(oid) <= MAX_TEXT):
        raise BadRequest(f"`q` and `oid` must have 1 to {MAX_TEXT} characters.")
    if visitor := counted_visitor(request, current_service()):
        current_service().search_log.record_opened(q, oid, visitor)
    return "", 204


@cache
def _widget(folder: Path, language: str, clicks: bool) -> tuple[bytes, bytes]:
    """Return the widget's script with the messages of one language, and the script compressed."""
    constants = {
        "BUILT_IN": messages_for(LanguageAccept(), language).for_widget(),
        "STYLE": _style(folder, "style"),
        "CLICKS": clicks,
    }
    return _script(folder, constants, _SOURCES)


@cache
def _related(folder: Path) -> tuple[bytes, bytes]:
    return _script(folder, {"STYLE": _style(folder, "related")}, ["widget/related"])


def _style(folder: Path, name: str) -> str:
    text: str = rcssmin.cssmin((folder / "widget" / f"{name}.css").read_text("utf-8"))
    return text


def _script(
    folder: Path, constants: Mapping[str, Any], sources: Sequence[str]
) -> tuple[bytes, bytes]:
    """Return a script of constants and files, wrapped in a function, and the script compressed."""
    parts = [
        f"const {name} = {json.dumps(value, ensure_ascii=False)};"
        for name, value in constants.items()
    ]
    parts += [(folder / f"{name}.js").read_text("utf-8") for name in sources]
    script = rjsmin.jsmin("(() => {\n" + "\n".join(parts) + "})();\n").encode()
    return script, gzip.compress(script, mtime=0)
