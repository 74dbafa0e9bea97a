"""The retry policy of requests, and the time limit of a whole job.

    with time_limit(30.0):  # of all requests and pauses inside, however deep
        for elapsed in Retry(total=20.0).attempts():
            ...

The client's own retries are off: they do not pause.
"""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from elasticsearch import ApiError, TransportError

TEMPORARY_STATUSES = frozenset({429, 502, 503, 504})
"""The statuses of responses, or of bulk items, that may succeed when sent again."""

_end: ContextVar[float] = ContextVar("end", default=math.inf)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the time of everything inside the block that asks for `remaining()`."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def remaining() -> float:
    """Return the seconds left of the time limit; infinite without one, negative after it."""
    return _end.get() - time.monotonic()


def is_temporary(error: Exception) -> bool:
    """Whether a request to Elasticsearch with this error may succeed when sent again."""
    if isinstance(error, ApiError):
        return error.status_code in TEMPORARY_STATUSES
    return isinstance(error, TransportError)


@dataclass(frozen=True, slots=True)
class Retry:
    """The time limit and the pauses of repeated attempts."""

    total: float  # seconds after which no further attempt begins; 0: one attempt
    first_pause: float = 0.05  # seconds before the second attempt; doubled before each further one
    longest_pause: float = 5.0

    def attempts(self, wait: Callable[[float], object] | None = None) -> Iterator[float]:
        """Yield the seconds since the first attempt at each attempt, with pauses in between.

        No attempt begins after the end of a `time_limit`. `wait` sleeps for some seconds; if it
        returns True, like `threading.Event.wait`, the attempts end.
        """
        sleep = wait or time.sleep  # looked up now: gevent replaces it
        started = time.monotonic()
        pause = self.first_pause
        while True:
            yield time.monotonic() - started
            # Shortened at random, so that several clients do not return at once.
            seconds = pause * random.uniform(0.5, 1)  # noqa: S311
            left = min(started + self.total - time.monotonic(), remaining()) - seconds
            if left <= 0 or sleep(seconds) is True:
                return
            pause = min(2 * pause, self.longest_pause)
