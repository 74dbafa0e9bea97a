"""The OpenAPI 3.1 document of the HTTP API, made from the application.

Paths and methods are those of the application's routes, summaries the docstrings of the views,
parameters the tables that requests are parsed with, error codes those of the error classes, and
schemas the types of the answers. `OPERATIONS` says which of them belong together.
"""

import ast
import inspect
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal, get_args, get_type_hints, is_typeddict

import msgspec
from flask import Flask

from app.errors import (
    BadRequest,
    BlogsearchError,
    Busy,
    ErrorAnswer,
    Forbidden,
    NoIndex,
    NotCounted,
    NotFound,
    OutdatedIndex,
    RateLimited,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unprocessable,
    WritesClosed,
)
from app.search.answer import SearchAnswer, SuggestAnswer
from app.search.request import PARAMETERS, SUGGEST_PARAMETERS, Parameter
from app.version import VERSION
from app.views.document_types import Comment, NamedComment, NamedPost, Post, WriteAnswer
from app.views.insights import DAYS
from app.views.operations import Health, Liveness, Version
from app.views.write_request import MAX_DOCUMENTS

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class Operation:
    """What the view of an endpoint takes and answers.

    `answers` has the type of the body for each status that is not one of `errors`: a TypedDict,
    dict for any JSON object, a media type, or None for no body. With `many`, the body of a request
    is one `body`, an array of them, or NDJSON. `security` is the name of a security scheme.
    """

    tag: str
    answers: Mapping[int, Any]
    parameters: tuple[Parameter, ...] = ()
    body: Any = None
    many: bool = False
    errors: tuple[type[BlogsearchError], ...] = ()
    security: Literal["", "token", "password"] = ""


_ENGINE = (Unavailable, Busy, NoIndex, OutdatedIndex)
_TOKEN = (Unauthorized, WritesClosed)
_DELETE = (BadRequest, *_TOKEN, NotFound, Unavailable, NoIndex)
_WRITE = (*_DELETE, TooLarge, Unprocessable)


def _write(body: Any, *, many: bool) -> Operation:
    statuses = (200, 207) if many else (200, 201, 207)
    answers = dict.fromkeys(statuses, WriteAnswer)
    return Operation("documents", answers, (), body, many, _WRITE, security="token")


_REMOVE = Operation("documents", {200: WriteAnswer}, errors=_DELETE, security="token")

OPERATIONS = {
    "search.search": Operation(
        "search",
        {200: SearchAnswer, 304: None},
        PARAMETERS,
        errors=(BadRequest, *_TOKEN, RateLimited, *_ENGINE),
    ),
    "api.openapi": Operation("operations", {200: dict}),
    "suggest.suggest": Operation(
        "search",
        {200: SuggestAnswer, 304: None},
        SUGGEST_PARAMETERS,
        errors=(BadRequest, RateLimited, *_ENGINE),
    ),
    "documents.get_document": Operation(
        "documents", {200: dict}, errors=(*_TOKEN, NotFound, NoIndex, Unavailable), security="token"
    ),
    "documents.post_documents": _write(Post, many=True),
    "documents.put_document": _write(NamedPost, many=False),
    "documents.delete_document": _REMOVE,
    "documents.post_comments": _write(Comment, many=True),
    "documents.put_comment": _write(NamedComment, many=False),
    "documents.remove_comment": _REMOVE,
    "operations.alive": Operation("operations", {200: Liveness}),
    "operations.ready": Operation("operations", {200: Health, 503: Health}, errors=(Unauthorized,)),
    "operations.version": Operation("operations", {200: Version}),
    "insights.page": Operation(
        "operations",
        {200: "text/html"},
        (DAYS,),
        errors=(Unauthorized, Forbidden, NotCounted, RateLimited, Unavailable),
        security="password",
    ),
    "operations.metrics": Operation(
        "operations", {200: "text/plain"}, errors=_TOKEN, security="token"
    ),
}
"""The operations by endpoint."""

_HEADERS = {
    "X-Cache": "HIT: from the cache. MISS: computed now. OFF: the same, without Redis. STALE: an "
    "older answer, because Elasticsearch is unavailable or the answer is being computed again.",
    "Server-Timing": "The state of the cache and the milliseconds it took.",
    "ETag": "Send it as If-None-Match to get a 304 while the answer is the same.",
}

_OID = {
    "oid": "The oid of the post or comment, as percent-encoded UTF-8. It may contain slashes.",
    "post_oid": "The oid of the post, as percent-encoded UTF-8. It may contain slashes.",
}

_REASONS = {
    200: "Done.",
    201: "The document is new.",
    207: "Some documents were not accepted; see the status of each.",
    304: "The answer is still the one with this ETag.",
    503: "Searches that are not cached cannot be answered.",
}


def document(app: Flask) -> Json:
    """The OpenAPI document of an application."""
    paths: Json = {}
    for path, method, endpoint in routes(app):
        if endpoint in OPERATIONS:
            view = app.view_functions[endpoint]
            paths.setdefault(path, {})[method] = _operation(path, endpoint, view)
    schemes = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "One of BLOGSEARCH_WRITE_TOKENS.",
        },
        "password": {
            "type": "http",
            "scheme": "basic",
            "description": "Any user name, and BLOGSEARCH_INSIGHTS_TOKEN as the password.",
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "blogsearch",
            "version": VERSION,
            "description": "Searches a blog. Every error has the shape of `ErrorAnswer`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "search", "description": "For visitors."},
            {"name": "documents", "description": "Writing posts and comments, with a token."},
            {"name": "operations", "description": "For operators and monitors."},
        ],
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": schemes},
    }


def routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Path, method and endpoint of every route, without HEAD and OPTIONS, which Flask answers."""
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield path, method.lower(), rule.endpoint


def _operation(path: str, endpoint: str, view: Any) -> Json:
    operation = OPERATIONS[endpoint]
    summary, _, rest = inspect.getdoc(view).partition("\n\n")  # type: ignore[union-attr]
    names = re.findall(r"{(\w+)}", path)
    described: Json = {
        "operationId": endpoint.partition(".")[2],
        "tags": [operation.tag],
        "summary": _one_line(summary),
        "description": _one_line(rest),
        "parameters": [
            *(
                {
                    "name": name,
                    "in": "path",
                    "required": True,
                    "description": _OID[name],
                    "schema": {"type": "string", "minLength": 1},
                }
                for name in names
            ),
            *map(_parameter, operation.parameters),
        ],
        "responses": {
            str(status): _answer(status, answer, operation)
            for status, answer in operation.answers.items()
        }
        | _errors(operation),
    }
    if operation.body:
        described["requestBody"] = {"required": True, "content": _body(operation)}
    if operation.security:
        described["security"] = [{operation.security: []}]
    return {name: value for name, value in described.items() if value}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _parameter(parameter: Parameter) -> Json:
    described = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }
    return {**described, "style": "form", "explode": True} if parameter.repeatable else described


def _answer(status: int, answer: Any, operation: Operation) -> Json:
    response: Json = {"description": _REASONS[status]}
    if operation.tag == "search":
        response["headers"] = {
            name: {"description": description, "schema": {"type": "string"}}
            for name, description in _HEADERS.items()
        }
    if isinstance(answer, str):
        response["content"] = {answer: {"schema": {"type": "string"}}}
    elif answer is dict:
        response["content"] = {"application/json": {"schema": {"type": "object"}}}
    elif answer:
        response["content"] = {"application/json": {"schema": _ref(answer)}}
    return response


def _body(operation: Operation) -> Json:
    document = _ref(operation.body)
    if not operation.many:
        return {"application/json": {"schema": document}}
    array = {"type": "array", "items": document, "minItems": 1, "maxItems": MAX_DOCUMENTS}
    lines = {"type": "string", "description": "NDJSON: one document per line."}
    return {
        "application/json": {"schema": {"oneOf": [document, array]}},
        "application/x-ndjson": {"schema": lines},
    }


def _errors(operation: Operation) -> Json:
    """A response for each status, with the codes that it may have."""
    by_status: dict[int, list[type[BlogsearchError]]] = {}
    for error in sorted(operation.errors, key=lambda error: error.status):
        by_status.setdefault(error.status, []).append(error)
    page = "text/html" in operation.answers.values()
    return {str(status): _error(classes, page) for status, classes in by_status.items()}


def _error(classes: list[type[BlogsearchError]], page: bool) -> Json:
    """The response with one of these errors, as JSON or as a page."""
    lines = [f"`{error.code}`: {_one_line(inspect.getdoc(error) or '')}" for error in classes]
    code = {"properties": {"code": {"enum": [error.code for error in classes]}}}
    schema = {"allOf": [_ref(ErrorAnswer), {"properties": {"error": code}}]}
    content: Json = {"application/json": {"schema": schema}}
    if page:
        content = {"text/html": {"schema": {"type": "string"}}}
    response: Json = {"description": " ".join(lines), "content": content}
    if any(issubclass(error, (Unavailable, RateLimited)) for error in classes):
        response["headers"] = {
            "Retry-After": {
                "description": "Seconds after which to try again.",
                "schema": {"type": "string"},
            }
        }
    return response


def _ref(type_: Any) -> Json:
    return {"$ref": _REF.format(name=type_.__name__)}


def _schemas() -> Json:
    """The schemas of all bodies, by the names of their types."""
    bodies = {ErrorAnswer}
    for operation in OPERATIONS.values():
        bodies |= {body for body in (*operation.answers.values(), operation.body) if body}
    types = {type_ for body in bodies for type_ in _types_in(body)}
    _, schemas = msgspec.json.schema_components(types, ref_template=_REF)
    for type_ in types:
        schema = schemas[type_.__name__]
        if "description" in schema:
            schema["description"] = _one_line(schema["description"])
        texts = _field_descriptions(inspect.getmodule(type_)).get(type_.__name__, {})
        # msgspec sorts them by name.
        schema["properties"] = {
            name: schema["properties"][name]
            | ({"description": texts[name]} if name in texts else {})
            for name in get_type_hints(type_)
        }
    return dict(sorted(schemas.items()))


def _types_in(type_: Any) -> Iterator[Any]:
    """The TypedDicts that a type refers to, itself among them."""
    if is_typeddict(type_):
        yield type_
        for field in get_type_hints(type_).values():
            yield from _types_in(field)
    for part in get_args(type_):
        yield from _types_in(part)


@cache
def _field_descriptions(module: ModuleType) -> dict[str, dict[str, str]]:
    """The strings below the fields of the classes of a module, by class and field."""
    descriptions: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            inherited = [descriptions.get(ast.unparse(base), {}) for base in node.bases]
            descriptions[node.name] = dict(ChainMap(_below_fields(node), *inherited))
    return descriptions


def _below_fields(node: ast.ClassDef) -> dict[str, str]:
    descriptions = {}
    for pair in pairwise(node.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                descriptions[name] = _one_line(text)
    return descriptions
