"""What the commands that write have in common: progress, rejects, and what follows a build."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click
from elasticsearch import ApiError, TransportError
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from app.commands.sources import SourceArguments, Sources
from app.commands.tools import ONLY_SOME, Tools, stop_on_sigterm
from app.elastic import translated
from app.errors import BlogsearchError
from indexer.build.builder import Built
from indexer.errors import Locked, LockLost
from indexer.generations import prune
from indexer.ingest import IngestOptions
from indexer.lock import Lock
from indexer.records import Progress, Reject
from indexer.retry import time_limit
from indexer.state import record_run

_MAX_PRINTED = 20  # rejects on the terminal; --rejects writes all of them
_INTERVAL = 5.0  # seconds between two plain lines
_EXIT_TIMEOUT = 5.0  # seconds that a command that failed waits for Elasticsearch
_WARM_AFTER_SWAP = 20.0  # seconds that a command that swapped waits for


# -- progress and rejects ------------------------------------------------------------------------


class Display:
    """Shows progress on stderr, as a bar or as plain lines; created by `display`."""

    def __init__(self, bar: Bar | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, counted="") if bar else None
        self._clock = clock
        self._phase = ""
        self._started = clock()
        self._printed = self._started

    def on_progress(self, progress: Progress) -> None:
        """Show the progress; cheap enough to be called for every request."""
        now = self._clock()
        if progress.phase != self._phase:
            self._phase, self._started = progress.phase, now
            self._begin_phase(progress)
        elapsed = now - self._started
        rate = progress.done / elapsed if elapsed > 0.5 else 0.0
        if self._bar and self._task is not None:
            self._bar.update(
                self._task,
                completed=progress.fraction or 0.0,
                total=None if progress.fraction is None else 1.0,
                counted=f"{progress.done:,} documents" + (f", {rate:,.0f}/s" if rate else ""),
            )
        elif now - self._printed > _INTERVAL:
            self._printed = now
            click.echo(_line(progress, rate, elapsed), err=True)

    def print_line(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar:
            self._bar.console.print(Text(text))
        else:
            click.echo(text, err=True)

    def _begin_phase(self, progress: Progress) -> None:
        if self._bar and self._task is not None:
            self._bar.reset(self._task, description=progress.phase, total=None, completed=0)
        elif progress.phase not in {"verifying", "swapping"}:
            click.echo(f"{progress.phase} …", err=True)


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
def display() -> Iterator[Display]:
    """A progress bar if stderr is a terminal, else plain lines."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Display(None)
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


def exit_if_rejected(log: RejectLog) -> None:
    """End the command with `ONLY_SOME` if anything was rejected."""
    if log.count:
        click.echo(f"{log.count:,} posts and comments were rejected.", err=True)
        click.get_current_context().exit(ONLY_SOME)


def _line(progress: Progress, rate: float, elapsed: float) -> str:
    if not progress.done:
        return f"{progress.phase} …"
    parts = [f"{progress.phase}: {progress.done:,} documents"]
    if rate:
        parts.append(f"{rate:,.0f}/s")
    if progress.fraction:
        left = elapsed * (1 - progress.fraction) / progress.fraction
        parts += [f"{progress.fraction:.0%}"]
        parts += [f"about {left:,.0f} s left"] if rate and left >= 1 else []
    if progress.rejected:
        parts.append(f"{progress.rejected:,} rejected")
    return ", ".join(parts)


# -- runs --------------------------------------------------------------------------------------


@contextmanager
def updates_cache_on_failure(tools: Tools) -> Iterator[None]:
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
    """A run on sources, and whether it did what it should."""

    sources: Sources
    options: IngestOptions
    rejects: RejectLog
    succeeded: bool = True


@contextmanager
def run_on(
    tools: Tools,
    command: str,
    arguments: SourceArguments,
    rejects_path: Path | None,
    *,
    writes: bool = True,
    **options: Any,
) -> Iterator[Run]:
    """Open sources, print progress and rejects, and store for `/metrics` how the block ends.

    A block that raises did not succeed. One that never had the lock counts as no run: `sync
    --watch` asks for the lock every two seconds.

    Args:
        writes: whether it is a run that is stored.
        options: further fields of `IngestOptions`.
    """
    with stop_on_sigterm(), display() as show, reject_log(show, rejects_path) as rejects:
        try:
            opened = arguments.open(tools.settings)
            run = Run(
                opened,
                IngestOptions(
                    complete=opened.complete,
                    on_progress=show.on_progress,
                    on_skip=opened.count_skipped,
                    fraction_read=opened.fraction_read,
                    purpose=f"{command} {arguments}",
                    **options,
                ),
                rejects,
            )
            with opened.prints_skipped_on_failure():
                if not writes:
                    yield run
                    return
                with updates_cache_on_failure(tools):
                    yield run
        except BaseException as error:
            if writes and not _locked_out(error):
                _store(tools, command, rejects, succeeded=False)
            raise
        _store(tools, command, rejects, succeeded=run.succeeded)


def _store(tools: Tools, command: str, rejects: RejectLog, *, succeeded: bool) -> None:
    with suppress(ApiError, TransportError):
        client, alias = tools.elastic, tools.settings.index
        record_run(client, alias, command, rejected=rejects.count, succeeded=succeeded)


def _locked_out(error: BaseException) -> bool:
    """Whether a command never had the lock."""
    return isinstance(error, Locked) and not isinstance(error, LockLost)


def print_built(built: Built) -> None:
    """Print which generation is live now, and what it took."""
    print_stale_builds(built.stale_builds)
    if built.over_http.total:
        click.echo(f"Kept {built.over_http}, which came over HTTP and are not in the source.")
    if built.lost:
        click.echo(f"warning: {built.lost}.", err=True)
    replayed = f", {built.replayed:,} writes replayed" if built.replayed else ""
    former = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    click.echo(
        f"{built.index} is live: {built.counts}{replayed}, in {built.seconds:.1f} s{former}."
    )


def print_stale_builds(names: Iterable[str]) -> None:
    """Print which generations of killed builds were deleted."""
    for name in names:
        click.echo(f"Deleted {name}, left by a build that was killed.")


def after_swap(tools: Tools, *, quiet: bool = False) -> None:
    """Warm the cache with the most frequent queries, and delete old generations.

    Nothing is deleted while another process builds; that process deletes them. Elasticsearch may
    fail here; the swap counts nevertheless.
    """
    answered = tools.service.warm(seconds=_WARM_AFTER_SWAP).answered
    if answered and not quiet:
        click.echo(f"The answers to the {answered:,} most frequent queries are cached.")
    client, alias = tools.elastic, tools.settings.index
    try:
        with translated(), Lock(client, alias, "prune"):
            deleted = prune(client, alias)
    except Locked:
        return
    except BlogsearchError as error:
        hint = "Old indices may remain; `blogsearch prune` deletes them."
        click.echo(f"{hint} {error}", err=True)
        return
    if deleted and not quiet:
        click.echo(f"Deleted {', '.join(deleted)}.")
