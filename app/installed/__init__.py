"""The package `blogsearch` of the wheel, which has `app`, `indexer`, `analyzers` and `synonyms`
inside, so that they lie on no other package's files.

They import each other by these names, so their folder comes first in Python's path: `blogsearch`
itself where it is installed, the repository where that is used as it is.
"""

import sys
from pathlib import Path

_FOLDER = next(folder for folder in Path(__file__).resolve().parents if (folder / "app").is_dir())
sys.path.insert(0, str(_FOLDER))


def run() -> None:
    """The command `blogsearch`."""
    from app.cli import run as run_command

    run_command()
