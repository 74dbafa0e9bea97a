"""What the synonym commands say."""

import json
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qsl

import click

from analyzers.findings import Finding
from analyzers.lint.check import Report
from analyzers.rules.parse import read_file
from app.commands.outcome import after_swap, tell_orphan
from app.commands.tools import Tools
from app.synonyms.preview import Change
from indexer.build.builder import Built
from indexer.generations import live as live_generation


def tell(report: Report, files: tuple[Path, ...], form: str) -> None:
    """Findings, and how many there are, on stdout."""
    if form == "json":
        body = {
            "files": [str(path) for path in files],
            "errors": len(report.errors),
            "warnings": len(report.warnings),
            "silenced": report.silenced,
            "findings": [finding.as_dict() for finding in report.findings],
        }
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
        return
    for finding in report.findings:
        click.echo(str(finding))
    silenced = f", {report.silenced} silenced by check-allow" if report.silenced else ""
    errors, warnings = _some(report.errors, "error"), _some(report.warnings, "warning")
    click.echo(f"{errors}, {warnings}{silenced}.")


def give_up(report: Report) -> NoReturn:
    """End a command that cannot go on with these files.

    Raises:
        click.ClickException: always.
    """
    raise click.ClickException(f"{_some(report.errors, 'error')}; nothing was changed.")


def _some(findings: tuple[Finding, ...], word: str) -> str:
    return f"{len(findings)} {word}{'' if len(findings) == 1 else 's'}"


def tell_built(tools: Tools, built: Built | None) -> None:
    """What became of a load or a removal."""
    if built is not None:
        for orphan in built.stale_builds:
            tell_orphan(orphan)
        click.echo(
            f"{built.index} is live with the rules: {built.counts}, in {built.seconds:.1f} s."
        )
        after_swap(tools)
    elif live_generation(tools.elastic, tools.settings.index) is None:
        click.echo("Done. There is no index yet; `blogsearch reindex` will build it so.")
    else:
        click.echo("Done. The live index has these rules already.")


def queries_from(tools: Tools, path: Path | None, top: int) -> list[str]:
    """The searches of a file, or the `top` most frequent ones.

    Raises:
        click.ClickException: there are none, or none in the file.
    """
    if path is not None:
        lines = path.read_text("utf-8-sig", "replace").splitlines()
        named = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        if not named:
            raise click.ClickException(f"{path} has no searches: name some, one a line.")
        return named
    # Kept are whole requests, `q=ml&page=2&size=10`; several of them may be one search.
    requests = (dict(parse_qsl(request)) for request, _ in tools.cache.query_log.popular(top))
    frequent = list(dict.fromkeys(request["q"] for request in requests if "q" in request))
    if not frequent and tools.cache.ping() is None:
        raise click.ClickException(
            "The most frequent searches are kept in Redis, which is not reached: name some, one a "
            "line, with --queries FILE."
        )
    if not frequent:
        raise click.ClickException(
            "No searches are known yet: name some, one a line, with --queries FILE."
        )
    return frequent


def show_change(change: Change) -> None:
    """One search: what it would gain and lose, and what would move."""
    click.echo(f"{change.query}: {change.before} → {change.after} hits")
    for sign, word, moves in (
        ("+", "gained", change.gained),
        ("-", "lost", change.lost),
        ("~", "moved", change.moved),
    ):
        for move in moves[:10]:
            ranks = " → ".join(str(rank) for rank in (move.before, move.after) if rank)
            click.echo(f"  {sign} {word} {ranks}: {move.title}")
        if len(moves) > 10:
            click.echo(f"  {sign} {word}: {len(moves) - 10} more")


def counted(path: Path) -> tuple[int, int]:
    """How many rules a file has, and how many lines that are none."""
    rules = errors = 0
    for item in read_file(path):
        if isinstance(item, Finding):
            errors += 1
        else:
            rules += 1
    return rules, errors
