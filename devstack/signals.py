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


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block the first signal raises Stopped, later ones only say that it is known."""
    stopped = False

    def handle(number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            say("stopping already, a moment …")
            return
        stopped = True
        raise Stopped(number)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
