"""Fetch some files of a zip archive over HTTP, by range requests, instead of all of it."""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import requests
from rich.console import Console
from rich.progress import DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from devstack.terminal import DevstackError

_END = 1 << 20  # bytes at the end of an archive, which have the list of files
_GAP = 1 << 18  # bytes: a smaller gap between two files does not get a separate request
_CHUNK = 1 << 16
_TIMEOUT_S = 30.0
_TRIES = 5  # requests in a row that bring nothing


class NotInParts(Exception):
    """The server does not have the archive, or does not send parts of it."""


def fetch_some(
    url: str, is_wanted: Callable[[str], bool], listing: str, partial: Path, out: Path
) -> None:
    """Unpack the wanted files of the archive at `url` into the folder `out`.

    Received data stays in the file `partial` until all files are unpacked, so that the next call
    can resume. The CRC-32 of each file is checked.

    Args:
        is_wanted: whether to unpack a file with this name in the archive.
        listing: the expected `digest` of the wanted files.

    Raises:
        NotInParts: the server does not have the archive, or sends only all of it.
        DevstackError: the archive is another one, or the connection broke repeatedly.
    """
    end, size = _end_of(url)
    received = partial.with_suffix(".received")
    if not (partial.exists() and partial.stat().st_size == size and received.exists()):
        received.write_text("0")
        with partial.open("wb") as file:
            file.truncate(size)  # sparse: no disk blocks where nothing is written
    with partial.open("r+b") as file:
        file.seek(size - len(end))
        file.write(end)
        try:
            with zipfile.ZipFile(file) as archive:
                wanted = [info for info in archive.infolist() if is_wanted(info.filename)]
                if (found := digest(wanted)) != listing:
                    raise DevstackError(
                        f"{url} has other files than expected: their list has {found}."
                    )
                _receive(url, list(_spans(archive, wanted)), file, received)
                archive.extractall(out, wanted)
        except zipfile.BadZipFile as error:
            received.unlink()
            raise DevstackError(f"{url} was not received completely: {error}. Try again.") from None
    partial.unlink()
    received.unlink()


def digest(files: Iterable[zipfile.ZipInfo]) -> str:
    """Return the SHA-256 of the names, sizes and CRC-32 of files."""
    lines = sorted(f"{file.filename} {file.file_size} {file.CRC:08x}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _end_of(url: str) -> tuple[bytes, int]:
    """Return the last bytes of a file, and its size."""
    try:
        with closing(_get(url, f"-{_END}")) as response:
            return response.content, int(response.headers["Content-Range"].rpartition("/")[2])
    except requests.RequestException as error:
        raise NotInParts(str(error)) from None


def _get(url: str, range_: str) -> requests.Response:
    """Request a part of a file.

    Raises:
        NotInParts: the response is not a part.
    """
    headers = {"Range": f"bytes={range_}", "Accept-Encoding": "identity"}
    response = requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S)
    range_sent = response.headers.get("Content-Range", "")
    if response.status_code != 206 or not re.fullmatch(r"bytes \d+-\d+/\d+", range_sent):
        response.close()  # the whole file would follow
        raise NotInParts(f"{url}: the server answered {response.status_code} instead of a part")
    return response


def _spans(archive: zipfile.ZipFile, wanted: list[zipfile.ZipInfo]) -> Iterator[tuple[int, int]]:
    """Return the starts and ends of files in the archive; files near each other share a span."""
    starts = sorted(info.header_offset for info in archive.infolist())
    ends = dict(zip(starts, [*starts[1:], archive.start_dir], strict=True))
    begin = end = -1
    for start in sorted(info.header_offset for info in wanted):
        if end < 0 or start - end > _GAP:
            if end >= 0:
                yield begin, end
            begin = start
        end = ends[start]
    if end >= 0:
        yield begin, end


def _receive(url: str, spans: list[tuple[int, int]], file: BinaryIO, received: Path) -> None:
    """Copy these spans of the archive to the same places in the file; resume an earlier call. After
    a broken connection, connect again."""
    done, failed = int(received.read_text()), 0
    columns = (TextColumn("{task.description}"), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        total = sum(end - start for start, end in spans)
        task = progress.add_task("devstack: downloading", total=total, completed=done)
        while done < total:
            before = done
            try:
                with closing(_get(url, _rest(spans, done))) as response:
                    file.seek(int(response.headers["Content-Range"].split()[1].partition("-")[0]))
                    for chunk in response.iter_content(_CHUNK):
                        file.write(chunk)
                        done += len(chunk)
                        progress.update(task, completed=done)
            except (requests.RequestException, NotInParts) as error:
                failed = 0 if done > before else failed + 1
                if failed == _TRIES:
                    raise DevstackError(
                        f"The download was interrupted: {error}. The next start continues it."
                    ) from None
            finally:
                file.flush()
                received.write_text(str(done))


def _rest(spans: list[tuple[int, int]], done: int) -> str:
    """Return the missing range of the first incomplete span."""
    for start, end in spans:
        if done < end - start:
            return f"{start + done}-{end - 1}"
        done -= end - start
    raise ValueError(f"{done} bytes more than all spans have")
