"""Which requests are searches, and of whom."""

import json
from pathlib import Path

import pytest

from app.insights.counts import Extent, Search
from app.insights.search_log import agrees, searches

CASES = json.loads((Path(__file__).parents[1] / "data/unit/search_log.json").read_text("utf-8"))
"""By test: its cases."""

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


def _search(at: float, q: str, found: Extent = "all") -> Search:
    return Search(at, "visitor", "mark", f"q={q}", q, found)


@pytest.mark.parametrize(("sent", "expected"), CASES["a_search_is_followed_by_a_pause"])
def test_a_search_is_followed_by_a_pause(
    sent: list[tuple[float, str]], expected: list[str]
) -> None:
    assert [one.q for one in searches(_search(at, q) for at, q in sent)] == expected


@pytest.mark.parametrize(
    ("first", "second", "counted"),
    [("nothing", "some", "some"), ("all", "nothing", "all"), ("all", "some", "some")],
)
def test_a_search_that_is_repeated_with_a_filter_counts_as_found(
    first: Extent, second: Extent, counted: Extent
) -> None:
    (search,) = searches([_search(0, "cron", first), _search(9, "cron", second)])
    assert search.found == counted


@pytest.mark.parametrize(("environ", "expected"), CASES["people_who_agree_are_counted"])
def test_people_who_agree_are_counted(environ: dict[str, str], expected: bool) -> None:
    assert agrees(environ) is expected
