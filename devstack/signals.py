"""Ctrl-C and friends: they interrupt once, and do not disturb the clearing up."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from devstack.talk import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 15.0


class Stopped(BaseException):
    """A signal asked us to stop; not an Exception, so that nothing swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_asked: list[int] = []
"""The signals that have come, in a process that may be stopped by them."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block the first signal raises Stopped, later ones only say that it is known."""

    def handle(number: int, _frame: FrameType | None) -> None:
        _asked.append(number)
        if len(_asked) > 1:
            say("stopping already, a moment …")
            return
        raise Stopped(number)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _asked.clear()


def raise_if_asked() -> None:
    """Raise Stopped when a signal has come; for loops that wait.

    Python drops an exception that a signal handler raises while a finalizer or the callback of a
    weak reference happens to run, and a wait would go on as if nobody had asked.
    """
    if _asked:
        raise Stopped(_asked[0])


@contextmanager
def ending_with_us(child: subprocess.Popen[bytes], gently: signal.Signals) -> Iterator[None]:
    """However the block ends, the child has ended too: by itself, gently asked, or killed."""
    asked = False
    try:
        yield
    except Stopped as stopped:
        # Ctrl-C in a terminal has reached the child too; a second one would cut its clearing up.
        asked = stopped.number == signal.SIGINT
        raise
    finally:
        if not (asked and _ends(child)) and child.poll() is None:
            child.send_signal(gently)
        if not _ends(child):
            child.kill()
            child.wait()


def _ends(child: subprocess.Popen[bytes]) -> bool:
    try:
        child.wait(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return False
    return True
