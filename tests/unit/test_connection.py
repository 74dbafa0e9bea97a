"""What Elasticsearch, or something else at its address, answers over HTTP without TLS."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from elasticsearch import ConnectionError as NoConnection

from app.engines.elastic import connect
from app.settings import Settings

_HEAD = b"HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\nContent-Type: application/json\r\n"
_BODY = b'{"version": {"number": "9.4.3"}}'
_OF_LENGTH = _HEAD + b"Content-Length: %d\r\n" % len(_BODY)


@contextmanager
def _answering(
    *connections: Sequence[bytes], ended: threading.Event | None = None
) -> Iterator[str]:
    """The URL of a server that answers the requests of each connection in turn, and closes it;
    then it has `ended`."""

    def serve() -> None:
        for answers in connections:
            accepted, _ = listener.accept()
            with accepted:
                for answer in answers:
                    received = b""
                    while not received.endswith(b"\r\n\r\n"):
                        received += accepted.recv(65_536)
                    accepted.sendall(answer)
            if ended:
                ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


@pytest.mark.parametrize(
    "answer",
    [
        _OF_LENGTH + b"\r\n" + _BODY,
        _HEAD
        + b"Transfer-Encoding: chunked\r\n\r\n5\r\n%b\r\n%x;a=b\r\n%b\r\n0\r\nA: b\r\n\r\n"
        % (_BODY[:5], len(_BODY) - 5, _BODY[5:]),
    ],
)
def test_several_answers_come_over_one_connection(answer: bytes) -> None:
    with _answering([answer, answer]) as url, connect(Settings(elasticsearch_url=url)) as client:
        assert [client.info().body, client.info().body] == [{"version": {"number": "9.4.3"}}] * 2


@pytest.mark.parametrize("said", [b"Connection: close\r\n", b""])
def test_another_connection_is_opened_where_one_has_ended(said: bytes) -> None:
    answer = [_OF_LENGTH + said + b"\r\n" + _BODY]
    ended = threading.Event()
    with (
        _answering(answer, answer, ended=ended) as url,
        connect(Settings(elasticsearch_url=url)) as client,
    ):
        client.info()
        assert ended.wait(10)
        assert client.info()["version"] == {"number": "9.4.3"}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        _HEAD,
        _HEAD + b"\r\n",
        _OF_LENGTH + b"\r\n" + _BODY[:9],
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b" % (len(_BODY), _BODY[:9]),
    ],
)
def test_what_is_cut_or_no_http_is_no_answer(answer: bytes) -> None:
    with (
        _answering([answer]) as url,
        connect(Settings(elasticsearch_url=url)) as client,
        pytest.raises(NoConnection),
    ):
        client.info()
