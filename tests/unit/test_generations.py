"""The state of each generation follows from names, aliases and `_meta` alone."""

from typing import Any

import pytest

from indexer.generations import NameTaken, parse_generations


def index_body(*aliases: str, blocked: str | None = None) -> dict[str, Any]:
    blocks = {"blocks": {"write": blocked}} if blocked else {}
    return {
        "aliases": {alias: {} for alias in aliases},
        "mappings": {"_meta": {"blogsearch": {"rules": "r", "schema": 1}}},
        "settings": {"index": {"creation_date": "1767225600000", **blocks}},
    }


def states(**indices: dict[str, Any]) -> dict[str, str]:
    names = {name.replace("_", "-"): body for name, body in indices.items()}
    return {generation.name: generation.state for generation in parse_generations("blog", names)}


def test_aliases_tell_what_a_generation_is() -> None:
    assert states(
        blog_000004=index_body("blog-000004-building"),
        blog_000003=index_body("blog"),
        blog_000002=index_body("blog-previous"),
        blog_000001=index_body(),
        blog_state={},
        blog_other_000001=index_body("blog-other"),
        blog_12=index_body(),
    ) == {
        "blog-000001": "kept",
        "blog-000002": "previous",
        "blog-000003": "live",
        "blog-000004": "building",
    }


def test_one_ready_but_never_live_is_still_being_built() -> None:
    assert states(blog_000001=index_body("blog-000001-building")) == {"blog-000001": "building"}


def test_of_two_with_the_alias_the_newest_is_live_unless_it_was_swapped_out() -> None:
    assert states(blog_000001=index_body("blog"), blog_000002=index_body("blog")) == {
        "blog-000001": "kept",
        "blog-000002": "live",
    }
    assert states(
        blog_000001=index_body("blog"), blog_000002=index_body("blog", "blog-previous")
    ) == {
        "blog-000001": "live",
        "blog-000002": "previous",
    }


def test_a_live_one_is_live_whatever_else_it_says() -> None:
    assert states(blog_000001=index_body("blog", "blog-previous")) == {"blog-000001": "live"}


def test_an_index_that_says_nothing_is_still_listed() -> None:
    assert states(blog_000001={}) == {"blog-000001": "kept"}


@pytest.mark.parametrize(("value", "blocked"), [("true", True), ("false", False), (None, False)])
def test_a_write_block(value: str | None, blocked: bool) -> None:
    (generation,) = parse_generations("blog", {"blog-000001": index_body("blog", blocked=value)})
    assert generation.write_blocked is blocked


def test_numbers_go_on_after_six_digits() -> None:
    indices = {"blog-1000000": index_body("blog"), "blog-999999": index_body()}
    numbers = [generation.number for generation in parse_generations("blog", indices)]
    assert numbers == [999_999, 1_000_000]


@pytest.mark.parametrize(
    "indices",
    [
        {"blog": index_body()},
        {"posts": index_body("blog")},
    ],
)
def test_a_name_used_by_something_else_is_refused(indices: dict[str, Any]) -> None:
    with pytest.raises(NameTaken, match="BLOGSEARCH_INDEX"):
        parse_generations("blog", indices)
