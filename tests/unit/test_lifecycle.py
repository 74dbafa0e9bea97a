"""Which index is which generation, read from names, aliases and `_meta` alone."""

from typing import Any

import pytest

from indexer.errors import NoGeneration, TooManyRejects
from indexer.generations import NameTaken, list_generations, require_live
from indexer.ingest import MaxRejects


class Indices:
    """In place of a client: what `indices.get` finds."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self.indices = self

    def get(self, **_: Any) -> Any:
        return type("Answer", (), {"body": self._found})


def found(*aliases: str, state: str = "ready", blocked: str | None = None) -> dict[str, Any]:
    blocks = {"blocks": {"write": blocked}} if blocked else {}
    meta = {"state": state, "rules": "r", "schema": 1, "built": "2026-01-01"}
    return {
        "aliases": {alias: {} for alias in aliases},
        "mappings": {"_meta": {"blogsearch": meta}},
        "settings": {"index": blocks},
    }


def states(**indices: dict[str, Any]) -> dict[str, str]:
    names = {name.replace("_", "-"): body for name, body in indices.items()}
    return {one.name: one.state for one in list_generations(Indices(names), "blog")}  # type: ignore[arg-type]


def test_aliases_tell_what_a_generation_is() -> None:
    assert states(
        blog_000004=found("blog-000004-building", state="building"),
        blog_000003=found("blog"),
        blog_000002=found("blog-previous"),
        blog_000001=found(),
        blog_state={},
        blog_other_000001=found("blog-other"),
        blog_12=found(),
    ) == {
        "blog-000001": "kept",
        "blog-000002": "previous",
        "blog-000003": "live",
        "blog-000004": "building",
    }


def test_one_ready_but_never_live_is_still_being_built() -> None:
    assert states(blog_000001=found("blog-000001-building")) == {"blog-000001": "building"}


def test_a_live_one_is_live_whatever_else_it_says() -> None:
    assert states(blog_000001=found("blog", "blog-previous", state="building")) == {
        "blog-000001": "live"
    }


def test_an_index_that_says_nothing_is_still_listed() -> None:
    assert states(blog_000001={}) == {"blog-000001": "kept"}


def test_a_write_block_is_seen() -> None:
    client: Any = Indices({"blog-000001": found("blog", blocked="true")})
    assert require_live(client, "blog").write_blocked
    client = Indices({"blog-000001": found("blog", blocked="false")})
    assert not require_live(client, "blog").write_blocked


def test_numbers_go_on_after_six_digits() -> None:
    client: Any = Indices({"blog-1000000": found("blog"), "blog-999999": found()})
    assert [one.number for one in list_generations(client, "blog")] == [999_999, 1_000_000]


@pytest.mark.parametrize(
    "indices",
    [
        {"blog": found()},
        {"posts": found("blog")},
        {"blog-000001": found("blog"), "blog-000002": found("blog")},
    ],
)
def test_what_we_did_not_set_up_is_refused(indices: dict[str, Any]) -> None:
    with pytest.raises(NameTaken, match="BLOGSEARCH_INDEX"):
        list_generations(Indices(indices), "blog")  # type: ignore[arg-type]


def test_nothing_built_says_what_to_run() -> None:
    with pytest.raises(NoGeneration, match="blogsearch reindex"):
        require_live(Indices({}), "blog")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("allowance", "rejected", "lines", "passes"),
    [
        (MaxRejects(), 1, 200, True),
        (MaxRejects(), 1, 199, False),
        (MaxRejects(), 0, 0, True),
        (MaxRejects(share=0.0), 1, 10, False),
        (MaxRejects(share=1.0), 10, 10, True),
        (MaxRejects(number=3), 3, 3, True),
        (MaxRejects(number=3), 4, 1_000_000, False),
        (MaxRejects(number=0), 0, 5, True),
    ],
)
def test_an_allowance(allowance: MaxRejects, rejected: int, lines: int, passes: bool) -> None:
    if passes:
        allowance.check(rejected, lines)
        return
    with pytest.raises(TooManyRejects, match=f"{rejected} of {lines:,} lines"):
        allowance.check(rejected, lines)
