"""Write the tables of docs/settings.md; with `--check`, compare them instead."""

import sys
from dataclasses import fields
from pathlib import Path

from app.settings import SECRETS, Settings, environment_name

REPOSITORY = Path(__file__).resolve().parent.parent
_BEGIN, _END = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"


def settings_page(page: str) -> str:
    """Return the page with new tables, made from the fields of `Settings`."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_settings()}\n{_END}{after}"


def _settings() -> str:
    lines = []
    for setting in fields(Settings):
        if title := setting.metadata["section"]:
            lines += ["", f"## {title}", "", "| variable | default | |", "| --- | --- | --- |"]
        name = environment_name(setting.name)
        description = setting.metadata["description"]
        if setting.name in SECRETS:
            description += f" `{name}_FILE` may be the path of a file that contains it."
        lines.append(f"| `{name}` | {_default(setting.default)} | {description} |")
    return "\n".join(lines[1:]) + "\n"


def _default(default: object) -> str:
    if isinstance(default, Path):
        default = default.name
    if isinstance(default, bool):
        default = "on" if default else "off"
    return f"`{default}`" if str(default) else "empty"


def main() -> None:
    page = REPOSITORY / "docs" / "settings.md"
    text = settings_page(page.read_text())
    if "--check" not in sys.argv:
        page.write_text(text)
    elif page.read_text() != text:
        sys.exit("docs/settings.md is not up to date: run `python -m scripts.reference`")


if __name__ == "__main__":
    main()
