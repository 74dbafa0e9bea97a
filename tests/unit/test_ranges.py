"""Some files of an archive, fetched by range requests from a server that breaks off or refuses."""

import io
import re
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devstack.ranges import NotInParts, digest, fetch_some
from devstack.terminal import DevstackError
from tests.tcp import in_thread

_FILES = {
    "app/web.js": b"w" * 700_000,
    "app/elasticsearch/lib/a.jar": bytes(range(256)) * 2_000,
    "app/elasticsearch/lib/b.jar": b"b" * 300_000,
    "app/plugins/c.jar": b"c" * 900_000,
    "app/bin/elasticsearch": b"#!/bin/sh\n",
    "app/plugins/d.jar": b"d" * 1_500_000,
}


class _Server(ThreadingHTTPServer):
    """Sends an archive; after so many bytes of `breaks` each the next answers break off."""

    archive = b""
    ranges = True
    breaks: list[int]
    sent = 0


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        archive = self.server.archive
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"])
        if not (match and self.server.ranges):
            self.send_response(200)
            self.send_header("Content-Length", str(len(archive)))
            self.end_headers()
            return
        size = len(archive)
        begin = int(match[1]) if match[1] else max(0, size - int(match[2]))
        end = int(match[2]) + 1 if match[1] else size
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        if match[1] and self.server.breaks:
            end = begin + self.server.breaks.pop(0)
        self.wfile.write(archive[begin:end])
        self.server.sent += end - begin

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[_Server]:
    server, written = _Server(("127.0.0.1", 0), _Handler), io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in _FILES.items():
            archive.writestr(name, content)
    server.archive, server.breaks = written.getvalue(), []
    with in_thread(server):
        yield server


def _is_wanted(name: str) -> bool:
    return "elasticsearch" in name


def _listing(archive: bytes) -> str:
    files = zipfile.ZipFile(io.BytesIO(archive)).infolist()
    return digest(file for file in files if _is_wanted(file.filename))


def _fetch(server: _Server, folder: Path, listing: str | None = None) -> dict[str, bytes]:
    url = f"http://127.0.0.1:{server.server_address[1]}/a.zip"
    listing = listing or _listing(server.archive)
    fetch_some(url, _is_wanted, listing, folder / "a.zip", folder / "out")
    assert not list(folder.glob("a.*"))
    out = folder / "out"
    return {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*.*")} | {
        "app/bin/elasticsearch": (out / "app/bin/elasticsearch").read_bytes()
    }


def test_only_the_wanted_files_are_received(server: _Server, tmp_path: Path) -> None:
    wanted = {name: content for name, content in _FILES.items() if _is_wanted(name)}
    assert _fetch(server, tmp_path) == wanted
    # The list, at most a megabyte, and these files; not those before and between them.
    assert server.sent < (1 << 20) + sum(map(len, wanted.values())) + 10_000


def test_a_broken_connection_is_opened_again(server: _Server, tmp_path: Path) -> None:
    server.breaks = [100_000, 0, 250_000]
    assert _fetch(server, tmp_path)["app/elasticsearch/lib/b.jar"] == b"b" * 300_000


def test_the_next_call_goes_on(server: _Server, tmp_path: Path) -> None:
    server.breaks = [400_000, *[0] * 5]
    with pytest.raises(DevstackError, match="continues"):
        _fetch(server, tmp_path)
    server.sent = 0
    _fetch(server, tmp_path)
    assert server.sent < (1 << 20) + 812_000 - 400_000 + 10_000


def test_what_is_not_the_expected_archive_is_refused(server: _Server, tmp_path: Path) -> None:
    listing = _listing(server.archive)
    server.archive = server.archive.replace(b"lib/b.jar", b"lib/x.jar")
    with pytest.raises(DevstackError, match="other files"):
        _fetch(server, tmp_path, listing)


def test_a_changed_byte_is_found(server: _Server, tmp_path: Path) -> None:
    server.archive = server.archive.replace(b"b" * 1000, b"b" * 999 + b"x", 1)
    with pytest.raises(DevstackError, match="not received completely"):
        _fetch(server, tmp_path)


def test_a_server_without_ranges(server: _Server, tmp_path: Path) -> None:
    server.ranges = False
    with pytest.raises(NotInParts):
        _fetch(server, tmp_path)
