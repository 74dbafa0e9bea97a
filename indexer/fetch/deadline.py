"""A time limit for a block that waits on a socket."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer


@contextmanager
def cancelled_after(seconds: float, cancel: Callable[[], None]) -> Iterator[Event]:
    """Call `cancel` from another thread when the block takes longer than `seconds`.

    Yields an event that is set when the time is up. A socket timeout does not replace this: a
    server that sends one byte now and then never exceeds it. `cancel` may fail with an OSError,
    ValueError or RuntimeError when the block has just ended by itself.
    """
    expired = Event()

    def expire() -> None:
        expired.set()
        with suppress(OSError, ValueError, RuntimeError):
            cancel()

    timer = Timer(max(0.0, seconds), expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()
