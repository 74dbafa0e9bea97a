"""`POST /mcp`: search and read the blog by the Model Context Protocol, without sessions or streams.

A request of version 2026-07-28 is self-contained and names its version in `params._meta`. Clients
of 2025 begin with `initialize`, which leaves no state here. Both get the same results; a client
ignores fields that it does not know. docs/machines.md describes what today's clients send.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import msgspec
import orjson
from flask import Blueprint, Response, g, request
from msgspec import UNSET, UnsetType, field
from werkzeug.datastructures import MultiDict

from analyzers.errors import shorten
from app.errors import BadRequest, BlogsearchError, NotFound
from app.http.access import access
from app.search.request import PARAMETERS, SearchRequest, parse_parameters, printable
from app.version import VERSION
from app.views import base_url, current_service
from app.views.markdown import day, passage_markdown, post_markdown
from app.views.responses import set_error_headers
from app.views.write_request import read_json
from indexer.posts.addresses import MAX_URL, absolute

blueprint = Blueprint("mcp", __name__)

Json = dict[str, Any]

MODERN, *LEGACY = VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]

_MAX_BYTES = 65_536
_LONGEST_POST = 100_000  # characters
_LOOPBACK = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
_META = "io.modelcontextprotocol/"
_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602
_HEADERS, _VERSION = -32020, -32022
_KEPT: Json = {"ttlMs": 3_600_000, "cacheScope": "public"}

_OF_SEARCH = {one.name: one for one in PARAMETERS}
_QUERY = replace(_OF_SEARCH["q"], name="query", text="The words to search for, as posts use them.")
_ID = printable("id", MAX_URL, "The id or url of a result of `search`.")
_TOOLS = {
    "search": (
        "Finds posts by their words, even misspelled ones. Each result has the best passage.",
        [_QUERY, *(_OF_SEARCH[name] for name in ("category", "since", "under"))],
    ),
    "fetch": ("Returns the text of a post as Markdown.", [replace(_ID, required=True)]),
}


class Meta(msgspec.Struct, frozen=True):
    """The metadata of a request of 2026."""

    version: str = field(default="", name=f"{_META}protocolVersion")
    capabilities: Json | None = field(default=None, name=f"{_META}clientCapabilities")
    client: Json = field(default_factory=dict, name=f"{_META}clientInfo")


class Params(msgspec.Struct, frozen=True):
    """The parameters of all methods; `version` is the one that `initialize` requests."""

    meta: Meta = field(default=Meta(), name="_meta")
    version: str = field(default="", name="protocolVersion")
    name: str = ""
    arguments: Json = {}


class Message(msgspec.Struct, frozen=True):
    """A JSON-RPC message; without `id` it is a notification, without `method` a response."""

    jsonrpc: Literal["2.0"]
    method: str = ""
    id: int | str | UnsetType = UNSET
    params: Params = Params()


class Refused(BadRequest):
    """The refusal of a message: the error of JSON-RPC, and the HTTP status for clients of 2026."""

    def __init__(self, code: int, message: str, status: int = 400, **data: object) -> None:
        super().__init__(message)
        self.status, self.said = status, {"code": code, "message": message, "data": data}


@blueprint.post("/mcp")
@access("searches", origins=("POST",))
def answer() -> Response:
    """Answer one message."""
    origin, allowed = request.headers.get("Origin"), current_service().settings.allowed_origins
    # An Origin that equals the Host proves nothing, except for loopback names: DNS rebinding.
    is_own = origin == request.host_url.rstrip("/") and _LOOPBACK.fullmatch(origin)
    if origin is not None and not is_own and not allowed & {"*", origin}:
        raise Refused(_INVALID, "BLOGSEARCH_CORS_ORIGINS does not name this Origin.", 403)
    try:
        message = g.message = msgspec.convert(read_json(request, _MAX_BYTES), Message)
    except msgspec.ValidationError as error:
        raise Refused(_INVALID, f"The body is not one JSON-RPC message: {error}.") from None
    header = request.headers.get("MCP-Protocol-Version", LEGACY[0])
    g.is_modern = bool(message.params.meta.version) or header not in LEGACY
    if not message.method or message.id is UNSET:
        return Response(status=202)
    if g.is_modern:
        _check_modern(message)
    return _response(result=_result(message))


@blueprint.errorhandler(BlogsearchError)
def _error(error: BlogsearchError) -> Response:
    code = _PARSE if isinstance(error, BadRequest) else error.status  # too many requests, too large
    said = error.said if isinstance(error, Refused) else {"code": code, "message": str(error)}
    response = _response(error=said)
    set_error_headers(response, error)
    if not g.get("is_modern", True):
        response.status_code = 200  # clients of 2025 read others as a broken connection
    return response


def _response(**content: Json) -> Response:
    about = {"id": g.message.id} if "message" in g else {}
    body = orjson.dumps({"jsonrpc": "2.0", **about, **content})
    return Response(body, headers={"Cache-Control": "no-store"}, content_type="application/json")


def _check_modern(message: Message) -> None:
    """Check that the headers equal the body, as a proxy may rely on them."""
    meta = message.params.meta
    if not meta.version or meta.capabilities is None:
        needed = f"{_META}protocolVersion and {_META}clientCapabilities"
        raise Refused(_PARAMS, f"`_meta` must have {needed}.")
    stated = {"MCP-Protocol-Version": meta.version, "Mcp-Method": message.method}
    for header, value in [*stated.items(), ("Mcp-Name", message.params.name)]:
        encoded = f"=?base64?{b64encode(value.encode()).decode()}?="
        if value and request.headers.get(header) not in (value, encoded):
            raise Refused(_HEADERS, f"The header {header} is missing or differs from the body.")
    if meta.version != MODERN:
        said = "Unsupported protocol version"
        raise Refused(_VERSION, said, supported=VERSIONS, requested=meta.version)


def _result(message: Message) -> Json:
    settings, wanted = current_service().settings, message.params.version
    name = settings.site_name
    server = {"name": "blogsearch", "title": name, "version": VERSION}
    about = {"capabilities": {"tools": {}}, "instructions": f"Searches the posts of {name}."}
    tools = [tool for tool in _TOOLS if tool != "fetch" or settings.mcp_fetch]
    match message.method:
        case "initialize":
            version = wanted if wanted in LEGACY else LEGACY[0]
            result: Json = {"protocolVersion": version, "serverInfo": server, **about}
        case "server/discover":
            result = {"supportedVersions": VERSIONS, **about, **_KEPT}
        case "ping" if not g.is_modern:
            return {}  # clients do not accept further fields here
        case "tools/list":
            result = {"tools": list(map(_describe, tools)), **_KEPT}
        case "tools/call" if message.params.name in tools:
            result = _call(message)
        case "tools/call":
            raise Refused(_PARAMS, f"There is no tool {shorten(message.params.name)}.")
        case other:
            raise Refused(_NO_METHOD, f"There is no method {shorten(other)}.", 404)
    return {**result, "resultType": "complete", "_meta": {f"{_META}serverInfo": server}}


# -- the tools -------------------------------------------------------------------------------------


def _describe(name: str) -> Json:
    text, parameters = _TOOLS[name]
    schema = {
        "type": "object",
        "properties": {one.name: {**one.schema, "description": one.text} for one in parameters},
        "required": [one.name for one in parameters if one.required],
        "additionalProperties": False,
    }
    reads = {"readOnlyHint": True, "openWorldHint": False}
    return {"name": name, "description": text, "inputSchema": schema, "annotations": reads}


def _call(message: Message) -> Json:
    name = message.params.name
    try:
        given = msgspec.convert(message.params.arguments, dict[str, str | list[str] | None])
        typed = MultiDict({key: value for key, value in given.items() if value})
        values = parse_parameters(typed, _TOOLS[name][1], name)
        content = _search(message, values) if name == "search" else _fetch(values["id"])
        result: Json = {"structuredContent": content}
        text = orjson.dumps(content).decode()  # some clients need it as text, too
    except (BlogsearchError, msgspec.ValidationError) as error:  # an answer for the model
        result, wait = {"isError": True}, getattr(error, "retry_after", None)
        text = f"{error} Try again in {wait} s." if wait else str(error)
    return {"content": [{"type": "text", "text": text}], **result}


def _search(message: Message, values: Json) -> Json:
    # Before 2026 only the User-Agent names the client.
    stated = message.params.meta.client.get("name") or request.user_agent.string.split("/")[0]
    client = shorten("".join(filter(str.isprintable, str(stated)))) or "unnamed"
    wanted, service = SearchRequest(**values, comments=False), current_service()
    body, base = service.answer(wanted, assistant=client).body, base_url(request, service)
    results = [_post(hit, passage_markdown(hit, base), base) for hit in body["hits"]]
    return {"results": results, "more": body["count"] - len(results)}


def _fetch(name: str) -> Json:
    service = current_service()
    if not (post := service.post(name)):
        raise NotFound("No post has this id or url. Use those that `search` returns.")
    text = post_markdown(post)
    if rest := len(text[_LONGEST_POST:]):
        text = f"{text[:_LONGEST_POST]}\n\n[{rest} more characters of the post are left out.]"
    return _post(post, text, base_url(request, service))


def _post(post: Mapping[str, Any], text: str, base: str) -> Json:
    """Return a post in the format that ChatGPT's deep research requires."""
    about = {"date": day(post), "categories": post["categories"]}
    url = absolute(post.get("url"), base)
    return {"id": post["oid"], "title": post["title"], "url": url, "text": text, "metadata": about}
