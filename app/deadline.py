"""A time limit for a whole call: `with deadline(seconds): client.search(...)`.

The clients of Elasticsearch and Redis limit each attempt to connect and each read. A server that
sends a byte now and then is waited for without end.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Limit what is done inside the block, in a gevent worker; None is no limit.

    In other processes, such as commands, only the time limits of the clients apply.

    Raises:
        TimeoutError: the time is over.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None or not monkey.is_module_patched("socket"):
        yield
        return
    gevent = sys.modules["gevent"]
    # No OSError, or a client would try its next address with what is left of nothing.
    timeout = gevent.Timeout.start_new(seconds)
    try:
        yield
    except gevent.Timeout as expired:
        if expired is not timeout:
            raise
        raise TimeoutError("timed out") from None
    finally:
        timeout.close()
