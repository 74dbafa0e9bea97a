"""`blogsearch pins`: check, load, list and remove pinned results."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import click

from analyzers.findings import Finding
from analyzers.languages import LANGUAGES
from app.commands.tools import (
    CommandGroup,
    Tools,
    fail,
    json_option,
    pass_tools,
    print_findings,
    print_json,
    print_table,
    report,
)
from app.pins import SUFFIX, parse, warnings
from indexer.generations import live as live_generation

_MAX_BYTES = 1_000_000  # of one file

_files = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
_names = click.argument("names", metavar="NAME...", nargs=-1, required=True)


@click.group(cls=CommandGroup)
def pins() -> None:
    """Manage pinned results: the posts that come first for a search, and those that are hidden.

    \b
    blogsearch pins check launch.pins     report its errors; changes nothing
    blogsearch pins load launch.pins      put its rules into effect
    blogsearch pins list
    blogsearch pins remove launch

    \b
    A rule is one line: a search, and the posts by their oid.
        cron => crontab-guide, -cron-in-2009        first and, with -, hidden
        python * => python-start                    whatever else is searched for with python
        opening hours => hours until 2026-12-31     with a last day
    """


@pins.command()
@_files
@json_option
@pass_tools
def check(tools: Tools, files: tuple[Path, ...], as_json: bool) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    Exit code 0: no findings; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch pins check launch.pins
    blogsearch pins check --json *.pins
    """
    _, findings = _checked(tools, files)
    report(files, findings, as_json=as_json)


@pins.command()
@_files
@pass_tools
def load(tools: Tools, files: tuple[Path, ...]) -> None:
    """Check FILE... and put the rules into effect; a file of the same name is replaced.

    Exit code 0: done; 1: failed, nothing was changed.

    \b
    blogsearch pins load launch.pins
    """
    read, findings = _checked(tools, files)
    if any(finding.severity == "error" for finding in findings):
        fail(findings)
    print_findings(findings)
    former = tools.service.pins.change(lambda stored: {**stored, **read})
    for name in read.keys() & former.keys():
        click.echo(f"Replaced {name}.", err=True)
    _publish(tools)
    click.echo(f"{', '.join(read)}: in effect.")


@pins.command("list")
@json_option
@pass_tools
def list_pins(tools: Tools, as_json: bool) -> None:
    """List the rules that are stored, and what is wrong with them now.

    \b
    blogsearch pins list
    blogsearch pins list --json
    """
    store = tools.service.pins
    rules, findings = parse(store.files(), LANGUAGES[tools.settings.language])
    findings += warnings(rules, _today(), store.existing(rules))
    table = [
        {
            "rule": rule.place,
            "searches": [search.text for search in rule.searches],
            "first": list(rule.first),
            "never": list(rule.never),
            "until": str(rule.until or ""),
        }
        for rule in rules
    ]
    if as_json:
        listed = [finding.as_dict() for finding in findings]
        print_json({"rules": table, "findings": listed})
        return
    if not rules:
        click.echo("There are no pinned results.")
        return
    cells = [
        (
            rule.place,
            ", ".join(search.text for search in rule.searches),
            ", ".join(rule.first),
            ", ".join(rule.never),
            str(rule.until or ""),
        )
        for rule in rules
    ]
    print_table(list(table[0]), cells)
    print_findings(findings)


@pins.command()
@_names
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
    click.echo(f"Removed {', '.join(sorted(gone))}.")


def _checked(tools: Tools, paths: tuple[Path, ...]) -> tuple[dict[str, str], list[Finding]]:
    """The files, and everything that is wrong with them beside those that are stored."""
    findings: list[Finding] = []
    files: dict[str, str] = {}
    for path in paths:
        try:
            files[path.name] = _text(path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            remedy = f"Name a text file in UTF-8 that is called NAME{SUFFIX}."
            findings.append(
                Finding(path.name, 0, "error", "unreadable", f"cannot be read: {reason}.", remedy)
            )
    store = tools.service.pins
    rules, invalid = parse({**store.files(), **files}, LANGUAGES[tools.settings.language])
    found = [*invalid, *warnings(rules, _today(), store.existing(rules))]
    findings += [finding for finding in found if finding.file in files]
    return files, sorted(findings, key=lambda finding: (finding.file, finding.line))


def _text(path: Path) -> str:
    """The text of a pin file.

    Raises:
        OSError, ValueError: it cannot be read, or is not one; UnicodeDecodeError is a ValueError.
    """
    if path.suffix != SUFFIX:
        raise ValueError(f"its name does not end in {SUFFIX}")
    if path.exists() and not path.is_file():
        raise ValueError("it is not a regular file")
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
    return data.decode("utf-8-sig")


def _publish(tools: Tools) -> None:
    """Serve no answer from before a change of the rules."""
    live = live_generation(tools.elastic, tools.settings.index)
    if live is None:
        click.echo("There is no index yet; the rules apply once there is one.", err=True)
    else:
        tools.publish()


def _today() -> date:
    return datetime.now(UTC).date()
