"""Limits of rule files that are reached by much text only."""

from pathlib import Path

import pytest

from analyzers.rules.compile import Rules


def _pairs() -> str:
    lines = []
    for line in range(21):
        left = ", ".join(f"left{line}-{number}" for number in range(1_000))
        right = ", ".join(f"right{line}-{number}" for number in range(100))
        lines.append(f"{left} => {right}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code"), [("a, b\n" * 100_002, "too_many_rules"), (_pairs(), "too_many_pairs")]
)
def test_too_much_is_an_error(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "own.synonyms"
    file.write_text(text)
    assert [error.code for error in Rules([file]).errors] == [code]
