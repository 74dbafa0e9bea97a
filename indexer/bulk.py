"""Documents to Elasticsearch: bulk requests by size, several at a time, patient when it is busy.

Memory stays flat: at most `workers` requests are under way, and what reads the source waits for
them. A document is serialised once; of a chunk nothing is kept but its bytes and what a report
needs.
"""

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from elasticsearch import Elasticsearch

from indexer.items import Item, Limits, chunks
from indexer.sender import Outcome, Sender


def send(
    client: Elasticsearch, target: str, items: Iterable[Item], limits: Limits | None = None
) -> Iterator[list[Outcome]]:
    """Send items to the alias `target`; yields the outcomes of request after request, in order.

    Raises:
        NotTaken: Elasticsearch did not take a request within `limits.patience`.
    """
    limits = limits or Limits()
    stop = threading.Event()
    sender = Sender(client, target, limits, stop.wait)
    under_way: deque[Future[list[Outcome]]] = deque()
    with ThreadPoolExecutor(limits.workers, thread_name_prefix="bulk") as pool:
        try:
            for chunk in chunks(items, limits):
                if len(under_way) >= limits.workers:
                    yield under_way.popleft().result()
                under_way.append(pool.submit(sender.send, chunk))
            while under_way:
                yield under_way.popleft().result()
        finally:
            stop.set()
            for future in under_way:
                future.cancel()
