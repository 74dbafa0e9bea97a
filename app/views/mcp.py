"""`POST /mcp`: search and read the blog by the Model Context Protocol, without sessions or streams.

Two eras: a request of 2026-07-28 stands alone and names its protocol version in `params._meta`;
clients of 2025-03-26 to 2025-11-25 begin with `initialize`, of which nothing has to be kept.
docs/machines.md says what today's clients send.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any, Literal

import msgspec
import orjson
from flask import Blueprint, Response, g, request
from msgspec import UNSET, UnsetType, field
from werkzeug.datastructures import MultiDict

from app.errors import BadRequest, BlogsearchError, NotFound
from app.http.access import access
from app.search.render import plain
from app.search.request import TOOL_PARAMETERS, SearchRequest, parse_parameters
from app.version import VERSION
from app.views import base_url, current_service
from app.views.markdown import day, passage_markdown, post_markdown
from app.views.responses import set_error_headers
from app.views.write_request import read_body
from indexer.posts.addresses import absolute

blueprint = Blueprint("mcp", __name__)

Json = dict[str, Any]

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")

_ABOUT: Json = orjson.loads(Path(__file__).parents[1].joinpath("mcp.json").read_bytes())
_MAX_BYTES = 65_536
_LONGEST_POST, _LONGEST_NAME = 100_000, 60  # characters
_LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
_KEPT: Json = {"ttlMs": 3_600_000, "cacheScope": "public"}
_META = "io.modelcontextprotocol/"
_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602
_HEADERS, _VERSION = -32020, -32022


class Meta(msgspec.Struct, frozen=True):
    """What a request of 2026 says of itself."""

    version: str = field(default="", name=f"{_META}protocolVersion")
    capabilities: Json | None = field(default=None, name=f"{_META}clientCapabilities")
    client: Json = field(default_factory=dict, name=f"{_META}clientInfo")


class Params(msgspec.Struct, frozen=True):
    """The parameters of all methods; `version` is the one that `initialize` wishes."""

    meta: Meta = field(default=Meta(), name="_meta")
    version: str = field(default="", name="protocolVersion")
    name: str = ""
    arguments: Json = {}


class Message(msgspec.Struct, frozen=True):
    """A JSON-RPC message; one without `id` is a notification, one without `method` a response."""

    jsonrpc: Literal["2.0"]
    method: str = ""
    id: int | str | UnsetType = UNSET
    params: Params = Params()


class Refused(BadRequest):
    """A request that is not answered: the error of JSON-RPC, and the status of 2026."""

    def __init__(self, code: int, message: str, status: int = 400, **data: object) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}
        self.status = status


@blueprint.post("/mcp")
@access("searches", origins=("POST",))
def answer() -> Response:
    """Answer one message."""
    _check_origin()
    message = g.message = _read_message()
    if not message.method or message.id is UNSET:
        return Response(status=202)
    return _response({"id": message.id, "result": _result(message)})


@blueprint.errorhandler(BlogsearchError)
def _error(error: BlogsearchError) -> Response:
    said = {"code": error.status, "message": str(error)}  # too many requests, too large a body
    content = {"error": error.error if isinstance(error, Refused) else said}
    message: Message | None = g.get("message")
    response = _response({"id": message.id, **content} if message else content)
    set_error_headers(response, error)
    if message and not _is_modern(message):
        response.status_code = 200  # clients of 2025 take another one for a broken connection
    return response


def _response(content: Json) -> Response:
    body, headers = orjson.dumps({"jsonrpc": "2.0", **content}), {"Cache-Control": "no-store"}
    return Response(body, 200, headers, content_type="application/json")


def _check_origin() -> None:
    """Refuse pages of other origins, also one whose host name leads here (DNS rebinding): a Host
    is the client's word, unless it is this machine."""
    origin, allowed = request.headers.get("Origin"), current_service().settings.allowed_origins
    host = request.host.rpartition(":")[0] or request.host
    is_own = host in _LOOPBACK and origin == f"{request.scheme}://{request.host}"
    if origin is not None and not is_own and not allowed & {"*", origin}:
        raise Refused(_INVALID, "BLOGSEARCH_CORS_ORIGINS does not name this Origin.", 403)


def _read_message() -> Message:
    if request.mimetype != "application/json":
        raise Refused(_INVALID, "The Content-Type must be application/json.", 415)
    try:
        return msgspec.convert(orjson.loads(read_body(request, _MAX_BYTES)), Message)
    except orjson.JSONDecodeError as error:
        raise Refused(_PARSE, f"The body is not JSON: {error}.") from None
    except (BadRequest, msgspec.ValidationError) as error:
        raise Refused(_INVALID, f"The body is not one JSON-RPC message: {error}") from None


def _is_modern(message: Message) -> bool:
    header = request.headers.get("MCP-Protocol-Version", LEGACY[0])
    return bool(message.params.meta.version) or header not in LEGACY


def _check_modern(message: Message) -> None:
    """Check that the headers say what the body does, as a proxy may rely on them."""
    meta = message.params.meta
    if not meta.version or meta.capabilities is None:
        needed = f"{_META}protocolVersion and {_META}clientCapabilities"
        raise Refused(_PARAMS, f"`_meta` must have {needed}.")
    expected = {"MCP-Protocol-Version": meta.version, "Mcp-Method": message.method}
    if message.method == "tools/call":
        expected["Mcp-Name"] = message.params.name
    for name, value in expected.items():
        encoded = f"=?base64?{b64encode(value.encode()).decode()}?="
        if request.headers.get(name) not in (value, encoded):
            raise Refused(_HEADERS, f"The header {name} is missing or differs from the body.")
    if meta.version not in MODERN:
        said = "Unsupported protocol version"
        raise Refused(_VERSION, said, supported=[*MODERN, *LEGACY], requested=meta.version)


def _result(message: Message) -> Json:
    """What each era gets for each method."""
    name, modern = current_service().settings.site_name, _is_modern(message)
    server = {"name": "blogsearch", "title": name, "version": VERSION}
    about: Json = {
        "capabilities": {"tools": {}},
        "instructions": f"The posts of a website: {name}. {_ABOUT['instructions']}",
    }
    if modern:
        _check_modern(message)
    match message.method, modern:
        case "initialize", False:
            wanted = message.params.version
            version = wanted if wanted in LEGACY else LEGACY[0]
            return {"protocolVersion": version, "serverInfo": server, **about}
        case "ping", False:
            return {}
        case "server/discover", True:
            result = {"supportedVersions": [*MODERN, *LEGACY], **about, **_KEPT}
        case "tools/list", _:
            result = {"tools": _own_tools(), **(_KEPT if modern else {})}
        case "tools/call", _:
            result = _call(message)
        case other, _:
            raise Refused(_NO_METHOD, f"There is no method {other[:_LONGEST_NAME]}.", 404)
    if modern:
        result |= {"resultType": "complete", "_meta": {f"{_META}serverInfo": server}}
    return result


# -- the tools -------------------------------------------------------------------------------------


def _own_tools() -> list[Json]:
    """`search`, and `fetch` if the owner lets it."""
    tools = [*map(_described, _ABOUT["tools"])]
    return tools if current_service().settings.mcp_fetch else tools[:1]


def _described(tool: Json) -> Json:
    parameters = TOOL_PARAMETERS[tool["name"]]
    properties = {one.name: {**one.schema, "description": one.text} for one in parameters}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [one.name for one in parameters if one.required]
    return {**tool, "inputSchema": {**schema, "required": required}}


def _call(message: Message) -> Json:
    name = message.params.name
    if name not in [tool["name"] for tool in _own_tools()]:
        raise Refused(_PARAMS, f"There is no tool {name[:_LONGEST_NAME]}.")
    try:
        given = msgspec.convert(message.params.arguments, dict[str, str | list[str] | None])
        typed = MultiDict({key: value for key, value in given.items() if value})
        values = parse_parameters(typed, TOOL_PARAMETERS[name], name)
        content = _search(message, values) if name == "search" else _fetch(values["id"])
    except (BlogsearchError, msgspec.ValidationError) as error:  # the model reads it
        wait = getattr(error, "retry_after", None)
        text = f"{error} Try again in {wait} s." if wait else str(error)
        return {"content": [{"type": "text", "text": text}], "isError": True}
    # One item that has the structured content, too: what some clients want.
    text = orjson.dumps(content).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": content}


def _search(message: Message, values: Json) -> Json:
    # Before 2026 only the User-Agent has a name.
    agent = request.headers.get("User-Agent", "").partition(" ")[0].partition("/")[0]
    stated = str(message.params.meta.client.get("name") or agent)
    client = "".join(filter(str.isprintable, stated))[:_LONGEST_NAME] or "unnamed"
    wanted = SearchRequest(**values, comments=False)
    service = current_service()
    body, base = service.answer(wanted, assistant=client).body, base_url(request, service)
    results = [
        {
            "id": hit["oid"],
            "title": hit["title"],
            "url": absolute(hit["url"], base),
            "date": day(hit),
            "text": passage_markdown(hit, base),
        }
        for hit in body["hits"]
    ]
    return {"results": results, "more": body["count"] - len(results)}


def _fetch(name: str) -> Json:
    service = current_service()
    post, base = service.post(name), base_url(request, service)
    if not post:
        raise NotFound("No post has this id or url. Use those that `search` returns.")
    text = post_markdown(post, base)
    if rest := len(text[_LONGEST_POST:]):
        text = f"{text[:_LONGEST_POST]}\n\n[{rest} more characters of the post are left out.]"
    return {
        "id": post["oid"],
        "title": plain(post["title"]),
        "text": text,
        "url": absolute(post.get("url"), base),
        "metadata": {"date": day(post), "categories": post["categories"]},
    }
