"""Which requests are searches, and of whom."""

import pytest

from app.insights.visits import MOST, PAUSE, TYPING_PAUSE, Extent, Search, agrees, searches

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


def _search(at: float, q: str, found: Extent = "all") -> Search:
    return Search(at, "visitor", "mark", f"q={q}", q, found)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([(0, "p"), (1, "py"), (2, "python")], ["python"]),
        ([(0, "python"), (PAUSE, "cron")], ["python", "cron"]),
        ([(0, "python"), (PAUSE - 0.1, "cron")], ["cron"]),
        ([(0, "pyth"), (PAUSE, "python")], ["python"]),
        ([(0, "pyth"), (TYPING_PAUSE, "python")], ["pyth", "python"]),
        ([(0, "cron"), (20, "cron")], ["cron"]),
        ([(nth * 10, f"word{nth}") for nth in range(MOST)], [f"word{n}" for n in range(MOST)]),
        ([(nth * 10, f"word{nth}") for nth in range(MOST + 1)], []),
    ],
)
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


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HTTP_USER_AGENT": BROWSER}, True),
        ({"HTTP_USER_AGENT": "Mozilla/5.0 (Linux; CUBOT X30) Chrome/140 Mobile"}, True),
        ({"HTTP_USER_AGENT": BROWSER, "HTTP_DNT": "1"}, False),
        ({"HTTP_USER_AGENT": BROWSER, "HTTP_SEC_GPC": "1"}, False),
        ({"HTTP_USER_AGENT": BROWSER, "HTTP_SEC_PURPOSE": "prefetch;prerender"}, False),
        ({"HTTP_USER_AGENT": "Mozilla/5.0 (compatible; Googlebot/2.1)"}, False),
        ({"HTTP_USER_AGENT": "curl/8.5"}, False),
        ({}, False),
    ],
)
def test_people_who_agree_are_counted(environ: dict[str, str], expected: bool) -> None:
    assert agrees(environ) is expected
