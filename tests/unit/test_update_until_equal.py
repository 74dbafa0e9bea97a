"""The updates of a field of posts are repeated until nothing differs."""

from types import SimpleNamespace
from typing import Any

import pytest
from elasticsearch import ConnectionTimeout

from indexer.bulk import BulkLimits, BulkTimeout
from indexer.retry import Retry
from indexer.write.comments import update_until_equal


class Posts:
    """Parts of posts that differ so many times, and what is asked of them."""

    def __init__(self, **differs: int) -> None:
        self.differs = differs
        self.asked: list[str] = []
        self.client: Any = SimpleNamespace(indices=SimpleNamespace(refresh=self.refresh))

    def refresh(self, index: str) -> None:
        self.asked.append(index)

    def update(self, part: str) -> bool:
        self.asked.append(part)
        self.differs[part] -= 1
        return self.differs[part] >= 0

    def run(self, seconds: float = 10.0) -> None:
        limits = BulkLimits(retry=Retry(total=seconds))
        update_until_equal(self.client, "blog", "comments", [*self.differs], self.update, limits)


def test_a_part_that_differed_is_compared_again_after_a_refresh() -> None:
    posts = Posts(a=0, b=2)
    posts.run()
    assert posts.asked == ["blog", "a", "b", "blog", "b", "blog", "b"]


def test_without_parts_nothing_is_asked() -> None:
    posts = Posts()
    posts.run()
    assert posts.asked == []


def test_a_temporary_error_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = Posts(a=0)
    errors = iter([ConnectionTimeout("slow")])

    def update(part: str) -> bool:
        for error in errors:
            raise error
        return Posts.update(posts, part)

    monkeypatch.setattr(posts, "update", update)
    posts.run()
    assert posts.asked == ["blog", "blog", "a"]


def test_parts_that_always_differ_end_in_an_error() -> None:
    with pytest.raises(BulkTimeout, match=r"field `comments` .* are written all the time"):
        Posts(a=1000).run(seconds=0.05)
