"""Messages, errors and signals: what devstack shares with the person at the terminal.

All messages go to stderr: stdout is for a shell to eval.
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
    """The root of devstack's errors. The message says what is wrong and what to do."""


class NotAnswering(DevstackError):
    """Nothing at the URL speaks the engine's protocol."""


def say(text: str) -> None:
    """Print one line of progress."""
    click.echo(f"devstack: {text}", err=True)


def with_log(message: str, log: Path, lines: int = 8) -> str:
    """The message, followed by the last lines of a log file and its path."""
    tail = log.read_text(errors="replace").strip().splitlines()[-lines:] if log.exists() else []
    quoted = "".join(f"\n    {line[:300]}" for line in tail)
    return f"{message}{quoted}\n  The whole log: {log}"


def exit_on_signals() -> None:
    """Raise SystemExit on the first signal, so that `finally` stops what was started.

    Later signals are ignored: they would interrupt that.
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
    """Run a program `beside` this one and return its exit code."""
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
    """A program that runs beside what the block does.

    `stdout` is the descriptor that it prints to; a pipe has its messages, too. If it still runs at
    the end of the block it is sent `end_signal`, once: it is in a process group
    of its own, which Ctrl-C does not reach. It is killed if it still runs 15 seconds later.
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
