"""The notes of a release are the section of its version; a tag must be the version."""

import pytest

from scripts.release import notes, problems, version

CHANGELOG = """# Changelog

## [0.2.0] - 2026-11-23

### Added

- Two.

## [0.1.0]

- One.

## [0.0.1]
"""


def test_the_notes_are_the_section_of_the_version() -> None:
    assert notes(CHANGELOG, "0.2.0") == "### Added\n\n- Two.\n"
    assert notes(CHANGELOG, "0.1.0") == "- One.\n"


@pytest.mark.parametrize("released", ["0.3.0", "0.0.1", "0.1"])
def test_a_version_without_notes_is_refused(released: str) -> None:
    with pytest.raises(ValueError, match="CHANGELOG"):
        notes(CHANGELOG, released)


def test_a_tag_that_is_not_the_version_is_refused() -> None:
    assert problems(f"v{version()}") == []
    assert any("The tag v99.0.0" in problem for problem in problems("v99.0.0"))
