"""`/insights` in a browser, as the owner of the blog uses it."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
import redis
from playwright.sync_api import Browser, Page, expect

from app.cache import open_cache
from app.insights.search_log import SearchLog
from app.insights.sessions import PAUSE, Event
from app.settings import Settings

TOKEN = "a-long-enough-token"
HOSTILE = "<script>document.title='stolen'</script>"


@pytest.fixture
def settings(settings: Settings, redis_url: str) -> Iterator[Settings]:
    """The sample posts, and some searches of the last minute."""
    own = replace(settings, insights_token=TOKEN)
    cache = open_cache(own)
    with redis.Redis.from_url(redis_url) as server:
        began = time.time()
        visits = [
            [("cron", True)],
            [(HOSTILE, False)],
            *[[("k8s", False), ("kubernetes", True)]] * 2,
        ]
        for visit in visits:
            client = uuid.uuid4().hex
            for n, (q, has_hits) in enumerate(visit):
                at = began - 30 + n * PAUSE
                event = Event(at, client, f"q={q}", q, "HIT", has_hits, 0.02)
                server.zadd(cache.keys.insights("events"), {event.dump(): at})
        SearchLog(cache.client, cache.keys, days=30, size=100).count_due(began + 100)
        yield own
        for key in server.scan_iter(match=f"blogsearch:{{{own.index}}}:*"):
            server.delete(key)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that sends the password, without JavaScript, on a phone in the dark."""
    context = browser.new_context(
        http_credentials={"username": "me", "password": TOKEN},
        viewport={"width": 360, "height": 800},
        color_scheme="dark",
        java_script_enabled=False,
    )
    yield context.new_page()
    context.close()


def test_the_page_shows_searches_as_text_and_fits_a_phone(page: Page, address: str) -> None:
    refused: list[str] = []
    page.on("console", lambda line: refused.append(line.text))
    page.goto(f"{address}/insights?days=7")
    expect(page.get_by_role("heading", name="What people search for")).to_be_visible()
    expect(page.get_by_role("link", name=HOSTILE).first).to_be_visible()
    expect(page).to_have_title("What people search for")
    expect(page.get_by_role("img", name="Bar chart")).to_be_visible()
    expect(page.get_by_text("k8s => kubernetes").first).to_be_visible()
    expect(page.get_by_text("blogsearch synonyms load")).to_be_visible()
    box = page.locator("main").bounding_box()
    assert box is not None
    assert box["width"] <= 360
    assert refused == []
    page.get_by_role("link", name="30 days").click()
    expect(page.locator(".periods [aria-current]")).to_have_text("30 days")


def test_the_figures_of_a_day_are_a_line_on_a_phone(page: Page, address: str) -> None:
    page.goto(f"{address}/insights?days=7")
    page.get_by_text("Figures").click()
    day = page.locator(".chart tbody tr").first.bounding_box()
    assert day is not None
    assert day["height"] < 50
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_legend_has_its_colour_in_forced_colours(page: Page, address: str) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(f"{address}/insights")
    key = page.locator(".key")
    expect(key).to_be_visible()
    colour = key.evaluate("(key) => getComputedStyle(key, '::before').backgroundColor")
    bar = page.locator(".chart .nothing").first
    expect(bar).to_have_css("fill", colour)


def test_a_post_is_pinned_with_a_confirmation_and_undone(page: Page, address: str) -> None:
    agent = {"User-Agent": "Mozilla/5.0 Firefox/140.0"}
    for position in ("4", "5"):
        form = {"q": "kubernetes", "position": position, "oid": "far-down"}
        page.request.post(f"{address}/clicks", form=form, headers=agent)
    page.goto(f"{address}/insights")
    row = page.get_by_role("row", name="kubernetes").first
    expect(row).to_contain_text("2 times, at position 4.5")
    expect(page.get_by_role("button", name="Pin far-down for kubernetes")).to_be_hidden()
    row.get_by_text("Pin far-down").first.click()
    page.get_by_role("button", name="Pin far-down for kubernetes").click()
    expect(page.get_by_text("Pinned: kubernetes => far-down")).to_be_visible()
    page.get_by_role("button", name="Undo kubernetes => far-down").click()
    expect(page.get_by_text("Pinned:")).to_have_count(0)
    page.get_by_role("button", name="Dismiss kubernetes").click()
    expect(page.get_by_text("Dismissed: kubernetes")).to_be_visible()
    expect(page.get_by_text("2 times, at position 4.5")).to_have_count(0)
