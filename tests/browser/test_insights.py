"""`/insights` in a browser, as the owner of the blog uses it."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest
from elasticsearch import Elasticsearch
from playwright.sync_api import Browser, Page, expect

from app.insights.counts import Counts, Extent, Opening, Search
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from tests.browser.conftest import serving
from tests.browser.test_accessibility import violations

TOKEN = "a-long-enough-token"
HOSTILE = "<script>document.title='stolen'</script>"


@pytest.fixture(scope="module")
def address(
    engine_settings: Settings,
    elastic: Elasticsearch,
    module_index: Callable[[Iterable[RawPost]], str],
) -> Iterator[str]:
    """A service with a post, some searches of today, and one of ten days ago."""
    post = RawPost(Origin("test"), "far-down", "Far down", "Kubernetes and cron.")
    settings = replace(engine_settings, index=module_index([post]), insights_token=TOKEN)

    def search(q: str, found: Extent, days: int = 0) -> Search:
        return Search(time.time() - 86_400 * days, "", uuid.uuid4().hex, f"q={quote(q)}", q, found)

    counted = [search("k8s", "nothing"), search("kubernetes", "all")] * 2
    counted += [search("cron", "all"), search(HOSTILE, "nothing"), search("cron", "all", days=10)]
    opened = [Opening(time.time(), "kubernetes", "far-down")] * 2
    Counts(elastic, settings.index, days=30).add([*counted, *opened])
    with serving(settings) as url:
        yield url


@pytest.fixture(params=[False])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page that sends the password, without JavaScript, on a phone in the dark."""
    context = browser.new_context(
        http_credentials={"username": "me", "password": TOKEN},
        viewport={"width": 360, "height": 800},
        color_scheme="dark",
        java_script_enabled=request.param,
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("page", [True], indirect=True, ids=["scripts"])  # axe is one
def test_nothing_is_hard_to_access(page: Page, address: str) -> None:
    page.goto(f"{address}/insights")
    assert violations(page) == []
    page.get_by_role("link", name="Pin … Far down for kubernetes").click()
    assert violations(page) == []


def test_the_page_shows_searches_as_text_and_fits_a_phone(page: Page, address: str) -> None:
    refused: list[str] = []
    page.on("console", lambda line: refused.append(line.text))
    page.goto(f"{address}/insights?days=7")
    expect(page.get_by_role("heading", name="What people search for")).to_be_visible()
    expect(page.get_by_role("link", name=HOSTILE).first).to_be_visible()
    expect(page).to_have_title("What people search for")
    expect(page.get_by_text("the 7 days before")).to_be_visible()
    expect(page.get_by_role("img", name="Bar chart")).to_be_visible()
    expect(page.get_by_text("Far down").first).to_be_visible()
    page.get_by_text("Figures").click()
    day = page.locator(".chart tbody tr").first.bounding_box()
    assert day is not None
    assert day["height"] < 50  # a line
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert refused == []
    page.emulate_media(forced_colors="active")
    page.get_by_role("link", name="30 days").click()
    expect(page.locator(".periods [aria-current]")).to_have_text("30 days")
    expect(page.get_by_text("days before")).to_have_count(0)  # nothing was searched then
    page.wait_for_load_state()  # its style sheets
    # The legend has its colour.
    colour = page.locator(".key").evaluate(
        "(key) => getComputedStyle(key, '::before').backgroundColor"
    )
    expect(page.locator(".chart .nothing").first).to_have_css("fill", colour)


def test_a_post_is_pinned_after_its_place_was_shown(page: Page, address: str) -> None:
    page.goto(f"{address}/insights")
    row = page.get_by_role("row", name="kubernetes").last
    row.get_by_role("link", name="Pin … Far down for kubernetes").click()
    expect(page.get_by_role("listitem").first).to_have_text("Far down (pinned)")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("kubernetes => far-down").first).to_be_visible()
    page.get_by_role("button", name="Undo kubernetes => far-down").click()
    expect(page.get_by_text("kubernetes => far-down")).to_have_count(0)
