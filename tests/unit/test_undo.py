"""What a failed build reports when it cannot be undone either."""

from typing import Any, cast

import pytest
from elasticsearch import ConnectionError as NoConnection
from elasticsearch import Elasticsearch

from indexer.build.builder import undone_on_failure
from indexer.errors import IndexingError, LockLost
from indexer.lock import Lock


class LostLock:
    def check(self) -> None:
        raise LockLost("The lock was lost.")


class Unavailable:
    @property
    def indices(self) -> Any:
        raise NoConnection("")


def test_the_first_error_is_reported_if_the_lock_is_lost_and_elasticsearch_away() -> None:
    client, lock = cast(Elasticsearch, Unavailable()), cast(Lock, LostLock())
    with (
        pytest.raises(IndexingError, match="the first") as caught,
        undone_on_failure(client, lock, "blog", None, "blog-000001"),
    ):
        raise IndexingError("the first")
    assert "Connection error" in caught.value.__notes__[0]
