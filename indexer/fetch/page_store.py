"""A folder that keeps fetched pages between runs, for conditional requests."""

import hashlib
import os
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path

import orjson

from indexer.fetch.types import Fetched


class PageStore:
    """One file per page; any file may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        handle, name = tempfile.mkstemp(dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(orjson.dumps(head) + b"\n" + zlib.compress(fetched.body))
            Path(name).replace(self._file(url))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _file(self, url: str) -> Path:
        return self._folder / hashlib.sha256(url.encode()).hexdigest()
