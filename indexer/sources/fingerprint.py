"""Whether a source is still what it was, without reading its posts."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from indexer.sources.base import Source, SourceOptions
from indexer.sources.files import IGNORED_FOLDERS
from indexer.sources.markdown.generators import site_of

_LOCAL = {"html", "jsonlines", "feed", "wordpress"}
_NOT_CONTENT = {"fetch", "store", "warn", "now"}


def fingerprint(sources: Iterable[Source], options: SourceOptions) -> str:
    """A digest of the options and of every file's path, size and times; "" if it cannot be known.

    It cannot for URLs, sitemaps and standard input. The configuration of a Markdown site counts
    too, which may lie above the folder. The time of the last status change cannot be set, so a file
    that was changed is noticed although its other times were restored.
    """
    settings = [
        getattr(options, each.name) for each in fields(options) if each.name not in _NOT_CONTENT
    ]
    digest = sha256(repr((version("blogsearch"), settings)).encode())
    for source in sources:
        place = Path(source.spec)
        if source.kind == "markdown":
            site = site_of(place)
            places = [site.root, *(root.folder for root in site.roots), place]
        elif source.kind in _LOCAL and (place.is_file() or place.is_dir()):
            places = [place]
        else:
            return ""
        digest.update(repr((source.kind, str(place.resolve()))).encode())
        for each in dict.fromkeys(each.resolve() for each in places):
            for line in _states(each):
                digest.update(line)
    return digest.hexdigest()


def _states(place: Path) -> Iterator[bytes]:
    if place.is_file():
        yield _state(place)
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(set(folders) - IGNORED_FOLDERS - {".git"})
        for name in sorted(names):
            yield _state(Path(folder, name))


def _state(file: Path) -> bytes:
    try:
        found = file.stat()
    except OSError as error:
        return f"{file} {error.errno}\n".encode("utf-8", "surrogateescape")
    state = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return f"{file} {state}\n".encode("utf-8", "surrogateescape")
