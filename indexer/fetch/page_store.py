"""A folder that keeps fetched pages between runs, for conditional requests."""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import orjson

from indexer.fetch.types import Fetched


class PageStore:
    """One file per page; any file, and the folder, may be deleted at any time.

    It keeps bodies, not only validators: a source must yield every post on every run, because
    `sync` removes the posts that a source does not yield.

    `warn` is called once, when a page could not be stored: the next run then fetches it anew.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None] = lambda message: None) -> None:
        self._folder = folder
        self._warn = warn
        self._warned = False
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, url: str) -> Fetched | None:
        """The stored page; None when there is none or its file is damaged."""
        try:
            head, body = self._file(url).read_bytes().split(b"\n", 1)
            return Fetched(body=zlib.decompress(body), **orjson.loads(head))
        except (OSError, ValueError, TypeError, zlib.error):
            return None

    def put(self, url: str, fetched: Fetched) -> None:
        """Store a page that has a validator (ETag or Last-Modified); the write is atomic."""
        if not (fetched.etag or fetched.last_modified):
            return
        head = {name: value for name, value in asdict(fetched).items() if name != "body"}
        content = orjson.dumps(head) + b"\n" + zlib.compress(fetched.body)
        try:
            self._write(self._file(url), content)
        except OSError as error:
            if not self._warned:
                self._warned = True
                reason = error.strerror or error
                self._warn(f"Fetched pages are not stored in {self._folder}: {reason}.")

    def _write(self, file: Path, content: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _file(self, url: str) -> Path:
        return self._folder / hashlib.sha256(url.encode()).hexdigest()
