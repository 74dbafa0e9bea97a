"""Limits of rule files that are reached by much text only."""

from pathlib import Path

import pytest

from analyzers.rules.compile import Rules
from analyzers.rules.groups import MAX_PAIRS
from analyzers.rules.parse import MAX_EQUIVALENTS


def _lists() -> str:
    """Lists of equivalents, of which each word gets all others."""
    size = MAX_EQUIVALENTS
    lines = MAX_PAIRS // size**2 + 1
    lists = ([f"word{line}x{number}" for number in range(size)] for line in range(lines))
    return "\n".join(map(", ".join, lists))


def _contractions() -> str:
    """Lists of words, each of which becomes many others."""
    lines = []
    for line in range(21):
        left = ", ".join(f"left{line}-{number}" for number in range(1_000))
        right = ", ".join(f"right{line}-{number}" for number in range(100))
        lines.append(f"{left} => {right}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a, b\n" * 100_002, "too_many_rules"),
        (_lists(), "too_many_pairs"),
        (_contractions(), "too_many_followed"),
    ],
)
def test_too_much_is_an_error(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "own.synonyms"
    file.write_text(text)
    assert [error.code for error in Rules([file]).errors] == [code]
