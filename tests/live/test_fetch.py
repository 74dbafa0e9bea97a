"""Fetching from a real server on this machine that does everything a server should not."""

import gzip
import resource
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from indexer.fetch import (
    AddressRefused,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchOptions,
    PageStore,
    Robots,
    transport,
)
from indexer.retry import Retry

Server = Any  # tests/live/conftest.py
Answer = Callable[[BaseHTTPRequestHandler], None]
QUICK = {
    "allow_private": True,
    "read_timeout": 0.5,
    "deadline": 3.0,
    "retry": Retry(total=1.0, first_pause=0.01),
}


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


def stalling(seconds: float) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        request.close_connection = True

    return answer


def fetch(url: str, **options: Any) -> Fetched:
    with Fetcher(FetchOptions(**{**QUICK, **options})) as fetcher:
        return fetcher.get(url)


def test_a_page_and_how_we_present_ourselves(server: Server) -> None:
    server.answers["/a"] = plain(b"<p>hi", Content_Type="text/html", ETag='"1"', Set_Cookie="a=b")
    with Fetcher(FetchOptions(user_agent="blogsearch/1 (+x)", **QUICK)) as fetcher:
        response = fetcher.get(server.url("/a#part"))
        fetcher.get(server.url("/a"))
    assert response == Fetched(server.url("/a"), b"<p>hi", "text/html", '"1"', "")
    path, headers = server.asked[1]
    assert path == "/a"
    assert headers["User-Agent"] == "blogsearch/1 (+x)"
    assert "Cookie" not in headers


def test_the_proxy_of_the_environment_is_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    server.answers["/"] = plain(b"x")
    assert fetch(server.url("/")).body == b"x"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_fault_that_passes_is_waited_out(server: Server, status: int) -> None:
    server.answers["/"] = in_turn(plain(b"", status), plain(b"", status), plain(b"x"))
    assert fetch(server.url("/")).body == b"x"
    assert len(server.asked) == 3


def test_a_fault_that_stays_is_told(server: Server) -> None:
    server.answers["/"] = plain(b"", 503)
    with pytest.raises(FetchFailed, match="answered 503 Service Unavailable") as caught:
        fetch(server.url("/"))
    assert caught.value.response_status == 503
    assert len(server.asked) > 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 204, 304, 306])
def test_other_answers_are_final(server: Server, status: int) -> None:
    server.answers["/"] = plain(b"", status)
    with pytest.raises(FetchFailed, match=f"answered {status}"):
        fetch(server.url("/"))
    assert len(server.asked) == 1


def test_retry_after_is_honoured(server: Server) -> None:
    server.answers["/"] = in_turn(plain(b"", 503, Retry_After="1"), plain(b"x"))
    start = time.monotonic()
    assert fetch(server.url("/")).body == b"x"
    assert time.monotonic() - start > 0.9


@pytest.mark.parametrize("value", ["86400", "9" * 5000, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_retry_after_is_capped(server: Server, value: str) -> None:
    server.answers["/"] = in_turn(plain(b"", 503, Retry_After=value), plain(b"x"))
    assert fetch(server.url("/"), retry_after_max=0).body == b"x"


def test_retry_after_past_the_deadline_is_not_waited_for(server: Server) -> None:
    server.answers["/"] = plain(b"", 503, Retry_After="20")
    start = time.monotonic()
    with pytest.raises(FetchFailed, match="503"):
        fetch(server.url("/"))
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("value", ["soon", "-1", ""])
def test_a_retry_after_that_is_none(server: Server, value: str) -> None:
    server.answers["/"] = in_turn(plain(b"", 503, Retry_After=value), plain(b"x"))
    assert fetch(server.url("/")).body == b"x"


HEADER = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"


@pytest.mark.parametrize(
    "fault",
    [
        broken(b""),
        broken(b"", reset=True),
        broken(HEADER + b"12345"),
        broken(HEADER + b"12345", reset=True),
        broken(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123"),
        broken(b"SSH-2.0-OpenSSH\r\n"),
        plain(b"no gzip at all", Content_Encoding="gzip"),
        stalling(0.8),
    ],
    ids=["end", "reset", "short", "short-reset", "chunk", "no-http", "no-gzip", "stall"],
)
def test_a_broken_answer_is_asked_for_again(server: Server, fault: Answer) -> None:
    server.answers["/"] = in_turn(fault, plain(b"x"))
    assert fetch(server.url("/")).body == b"x"
    server.answers["/"] = fault
    with pytest.raises(FetchFailed, match="incomplete"):
        fetch(server.url("/"), retry=Retry(total=0.05, first_pause=0.02))


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(FetchFailed, match=r"no connection: .*refused"):
        fetch(f"http://127.0.0.1:{port}/")


def test_a_length_too_small_ends_there(server: Server) -> None:
    server.answers["/"] = plain(b"0123456789", Content_Length="4")
    assert fetch(server.url("/")).body == b"0123"


@pytest.mark.parametrize(
    ("sent", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08" + b"\0" * 6, b"n"),
    ],
    ids=["headers", "header", "body", "length", "chunked", "gzip-name"],
)
def test_a_server_that_drips_does_not_hold_us(server: Server, sent: bytes, drop: bytes) -> None:
    server.answers["/"] = dripping(sent, drop, every=0.1)
    start = time.monotonic()
    with pytest.raises(FetchFailed, match=r"incomplete|time was up"):
        fetch(server.url("/"), deadline=0.7)
    assert time.monotonic() - start < 10  # it never ends by itself


def test_no_wait_goes_past_the_deadline(server: Server) -> None:
    server.answers["/"] = stalling(3)
    start = time.monotonic()
    with pytest.raises(FetchFailed, match="incomplete"):
        fetch(server.url("/"), read_timeout=10, deadline=0.5)
    assert time.monotonic() - start < 2.5


def test_redirects_are_followed(server: Server) -> None:
    server.answers |= {"/1": moved("/2", 301), "/2": moved("3?x=1#y", 308), "/3?x=1": plain(b"x")}
    assert fetch(server.url("/1")).url == server.url("/3?x=1")


def test_a_redirect_in_utf8(server: Server) -> None:
    raw = "HTTP/1.1 302 Found\r\nLocation: /é\r\nContent-Length: 0\r\n\r\n".encode()
    server.answers |= {"/1": broken(raw), "/%C3%A9": plain(b"x")}
    assert fetch(server.url("/1")).body == b"x"


def test_circles_and_long_chains_of_redirects_end(server: Server) -> None:
    server.answers |= {"/a": moved("/b"), "/b": moved("/a#x")}
    server.answers |= {f"/{step}": moved(f"/{step + 1}") for step in range(9)}
    with pytest.raises(FetchFailed, match="loop"):
        fetch(server.url("/a"))
    with pytest.raises(FetchFailed, match="too often"):
        fetch(server.url("/0"))
    assert [path for path, _ in server.asked] == ["/a", "/b", *(f"/{step}" for step in range(6))]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x", "//["])
def test_redirects_to_elsewhere_are_refused(server: Server, target: str) -> None:
    server.answers["/"] = moved(target)
    with pytest.raises(FetchFailed):
        fetch(server.url("/"))


def test_more_than_the_limit_is_refused(server: Server) -> None:
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n%b\r\n" % (
        b"x" * 1024
    )
    server.answers |= {
        "/announced": plain(b"x" * 1001),
        "/chunked": broken(endless + b"0\r\n\r\n"),
        "/fits": plain(b"x" * 1000),
    }
    for path in ("/announced", "/chunked"):
        with pytest.raises(FetchFailed, match="more than 1,000 bytes"):
            fetch(server.url(path), max_bytes=1000)
    assert len(fetch(server.url("/fits"), max_bytes=1000).body) == 1000


def test_a_body_announced_too_large_is_not_waited_for(server: Server) -> None:
    server.answers["/"] = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", b"x", 0.1)
    start = time.monotonic()
    with pytest.raises(FetchFailed, match="more than 1,000 bytes"):
        fetch(server.url("/"), max_bytes=1000)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_is_not_unpacked(server: Server, layers: int) -> None:
    bomb = b"\0" * 300_000_000
    for _ in range(layers):
        bomb = gzip.compress(bomb, 1 if len(bomb) > 1e7 else 9)
    server.answers["/"] = plain(bomb, Content_Encoding=", ".join(["gzip"] * layers))
    start = time.process_time()
    with pytest.raises(FetchFailed, match="more than 1,000,000 bytes"):
        fetch(server.url("/"), max_bytes=1_000_000)
    assert time.process_time() - start < 0.5


def test_gzip_is_unpacked(server: Server) -> None:
    server.answers["/"] = plain(gzip.compress(b"hello"), Content_Encoding="gzip")
    assert fetch(server.url("/")).body == b"hello"
    assert "gzip" in server.asked[0][1]["Accept-Encoding"]


def test_conditional_requests(server: Server, tmp_path: Path) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        fresh = plain(b"body", ETag='"1"', Last_Modified="Wed, 31 Jan 2024 09:30:00 GMT")
        known = request.headers["If-None-Match"] == '"1"' and request.headers["If-Modified-Since"]
        (plain(b"", 304) if known else fresh)(request)

    server.answers["/"] = answer
    for _ in range(2):
        with Fetcher(FetchOptions(**QUICK), PageStore(tmp_path)) as fetcher:
            assert fetcher.get(server.url("/")).body == b"body"
    assert "If-None-Match" not in server.asked[0][1]
    assert server.asked[1][1]["If-None-Match"] == '"1"'
    server.answers["/"] = plain(b"new", ETag='"2"')
    with Fetcher(FetchOptions(**QUICK), PageStore(tmp_path)) as fetcher:
        assert fetcher.get(server.url("/")).body == b"new"
        assert fetcher.get(server.url("/")).etag == '"2"'


def test_a_damaged_store_is_no_store(server: Server, tmp_path: Path) -> None:
    store = PageStore(tmp_path)
    server.answers["/"] = plain(b"x", ETag='"1"')
    with Fetcher(FetchOptions(**QUICK), store) as fetcher:
        fetcher.get(server.url("/"))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:20], whole[:-3], whole[:-3] + b"xyz", b"", b"[]\n"):
        file.write_bytes(damaged)
        assert store.get(server.url("/")) is None
    file.write_bytes(whole)
    assert store.get(server.url("/")) is not None


def test_a_store_that_fails_loses_only_what_it_would_keep(server: Server, tmp_path: Path) -> None:
    warnings: list[str] = []
    store = PageStore(tmp_path / "pages", warnings.append)
    (tmp_path / "pages").rmdir()
    for path in ("/1", "/2"):
        server.answers[path] = plain(b"x", ETag='"1"')
        with Fetcher(FetchOptions(**QUICK), store) as fetcher:
            assert fetcher.get(server.url(path)).body == b"x"
    assert len(warnings) == 1
    assert str(tmp_path / "pages") in warnings[0]
    assert "No such file" in warnings[0]


def test_a_store_that_cannot_be_written_has_no_half_page(tmp_path: Path) -> None:
    warnings: list[str] = []
    store = PageStore(tmp_path, warnings.append)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))  # bytes, as if the disk were full
    try:
        store.put("https://example.org/", Fetched("https://example.org/", b"x", etag='"1"'))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert warnings == [f"Fetched pages are not stored in {tmp_path}: File too large."]
    assert not list(tmp_path.iterdir())


# -- addresses inside the own network --------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0"),
        *("[::1]", "[::ffff:127.0.0.1]", "[::]", "10.0.0.1", "169.254.169.254", "192.168.0.1"),
    ],
)
def test_private_addresses_are_refused(server: Server, host: str) -> None:
    with pytest.raises(AddressRefused, match="BLOGSEARCH_FETCH_ALLOW_PRIVATE"):
        fetch(server.url("/", host), allow_private=False)
    assert not server.asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("fec0::1", False),
        ("192.0.0.8", False),
        ("192.88.99.1", False),
        ("3fff::1", False),
        ("64:ff9b:1::7f00:1", False),
        ("::127.0.0.1", False),
        ("172.16.0.1", False),
        ("100.64.0.1", False),
        ("192.0.2.1", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("239.255.255.250", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("fc00::1", False),
        ("fe80::1%eth0", False),
        ("ff02::1", False),
        ("ff0e::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:db8::1", False),
    ],
)
def test_what_is_public(address: str, public: bool) -> None:
    assert transport.is_public(address) is public


def test_a_redirect_into_the_own_network_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "is_public", lambda address: address == "127.0.0.1")
    server.answers["/"] = moved(server.url("/secret", "127.0.0.2"))
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.2"):
        fetch(server.url("/"), allow_private=False)
    assert [path for path, _ in server.asked] == ["/"]


def test_the_address_looked_at_is_the_address_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means another machine each time it is asked for (DNS rebinding)."""
    answers = iter(["127.0.0.1", "127.0.0.2"])
    real = socket.getaddrinfo

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        return real(next(answers) if host == "rebind.test" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(transport, "is_public", lambda address: address == "127.0.0.1")
    server.answers["/"] = plain(b"x")
    assert fetch(server.url("/", "rebind.test"), allow_private=False).body == b"x"
    assert server.asked[0][1]["Host"] == f"rebind.test:{server.port}"
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.2"):
        fetch(server.url("/", "rebind.test"), allow_private=False)


def test_files_are_not_fetched() -> None:
    with pytest.raises(FetchFailed, match="neither http nor https"):
        fetch("file:///etc/passwd")


@pytest.mark.parametrize(
    "url", ["ftp://a/", "javascript:1", "", "a", "http://", "http://[", "http://a b/"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(FetchFailed):
        fetch(url)


def test_a_password_is_neither_sent_nor_shown() -> None:
    with pytest.raises(FetchFailed, match="Remove them") as caught:
        fetch("http://me:geheim@127.0.0.1/")
    assert "geheim" not in str(caught.value)


# -- robots.txt ------------------------------------------------------------------------------------


def test_robots(server: Server) -> None:
    rules = (
        b"User-agent: other\nDisallow: /\n\nUser-agent: blogsearch\nDisallow: /no\nCrawl-delay: 2"
    )
    server.answers["/robots.txt"] = plain(rules)
    with Fetcher(FetchOptions(user_agent="blogsearch/1 (+x)", **QUICK)) as fetcher:
        robots = Robots(fetcher)
        assert robots.allows(server.url("/yes"))
        assert not robots.allows(server.url("/no/2"))
        assert robots.delay(server.url("/yes")) == 2
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [plain(b"", 404), plain(b"", 403), plain(b"\xff\xfe<html>nonsense\0")],
    ids=["404", "403", "nonsense"],
)
def test_without_robots_everything_is_allowed(server: Server, answer: Answer) -> None:
    server.answers["/robots.txt"] = answer
    with Fetcher(FetchOptions(**QUICK)) as fetcher:
        assert Robots(fetcher).allows(server.url("/"))


@pytest.mark.parametrize("answer", [plain(b"", 500), broken(b"")], ids=["500", "broken"])
def test_robots_that_cannot_be_had_are_an_error(server: Server, answer: Answer) -> None:
    server.answers["/robots.txt"] = answer
    with Fetcher(FetchOptions(**QUICK)) as fetcher:
        robots = Robots(fetcher)
        with pytest.raises(FetchFailed, match=r"/robots.txt: .*; without it nothing"):
            robots.allows(server.url("/"))
        asked = len(server.asked)
        with pytest.raises(FetchFailed, match="without it nothing"):
            robots.allows(server.url("/another"))
    assert len(server.asked) == asked
