"""`blogsearch pins`: check, load, list and remove files of pinned results."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click
from rich.table import Table

from analyzers.findings import Finding
from analyzers.languages import LANGUAGES
from app.commands.building import begin_cache_generation
from app.commands.output import console, fail, print_findings, report, text_or_json
from app.commands.tools import CommandGroup, Tools, pass_tools
from app.pins.files import PinFile, parse, read_file, warnings
from app.pins.store import PinStore
from app.search.pins import PinRule
from app.synonyms.folder import check_unique_names
from indexer.generations import live as live_generation

_files = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)


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
@click.option("--offline", is_flag=True, help="Check without Elasticsearch: not the posts.")
@text_or_json
@pass_tools
def check(tools: Tools, files: tuple[Path, ...], offline: bool, form: str) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    Exit code 0: no findings; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch pins check launch.pins
    blogsearch pins check --format json *.pins
    """
    _, findings = _checked(tools, files, offline=offline)
    report(files, findings, form)


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
    for name in _store(tools).save(read):
        click.echo(f"Replaced {name}.", err=True)
    _publish(tools)
    click.echo(f"{', '.join(file.name for file in read)}: in effect.")


@pins.command(name="list")
@text_or_json
@pass_tools
def list_(tools: Tools, form: str) -> None:
    """List the rules that are stored, and what is wrong with them now.

    \b
    blogsearch pins list
    blogsearch pins list --format json
    """
    store = _store(tools)
    rules, findings = parse(store.files(), LANGUAGES[tools.settings.language])
    findings += warnings(rules, _today(), store.existing(rules))
    if form == "json":
        body = {
            "rules": [_as_dict(rule) for rule in rules],
            "findings": [finding.as_dict() for finding in findings],
        }
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
        return
    if not rules:
        click.echo("There are no pinned results.")
        return
    table = Table("rule", "search", "first", "never", "until", box=None, pad_edge=False)
    for rule in rules:
        searches = ", ".join(search.text for search in rule.searches)
        until = str(rule.until) if rule.until else ""
        table.add_row(rule.place, searches, ", ".join(rule.first), ", ".join(rule.never), until)
    console().print(table)
    print_findings(findings)


@pins.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@pass_tools
def remove(tools: Tools, names: tuple[str, ...]) -> None:
    """Delete the files NAME... with their rules.

    \b
    blogsearch pins remove launch
    """
    _store(tools).remove(names)
    _publish(tools)
    click.echo(f"Removed {', '.join(names)}.")


def _store(tools: Tools) -> PinStore:
    language = LANGUAGES[tools.settings.language]
    return PinStore(tools.elastic, tools.settings.index, language)


def _checked(
    tools: Tools, paths: Sequence[Path], *, offline: bool = False
) -> tuple[list[PinFile], list[Finding]]:
    """The files, and everything that is wrong with them beside those that are stored."""
    check_unique_names(paths)
    findings: list[Finding] = []
    files: list[PinFile] = []
    for path in paths:
        file = read_file(path)
        if isinstance(file, Finding):
            findings.append(file)
        else:
            files.append(file)
    own = {file.name for file in files}
    stored = [] if offline else [file for file in _store(tools).files() if file.name not in own]
    rules, invalid = parse([*stored, *files], LANGUAGES[tools.settings.language])
    posts = None if offline else _store(tools).existing(rules)
    together = [*invalid, *warnings(rules, _today(), posts)]
    findings += [finding for finding in together if finding.file in own]
    return files, sorted(findings, key=lambda finding: (finding.file, finding.line))


def _publish(tools: Tools) -> None:
    """Make cached answers stale."""
    live = live_generation(tools.elastic, tools.settings.index)
    if live is None:
        click.echo("There is no index yet; the rules apply once there is one.", err=True)
    elif tools.cache.configured:
        begin_cache_generation(tools, live.name, live.rules or "")


def _as_dict(rule: PinRule) -> dict[str, object]:
    return {
        "file": rule.file,
        "line": rule.line,
        "searches": [search.text for search in rule.searches],
        "first": list(rule.first),
        "never": list(rule.never),
        "until": str(rule.until) if rule.until else None,
        "expired": rule.expired(_today()),
    }


def _today() -> date:
    return datetime.now(UTC).date()
