"""Waiting for other threads and processes, and a clock that tests set."""

import time
from collections.abc import Callable

import pytest


def wait_until(
    condition: Callable[[], object], seconds: float = 60, describe: Callable[[], object] = str
) -> None:
    """Returns when the condition holds.

    Args:
        seconds: after which the test fails; many more than a busy machine needs.
        describe: what the failure shows, such as a log.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {describe()}"
        time.sleep(0.02)


class Clock:
    """Sets `time.time()` of the whole process ahead of the real one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0  # seconds
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + self._ahead)

    def advance(self, seconds: float) -> None:
        """Adds these seconds, which may be negative."""
        self._ahead += seconds
