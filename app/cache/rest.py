"""Something that failed is left alone for a while; several threads may look and say so."""

import time


class Rest:
    """Resting after `begin(seconds)` until they are over or `end()` is called."""

    def __init__(self) -> None:
        self._until = 0.0
        self.failed = False
        """It has not answered since; also when the rest is over and nobody has tried yet."""

    def resting(self) -> bool:
        return time.monotonic() < self._until

    def begin(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.failed = True

    def end(self) -> None:
        self._until = 0.0
        self.failed = False
