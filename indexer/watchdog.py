"""Ends what takes too long, from outside.

A timeout on each read would not do: a byte now and then keeps every single one of them short.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer


@contextmanager
def ended_after(seconds: float, end: Callable[[], None]) -> Iterator[Event]:
    """Calls `end` from another thread if the block is not left by then; the event tells.

    `end` may fail for something that has just ended by itself.
    """
    late = Event()

    def fire() -> None:
        late.set()
        with suppress(OSError, ValueError, RuntimeError):
            end()

    timer = Timer(max(0.0, seconds), fire)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
