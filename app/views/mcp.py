"""`POST /mcp`: search and read the blog by the Model Context Protocol, without sessions or streams.

Two eras: a request of 2026-07-28 stands alone and names its protocol version in `params._meta`;
clients of 2025-03-26 to 2025-11-25 begin with `initialize`, of which nothing has to be kept.
docs/machines.md says what today's clients send.
"""

import base64
import binascii
import html
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import orjson
from flask import Blueprint, Response, request
from werkzeug.datastructures import MultiDict

from app.errors import BadRequest, BlogsearchError, NotFound
from app.http.access import access
from app.http.clients import client_names
from app.insights.counts import Extent
from app.search.request import SearchRequest
from app.version import VERSION
from app.views import current_service
from app.views.markdown import passage_markdown, post_markdown
from app.views.responses import set_error_headers
from app.views.write_request import read_body
from indexer.posts.addresses import absolute

blueprint = Blueprint("mcp", __name__)

Json = dict[str, Any]

_TOOLS = Path(__file__).parents[1] / "mcp_tools.json"

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")

_MAX_BYTES = 65_536
_LONGEST_POST, _LONGEST_NAME = 100_000, 60  # characters
_LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
_KEPT_MS = 3_600_000  # how long a client may keep the list of tools
_META = "io.modelcontextprotocol/"
_PARSE, _INVALID, _NO_METHOD, _PARAMS, _HEADERS, _VERSION = (
    *(-32700, -32600, -32601, -32602),
    *(-32020, -32022),
)


class Message(msgspec.Struct, frozen=True):
    """A JSON-RPC message; one without `id` is a notification, one without `method` a response."""

    jsonrpc: str
    method: str = ""
    id: int | str | msgspec.UnsetType = msgspec.UNSET
    params: Json = {}

    @property
    def meta(self) -> Json:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def version(self) -> object:
        """The protocol version that a request of 2026 names in itself; None in other eras."""
        return self.meta.get(f"{_META}protocolVersion")


class Refused(Exception):
    """A request that is not answered: the code of JSON-RPC, and the status of 2026."""

    def __init__(self, code: int, message: str, status: int = 400, **data: object) -> None:
        super().__init__(message)
        self.code, self.status, self.data = code, status, data


@blueprint.post("/mcp")
@access(origins=("POST",))
def answer() -> Response:
    """Answer one message."""
    message: Message | None = None
    try:
        _check_origin()
        message = _read_message()
        if not message.method or message.id is msgspec.UNSET:
            return Response(status=202)
        if _is_modern(message):
            _check_modern(message)
        return _response(message, {"result": _result(message)})
    except Refused as refused:
        # A client of 2025 takes 400 and 404 for a broken connection.
        is_legacy = message is not None and not _is_modern(message)
        error: Json = {"code": refused.code, "message": str(refused)}
        if refused.data:
            error["data"] = refused.data
        return _response(message, {"error": error}, 200 if is_legacy else refused.status)


@blueprint.errorhandler(BlogsearchError)
def _error(error: BlogsearchError) -> Response:
    """What is refused before the message is read: too many requests, a body that is too large."""
    response = _response(None, {"error": {"code": error.status, "message": str(error)}})
    set_error_headers(response, error)
    return response


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
        sent = orjson.loads(read_body(request, _MAX_BYTES))
        if isinstance(sent, list):
            raise Refused(_INVALID, "Batches are not supported: send one message in a request.")
        message = msgspec.convert(sent, Message)
    except orjson.JSONDecodeError as error:
        raise Refused(_PARSE, f"The body is not JSON: {error}.") from None
    except (BadRequest, msgspec.ValidationError) as error:
        raise Refused(_INVALID, f"The body is no JSON-RPC message: {error}") from None
    if message.jsonrpc != "2.0":
        raise Refused(_INVALID, "`jsonrpc` must be 2.0.")
    return message


def _is_modern(message: Message) -> bool:
    version = request.headers.get("MCP-Protocol-Version")
    return message.version is not None or version not in (None, *LEGACY)


def _check_modern(message: Message) -> None:
    """Check that the headers say what the body does, as a proxy may rely on them."""
    version = message.version
    expected = {"MCP-Protocol-Version": version, "Mcp-Method": message.method}
    if message.method == "tools/call":
        expected["Mcp-Name"] = message.params.get("name")
    if version is None or f"{_META}clientCapabilities" not in message.meta:
        needed = f"{_META}protocolVersion and {_META}clientCapabilities"
        raise Refused(_PARAMS, f"`_meta` must have {needed}.")
    for name, value in expected.items():
        if value != _decoded(request.headers.get(name, "")):
            raise Refused(_HEADERS, f"The header {name} is missing or differs from the body.")
    if version not in MODERN:
        said = "Unsupported protocol version"
        raise Refused(_VERSION, said, supported=[*MODERN, *LEGACY], requested=version)


def _decoded(value: str) -> str:
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _result(message: Message) -> Json:
    modern = _is_modern(message)
    capabilities: Json = {"tools": {}}
    kept = {"ttlMs": _KEPT_MS, "cacheScope": "public"} if modern else {}
    match message.method:
        case "initialize" if not modern:
            wanted = message.params.get("protocolVersion")
            result = {"protocolVersion": wanted if wanted in LEGACY else LEGACY[0]}
            result |= {"capabilities": capabilities, "serverInfo": _server_info()}
            return result | {"instructions": _instructions()}
        case "ping" if not modern:
            return {}
        case "server/discover":
            result = {"supportedVersions": [*MODERN, *LEGACY], "capabilities": capabilities}
            result |= {"instructions": _instructions(), **kept}
        case "tools/list":
            result = {"tools": [*_own_tools().values()], **kept}
        case "tools/call":
            result = _call(message)
        case other:
            raise Refused(_NO_METHOD, f"There is no method {other[:_LONGEST_NAME]}.", 404)
    if modern:
        result |= {"resultType": "complete", "_meta": {f"{_META}serverInfo": _server_info()}}
    return result


def _response(message: Message | None, content: Json, status: int = 200) -> Response:
    known = {} if message is None or message.id is msgspec.UNSET else {"id": message.id}
    body = orjson.dumps({"jsonrpc": "2.0", **known, **content})
    response = Response(body, status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _server_info() -> Json:
    name = current_service().settings.site_name
    return {"name": "blogsearch", "title": name, "version": VERSION}


def _instructions() -> str:
    return (
        f"The posts of a website: {current_service().settings.site_name}. `search` finds posts by "
        "their words, misspelled ones, too; `fetch` returns the text of one."
    )


# -- the tools -------------------------------------------------------------------------------------


def _own_tools() -> dict[str, Json]:
    return _tools(fetch=current_service().settings.mcp_fetch)


@cache
def _tools(*, fetch: bool) -> dict[str, Json]:
    """The tools by name; `fetch` only if the owner lets it."""
    tools = orjson.loads(_TOOLS.read_bytes())
    return {tool["name"]: tool for tool in tools if fetch or tool["name"] != "fetch"}


def _call(message: Message) -> Json:
    name, given = message.params.get("name"), message.params.get("arguments", {})
    tool = _own_tools().get(name) if isinstance(name, str) else None
    if tool is None or not isinstance(given, dict):
        raise Refused(_PARAMS, f"There is no tool {str(name)[:_LONGEST_NAME]}, or no arguments.")
    try:
        arguments = _arguments(tool, given)
        content = _search(message, arguments) if name == "search" else _fetch(arguments["id"])
    except BlogsearchError as error:  # the model reads it, and may try otherwise
        later = f" Try again in {error.retry_after} s." if error.retry_after else ""
        return {"content": [{"type": "text", "text": f"{error}{later}"}], "isError": True}
    # One item that has the structured content, too: what some clients want.
    text = orjson.dumps(content).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": content}


def _arguments(tool: Json, given: Json) -> dict[str, str]:
    schema = tool["inputSchema"]
    unknown = given.keys() - schema["properties"].keys()
    missing = [name for name in schema["required"] if name not in given]
    wrong = [name for name, value in given.items() if not isinstance(value, str)]
    if unknown or missing or wrong:
        raise BadRequest(f"The arguments must be texts: {', '.join(schema['properties'])}.")
    return given


def _search(message: Message, arguments: Mapping[str, str]) -> Json:
    service = current_service()
    given = {"q": arguments["query"], **arguments}
    del given["query"]
    try:
        parsed = SearchRequest.parse(MultiDict(filter(itemgetter(1), given.items())))
    except BadRequest as error:
        wrong = [f"{one['parameter']} {one['message']}" for one in error.details]
        raise BadRequest("; ".join(wrong).replace("q must", "query must")) from None
    wanted = replace(parsed, comments=False)
    found = service.answer(wanted, clients=client_names())
    body: Any = found.body
    extent: Extent = "some" if found.is_partial else "all" if found.has_hits else "nothing"
    service.search_log.record_asked(wanted.q, extent, _client(message))
    results = [
        {
            "id": hit["oid"],
            "title": hit["title"],
            "url": absolute(hit["url"], _base()),
            "date": (hit["pub_date"] or "")[:10],
            "text": passage_markdown(hit, _base()),
        }
        for hit in body["hits"]
    ]
    return {"results": results, "more": body["count"] - len(results)}


def _fetch(name: str) -> Json:
    found = current_service().post(name, client_names(), "others").body
    if not found:
        raise NotFound("No post has this id or url. Use those that `search` returns.")
    text = post_markdown(found, _base())
    if rest := len(text[_LONGEST_POST:]):
        text = f"{text[:_LONGEST_POST]}\n\n[{rest} more characters of the post are left out.]"
    metadata = {"date": (found.get("pub_date") or "")[:10], "categories": found["categories"]}
    url = absolute(found.get("url"), _base())
    title = html.unescape(found["title"])
    return {"id": found["oid"], "title": title, "text": text, "url": url, "metadata": metadata}


def _base() -> str:
    return current_service().settings.site_url or request.url_root


def _client(message: Message) -> str:
    """The name of the client as it states it; before 2026 only its User-Agent does."""
    info = message.meta.get(f"{_META}clientInfo")
    stated = info.get("name") if isinstance(info, dict) else None
    name = stated if isinstance(stated, str) else request.headers.get("User-Agent", "")
    name = name if stated else name.partition(" ")[0].partition("/")[0]
    return "".join(filter(str.isprintable, name))[:_LONGEST_NAME] or "unnamed"
