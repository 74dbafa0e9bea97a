"""The circuit breaker of the Redis client."""

import threading
import time


class CircuitBreaker:
    """Rejects calls to a service that failed, then lets one call at a time try whether it is back.

    The first failure rejects calls for `first_delay` seconds. Each failed retry doubles the delay,
    up to `longest_delay`. One success closes the breaker again. Threads may share it.

    Every call that `allow` admits must end with `record_success` or `record_failure`.
    """

    def __init__(self, first_delay: float, longest_delay: float) -> None:
        self._first_delay = first_delay
        self._longest_delay = longest_delay
        self._lock = threading.Lock()
        self._delay = 0.0  # 0 while closed
        self._opened_at = 0.0
        self._retry_at = 0.0
        self._retrying = False

    @property
    def closed(self) -> bool:
        """No failure since the last success."""
        return not self._delay

    @property
    def failed_once(self) -> bool:
        """One failure since the last success."""
        return self._delay == self._first_delay

    @property
    def ready(self) -> bool:
        """Whether `allow` would admit a call now."""
        return not self._delay or not (self._retrying or time.monotonic() < self._retry_at)

    def allow(self) -> bool:
        """Whether a call may be made now; the caller then makes it."""
        if not self._delay:
            return True
        with self._lock:
            allowed = self.ready
            self._retrying = self._retrying or (allowed and not self.closed)
            return allowed

    def record_success(self) -> None:
        """A call was answered."""
        if self._delay:
            with self._lock:
                self._delay = 0.0
                self._retrying = False

    def record_failure(self, started: float) -> bool:
        """A call that began at `started` (`time.monotonic()`) failed; whether it was counted.

        Calls that were already under way when the breaker opened failed for the same reason: eight
        threads that see one failure count as one.
        """
        with self._lock:
            if started < self._opened_at:
                return False
            self._delay = min(max(self._delay * 2, self._first_delay), self._longest_delay)
            self._opened_at = time.monotonic()
            self._retry_at = self._opened_at + self._delay
            self._retrying = False
            return True
