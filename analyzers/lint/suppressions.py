"""Which findings are told: those of the files asked about, but for what the files allow themselves.

A keeper who means what a warning is about says so in the file, in a comment of its own:

    # check-allow: same_stem, frequent_word

It holds for the whole file, and for warnings only.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from analyzers.findings import Finding

_HEAD = 64 * 1024  # bytes from the beginning of a file in which allowances are looked for
_ALLOW = re.compile(r"^\s*#\s*check-allow:\s*([\w ,]+?)\s*$", re.MULTILINE)


def allowed(path: Path) -> frozenset[str]:
    """The codes of the warnings that a readable rule file allows itself; none for any other."""
    try:
        if not path.is_file():
            return frozenset()
        with path.open("rb") as handle:
            head = handle.read(_HEAD).decode("utf-8", "ignore")
    except OSError:
        return frozenset()
    return frozenset(code for found in _ALLOW.findall(head) for code in re.split(r"[\s,]+", found))


def in_files(findings: Iterable[Finding], names: Collection[str]) -> list[Finding]:
    """The findings to tell about these files: all in them, and errors wherever they are."""
    wanted = {found for found in findings if found.file in names or found.severity == "error"}
    return sorted(wanted, key=lambda found: (found.file, found.line, found.code, found.message))
