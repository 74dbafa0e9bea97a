"""A deadline for all that a greenlet waits for."""

import sys
from contextlib import AbstractContextManager, nullcontext


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
