"""Fetching from a real server on this machine that does everything a server should not."""

import gzip
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from indexer.sources import fetch as fetching
from indexer.sources.fetch import (
    AddressRefused,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchOptions,
    Robots,
)

Server = Any  # tests/live/conftest.py
Answer = Callable[[BaseHTTPRequestHandler], None]
QUICK: dict[str, Any] = {
    "allow_private": True,
    "read_timeout": 0.5,
    "deadline": 3.0,
    "first_pause": 0.01,
}
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def plain(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def moved(to: str, status: int = 302) -> Answer:
    return plain(b"", status, Location=to)


def in_turn(*answers: Answer) -> Answer:
    left = iter(answers)
    return lambda request: next(left)(request)


def broken(sent: bytes, *, reset: bool = False) -> Answer:
    """Sends these bytes, and then ends the connection."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(sent)
        request.wfile.flush()
        if reset:
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        request.close_connection = True
        request.connection.close()

    return answer


def dripping(sent: bytes, drop: bytes, every: float) -> Answer:
    """Sends these bytes, and then one small piece now and then, for up to 10 s."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(sent)
        for _ in range(int(10 / every)):
            time.sleep(every)
            try:
                request.wfile.write(drop)
                request.wfile.flush()
            except OSError:
                break
        request.close_connection = True

    return answer


def fetch(url: str, **options: Any) -> Fetched:
    with Fetcher(FetchOptions(**{**QUICK, **options})) as fetcher:
        return fetcher.get(url)


def test_a_page_and_how_we_present_ourselves(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    body = gzip.compress(b"<p>hi")
    headers: dict[str, Any] = {
        "Content_Type": "text/html",
        "X_Robots_Tag": "noindex",
        "Set_Cookie": "a=b",
    }
    server.answers["/a"] = plain(body, Content_Encoding="gzip", **headers)
    with Fetcher(FetchOptions(user_agent="blogsearch/1 (+x)", **QUICK)) as fetcher:
        response = fetcher.get(server.url("/a#part"))
        fetcher.get(server.url("/a"))
    assert response == Fetched(server.url("/a"), b"<p>hi", "text/html", response.headers)
    assert response.headers["x-robots-tag"] == "noindex"
    path, sent = server.asked[1]
    assert path == "/a"
    assert sent["User-Agent"] == "blogsearch/1 (+x)"
    assert "Cookie" not in sent


@pytest.mark.parametrize("status", [429, 503])
def test_a_fault_that_passes_is_waited_out(server: Server, status: int) -> None:
    server.answers["/"] = in_turn(plain(b"", status), plain(b"", status), plain(b"x"))
    assert fetch(server.url("/")).body == b"x"
    server.answers["/"] = plain(b"", status)
    with pytest.raises(FetchFailed, match=f"answered {status} ") as caught:
        fetch(server.url("/"), retries=2)
    assert caught.value.response_status == status
    assert len(server.asked) == 6


def test_other_answers_are_final(server: Server) -> None:
    statuses = (400, 401, 403, 404, 410, 204, 304, 306)
    for status in statuses:
        server.answers["/"] = plain(b"", status)
        with pytest.raises(FetchFailed, match=f"answered {status}"):
            fetch(server.url("/"))
    assert len(server.asked) == len(statuses)


@pytest.mark.parametrize(
    "fault",
    [
        broken(b""),
        broken(b"", reset=True),
        broken(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"),
        broken(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", reset=True),
        broken(b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"5\r\n123"),
        broken(b"SSH-2.0-OpenSSH\r\n"),
        plain(b"no gzip at all", Content_Encoding="gzip"),
        dripping(b"", b"", every=0.8),
    ],
    ids=["end", "reset", "short", "short-reset", "chunk", "no-http", "no-gzip", "stall"],
)
def test_a_broken_answer_is_an_error(server: Server, fault: Answer) -> None:
    server.answers["/"] = fault
    with pytest.raises(FetchFailed, match="incomplete"):
        fetch(server.url("/"), retries=1)


@pytest.mark.parametrize(
    ("sent", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n" + CHUNKED, b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08" + b"\0" * 6, b"n"),
        (b"", b""),
    ],
    ids=["header", "length", "chunked", "gzip-name", "nothing"],
)
def test_a_server_that_drips_does_not_hold_us(server: Server, sent: bytes, drop: bytes) -> None:
    server.answers["/"] = dripping(sent, drop, every=0.1)
    start = time.monotonic()
    with pytest.raises(FetchFailed, match="within the time limit"):
        fetch(server.url("/"), read_timeout=20, deadline=0.7)
    assert time.monotonic() - start < 10  # it ends by itself after that


def test_redirects_are_followed(server: Server) -> None:
    raw = "HTTP/1.1 302 Found\r\nLocation: /é\r\nContent-Length: 0\r\n\r\n".encode()
    server.answers |= {"/1": moved("/2", 301), "/2": moved("3?x=1#y", 308)}
    server.answers |= {"/3?x=1": broken(raw), "/%C3%A9": plain(b"x")}
    assert fetch(server.url("/1")) == Fetched(server.url("/%C3%A9"), b"x")
    server.answers |= {"/a": moved("/b"), "/b": moved("/a#x")}
    with pytest.raises(FetchFailed, match="too many redirects"):
        fetch(server.url("/a"), max_redirects=3)


def test_redirects_to_elsewhere_are_refused(server: Server) -> None:
    for target in ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x", "//[", "http://a:b@c/"):
        server.answers["/"] = moved(target)
        with pytest.raises(FetchFailed):
            fetch(server.url("/"))


def test_more_than_the_limit_is_refused(server: Server) -> None:
    announced = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
    chunk = b"400\r\n%b\r\n" % (b"x" * 1024)
    server.answers |= {
        "/announced": dripping(announced, b"x", 0.1),
        "/chunked": broken(b"HTTP/1.1 200 OK\r\n" + CHUNKED + chunk + b"0\r\n\r\n"),
        "/fits": plain(b"x" * 1000),
    }
    for path in ("/announced", "/chunked"):
        with pytest.raises(FetchFailed, match="more than 1,000 bytes"):
            fetch(server.url(path), max_bytes=1000)
    assert len(fetch(server.url("/fits"), max_bytes=1000).body) == 1000


@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_is_not_unpacked(server: Server, layers: int) -> None:
    bomb = b"".join([gzip.compress(b"\0" * 10_000_000)] * 60)  # members of one file
    if layers == 2:
        bomb = gzip.compress(bomb)
    server.answers["/"] = plain(bomb, Content_Encoding=", ".join(["gzip"] * layers))
    start = time.process_time()
    with pytest.raises(FetchFailed, match="more than 1,000,000 bytes"):
        fetch(server.url("/"), max_bytes=1_000_000)
    assert time.process_time() - start < 0.5


# -- addresses inside the own network --------------------------------------------------------------


PRIVATE = (
    *("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0"),
    *("[::1]", "[::ffff:127.0.0.1]", "[::]", "10.0.0.1", "169.254.169.254", "192.168.0.1"),
)


def test_private_addresses_are_refused(server: Server) -> None:
    for host in PRIVATE:
        with pytest.raises(AddressRefused, match="BLOGSEARCH_FETCH_ALLOW_PRIVATE"):
            fetch(server.url("/", host), allow_private=False)
    assert not server.asked


PUBLIC = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808")
NOT_PUBLIC = (
    *("fec0::1", "192.0.0.8", "192.88.99.1", "3fff::1", "64:ff9b:1::7f00:1", "::127.0.0.1"),
    *("172.16.0.1", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.255.255.250"),
    *("240.0.0.1", "255.255.255.255", "fc00::1", "fe80::1%eth0", "ff02::1", "ff0e::1"),
    *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001:0:7f00:1::"),
)


def test_what_is_public() -> None:
    assert [address for address in (*PUBLIC, *NOT_PUBLIC) if fetching.is_public(address)] == [
        *PUBLIC
    ]


def test_redirects_and_rebound_names_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means another machine each time it is asked for (DNS rebinding)."""
    answers = iter(["127.0.0.1", "127.0.0.2"])
    real = socket.getaddrinfo

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        return real(next(answers) if host == "rebind.test" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")
    server.answers |= {"/": plain(b"x"), "/moved": moved(server.url("/secret", "127.0.0.2"))}
    assert fetch(server.url("/", "rebind.test"), allow_private=False).body == b"x"
    assert server.asked[0][1]["Host"] == f"rebind.test:{server.port}"
    for url in (server.url("/", "rebind.test"), server.url("/moved")):
        with pytest.raises(AddressRefused, match=r"127\.0\.0\.2"):
            fetch(url, allow_private=False)
    assert [path for path, _ in server.asked] == ["/", "/moved"]


def test_what_is_no_address_and_passwords_are_not_shown() -> None:
    for url in (
        *("ftp://a/", "javascript:1", "", "a", "http://", "http://[", "http://a b/"),
        *("file:///etc/passwd", "http://me:geheim@127.0.0.1/", "http://me:geheim/@x/"),
    ):
        with pytest.raises(FetchFailed) as caught:
            fetch(url)
        assert "geheim" not in str(caught.value)


# -- robots.txt ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (plain(b"", 404), True),
        (plain(b"", 403), True),
        (plain(b"\xff\xfe<html>nonsense\0"), True),
        (plain(b"", 500), False),
        (plain(b"", 429), False),
        (broken(b""), False),
    ],
    ids=["404", "403", "nonsense", "500", "429", "broken"],
)
def test_robots_that_are_not_there(server: Server, answer: Answer, allowed: bool) -> None:
    server.answers["/robots.txt"] = answer
    with Fetcher(FetchOptions(**QUICK)) as fetcher:
        robots = Robots(fetcher)
        for path in ("/", "/another"):
            if allowed:
                assert robots.allows(server.url(path))
                continue
            with pytest.raises(FetchFailed, match=r"/robots.txt: .*; no page of the site"):
                robots.allows(server.url(path))
    assert len(server.asked) <= 4  # asked for once, with its retries
