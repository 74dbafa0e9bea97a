"""`GET /widget.js`: the search box for other pages; docs/embedding.md describes it."""

import hashlib
import re
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, current_app, request

blueprint = Blueprint("widget", __name__)

_MAX_AGE = 3600  # seconds; a new version reaches readers after that at the latest


@blueprint.get("/widget.js")
def widget() -> Response:
    """The script, for pages of every origin. It contains nothing of the blog."""
    script = _script(Path(current_app.static_folder or ""))
    response = Response(script, content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
    # A page may load it with `crossorigin`, or isolate itself (Cross-Origin-Embedder-Policy).
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.set_etag(hashlib.sha256(script.encode()).hexdigest()[:16])
    response.make_conditional(request)
    return response


@cache
def _script(folder: Path) -> str:
    """The script with its style sheet inside, both without comments and white space that only
    readers need."""
    css = re.sub(r"/\*.*?\*/", "", (folder / "widget.css").read_text("utf-8"), flags=re.DOTALL)
    css = re.sub(r"\s*([{};:,])\s*", r"\1", css).replace(";}", "}").strip()
    lines = map(str.strip, (folder / "widget.js").read_text("utf-8").splitlines())
    script = "\n".join(line for line in lines if line and not line.startswith("//"))
    script = re.sub(r"(?<=[;{,(])\n", "", script)
    script = re.sub(r" (=+>?|!==|>=|&&=?|\|\||\?\??) ", r"\1", script)
    script = re.sub(r"(?<=\w:) |(?<=\)) (?={)|(?<={) | (?=})|(?<=\bif) ", "", script)
    return script.replace("STYLE SHEET", css)
