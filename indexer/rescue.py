"""An index left closed to writes by a build that was killed in the blink before its swap."""

from elasticsearch import Elasticsearch

from indexer import lifecycle
from indexer.errors import Locked
from indexer.lock import Lock


def unblocked(client: Elasticsearch, alias: str) -> bool:
    """Open the live index again if nobody is building any more; False while somebody is."""
    try:
        with Lock(client, alias, "opening the index for writes"):
            lifecycle.recover(client, alias)
    except Locked:
        return False
    return True
