"""Lists, opens, decompresses and decodes local files."""

import codecs
import errno
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, cast

from indexer.errors import SourceError

IGNORED_FOLDERS = ("node_modules", "bower_components", "__pycache__")
"""Folders of tools; they hold no content, whatever the generator."""
MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
OTHER_MARKUP = (
    *(".org", ".adoc", ".asciidoc", ".rst", ".pandoc", ".pdc", ".textile", ".ipynb", ".mdoc"),
    *(".qmd", ".rmd", ".lhs", ".lr", ".mdx"),
)
"""Formats of posts that are not read."""
ABOUT_THE_FOLDER = (
    *("readme", "license", "changelog", "contributing", "code_of_conduct", "security"),
    *("authors", "history", "governance", "maintainers", "support", "agents", "claude"),
)
"""Files at the top of a repository that describe it, if they have no front matter."""


def files_in(place: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files with one of the suffixes below a folder, in the order of their paths.

    Hidden folders and folders of tools are left out. Symbolic links to folders are not followed:
    they may form a cycle. For a file, return only that file.

    Raises:
        SourceError: a folder cannot be read, and its posts would look removed; or a name is not
            UTF-8.
    """
    if place.is_file():
        return [place]
    files = []
    for folder, folders, names in os.walk(place, onerror=refuse_folder):
        own = (name for name in folders if name[0] != "." and name not in IGNORED_FOLDERS)
        folders[:] = [name for name in own if not name.endswith(".docset")]  # Jazzy's for Dash
        shown = [name for name in names if name[0] != "."]
        files += [Path(folder, name) for name in shown if name.lower().endswith(suffixes)]
    for file in files:
        if re.search("[\ud800-\udfff]", str(file)):  # Python's stand-ins for other bytes
            raise SourceError(f"The name of {str(file)!a} is not UTF-8.", "Rename the file.")
    return sorted(files)


def check_place(spec: str) -> None:
    """Check that a file or a folder can be read.

    Raises:
        SourceError: there is no such thing, it is a device, or the folder cannot be read.
    """
    try:
        mode = os.stat(spec).st_mode  # noqa: PTH116  # pathlib takes "" for the current folder
        if stat.S_ISDIR(mode):
            os.scandir(spec).close()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise SourceError(f"There is no file or folder {spec!r}.", "Check the spelling.") from error
    except OSError as error:
        refuse_folder(error)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise SourceError(f"{spec} is a device.", "Name a file, a folder, or - for input.")


def refuse_folder(error: OSError) -> NoReturn:
    """Refuse a folder that cannot be read; for `os.walk`."""
    raise SourceError(f"{error.filename}: {error.strerror or error}.", remedy_of(error)) from error


def remedy_of(error: OSError) -> str:
    """Return advice about a file that is listed but cannot be read."""
    if error.errno == errno.EFBIG:
        return "Split it, or leave it out."
    if error.errno == errno.ELOOP or isinstance(error, FileNotFoundError):
        return "It is a symbolic link to nothing or to itself, or was just deleted."
    if isinstance(error, OutsideFolder):
        return "Copy the file into the folder, or index the folder that it is in."
    if isinstance(error, PermissionError):
        user = os.geteuid()
        return f"Let the user {user}, who runs this command, read it: chmod -R a+rX FOLDER"
    return "Check its permissions."


class OutsideFolder(OSError):
    """A symbolic link out of the folder that is read, or a file that is not a regular one."""


def read_inside(file: Path, folder: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file that really lies in a folder.

    A link to `/proc/self/environ` would publish the service's secrets; a FIFO would block.

    Raises:
        OutsideFolder: it lies elsewhere, or is a FIFO or a device.
        OSError: it cannot be read, or has more than `max_bytes`.
    """
    try:
        real = file.resolve(strict=True)
    except RuntimeError as error:  # Python 3.13 raises OSError
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if not real.is_relative_to(folder.resolve()):
        raise OutsideFolder("a symbolic link to a file outside the folder")
    # O_NONBLOCK, because opening a FIFO would wait for a writer.
    handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(handle, "rb") as stream:  # noqa: PTH123  # pathlib opens no descriptors
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OutsideFolder("not a regular file")
        if status.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"the file has more than {max_bytes:,} bytes")
        return stream.read(max_bytes + 1)


Stream: TypeAlias = "io.BufferedReader[Any]"

_GZIP = b"\x1f\x8b"


class File:
    """A file, or standard input (`-`), that is read from its beginning to its end."""

    def __init__(self, spec: str) -> None:
        self.name = "standard input" if spec == "-" else spec
        self._spec = spec
        self._copy: Any = None
        if spec != "-" and Path(spec).is_dir():
            raise SourceError(f"{spec} is a folder, not a file.", "Name a file in it.")

    @contextmanager
    def opened(self) -> Iterator[Stream]:
        """Open the decompressed content.

        Raises:
            SourceError: also for a fault during reading, such as a .gz that ends early.
        """
        if self._spec == "-":
            stream: Stream = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer))
            try:
                with _unzip(stream, self.name) as content:
                    yield content
            finally:
                stream.detach()  # closing it would close standard input
            return
        try:
            file = io.FileIO(self._spec)
        except OSError as error:
            raise SourceError(f"{self.name}: {error.strerror or error}.") from error
        with file, io.BufferedReader(file) as stream, _unzip(stream, self.name) as content:
            yield content

    def copied(self) -> "File":
        """Return the file, or a temporary copy of standard input or a FIFO, to read it
        repeatedly."""
        if self._spec != "-" and not Path(self._spec).is_fifo():
            return self
        copy = tempfile.NamedTemporaryFile()  # noqa: SIM115  # it is deleted with the copy
        with self.opened() as stream:
            shutil.copyfileobj(stream, copy)
        copy.flush()
        file = File(copy.name)
        file.name, file._copy = self.name, copy
        return file

    def content(self, max_bytes: int) -> bytes:
        """Return the whole decompressed content.

        Raises:
            SourceError: it has more than `max_bytes`, or cannot be read.
        """
        with self.opened() as stream:
            return _whole(stream, self.name, max_bytes)


def unzip_bytes(body: bytes, name: str, most: int) -> bytes:
    """Return the decompressed content of a response, at most `most` bytes.

    Raises:
        SourceError: it has more, or is damaged.
    """
    with _unzip(io.BufferedReader(io.BytesIO(body)), name) as stream:
        return _whole(stream, name, most)


@contextmanager
def _unzip(stream: Stream, name: str) -> Iterator[Stream]:
    """Decompress by the first bytes, not by the name: `.gz` is often missing or wrong."""
    try:
        is_zipped = stream.peek(2)[:2] == _GZIP
        yield io.BufferedReader(gzip.GzipFile(fileobj=stream)) if is_zipped else stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"{name} is damaged: {error}.", "Create it again.") from error
    except OSError as error:
        raise SourceError(f"{name}: {error.strerror or error}.") from error


def _whole(stream: Stream, name: str, most: int) -> bytes:
    content = stream.read(most + 1)
    if len(content) > most:
        reason = f"{name} has more than {most:,} bytes after decompression."
        raise SourceError(reason, "Split it, or leave it out.")
    return content


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_JAPANESE = ("euc_jp", "cp932")
_KANA = re.compile("[\u3041-\u30fa]{2}")
_DECLARED = re.compile(rb"""charset\s*=[\s"']*([\w.:-]+)""", re.IGNORECASE)
_HEAD = 2048


def decode(body: bytes, content_type: str = "") -> str:
    """Decode by the byte order mark, as UTF-8 if valid, as declared, as Japanese if that gives
    kana, as old exports of Movable Type do, or as Windows-1252.

    UTF-8 comes before the declared encoding: declarations are wrong more often than other text
    happens to be valid UTF-8. ISO-2022 comes first: it looks like plain ASCII.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    found = map(_DECLARED.search, (content_type.encode(), body[:_HEAD]))
    names = [match[1].decode("ascii", "replace").lower() for match in found if match]
    stateful = [name for name in names if name.startswith("iso-2022")]
    for encoding in (*stateful, "utf-8", *names, *_JAPANESE):
        # Latin-1 on the web means Windows-1252 (WHATWG Encoding, section 4.2).
        name = "cp1252" if encoding in ("iso-8859-1", "latin1", "ascii", "us-ascii") else encoding
        with suppress(UnicodeError, LookupError):  # `undefined` and `idna` raise a UnicodeError
            text = body.decode(name)
            if encoding not in _JAPANESE or _KANA.search(text):
                return text
    return body.decode("cp1252", "replace")
