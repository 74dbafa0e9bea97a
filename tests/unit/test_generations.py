"""The state of each generation follows from names, aliases and `_meta` alone."""

from typing import Any

import pytest

from indexer.errors import IndexingError
from indexer.store.generations import live_alias, parse_generations


def index_body(*aliases: str, blocked: str = "false") -> dict[str, Any]:
    return {
        "aliases": {alias: {} for alias in aliases},
        "mappings": {"_meta": {"blogsearch": {"rules": "r", "schema": 1}}},
        "settings": {"index": {"creation_date": "1767225600000", "blocks": {"write": blocked}}},
    }


def test_aliases_tell_what_a_generation_is() -> None:
    indices = {
        "blog-1000000": index_body("blog-1000000-building"),
        "blog-000004": index_body("blog-000004-live", "blog-previous"),
        "blog-000003": index_body("blog", "blog-previous", blocked="true"),
        "blog-000002": index_body("blog-previous", "blog-000002-building"),
        "blog-000001": {},
        "blog-state": {},
        "blog-other-000001": index_body("blog-other"),
        "blog-12": index_body(),
    }
    found = parse_generations("blog", indices)
    assert [(item.number, item.state, item.written, item.write_blocked) for item in found] == [
        (1, "unknown", False, False),
        (2, "previous", True, False),
        (3, "previous", False, True),
        (4, "live", False, False),
        (1_000_000, "building", True, False),
    ]


def test_an_alias_of_several_indices_is_refused() -> None:
    """Such as after a former generation was restored beside the live one."""
    each = {name: index_body("blog", live_alias(name)) for name in ("blog-000001", "blog-000003")}
    with pytest.raises(IndexingError, match=r"blog-000001, blog-000003.*/blog-000001/_alias"):
        parse_generations("blog", each)


@pytest.mark.parametrize("indices", [{"blog": index_body()}, {"posts": index_body("blog")}])
def test_a_name_used_by_something_else_is_refused(indices: dict[str, Any]) -> None:
    with pytest.raises(IndexingError, match="BLOGSEARCH_INDEX"):
        parse_generations("blog", indices)
