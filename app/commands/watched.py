"""What `--watch` looks at."""

from collections.abc import Sequence
from pathlib import Path

from watchfiles import Change, DefaultFilter


class Watched(DefaultFilter):
    """Changes of some files and folders, without editors' swap files and the like.

    A file is watched through its folder: many editors write another file and rename it, and a
    watch on the file itself would go with the old one.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self._paths = paths
        self.folders = sorted({path if path.is_dir() else path.parent for path in paths})

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change concerns us."""
        changed = Path(path)
        ours = any(changed == one or one in changed.parents for one in self._paths)
        return ours and super().__call__(change, path)
