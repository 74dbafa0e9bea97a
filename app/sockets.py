"""What sockets need in a gevent worker: a limit for a whole wait, and the poll of the system."""

import select
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Protocol


def deadline(seconds: float | None) -> AbstractContextManager[object]:
    """Raise TimeoutError inside the block after `seconds`, in a gevent worker.

    There the timeout of a TLS socket begins again with each byte that arrives, so that a peer that
    sends a byte now and then is waited for without end. Outside of gevent this does nothing: the
    ssl module of Python limits the whole handshake, and the whole of each read.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None or not monkey.is_module_patched("socket"):
        return nullcontext()
    timeout: AbstractContextManager[object] = sys.modules["gevent"].Timeout(
        seconds, TimeoutError("timed out")
    )
    return timeout


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


def is_readable(sock: _HasFileno) -> bool:
    """Whether a read would return at once: there is data, the other side has closed, or an error.

    Clients ask this before they use a kept connection. It asks the system: gevent's `poll` goes
    through its event loop and takes seven times as long.
    """
    poll = _system_poll()()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


@cache
def _system_poll() -> Callable[[], Any]:
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("select"):
        found: Callable[[], Any] = monkey.get_original("select", "poll")
        return found
    return select.poll
