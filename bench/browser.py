"""Results in a real browser while a visitor types: the time from a key to the first change."""

import os
from collections.abc import Sequence

from playwright.sync_api import sync_playwright

from bench.results import Goal, Section, Table, milliseconds, p95
from bench.service import serving
from bench.workload import Query
from devstack.servers import redis_server

_DELAY = 120.0  # milliseconds between two keys

_OBSERVE = """
() => {
  window.times = [];
  let since = null;
  document.getElementById("q").addEventListener("input", () => (since ??= performance.now()));
  const changed = () => {
    if (since !== null) window.times.push(performance.now() - since);
    since = null;
  };
  new MutationObserver(changed).observe(document.getElementById("answer"), { childList: true });
}
"""


def measure_browser(alias: str, queries: Sequence[Query]) -> Section | None:
    """Queries typed letter by letter on the search page; None without CHROMIUM."""
    if not (chromium := os.environ.get("CHROMIUM")):
        return None
    times: list[float] = []
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        redis_server() as store,
        serving(alias, workers=2, redis_url=store.url) as served,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=as_root)
        for query in queries:
            page = browser.new_page()
            page.goto(served.url)
            page.evaluate(_OBSERVE)
            page.locator("#q").press_sequentially(query.meant, delay=_DELAY)
            page.wait_for_timeout(1_000)
            times += page.evaluate("window.times")
            page.close()
        browser.close()
    median = sorted(times)[len(times) // 2]
    return Section(
        "Results while typing, in a browser",
        f"{len(queries)} queries typed on the search page in Chromium, a key every "
        f"{_DELAY:.0f} ms; gunicorn with 2 workers and a Redis that is empty at first. From a key, "
        "or from the first of those that brought nothing before the next, to the moment at which "
        "the results change.",
        [
            Goal("results after a key, median", "–", median, 100.0, " ms"),
            Goal("results after a key, p95", "–", p95(times), 200.0, " ms"),
        ],
        [
            Table(
                ["", "n", "median ms", "p95 ms"], [["page", str(len(times)), *milliseconds(times)]]
            )
        ],
        figures={"times": times},
    )
