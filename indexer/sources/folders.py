"""Which files of a folder may hold posts, and what to do about one that cannot be read."""

import os
from pathlib import Path

from indexer.errors import SourceError

_NEVER = frozenset(("node_modules", "vendor", "__pycache__", "bower_components"))


def files_in(
    place: Path, suffixes: tuple[str, ...], skipped: frozenset[str] = _NEVER
) -> list[Path]:
    """The files with one of the suffixes below a folder, in the order of their paths.

    Hidden folders and `skipped` ones are left out, and links to folders not followed: they may
    lead in a circle. A file named itself is the only one.

    Raises:
        SourceError: a folder that may not be looked into; its posts would pass for removed.
    """
    if place.is_file():
        return [place]
    found = []
    for folder, folders, names in os.walk(place, onerror=_refuse):
        folders[:] = [name for name in folders if name[0] != "." and name not in skipped | _NEVER]
        found += [
            Path(folder, name)
            for name in names
            if name.lower().endswith(suffixes) and name[0] != "."
        ]
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise SourceError(f"{error.filename}: {error.strerror or error}.", remedy_of(error)) from error


def remedy_of(error: OSError) -> str:
    """What to do about a file that is listed and cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "It is a link that leads nowhere, or has just gone: mend it, or delete it."
    return "See who may read it."
