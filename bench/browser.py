"""Results in a real browser while a visitor types: the time from a key to the first change."""

import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from bench.results import Goal, Section, Table, milliseconds, p95
from bench.run import Run
from bench.service import serving
from devstack.servers import redis_server

_DELAY = 120.0  # milliseconds between two keys
_QUERIES = 20

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


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that CHROMIUM names."""
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=as_root)
        yield browser
        browser.close()


def measure_browser(run: Run) -> Section | None:
    """Queries typed letter by letter on the search page; None without CHROMIUM."""
    if not os.environ.get("CHROMIUM"):
        return None
    times: list[float] = []
    queries = run.queries[:_QUERIES]
    with (
        redis_server() as store,
        serving(run.alias, workers=2, redis_url=store.url) as served,
        chromium() as browser,
    ):
        for query in queries:
            page = browser.new_page()
            page.goto(served.url)
            page.evaluate(_OBSERVE)
            page.locator("#q").press_sequentially(query.meant, delay=_DELAY)
            page.wait_for_timeout(1_000)
            times += page.evaluate("window.times")
            page.close()
    return Section(
        "Results while typing, in a browser",
        f"{len(queries)} queries typed on the search page in Chromium, a key every "
        f"{_DELAY:.0f} ms; gunicorn with 2 workers and a Redis that is empty at first. From a key, "
        "or from the first of those that brought nothing before the next, to the moment at which "
        "the results change.",
        [
            Goal("results after a key, median", "–", statistics.median(times), 100.0, " ms"),
            Goal("results after a key, p95", "–", p95(times), 200.0, " ms"),
        ],
        [
            Table(
                ["", "n", "median ms", "p95 ms"], [["page", str(len(times)), *milliseconds(times)]]
            )
        ],
        figures={"times": times},
    )
