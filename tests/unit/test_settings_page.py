"""docs/settings.md says of every setting what the code says: name, default, description."""

from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from app.settings import Settings, environment_name

REPOSITORY = Path(__file__).resolve().parents[2]


def _row(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if isinstance(default, Path):
        default = default.relative_to(REPOSITORY)
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    if isinstance(default, bool):
        default = "on" if default else "off"
    shown = f"`{default}`" if str(default) else "empty"
    return f"| `{environment_name(name)}` | {shown} | {field.description} |"


def test_the_page_has_every_setting_as_it_is() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    missing = [row for row in rows if row not in page]
    assert not missing, "docs/settings.md lacks:\n" + "\n".join(missing)


def test_the_page_has_no_setting_that_is_gone() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    known = {environment_name(name) for name in Settings.model_fields}
    ours = page.split("## Process and development")[0]
    rows = [line.split("`")[1] for line in ours.splitlines() if line.startswith("| `")]
    assert [name for name in rows if name not in known] == []
