"""What devstack says while it works. All of it goes to stderr: stdout is for a shell to eval."""

import sys
import time


def say(text: str) -> None:
    """One line of progress."""
    print(f"devstack: {text}", file=sys.stderr, flush=True)


class Ticker:
    """Says that something is still going on, at most once every `every` seconds."""

    def __init__(self, every: float = 5.0) -> None:
        self.started = time.monotonic()
        self._every = every
        self._last = self.started

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self.started

    def tick(self, text: str) -> None:
        """Say it, if it has been long enough since the last time."""
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            say(f"… {text} ({self.seconds:.0f} s)")
