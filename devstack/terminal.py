"""Devstack's messages, errors, signals and child processes.

All messages go to stderr, as a shell evaluates stdout.
"""

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_END_TIMEOUT_S = 15.0


class DevstackError(click.ClickException):
    """The base class of devstack's errors. The message has the problem and the remedy."""


class NotAnswering(DevstackError):
    """Nothing at the URL speaks the engine's protocol."""


def say(text: str) -> None:
    """Print one line of progress."""
    click.echo(f"devstack: {text}", err=True)


def with_log(message: str, log: Path, lines: int = 8) -> str:
    """Append the last lines of a log file and its path to a message."""
    tail = log.read_text(errors="replace").strip().splitlines()[-lines:] if log.exists() else []
    quoted = "".join(f"\n    {line[:300]}" for line in tail)
    return f"{message}{quoted}\n  The whole log: {log}"


def exit_on_signals() -> None:
    """Raise SystemExit on the first signal, so that `finally` blocks stop the engines.

    Later signals are ignored, as they would interrupt that.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        for ignored in _SIGNALS:
            signal.signal(ignored, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in _SIGNALS:
        signal.signal(number, handle)


def run_child(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    end_signal: signal.Signals,
    stdout: int | None = None,
) -> int:
    """Run a program with `beside` and return its exit code."""
    with beside(command, environment, folder, end_signal, stdout) as child:
        return child.wait()


@contextmanager
def beside(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    end_signal: signal.Signals,
    stdout: int | None = None,
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a program during the block.

    `stdout` is the descriptor for its output; a pipe also gets its stderr. The program is in its
    own process group, which Ctrl-C does not reach. If it still runs at the end of the block, it is
    sent `end_signal`, and killed if it still runs 15 seconds later.
    """
    stderr = subprocess.STDOUT if stdout == subprocess.PIPE else None
    child = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=stdout, stderr=stderr, process_group=0
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(end_signal)
            try:
                child.wait(_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
