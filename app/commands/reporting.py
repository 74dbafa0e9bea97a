"""What a long command prints while it runs: progress, and rejects."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from indexer.progress import Progress
from indexer.records import Reject

SOME_REJECTED = 3
"""Exit code: done, but something was rejected."""

_MAX_PRINTED = 20  # rejects on the terminal; --rejects writes all of them
_INTERVAL = 5.0  # seconds between two plain lines


class Display:
    """Shows progress on stderr, as a bar or as plain lines; created by `display`."""

    def __init__(self, bar: Bar | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, documents=0, rate=0.0) if bar else None
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
                documents=progress.done,
                rate=rate,
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
            self._file.write(json.dumps(_record(reject), ensure_ascii=False) + "\n")
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
        _DocumentsColumn(),
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
    with ExitStack() as stack:
        file = None
        if path:
            try:
                file = stack.enter_context(path.open("w", encoding="utf-8"))
            except OSError as error:
                raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
        yield RejectLog(show, file)


def exit_if_rejected(log: RejectLog) -> None:
    """End the command with `SOME_REJECTED` if anything was rejected."""
    if log.count:
        click.echo(f"{log.count:,} posts and comments were rejected.", err=True)
        click.get_current_context().exit(SOME_REJECTED)


class _DocumentsColumn(ProgressColumn):
    """The documents so far, and the documents per second."""

    def render(self, task: Task) -> Text:
        documents, rate = task.fields["documents"], task.fields["rate"]
        return Text(f"{documents:,} documents" + (f", {rate:,.0f}/s" if rate else ""))


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


def _record(reject: Reject) -> dict[str, object]:
    return {
        "source": reject.origin.source,
        "line": reject.origin.line,
        "oid": reject.oid,
        "reason": reject.reason,
        "remedy": reject.remedy,
    }
