"""docs/settings.md says of every setting what the code says: name, default, description."""

from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from app.settings import NAMES, Settings, environment_name

REPOSITORY = Path(__file__).resolve().parents[2]


def _row(field: Field[Any]) -> str:
    default = field.default
    if isinstance(default, Path):
        default = default.relative_to(REPOSITORY)
    if isinstance(default, bool):
        default = "on" if default else "off"
    shown = f"`{default}`" if str(default) else "empty"
    return f"| `{environment_name(field.name)}` | {shown} | {field.metadata['description']} |"


def test_the_page_has_every_setting_as_it_is() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    rows = [_row(field) for field in fields(Settings)]
    missing = [row for row in rows if row not in page]
    assert not missing, "docs/settings.md lacks:\n" + "\n".join(missing)


def test_the_page_has_no_setting_that_is_gone() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    known = set(map(environment_name, NAMES))
    ours = page.split("## Process and development")[0]
    rows = [line.split("`")[1] for line in ours.splitlines() if line.startswith("| `")]
    assert [name for name in rows if name not in known] == []
