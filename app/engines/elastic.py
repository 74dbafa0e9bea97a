"""Connects to Elasticsearch, and translates the errors of its client."""

import math
import re
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from elastic_transport import (
    ApiResponseMeta,
    HttpHeaders,
    NdjsonSerializer,
    NodeConfig,
    ObjectApiResponse,
    Serializer,
    Urllib3HttpNode,
)
from elastic_transport import ConnectionError as NoConnection
from elastic_transport._node import NodeApiResponse
from elastic_transport.client_utils import DEFAULT, DefaultType
from elasticsearch import (
    ApiError,
    ConnectionTimeout,
    Elasticsearch,
    OrjsonSerializer,
    SerializationError,
    TransportError,
    UnsupportedProductError,
)

from app.engines.back_off import deadline, is_silent
from app.errors import BadSettings, BlogsearchError, NoIndex, Unavailable
from app.settings import Settings
from indexer.runs.refusals import error_of_part, refusal_from
from indexer.store.retry import TEMPORARY_STATUSES, remaining

ONE_COPY = "blogsearch"
"""The preference of every search: the same copy of each shard answers all of them, so that no
search sees an older state than the previous one or than the generation of the cache."""

NO_INDEX = "There is no index to search yet. Build one with `blogsearch reindex FILE`."

_SEARCH_FAILED = "search_phase_execution_exception"
_PROBE_TIMEOUT = 1.0  # seconds

_ANSWERS = {
    "": b'"version"',
    "_search": b'"hits"',
    "scroll": b'"hits"',
    "_msearch": b'"responses"',
    "_mget": b'"docs"',
    "_bulk": b'"items"',
    "_count": b'"count"',
    "_refresh": b'"_shards"',
    "_aliases": b'"acknowledged"',
    "lock": b'"_seq_no"',
}
"""A field that each response has, by the last part of the path."""

_PRIVILEGES = re.compile(r"the \w+ privileges \[[^\]]*\]")
_OTHER = "The server at ELASTICSEARCH_URL is not Elasticsearch 9.4 or later."
_PORTS = {"http": 80, "https": 443}


class _OrjsonLines(NdjsonSerializer, OrjsonSerializer):
    """Encodes lines of JSON with orjson, which takes a fifth of the time of Python's json."""


# The client sends the version of its API in the media types.
_SERIALIZERS: dict[str, Serializer] = {
    "application/vnd.elasticsearch+json": OrjsonSerializer(),
    "application/vnd.elasticsearch+x-ndjson": _OrjsonLines(),
}


class NotElasticsearch(NoConnection):
    """The response is not Elasticsearch's, such as a proxy's login page with status 200."""


class _Node(Urllib3HttpNode):
    """Limits whole requests, while urllib3 limits each connection attempt and each read.

    Inside a `time_limit` a request takes at most the remaining time. The client checks only once
    that it talks to Elasticsearch; this class checks every response. Without TLS it uses Python's
    own client: urllib3 takes 0.3 ms more, a twentieth of a search.
    """

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._idle: list[HTTPConnection] = []
        self._most_idle = config.connections_per_node
        weakref.finalize(self, _close_all, self._idle)

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: float | DefaultType | None = DEFAULT,
    ) -> NodeApiResponse:
        default = self.config.request_timeout
        seconds = default if isinstance(request_timeout, DefaultType) else request_timeout
        if (left := remaining()) < math.inf:
            seconds = min(left, seconds or left)
            if left <= 0:
                raise ConnectionTimeout("The time limit for all requests together is over")
        send = super().perform_request if self.scheme == "https" else self._send
        try:
            with deadline(seconds):
                answer = send(method, target, body, headers, seconds)
        except TimeoutError as error:
            raise ConnectionTimeout("Connection timed out during request") from error
        if answer.meta.status < 300 and not _is_elasticsearchs(method, target, answer):
            raise NotElasticsearch("The server is not Elasticsearch")
        return answer

    def _send(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: HttpHeaders | None,
        seconds: float | None,
    ) -> NodeApiResponse:
        started = time.monotonic()
        connection = self._connection(seconds)
        try:
            every = dict([*self.headers.items(), *(headers or {}).items()])
            connection.request(method, f"{self.path_prefix}{target}", body, every)
            response = connection.getresponse()
            data = response.read()
        except (OSError, HTTPException) as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise
            # In the words of urllib3, so that `app.index.health` finds the remedy.
            aborted = isinstance(error, HTTPException | ConnectionResetError | BrokenPipeError)
            message = f"Connection aborted: {error!r}" if aborted else str(error)
            if isinstance(error, socket.gaierror):
                message = f"Failed to resolve the host: {error.strerror}"
            raise NoConnection(message, errors=(error,)) from error
        except BaseException:  # the time limit of the whole request is over
            connection.close()
            raise
        if response.will_close or len(self._idle) >= self._most_idle:
            connection.close()
        else:
            self._idle.append(connection)
        duration, sent = time.monotonic() - started, HttpHeaders(response.getheaders())
        meta = ApiResponseMeta(response.status, "1.1", sent, duration, self.config)
        return NodeApiResponse(meta, data)

    def _connection(self, seconds: float | None) -> HTTPConnection:
        """Return an idle connection that is open and silent, or else a new one."""
        while self._idle:
            connection = self._idle.pop()
            if is_silent(connection.sock):
                connection.sock.settimeout(seconds)
                return connection
            connection.close()
        return HTTPConnection(self.host, self.port, timeout=seconds)

    def close(self) -> None:
        _close_all(self._idle)
        super().close()


def _is_elasticsearchs(method: str, target: str, answer: Any) -> bool:
    """Whether a response is one of Elasticsearch's to this request."""
    path, _, parameters = target.partition("?")
    if answer.meta.headers.get("x-elastic-product") != "Elasticsearch":
        return False
    is_whole = method != "DELETE" and "filter_path" not in parameters
    wanted = _ANSWERS.get(path.rpartition("/")[2], b"") if is_whole else b""
    begins = answer.body.lstrip()[:8]
    is_answer = method == "HEAD" or (begins[:1] == b"{" and begins != b'{"error"')
    return is_answer and wanted in answer.body


def _close_all(connections: list[HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def connect(settings: Settings, timeout: float | None = None) -> Elasticsearch:
    """Return a client for the URLs in the settings; it opens no connection yet.

    Args:
        timeout: the time limit of a request in seconds, instead of `elasticsearch_timeout`.

    Raises:
        BadSettings: a URL is invalid.
    """
    try:
        hosts = [_checked(host.strip()) for host in settings.elasticsearch_url.split(",")]
        # The client accepts certificates only with https.
        over_tls = any(host.startswith("https://") for host in hosts)
        certificates: Any = {"ca_certs": settings.ca_file} if settings.ca_file and over_tls else {}
        return Elasticsearch(
            hosts,
            api_key=settings.elasticsearch_api_key or None,
            **certificates,
            request_timeout=timeout or settings.elasticsearch_timeout,
            # A visitor is waiting: try each other node once, and none after a timeout.
            max_retries=min(len(hosts) - 1, 2),
            retry_on_timeout=False,
            serializers=_SERIALIZERS,
            node_class=_Node,
            meta_header=False,  # would take 0.04 ms of each request
        )
    except ValueError:
        # Any part of the URL may be the password.
        raise BadSettings(
            "ELASTICSEARCH_URL is not valid. Write it like http://127.0.0.1:9200; percent-encode "
            "every character of a user name or password that is not a letter or digit."
        ) from None


def _checked(host: str) -> str:
    """Return the URL with a port, which the client needs: https://search.example.org gets 443.

    Raises:
        ValueError: it is no URL that the client can use.
    """
    parts = urlsplit(host)
    if parts.scheme not in _PORTS:
        raise ValueError("neither http nor https")
    (parts.hostname or "").encode("idna")  # fails for names that no host can have
    port = "" if parts.port is not None else f":{_PORTS[parts.scheme]}"
    return parts._replace(netloc=parts.netloc + port).geturl()


def responds(elastic: Elasticsearch) -> bool:
    """Whether Elasticsearch responds to `GET /` within a second; denied access is a response."""
    return _probe(elastic, lambda client: client.info())


def answers_searches(elastic: Elasticsearch, alias: str) -> bool:
    """Whether Elasticsearch answers a search within a second; a missing index is an answer.

    While it starts it responds before its indices are open, and searches would wait for them.
    """
    return _probe(
        elastic,
        lambda client: client.search(
            index=alias, size=0, track_total_hits=False, allow_partial_search_results=False
        ),
    )


def _probe(elastic: Elasticsearch, request: Callable[[Elasticsearch], object]) -> bool:
    try:
        # After a timeout another node is tried: one hanging node is not an outage of the cluster.
        request(elastic.options(request_timeout=_PROBE_TIMEOUT, retry_on_timeout=True))
    except ApiError as error:
        # 429 and 5xx are not faults of the request: an overload, a lost node, a bad disk.
        return error.status_code != 429 and error.status_code < 500
    except TransportError:
        return False
    return True


def responses_of(response: ObjectApiResponse[Any]) -> list[Any]:
    """Return the responses to the searches of one `_msearch`.

    Raises:
        ApiError: one of them failed, on every shard or on some.
    """
    responses: list[Any] = response["responses"]
    for part in responses:
        if "error" in part:
            raise error_of_part(response, part["error"], part["status"])
    return responses


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors of the Elasticsearch client in the block into errors of the service.

    Raises:
        NoIndex: there is no index behind the alias.
        Unavailable: Elasticsearch is unreachable, too slow or overloaded, denies access, or failed
            on one shard or on all.
        BlogsearchError: Elasticsearch rejects the request.
    """
    try:
        yield
    except ApiError as error:
        raise _error_of(error) from error
    except TransportError as error:
        if isinstance(error, NotElasticsearch):
            raise Unavailable(_OTHER) from error
        problem = "Elasticsearch cannot be reached. Start it, or check ELASTICSEARCH_URL"
        if isinstance(error, ConnectionTimeout):
            problem = "Elasticsearch did not answer in time"
        elif isinstance(error, SerializationError):
            problem = "A request to Elasticsearch, or its response, is not valid JSON"
        raise Unavailable(f"{problem}. Run `blogsearch doctor`.") from error


def _error_of(error: ApiError) -> BlogsearchError:
    """Return the error of the service for an error response of Elasticsearch."""
    status, kind, cause = error.status_code, str(error.message), ""
    with suppress(LookupError, TypeError):
        cause = str(error.body["error"]["root_cause"][0]["reason"])
    if kind == "cluster_block_exception":
        refusal = refusal_from(error.body)
        return Unavailable(f"{refusal.reason[0].upper()}{refusal.reason[1:]}. {refusal.remedy}")
    if kind == "index_not_found_exception":
        return NoIndex(NO_INDEX)
    if kind == "index_closed_exception":
        return Unavailable(
            "The live index is closed. Open it (`POST /INDEX/_open`), or run `blogsearch rollback`."
        )
    # Version 8 sends the error in a content type that the client does not read.
    of_version = kind in ("media_type_header_exception", "None") and status in (400, 406)
    if of_version or isinstance(error, UnsupportedProductError):
        return Unavailable(_OTHER)
    if status == 401:
        # Elasticsearch also answers 401 for some seconds while it starts, until it has its users.
        return Unavailable(
            "Elasticsearch denies access. If it has not just started, check the key in "
            "ELASTICSEARCH_API_KEY, or the user and password in ELASTICSEARCH_URL, percent-encoded."
        )
    if status == 403:
        # Not the whole cause, which contains the name of the user.
        needed = _PRIVILEGES.search(cause)
        missing = f"one of {needed[0]}" if needed else "a privilege"
        return Unavailable(
            f"Elasticsearch denies access: {missing} is missing. "
            "docs/operations.md lists what the service and the commands need."
        )
    described = f"{kind}: {cause}" if cause else kind
    if isinstance(error.body, dict) and "no handler found" in str(error.body.get("error")):
        return Unavailable(
            "Elasticsearch does not know the path of a request: correct that in ELASTICSEARCH_URL, "
            "or what a proxy makes of it."
        )
    # 404: an index was deleted, or its node restarted, between two phases of a search.
    if status in TEMPORARY_STATUSES or (status == 404 and kind == _SEARCH_FAILED):
        return Unavailable(f"Elasticsearch is overloaded or starting ({status}). Try again soon.")
    if status >= 500:
        return Unavailable(f"Elasticsearch failed ({status}, {described}). See its log.")
    return BlogsearchError(f"Elasticsearch rejected the request: {described}")
