"""The client of Elasticsearch, and the translation of its errors."""

import logging
import math
import re
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import orjson
from elastic_transport import (
    ConnectionError,
    NdjsonSerializer,
    NodeConfig,
    Serializer,
    Urllib3HttpNode,
)
from elasticsearch import (
    ApiError,
    BadRequestError,
    ConnectionTimeout,
    Elasticsearch,
    NotFoundError,
    OrjsonSerializer,
    SerializationError,
    TransportError,
    UnsupportedProductError,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from app.deadline import deadline
from app.errors import BadSettings, BlogsearchError, NoIndex, Unavailable
from app.settings import Settings
from indexer.refusals import refusal_from
from indexer.retry import TEMPORARY_STATUSES, Retry, is_temporary, remaining

ONE_COPY = "blogsearch"
"""The preference of every search: the same copy of each shard answers all of them, so that none
shows an older state than the one before, or than the generation of the cache."""

_SEARCH_FAILED = "search_phase_execution_exception"
_PROBE_TIMEOUT = 1.0  # seconds
_RESTART = Retry(total=60.0, first_pause=0.1)
_READS = ("/_search", "/_msearch", "/_count", "/_mget", "/_refresh")

_UNAUTHORIZED = re.compile(
    r"action \[(?P<action>\S+)\] is unauthorized.* granted by the (?P<kind>\w+) privileges "
    r"\[(?P<names>[^\]]*)\]"
)

log = logging.getLogger(__name__)


class _OrjsonLines(NdjsonSerializer):
    """Lines of JSON by orjson, which takes a fifth of the time of Python's json."""

    def json_dumps(self, data: Any) -> bytes:
        return orjson.dumps(data)

    def json_loads(self, data: bytes) -> Any:
        return orjson.loads(data)


# The client names the version of its API in the media types.
_SERIALIZERS: dict[str, Serializer] = {
    "application/vnd.elasticsearch+json": OrjsonSerializer(),
    "application/vnd.elasticsearch+x-ndjson": _OrjsonLines(),
}


class _Connection(HTTPConnection):
    """A connection of urllib3 that takes less CPU time."""

    _parts: list[bytes] | None = None

    def request(self, *args: Any, **options: Any) -> None:
        """Send the head and the body at once: Elasticsearch reads each packet by itself."""
        self._parts = []
        try:
            super().request(*args, **options)
            whole = b"".join(self._parts)
        finally:
            self._parts = None
        self.send(whole)

    def send(self, data: Any) -> None:
        if self._parts is None:
            super().send(data)
        else:
            self._parts.append(data)


class _TlsConnection(_Connection, HTTPSConnection):
    pass


class _Node(Urllib3HttpNode):
    """Limits a whole request, where urllib3 limits each attempt to connect and each read.

    Inside a `time_limit` it takes no longer than what remains of that.
    """

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.pool.ConnectionCls = _TlsConnection if config.scheme == "https" else _Connection

    def perform_request(self, *args: Any, **options: Any) -> Any:
        seconds = options.get("request_timeout", self.config.request_timeout)
        if (left := remaining()) < math.inf:
            seconds = options["request_timeout"] = min(left, seconds or left)
            if left <= 0:
                raise ConnectionTimeout("The time of the whole is over")
        try:
            with deadline(seconds):
                return super().perform_request(*args, **options)
        except TimeoutError as error:
            raise ConnectionTimeout("Connection timed out during request") from error


class _WaitingNode(_Node):
    """Waits up to a minute for an Elasticsearch that has responded before, as while it restarts.

    A request is repeated if it was not sent, or if it changes nothing.
    """

    _has_responded = False

    def perform_request(self, method: str, target: str, *args: Any, **options: Any) -> Any:
        changes_nothing = method in {"GET", "HEAD"} or target.partition("?")[0].endswith(_READS)
        for number, _ in enumerate(_RESTART.attempts()):
            if number == 1:
                log.warning("Elasticsearch does not respond; waiting for it.")
            failure: ConnectionError | None = None
            try:
                response = super().perform_request(method, target, *args, **options)
            except ConnectionError as error:
                failure = error
                was_sent = not isinstance(error.errors[0], NewConnectionError)
                repeatable = self._has_responded and (changes_nothing or not was_sent)
            else:
                self._has_responded = True
                repeatable = changes_nothing and response.meta.status in TEMPORARY_STATUSES
            if not repeatable:
                break
        if failure:
            raise failure
        return response


def connect(
    settings: Settings, timeout: float | None = None, *, waits: bool = False
) -> Elasticsearch:
    """A client for the URLs in the settings; it opens no connection yet.

    Args:
        timeout: seconds that a request may take, instead of `elasticsearch_timeout`.
        waits: wait for an Elasticsearch that restarts. With several nodes another one is tried
            instead.

    Raises:
        BadSettings: a URL is invalid. The message has no part of it, as that may be a password.
    """
    hosts = [host.strip() for host in settings.elasticsearch_url.split(",") if host.strip()]
    if not hosts:
        raise _bad_url("is empty")
    # The client takes certificates only with https.
    over_tls = any(host.startswith("https://") for host in hosts)
    certificates: Any = {"ca_certs": settings.ca_file} if settings.ca_file and over_tls else {}
    try:
        return Elasticsearch(
            [_with_port(host) for host in hosts],
            api_key=settings.elasticsearch_api_key or None,
            **certificates,
            request_timeout=timeout or settings.elasticsearch_timeout,
            # A visitor waits: try each other node once, and none again after a timeout.
            max_retries=min(len(hosts) - 1, 2),
            retry_on_timeout=False,
            serializers=_SERIALIZERS,
            node_class=_WaitingNode if waits and len(hosts) == 1 else _Node,
        )
    except ValueError:
        raise _bad_url("has a URL that is not valid") from None


def _bad_url(problem: str) -> BadSettings:
    return BadSettings(
        f"ELASTICSEARCH_URL {problem}. Write it like http://127.0.0.1:9200; percent-encode what is "
        "not a letter or digit in a user name or password, commas too."
    )


def responds(elastic: Elasticsearch) -> bool:
    """Whether Elasticsearch responds to `GET /` within a second; denied access is a response."""
    return _probe(elastic, lambda client: client.info())


def answers_searches(elastic: Elasticsearch, alias: str) -> bool:
    """Whether Elasticsearch answers a search within a second; that there is no index is an answer.

    While it starts it responds before its indices are open, and each search would wait for that.
    """
    return _probe(
        elastic,
        lambda client: client.search(
            index=alias, size=0, track_total_hits=False, allow_partial_search_results=False
        ),
    )


def _probe(elastic: Elasticsearch, request: Callable[[Elasticsearch], object]) -> bool:
    try:
        # On a timeout another node is tried: one that hangs is not an outage of the cluster.
        request(elastic.options(request_timeout=_PROBE_TIMEOUT, retry_on_timeout=True))
    except ApiError as error:
        # Otherwise it is no fault of the request: an overload, a lost node, a bad disk.
        return error.status_code != 429 and error.status_code < 500
    except TransportError:
        return False
    return True


def is_starting(error: Exception) -> bool:
    """Whether Elasticsearch may answer soon: it is away, starts, or cannot read its users yet."""
    return is_temporary(error) or (isinstance(error, ApiError) and error.status_code == 401)


def _with_port(host: str) -> str:
    """The client needs a port; https://search.example.org means 443."""
    parts = urlsplit(host)
    if "://" not in host or parts.scheme not in {"http", "https"}:
        raise _bad_url("must begin with http:// or https://")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise _bad_url("has a port that is not valid")
    if port:
        return host
    standard = 443 if parts.scheme == "https" else 80
    return parts._replace(netloc=f"{parts.netloc}:{standard}").geturl()


# What the client raises; the kind of Elasticsearch's error, or its statuses; what that becomes. The
# first row that fits counts.
_TRANSLATIONS: tuple[
    tuple[type[Exception], str | Container[int] | None, type[BlogsearchError], str], ...
] = (
    (ApiError, "cluster_block_exception", Unavailable, "{block}"),
    # As when an index is deleted, or its node restarted, between two phases of a search.
    (NotFoundError, _SEARCH_FAILED, Unavailable, "The search lost its index. Try again."),
    (
        ApiError,
        "index_not_found_exception",
        NoIndex,
        "There is no index to search yet. Build one with `blogsearch reindex POSTS.jsonl`.",
    ),
    (
        ApiError,
        "index_closed_exception",
        Unavailable,
        "The live index is closed. Open it (`POST /INDEX/_open`), or run `blogsearch rollback`.",
    ),
    (
        UnsupportedProductError,
        None,
        Unavailable,
        "What answers at ELASTICSEARCH_URL is not Elasticsearch. Correct the URL.",
    ),
    (
        ApiError,
        "media_type_header_exception",
        Unavailable,
        "This Elasticsearch has another major version than 9. Install Elasticsearch 9.4 or later.",
    ),
    (
        BadRequestError,
        "None",  # Elasticsearch 8 describes the error in a content type that is not read
        Unavailable,
        "This Elasticsearch has another major version than 9. Install Elasticsearch 9.4 or later.",
    ),
    (
        ApiError,
        {401},
        Unavailable,
        # It also answers so for some seconds while it starts, until it can read its users.
        "Elasticsearch denies access. If it has not just started, check the key in "
        "ELASTICSEARCH_API_KEY, or the user and password in ELASTICSEARCH_URL, percent-encoded.",
    ),
    (
        ApiError,
        {403},
        Unavailable,
        "Elasticsearch denies access: {privilege} is missing. docs/operations.md lists those that "
        "the service and the commands need.",
    ),
    (
        ApiError,
        TEMPORARY_STATUSES,
        Unavailable,
        "Elasticsearch is overloaded or starting ({status}). Try again soon.",
    ),
    (
        ApiError,
        range(500, 600),
        Unavailable,
        "Elasticsearch failed ({status}, {kind}). Its log says more.",
    ),
    (ApiError, None, BlogsearchError, "Elasticsearch rejected the request: {kind}"),
    (
        ConnectionTimeout,
        None,
        Unavailable,
        "Elasticsearch did not answer in time. `blogsearch doctor` says more.",
    ),
    (
        SerializationError,
        None,
        Unavailable,
        "A request to Elasticsearch, or the response to it, is not valid JSON.",
    ),
    (
        TransportError,
        None,
        Unavailable,
        "Elasticsearch cannot be reached. Start it, or check ELASTICSEARCH_URL; "
        "`blogsearch doctor` says more.",
    ),
)


@contextmanager
def translated() -> Iterator[None]:
    """Turns errors of the Elasticsearch client that are raised inside into errors of the service.

    Raises:
        NoIndex: there is no index behind the alias.
        Unavailable: Elasticsearch is unreachable, too slow, overloaded, denies access, or failed,
            in one shard or in all.
        BlogsearchError: Elasticsearch rejects the request.
    """
    try:
        yield
    except (ApiError, TransportError) as error:
        status, block, kind = 0, "", str(error.message)
        cause = privilege = ""
        if isinstance(error, ApiError):
            status, cause = error.status_code, _root_cause(error)
            refusal = refusal_from(error.body)
            privilege = _missing_privilege(cause)
            block = f"{refusal.reason[0].upper()}{refusal.reason[1:]}. {refusal.remedy}"
        error_class, text = next(
            (becomes, text)
            for raised, which, becomes, text in _TRANSLATIONS
            if isinstance(error, raised)
            and (which is None or (which in kind if isinstance(which, str) else status in which))
        )
        described = f"{kind}: {cause}" if cause else kind
        raise error_class(
            text.format(status=status, kind=described, block=block, privilege=privilege)
        ) from error


def _missing_privilege(cause: str) -> str:
    """The privileges of which one is needed, and for what, without the name of the user."""
    found = _UNAUTHORIZED.search(cause)
    if not found:
        return "a privilege"
    names = found["names"].replace(",", " or ")
    return f"the {found['kind']} privilege {names}, for {found['action']},"


def _root_cause(error: ApiError) -> str:
    """The first of Elasticsearch's own reasons, "" if it gave none."""
    described = error.body.get("error") if isinstance(error.body, dict) else None
    causes = described.get("root_cause") if isinstance(described, dict) else None
    return str(causes[0].get("reason", "")) if causes else ""
