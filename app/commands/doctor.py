"""`blogsearch doctor`: what is reachable, what is not, and what to do about it."""

import json
import sys
from dataclasses import replace

import click
from rich.table import Table
from rich.text import Text

from analyzers.rules import RuleErrors, read_rules
from app.commands.output import console, without_password
from app.commands.tools import Tools, pass_tools
from app.elastic import translated
from app.errors import ServiceError
from app.health import Check, checks
from app.settings import Settings
from app.synonyms.folder import FolderNotReadable, SynonymFolder

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def doctor(tools: Tools, form: str) -> None:
    """Say what runs, in which version, what does not, and what to do.

    The exit code is 1 when searches cannot be answered, 0 otherwise.

    \b
    blogsearch doctor
    blogsearch doctor --format json
    """
    seen = checks(tools.elastic, tools.cache, tools.settings)
    results = [*(_located(check, tools.settings) for check in seen), _synonyms(tools)]
    if form == "json":
        report = {check.name: check.report() for check in results}
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_table(results)
    if any(check.status == "error" for check in results):
        sys.exit(1)


def _print_table(results: list[Check]) -> None:
    table = Table("", "", "seen", "what to do", box=None, pad_edge=False, show_header=False)
    for check in results:
        state = Text(check.status, style=_COLOURS[check.status])
        table.add_row(check.name, state, check.seen, check.remedy)
    console().print(table)


def _located(check: Check, settings: Settings) -> Check:
    """With the addresses at which nobody answers: a monitor is not told them, the keeper is."""
    if check.status == "ok" or check.name not in {"elasticsearch", "redis"}:
        return check
    setting = settings.elasticsearch_url if check.name == "elasticsearch" else settings.redis_url
    places = ", ".join(map(without_password, setting.split(",")))
    return replace(check, seen=f"{check.seen} ({places})")


def _synonyms(tools: Tools) -> Check:
    """Whether the rule files are readable and the live index was built with them."""
    settings = tools.settings
    try:
        folder = SynonymFolder.of(settings)
        files = folder.used()
        rules = read_rules(files)
    except FolderNotReadable as error:
        return Check("synonyms", "warning", "no rules", error.message)
    except RuleErrors as error:
        return Check("synonyms", "warning", str(error), "Run `blogsearch synonyms check`.")
    seen = f"{len(rules.rules):,} rules in {len(files)} file(s) of {settings.synonyms_dir}"
    if unknown := ", ".join(folder.unknown()):
        return Check(
            "synonyms",
            "warning",
            f"{seen}; BLOGSEARCH_SYNONYMS_WITHOUT names {unknown}, which is not there",
            "Correct the setting: there are "
            f"{', '.join(path.stem for path in folder.all()) or 'no files'}.",
        )
    try:
        with translated():
            mappings = tools.elastic.indices.get_mapping(index=settings.index)
    except ServiceError:
        return Check("synonyms", "ok", seen)
    built_with = {
        mapping["mappings"].get("_meta", {}).get("blogsearch", {}).get("rules")
        for mapping in mappings.values()
    }
    if built_with != {rules.digest}:
        return Check(
            "synonyms",
            "warning",
            f"{seen}; the live index was built with others",
            "Run `blogsearch synonyms load` to build it with these.",
        )
    return Check("synonyms", "ok", seen)
