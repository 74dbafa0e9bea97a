"""Work that no search waits for: a few daemon threads, made when there is something to do.

Not an executor: its threads are lost in a forked worker, and it keeps a process from ending.
"""

import logging
import threading
from collections.abc import Callable

_AT_ONCE = 2  # refreshes of one process at a time; Elasticsearch has visitors to serve

logger = logging.getLogger(__name__)


class Background:
    """Runs jobs beside the searches, at most two at a time; a job that fails is logged."""

    def __init__(self) -> None:
        self._slots = threading.BoundedSemaphore(_AT_ONCE)

    def run(self, job: Callable[[], None]) -> bool:
        """Start it; False when all slots are taken, and it will not run."""
        if not self._slots.acquire(blocking=False):
            return False
        try:
            threading.Thread(target=self._work, args=(job,), daemon=True).start()
        except RuntimeError:  # no more threads, or the interpreter is going down
            self._slots.release()
            return False
        return True

    def _work(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:
            logger.exception("a background refresh failed")
        finally:
            self._slots.release()
