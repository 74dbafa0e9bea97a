"""`blogsearch pins`: load, list and remove pinned results."""

from collections.abc import Mapping
from pathlib import Path

import click

from analyzers.errors import Finding
from analyzers.languages import LANGUAGES
from app.commands.tools import (
    CommandGroup,
    Tools,
    pass_tools,
    print_findings,
    stop_on_errors,
)
from app.search.pins import SUFFIX, parse
from indexer.generations import live as live_generation

_MAX_BYTES = 1_000_000  # of one file


@click.group(cls=CommandGroup)
def pins() -> None:
    """Manage pinned results: the posts that come first for a search, and those that are hidden.

    \b
    blogsearch pins load launch.pins      check its rules and put them into effect
    blogsearch pins list
    blogsearch pins remove launch

    \b
    A rule is one line: a search, and the posts by their oid.
        cron => crontab-guide, -cron-in-2009        first and, with -, hidden
        python * => python-start                    whatever else is searched for with python
    """


@pins.command()
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@pass_tools
def load(tools: Tools, files: tuple[Path, ...]) -> None:
    """Check FILE... and put the rules into effect; a file of the same name is replaced.

    Errors are listed by file and line; then nothing is changed.

    \b
    blogsearch pins load launch.pins
    """
    texts = {path.name: _text(path) for path in files}
    store = tools.service.pins
    every = _checked(tools, {**store.files(), **texts})
    findings = [finding for finding in every if finding.file in texts]
    stop_on_errors(findings)
    store.change(lambda stored: {**stored, **texts})
    _publish(tools)
    tools.output.say(f"{', '.join(texts)}: in effect.")
    tools.output.result({"files": list(texts), "findings": [one.as_dict() for one in findings]})


@pins.command("list")
@pass_tools
def list_pins(tools: Tools) -> None:
    """Print the files that are stored, and what is wrong with their rules now.

    \b
    blogsearch pins list
    """
    files = tools.service.pins.files()
    findings = _checked(tools, files)
    for name, text in files.items():
        tools.output.say(f"# {name}\n{text.rstrip()}")
    print_findings(findings)
    tools.output.result({"files": files, "findings": [one.as_dict() for one in findings]})
    if not files:
        tools.output.say("There are no pinned results.")


@pins.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@pass_tools
def remove(tools: Tools, names: tuple[str, ...]) -> None:
    """Delete the files NAME... with their rules.

    \b
    blogsearch pins remove launch
    """
    gone = {f"{name.removesuffix(SUFFIX)}{SUFFIX}" for name in names}

    def without(files: Mapping[str, str]) -> Mapping[str, str]:
        if missing := sorted(gone - files.keys()):
            there = ", ".join(files) or "none"
            raise click.ClickException(f"No pin file {', '.join(missing)}; there are {there}.")
        return {name: text for name, text in files.items() if name not in gone}

    tools.service.pins.change(without)
    _publish(tools)
    tools.output.say(f"Removed {', '.join(sorted(gone))}.")
    tools.output.result({"removed": sorted(gone)})


def _checked(tools: Tools, files: Mapping[str, str]) -> list[Finding]:
    """Everything that is wrong with the rules of files, by file and line."""
    rules, findings = parse(files, LANGUAGES[tools.settings.language])
    findings += tools.service.pins.warnings(rules)
    return sorted(findings, key=lambda finding: (finding.file, finding.line))


def _text(path: Path) -> str:
    """The text of a pin file.

    Raises:
        click.ClickException: it is not one, or cannot be read.
    """
    try:
        if path.suffix == SUFFIX and path.is_file() and path.stat().st_size <= _MAX_BYTES:
            return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        pass
    raise click.ClickException(
        f"{path} cannot be read. Name a text file in UTF-8 of at most {_MAX_BYTES:,} bytes that is "
        f"called NAME{SUFFIX}."
    )


def _publish(tools: Tools) -> None:
    """Serve no answer from before a change of the rules."""
    if live_generation(tools.elastic, tools.settings.index) is not None:
        tools.publish()
