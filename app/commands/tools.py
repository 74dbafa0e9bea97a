"""Shared parts of all commands: settings and clients, output, and error messages.

Slow imports are inside the functions that use them, so that `--help` and `search` do not wait.
"""

import csv
import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch
    from rich.text import Text

    from analyzers.errors import Finding
    from app.cache import AnswerCache
    from app.service import Service
    from app.settings import Settings

_TIMEOUT = 120.0  # seconds: a command may wait longer for Elasticsearch than a visitor

_LISTED = 100  # findings
_WRONG_LINES = 20  # the most wrong lines of a CSV that are listed

UNCHANGED = {1: "nothing was changed, and stderr says why"}
ONLY_SOME = 3
"""Exit code: done, but something was rejected or has warnings."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""
_EXIT_CODES = {0: "done", 1: "it failed, and stderr says why", 2: "the command line is invalid"}
_NO_ROOM = "Free some space there, or name another place."
_NOT_ALLOWED = "Change its permissions, or name another place."
_OF_THE_SYSTEM = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _NO_ROOM),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _NOT_ALLOWED),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "Create its folder, or name another place."),
    errno.EIO: "The disk may be broken: see the kernel's log.",
    errno.EMFILE: "Raise the limit of open files: `ulimit -n`.",
}
"""The remedies for errors of the operating system, by their number."""


def unusable(error: OSError, place: object) -> click.ClickException:
    """Return the message for an error of the operating system, such as a full disk."""
    with suppress(OSError):  # so that Python does not try to write the rest of stdout at its exit
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    remedy = _OF_THE_SYSTEM.get(error.errno or 0, "")
    return click.ClickException(f"{place} cannot be used: {error.strerror}. {remedy}".strip())


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command: text for people, or one JSON value.

    `quiet`: print only the requested result and problems.
    """

    as_json: bool = False
    quiet: bool = False

    def say(self, text: str) -> None:
        """Print a message about what was done or found; not with --quiet."""
        if not (self.as_json or self.quiet):
            click.echo(text)

    def show(self, text: str) -> None:
        """Print the requested result, or a problem."""
        if not self.as_json:
            click.echo(text)

    def note(self, text: str) -> None:
        """Print a remark to stderr; not with --quiet."""
        if not self.quiet:
            click.echo(text, err=True)

    def result(self, value: object) -> None:
        """Print the result as JSON, with --json only."""
        if self.as_json:
            click.echo(json.dumps(value, indent=2, ensure_ascii=False))

    def table(self, columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]") -> None:
        """Print rows below the names of the columns, if any has one; with tabs if in a pipe."""
        if self.as_json:
            return
        if not sys.stdout.isatty():
            for row in [columns, *rows] if any(columns) else rows:
                click.echo("\t".join(str(cell) for cell in row))
            return
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, show_header=any(columns))
        for column in columns:
            table.add_column(column)
        for row in rows:
            table.add_row(*row)
        Console(markup=False, highlight=False).print(table)


class Tools:
    """The settings, the engine and the cache, each created when a command first uses it."""

    def __init__(self, settings: "Settings | None" = None) -> None:
        self._settings = settings
        self.output = Output()

    @cached_property
    def settings(self) -> "Settings":
        from app.settings import load_settings

        return self._settings or load_settings()

    @cached_property
    def index_settings(self) -> "Settings":
        """The settings, with the language of the live index if they name none."""
        from app.index.synonyms import with_language

        return with_language(self.settings, self.elastic)

    @cached_property
    def elastic(self) -> "Elasticsearch":
        from app.engines.elastic import connect

        return connect(self.settings, timeout=_TIMEOUT)

    @cached_property
    def cache(self) -> "AnswerCache":
        from app.cache import open_cache

        return open_cache(self.settings)

    @cached_property
    def service(self) -> "Service":
        from app.service import Service

        return Service(self.settings, self.elastic, self.cache)

    def publish(self) -> None:
        """Make writes visible to searches, and end the use of older cached answers."""
        self.service.watch.publish()


pass_tools = click.make_pass_decorator(Tools, ensure=True)


# -- findings in rule files --------------------------------------------------------------------


def report(files: Sequence[Path], findings: "Sequence[Finding]", output: Output) -> None:
    """Print the findings of a check; exit with 1 if there are errors, with 3 for warnings only."""
    errors, warnings = _count(findings)
    shown = findings[:_LISTED]
    output.result(
        {
            "files": [str(path) for path in files],
            "errors": errors,
            "warnings": warnings,
            "findings": [finding.as_dict() for finding in shown],
        }
    )
    for finding in shown:
        output.show(str(finding))
    from indexer.posts.records import quantity

    names = ", ".join(path.name for path in files[:_LISTED])
    checked = f"{quantity(len(files), 'file')} ({names or 'none'})"
    output.say(f"{_number_of(findings)}. Checked: {checked}.")
    if findings:
        click.get_current_context().exit(1 if errors else ONLY_SOME)


def stop_on_errors(findings: "Sequence[Finding]") -> None:
    """Print findings to stderr; end the command if there are errors."""
    for finding in findings[:_LISTED]:
        click.echo(str(finding), err=True)
    if _count(findings)[0]:
        raise click.ClickException(f"{_number_of(findings)}; nothing was changed.")


def _number_of(findings: "Sequence[Finding]") -> str:
    from indexer.posts.records import quantity

    errors, warnings = _count(findings)
    text = f"{quantity(errors, 'error')}, {quantity(warnings, 'warning')}"
    if len(findings) > _LISTED:
        text = f"{text}; only {_LISTED} of {len(findings):,} are shown"
    return text


def _count(findings: "Sequence[Finding]") -> tuple[int, int]:
    errors = sum(finding.severity == "error" for finding in findings)
    return errors, len(findings) - errors


# -- files of pairs -------------------------------------------------------------------------------


def read_csv(
    file: Path, take: Callable[[str, str], object], header: Sequence[str] | None = None
) -> None:
    """Call `take` with the two cells of each line of a CSV, except comments at its start and the
    header: by default a first line without a slash, as it cannot be an address.

    Raises:
        click.ClickException: the file cannot be read, or `take` refused lines.
    """
    from app.errors import BlogsearchError
    from indexer.posts.normalise import Invalid

    complaints = []

    def is_above(cells: list[str]) -> bool:
        return not any(cells) or cells[0].startswith("#")

    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            for row, cells in enumerate(dropwhile(is_above, reader := csv.reader(text))):
                is_header = cells == header if header else "/" not in "".join(cells)
                if not any(cells) or (not row and is_header):
                    continue
                try:
                    take(*[*cells, ""][:2])
                except (BlogsearchError, Invalid) as error:
                    remedy = getattr(error, "remedy", "")
                    complaints.append(f"{file}:{reader.line_num}: {error}. {remedy}".strip())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise click.ClickException(f"{file} cannot be read as CSV: {error}.") from None
    if complaints:
        raise click.ClickException("\n".join([*complaints[:_WRONG_LINES], "Nothing was changed."]))


# -- commands ----------------------------------------------------------------------------------


class Command(click.Command):
    """A command with `--json` and `--quiet`, which control what `tools.output` prints.

    Args:
        exit_codes: their meaning in the command's help, if it differs from `_EXIT_CODES`.
    """

    def __init__(
        self, name: str | None, exit_codes: Mapping[int, str] | None = None, **options: Any
    ) -> None:
        codes = sorted({**_EXIT_CODES, **(exit_codes or {})}.items())
        epilog = "Exit code " + "; ".join(f"{code}: {text}" for code, text in codes) + "."
        super().__init__(name, epilog=epilog, **options)
        self.params += [
            click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON."),
            click.Option(["-q", "--quiet"], is_flag=True, help="Print no messages, only results."),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        output = Output(ctx.params.pop("as_json"), ctx.params.pop("quiet"))
        ctx.ensure_object(Tools).output = output
        return super().invoke(ctx)


command = partial(click.command, cls=Command)


class CommandGroup(click.Group):
    """A group whose commands fail with one message on stderr, without a traceback by default."""

    command_class = Command

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*args, **options)  # prints the help
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unusable(error, error.filename or "The output") from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if (message := error_message(error)) is not None:
                raise click.ClickException(message) from error
            if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM:
                raise unusable(error, error.filename or "A file or the output") from error
            if ctx.find_root().params.get("traceback"):
                raise
            raise click.ClickException(
                f"{type(error).__name__}: {error}. This is unexpected: run it again as "
                "`blogsearch --traceback …` and report the traceback as a bug."
            ) from error


def error_message(error: BaseException) -> str | None:
    """Return the message of an error in the tree of `app.errors`, with Elasticsearch's own reason;
    None for any other error."""
    from app.engines.elastic import translate_errors
    from app.errors import BlogsearchError

    try:
        with translate_errors():
            raise error
    except BlogsearchError as known:
        return str(known)
    except click.ClickException as known:
        return known.message
    except BaseException:  # noqa: BLE001 - any other error, unchanged
        return None
