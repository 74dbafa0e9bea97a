"""`blogsearch pins`: load, list and remove pinned results."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from analyzers.languages import language_of
from app.commands.tools import CommandGroup, Tools, pass_tools, stop_on_errors
from app.search.pins import SUFFIX, parse


@click.group(cls=CommandGroup)
def pins() -> None:
    """Manage pinned results: the posts that come first, or are hidden, for a search.

    \b
    blogsearch pins load launch.pins      check its rules and put them into effect
    blogsearch pins list
    blogsearch pins remove launch

    \b
    A rule is one line: a search, and the oids of posts.
        cron => crontab-guide, -cron-in-2009        one post first, and one hidden (-)
        python * => python-start                    for any search with python in it
    """


@pins.command()
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@pass_tools
def load(tools: Tools, files: tuple[Path, ...]) -> None:
    """Check FILE... and put the rules into effect; each replaces a stored file of the same name.

    If there are errors, they are listed by file and line, and nothing is changed.

    \b
    blogsearch pins load launch.pins
    """
    texts = {path.name: _text(path) for path in files}
    store = tools.service.pins
    rules, findings = parse({**store.texts(), **texts}, language_of(tools.index_settings.language))
    findings += store.warnings(rules)
    stop_on_errors(findings)
    store.change(lambda stored: {**stored, **texts})
    tools.publish()
    tools.output.say(f"{', '.join(texts)}: in effect.")
    tools.output.result({"files": list(texts), "findings": [one.as_dict() for one in findings]})


@pins.command("list")
@pass_tools
def list_pins(tools: Tools) -> None:
    """Print the stored files.

    \b
    blogsearch pins list
    """
    files = tools.service.pins.texts()
    for name, text in files.items():
        tools.output.show(f"# {name}\n{text.rstrip()}")
    tools.output.result(files)


@pins.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@pass_tools
def remove(tools: Tools, names: tuple[str, ...]) -> None:
    """Delete the stored files NAME... and so their rules.

    \b
    blogsearch pins remove launch
    """
    gone = {f"{name.removesuffix(SUFFIX)}{SUFFIX}" for name in names}

    def without(files: Mapping[str, str]) -> Mapping[str, str]:
        if missing := ", ".join(sorted(gone - files.keys())):
            raise click.ClickException(f"There is no {missing}: see `blogsearch pins list`.")
        return {name: text for name, text in files.items() if name not in gone}

    tools.service.pins.change(without)
    tools.publish()
    tools.output.say(f"Removed {', '.join(sorted(gone))}.")
    tools.output.result({"removed": sorted(gone)})


def _text(path: Path) -> str:
    """Read a pin file.

    Raises:
        click.ClickException: it is not one, or cannot be read.
    """
    with suppress(OSError, UnicodeDecodeError):
        if path.suffix == SUFFIX:
            return path.read_text(encoding="utf-8-sig")
    raise click.ClickException(
        f"{path} cannot be read. Name a text file in UTF-8 that is called NAME{SUFFIX}."
    )
