"""Writes the tables of docs/settings.md and the page docs/commands.md; `--check` compares them."""

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click

from app.cli import main as blogsearch
from app.settings import SECRETS, Settings, environment_name

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
_BEGIN, _END = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"
_WIDTH = 100  # columns


def settings_page(page: str) -> str:
    """The page with its tables written anew, from the fields of `Settings`."""
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
            description += f" `{name}_FILE` may be the path of a file that has it."
        lines.append(f"| `{name}` | {_default(setting.default)} | {description} |")
    return "\n".join(lines[1:]) + "\n"


def _default(default: object) -> str:
    if isinstance(default, Path):
        default = default.name
    if isinstance(default, bool):
        default = "on" if default else "off"
    return f"`{default}`" if str(default) else "empty"


def commands_page() -> str:
    """The help of every command."""
    with click.Context(
        blogsearch,
        info_name="blogsearch",
        terminal_width=_WIDTH,
        help_option_names=["-h", "--help"],
    ) as context:
        helps = list(_helps(blogsearch, context))
    head = "# Commands\n\nWhat `--help` prints, for every command.\n"
    parts = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in helps]
    return "\n".join([head, *parts])


def _helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """The path and the help of a command, then those of its subcommands."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if inner := command.get_command(context, name):
                with click.Context(
                    inner, context, info_name=name, terminal_width=_WIDTH
                ) as inner_context:
                    yield from _helps(inner, inner_context)


def main() -> None:
    settings = DOCS / "settings.md"
    pages = {settings: settings_page(settings.read_text()), DOCS / "commands.md": commands_page()}
    for path, text in pages.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            name = path.relative_to(REPOSITORY)
            sys.exit(f"{name} is not up to date: run `python -m scripts.reference`")


if __name__ == "__main__":
    main()
