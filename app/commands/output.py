"""How commands print: the option `--format`, the console, and findings in rule files."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console

    from analyzers.findings import Finding

table_or_json = click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table"
)
text_or_json = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")

_PIPE_WIDTH = 100_000  # columns; nothing is cut off or wrapped in a pipe
_ONLY_WARNINGS = 3  # exit code; 2 is click's, for an invalid command line


def console() -> "Console":
    """A console as wide as the terminal; in a pipe, wide enough for one line a row."""
    # Imported here: `search` needs no console, and the import takes a tenth of its time.
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False)


def report(
    files: Sequence[Path], findings: "Sequence[Finding]", form: str, suppressed: int | None = None
) -> None:
    """End a check of files: print the findings, and exit with 1 for errors, 3 for warnings only.

    `form` is `text` or `json`. `suppressed` is the number of warnings that the files suppress, None
    if they cannot.
    """
    errors, warnings = _count(findings, "error"), _count(findings, "warning")
    if form == "json":
        body = {
            "files": [str(path) for path in files],
            "errors": errors,
            "warnings": warnings,
            **({} if suppressed is None else {"suppressed": suppressed}),
            "findings": [finding.as_dict() for finding in findings],
        }
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            click.echo(str(finding))
        left_out = f", {suppressed} suppressed" if suppressed else ""
        click.echo(f"{_number_of(findings)}{left_out}.")
    if findings:
        click.get_current_context().exit(1 if errors else _ONLY_WARNINGS)


def print_findings(findings: "Sequence[Finding]") -> None:
    """Print findings to stderr, before a command goes on."""
    for finding in findings:
        click.echo(str(finding), err=True)


def fail(findings: "Sequence[Finding]") -> NoReturn:
    """End a command that cannot use the files, after printing every finding."""
    print_findings(findings)
    raise click.ClickException(f"{_number_of(findings)}; nothing was changed.")


def _number_of(findings: "Sequence[Finding]") -> str:
    counted = ((_count(findings, word), word) for word in ("error", "warning"))
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted)


def _count(findings: "Sequence[Finding]", severity: str) -> int:
    return sum(finding.severity == severity for finding in findings)
