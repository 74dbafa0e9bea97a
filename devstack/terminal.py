"""Messages, errors and signals: what devstack shares with the person at the terminal.

All messages go to stderr: stdout is for a shell to eval.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


class DevstackError(Exception):
    """The root of devstack's errors. The message says what is wrong and what to do."""


class NotAnswering(DevstackError):
    """Nothing at the URL speaks the engine's protocol."""


def with_log(message: str, log: Path, lines: int = 8) -> str:
    """The message, followed by the last lines of a log file and its path."""
    try:
        tail = log.read_text(errors="replace").strip().splitlines()[-lines:]
    except OSError:
        tail = []
    quoted = "".join(f"\n    {line[:300]}" for line in tail)
    return f"{message}{quoted}\n  The whole log: {log}"


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"devstack: {text}", file=sys.stderr, flush=True)


class Ticker:
    """Prints a progress message at most once every `every` seconds."""

    def __init__(self, every: float = 5.0) -> None:
        self.started = time.monotonic()
        self._every = every
        self._last = self.started

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def tick(self, text: str) -> None:
        """Print the message, if the last one is old enough."""
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            say(f"… {text} ({self.seconds:.0f} s)")


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_received: list[int] = []
"""The signals received inside of `stoppable`."""


class Stopped(BaseException):
    """A signal ended the work. Not an Exception, so that no `except Exception` catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped on the first signal inside the block; later signals only print a message."""

    def handle(number: int, _frame: FrameType | None) -> None:
        _received.append(number)
        if len(_received) > 1:
            say("already stopping, please wait …")
            return
        raise Stopped(number)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _received.clear()


def raise_if_stopped() -> None:
    """Raise Stopped if a signal was received; call it in loops that wait.

    Python drops an exception that a signal handler raises while a finalizer or the callback of a
    weak reference runs; the loop would then go on.
    """
    if _received:
        raise Stopped(_received[0])


@contextmanager
def ending_with_us(
    child: subprocess.Popen[bytes], end_signal: signal.Signals, timeout: float = 15.0
) -> Iterator[None]:
    """Make sure that the child has ended when the block ends.

    It is sent `end_signal`, and killed if it still runs `timeout` seconds later.
    """
    interrupted = False
    try:
        yield
    except Stopped as stopped:
        # Ctrl-C in a terminal reaches the child too; a second one would interrupt its cleanup.
        interrupted = stopped.number == signal.SIGINT
        raise
    finally:
        if not (interrupted and _ends(child, timeout)) and child.poll() is None:
            child.send_signal(end_signal)
        if not _ends(child, timeout):
            child.kill()
            child.wait()


def _ends(child: subprocess.Popen[bytes], timeout: float) -> bool:
    try:
        child.wait(timeout=timeout)
    except subprocess.TimeoutExpired:
        return False
    return True
