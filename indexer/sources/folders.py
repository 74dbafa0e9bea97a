"""Which files of a folder may hold posts."""

import os
from pathlib import Path

_NEVER = frozenset(("node_modules", "vendor", "__pycache__", "bower_components"))


def files_in(
    place: Path, suffixes: tuple[str, ...], skipped: frozenset[str] = _NEVER
) -> list[Path]:
    """The files with one of the suffixes below a folder, in the order of their paths.

    Hidden folders and `skipped` ones are left out, and links to folders not followed: they may
    lead in a circle. A file named itself is the only one.
    """
    if place.is_file():
        return [place]
    found = []
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name[0] != "." and name not in skipped | _NEVER]
        found += [
            Path(folder, name)
            for name in names
            if name.lower().endswith(suffixes) and name[0] != "."
        ]
    return sorted(found)
