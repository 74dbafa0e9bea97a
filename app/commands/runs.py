"""What the commands that write have in common: output, progress, rejects, how a run ends."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import click
import requests
from elasticsearch import ApiError, TransportError
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from app.commands.sources import SourceArguments, Sources
from app.commands.tools import (
    ONLY_SOME,
    F,
    Tools,
    error_message,
    json_option,
    print_json,
    quiet_option,
    stop_on_sigterm,
)
from app.errors import BlogsearchError
from app.settings import Settings
from indexer.build.builder import Built
from indexer.errors import Locked, LockLost, SourceError
from indexer.ingest import IngestOptions
from indexer.records import Progress, Reject
from indexer.retry import time_limit
from indexer.sources.base import is_url
from indexer.state import read_runs, record_run

_MAX_PRINTED = 20  # rejects on the terminal; --rejects writes all of them
_WARM_AFTER_SWAP = 20.0  # seconds that a command that swapped waits for
_EXIT_TIMEOUT = 5.0  # seconds that a command that failed waits for Elasticsearch
_PING_TIMEOUT = 10.0  # seconds
_PINGED_TEXT = 10_000  # characters of an error that a ping sends


# -- output ------------------------------------------------------------------------------------


def output_options(command: F) -> F:
    """`--json` and `--quiet`."""
    return json_option(quiet_option(command))


@dataclass(frozen=True, slots=True)
class Output:
    """What a command prints: text for people, or one JSON value; `quiet`: only what is wrong."""

    as_json: bool = False
    quiet: bool = False

    def say(self, text: str) -> None:
        """Print what was done."""
        if not (self.as_json or self.quiet):
            click.echo(text)

    def note(self, text: str) -> None:
        """Print something beside it, to stderr."""
        if not self.quiet:
            click.echo(text, err=True)

    def warn(self, text: str) -> None:
        """Print what somebody should look at, to stderr."""
        click.echo(text, err=True)

    def result(self, value: object) -> None:
        """Print the result as JSON."""
        if self.as_json:
            print_json(value)


PLAIN = Output()


class Display:
    """Shows progress on stderr, as a bar or as a line for each phase; created by `display`."""

    def __init__(self, bar: Bar | None, *, quiet: bool = False) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, counted="") if bar else None
        self._quiet = quiet
        self._phase = ""

    def on_progress(self, progress: Progress) -> None:
        """Show the progress; cheap enough to be called for every request."""
        begins = progress.phase != self._phase
        self._phase = progress.phase
        if self._bar and self._task is not None:
            if begins:
                self._bar.reset(self._task, description=progress.phase, total=None, completed=0)
            self._bar.update(
                self._task,
                completed=progress.fraction or 0.0,
                total=None if progress.fraction is None else 1.0,
                counted=f"{progress.done:,} posts",
            )
        elif begins and not self._quiet and progress.phase not in {"verifying", "swapping"}:
            click.echo(f"{progress.phase} …", err=True)

    def print_line(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar:
            self._bar.console.print(Text(text))
        else:
            click.echo(text, err=True)


@contextmanager
def display(output: Output = PLAIN) -> Iterator[Display]:
    """A progress bar if stderr is a terminal, else a line for each phase."""
    console = Console(stderr=True)
    if output.quiet or not console.is_terminal:
        yield Display(None, quiet=output.quiet)
        return
    with Bar(
        TextColumn("{task.description:<11}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
    ) as bar:
        yield Display(bar)


# -- rejects -----------------------------------------------------------------------------------


class RejectLog:
    """Prints the first rejects to stderr, and writes all of them to a file if there is one."""

    def __init__(self, show: Display, file: IO[str] | None) -> None:
        self._show = show
        self._file = file
        self.count = 0

    def __call__(self, reject: Reject) -> None:
        self.count += 1
        if self._file:
            place = {"source": reject.origin.source, "line": reject.origin.line}
            reason = {"oid": reject.oid, "reason": reject.reason, "remedy": reject.remedy}
            self._file.write(json.dumps(place | reason, ensure_ascii=False) + "\n")
        if self.count <= _MAX_PRINTED:
            oid = f" ({reject.oid})" if reject.oid else ""
            self._show.print_line(
                f"rejected: {reject.origin}{oid}: {reject.reason}. {reject.remedy}"
            )
        elif self.count == _MAX_PRINTED + 1:
            hint = "see the file of --rejects" if self._file else "--rejects FILE writes them all"
            self._show.print_line(f"rejected: more than {_MAX_PRINTED}; {hint}.")


@contextmanager
def reject_log(show: Display, path: Path | None) -> Iterator[RejectLog]:
    """A log of rejects; the file at `path` is overwritten, and empty if nothing was rejected.

    Raises:
        click.ClickException: the file cannot be written.
    """
    try:
        opened = path.open("w", encoding="utf-8") if path else nullcontext()
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
    with opened as file:
        yield RejectLog(show, file)


# -- runs --------------------------------------------------------------------------------------


@contextmanager
def published_on_failure(tools: Tools) -> Iterator[None]:
    """Serve no answer from before the block if it fails: it may have changed the index before."""
    try:
        yield
    except BaseException as error:
        if not _locked_out(error):
            with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
                tools.publish()
        raise


@dataclass(slots=True)
class Run:
    """A run on sources. `failed` says why it did not do what it should, though it ended."""

    sources: Sources
    options: IngestOptions
    rejects: RejectLog
    output: Output
    failed: str = ""

    def end(self) -> None:
        """End the command: with 1 if it failed, with `ONLY_SOME` if something was rejected."""
        if not self.output.quiet:
            self.sources.print_skipped()
        if self.failed:
            raise click.ClickException(self.failed)
        if self.rejects.count:
            self.output.warn(f"{self.rejects.count:,} posts and comments were rejected.")
            click.get_current_context().exit(ONLY_SOME)


@contextmanager
def run_on(
    tools: Tools,
    command: str,
    arguments: SourceArguments,
    rejects_path: Path | None,
    output: Output,
    *,
    writes: bool = True,
    **options: Any,
) -> Iterator[Run]:
    """Open sources, show progress and rejects, and store how the block ends and why it failed.

    A file or folder that does not exist counts as no run, because it may be misspelt, unless the
    run before was on the same sources; nor does one that never had the lock, which `sync --watch`
    asks for every two seconds.

    Args:
        writes: whether it is a run that is stored.
        options: further fields of `IngestOptions`.
    """
    with stop_on_sigterm(), display(output) as show, reject_log(show, rejects_path) as rejects:
        quiet = output.quiet or output.as_json
        try:
            sources = replace(arguments, quiet=quiet).open(tools.settings)
        except SourceError as error:
            if writes and not _may_be_misspelt(tools, command, arguments):
                _store(tools, command, arguments, rejects, str(error))
            raise
        run = Run(
            sources,
            IngestOptions(
                complete=sources.complete,
                on_progress=show.on_progress,
                on_skip=sources.count_skipped,
                fraction_read=sources.fraction_read,
                purpose=f"{command} {arguments}",
                **options,
            ),
            rejects,
            output,
        )
        with sources.prints_skipped_on_failure():
            if not writes:
                yield run
                return
            try:
                with published_on_failure(tools):
                    yield run
            except BaseException as error:
                if not _locked_out(error):
                    reason = error_message(error) or type(error).__name__
                    _store(tools, command, arguments, rejects, reason)
                raise
            _store(tools, command, arguments, rejects, run.failed or None)


def _may_be_misspelt(tools: Tools, command: str, arguments: SourceArguments) -> bool:
    """Whether a file or folder does not exist, and the run before was on other sources."""
    if all(is_url(spec) or Path(spec).exists() for spec in arguments.specs):
        return False
    with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
        runs = read_runs(tools.elastic, tools.settings.index, [command])
        return all(run.sources != str(arguments) for run in runs)
    return True


def _store(
    tools: Tools,
    command: str,
    arguments: SourceArguments,
    rejects: RejectLog,
    error: str | None,
) -> None:
    with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
        record_run(
            tools.elastic,
            tools.settings.index,
            command,
            rejected=rejects.count,
            error=error,
            sources=str(arguments),
        )


def _locked_out(error: BaseException) -> bool:
    """Whether a command never had the lock."""
    return isinstance(error, Locked) and not isinstance(error, LockLost)


@contextmanager
def pinged(settings: Settings) -> Iterator[None]:
    """Tell the address of BLOGSEARCH_PING_URL that the block begins, and how it ended.

    As healthchecks.io has it: `…/start`, then the address itself, or `…/fail` with the reason.
    """
    _ping(settings, "/start")
    try:
        yield
    except click.exceptions.Exit as end:
        _ping(settings, "" if end.exit_code in (0, ONLY_SOME) else "/fail")
        raise
    except BaseException as error:
        if not _locked_out(error):  # the run that holds the lock tells how it ends
            _ping(settings, "/fail", error_message(error) or type(error).__name__)
        raise
    _ping(settings, "")


def _ping(settings: Settings, end: str, text: str = "") -> None:
    if not settings.ping_url:
        return
    try:
        url = settings.ping_url.rstrip("/") + end
        body = text[:_PINGED_TEXT].encode()
        requests.post(url, data=body, timeout=_PING_TIMEOUT).raise_for_status()
    except requests.RequestException as error:
        # Without the URL, which is a secret.
        reason = error.response.status_code if error.response is not None else type(error).__name__
        click.echo(f"BLOGSEARCH_PING_URL cannot be reached: {reason}.", err=True)


# -- builds ------------------------------------------------------------------------------------


def built_values(built: Built) -> dict[str, Any]:
    """A build as JSON."""
    counts, over_http = asdict(built.counts), asdict(built.over_http)
    return {
        "index": built.index,
        **counts,
        "previous": built.previous,
        "replayed": built.replayed,
        "kept_over_http": over_http,
        "lost": built.lost,
        "deleted": [*built.stale_builds, *built.pruned],
        "seconds": round(built.seconds, 1),
    }


def print_built(built: Built, output: Output = PLAIN) -> None:
    """Print which generation is live now, and what it took."""
    print_stale_builds(built.stale_builds, output)
    if built.over_http.total:
        output.say(f"Kept {built.over_http}, which came over HTTP and are not in the source.")
    if built.lost:
        output.warn(f"warning: {built.lost}.")
    replayed = f", {built.replayed:,} writes replayed" if built.replayed else ""
    former = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    output.say(
        f"{built.index} is live: {built.counts}{replayed}, in {built.seconds:.1f} s{former}."
    )
    if built.pruned:
        output.say(f"Deleted {', '.join(built.pruned)}.")


def print_stale_builds(names: Iterable[str], output: Output = PLAIN) -> None:
    """Print which generations of killed builds were deleted."""
    for name in names:
        output.say(f"Deleted {name}, left by a build that was killed.")


def after_swap(tools: Tools, output: Output = PLAIN) -> None:
    """Warm the cache with the most frequent queries."""
    with suppress(BlogsearchError):
        answered = tools.service.warm(seconds=_WARM_AFTER_SWAP)
        if answered:
            output.say(f"The answers to the {answered:,} most frequent queries are cached.")
