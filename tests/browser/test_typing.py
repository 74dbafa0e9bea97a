"""Searching while the visitor types: keys, suggested searches, the history, and what fails."""

import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, Route, expect

FIRST_TITLE = ".hits h3 a"


@pytest.fixture
def box(page: Page, address: str) -> Locator:
    page.goto(address)
    return page.get_by_role("searchbox")


@pytest.fixture
def hold(page: Page) -> Callable[[str], list[Route]]:
    """Keeps back the requests to a URL; the routes of those that were kept back."""

    def hold_requests(url: str) -> list[Route]:
        routes: list[Route] = []
        page.route(url, lambda route: routes.append(route))
        return routes

    return hold_requests


def test_results_follow_every_key(page: Page, box: Locator) -> None:
    with page.expect_request("**/?q=ju&*"), page.expect_request("**/?q=jugg&*"):
        box.press_sequentially("jugg", delay=150)
    expect(page.locator(FIRST_TITLE).first).to_be_visible()


def test_a_former_request_is_cancelled(page: Page, box: Locator, hold: Callable) -> None:  # type: ignore[type-arg]
    hold("**/?q=c&*")
    with page.expect_event("requestfailed", lambda request: "?q=c&" in request.url):
        box.press_sequentially("cron", delay=150)
    expect(page.locator(FIRST_TITLE).first).to_be_visible()


def test_results_stay_until_the_next_are_there(page: Page, address: str, hold: Callable) -> None:  # type: ignore[type-arg]
    page.goto(f"{address}/?q=cron")
    title = page.locator(FIRST_TITLE).first.inner_text()
    hold("**/?q=crone*")
    box = page.get_by_role("searchbox")
    with page.expect_request("**/?q=crone*"):
        box.press("End")
        box.press("e")
    page.wait_for_timeout(200)
    expect(page.locator(FIRST_TITLE).first).to_have_text(title)


def test_nothing_moves_while_the_visitor_types(page: Page, box: Locator) -> None:
    before = box.bounding_box()
    box.press_sequentially("siteswap in f", delay=40)
    expect(page.locator(FIRST_TITLE).first).to_be_visible()
    expect(page.locator("#suggested a").first).to_be_visible()
    top = page.locator(".bar").bounding_box()
    box.press_sequentially("xqz")
    expect(page.locator("#suggested a")).to_have_count(0)
    assert (box.bounding_box(), page.locator(".bar").bounding_box()) == (before, top)


def test_a_held_key_sends_few_requests(page: Page, box: Locator) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    milliseconds = box.evaluate(
        """async (box) => {
          const start = performance.now();
          for (let i = 0; i < 40; i++) {
            box.value += "x";
            box.dispatchEvent(new Event("input"));
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          return performance.now() - start;
        }"""
    )
    assert 1 <= len([url for url in sent if "/?q=" in url]) <= milliseconds / 50 + 2


def test_suggested_searches_are_links_that_keep_the_filters(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=x&category=juggling")
    box = page.get_by_role("searchbox")
    box.fill("siteswp pyt")
    link = page.get_by_role("navigation", name="Suggested searches").get_by_role("link").first
    expect(link).to_have_text("siteswap python")
    expect(link).to_have_attribute("href", "?q=siteswap+python&category=juggling")
    link.click()
    expect(box).to_have_value("siteswap python")
    expect(page).to_have_url(f"{address}/?q=siteswap+python&category=juggling")
    expect(box).to_be_focused()


def test_arrows_move_through_the_hits_and_back_to_the_box(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=cron")
    box, links = page.get_by_role("searchbox"), page.locator(FIRST_TITLE)
    box.press("End")
    page.keyboard.press("ArrowDown")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box).not_to_be_focused()  # the last hit
    page.keyboard.type("s")
    expect(box).to_be_focused()
    expect(box).to_have_value("crons")


def test_enter_searches_and_opens_a_hit_only_after_an_arrow(page: Page, box: Locator) -> None:
    page.route("https://sample.example.org/**", lambda route: route.fulfill(body="the post"))
    box.press_sequentially("juggl")
    expect(page.locator(FIRST_TITLE).first).to_be_visible()
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"q=juggl&typing=on$"))
    expect(page.locator("#tools details").first).to_be_visible()
    page.reload()
    expect(page.locator("#tools details").first).to_be_visible()
    box.focus()
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("https://sample.example.org/**")


def test_keys_within_a_composition_are_those_of_the_input_method(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=cron")
    box = page.get_by_role("searchbox")
    box.focus()
    box.evaluate(
        "box => box.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'ArrowDown', isComposing: true, bubbles: true, cancelable: true}))"
    )
    expect(box).to_be_focused()


def test_back_leads_to_the_search_before_what_was_typed(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=cron")
    box = page.get_by_role("searchbox")
    box.fill("")
    box.press_sequentially("cornwl")
    expect(page.get_by_text("Showing results for")).to_contain_text("cornwall")
    page.wait_for_url(f"{address}/?q=cornwl")
    page.go_back()
    expect(box).to_have_value("cron")
    expect(page.locator(FIRST_TITLE).first).to_contain_text("cron")


def test_a_late_answer_does_not_replace_a_newer_one(
    page: Page,
    box: Locator,
    hold: Callable,  # type: ignore[type-arg]
) -> None:
    held = hold("**/suggest?q=juggl&*")
    with page.expect_request("**/suggest?q=juggl&*"):
        box.fill("juggl")
    box.fill("siteswp pyt")
    expect(page.locator("#suggested a").first).to_have_text("siteswap python")
    for route in held:
        with suppress(Error):  # the page has aborted the request
            route.fulfill(json={"suggestions": [{"text": "late", "kind": "search"}]})
    page.wait_for_timeout(200)
    expect(page.locator("#suggested a").first).to_have_text("siteswap python")


def test_markup_in_suggestions_stays_text(page: Page, box: Locator) -> None:
    hostile = [{"text": "<img src=x onerror=alert(1)>", "kind": "search"}]
    page.route("**/suggest?*", lambda route: route.fulfill(json={"suggestions": hostile}))
    box.fill("x")
    expect(page.locator("#suggested a")).to_have_text(["<img src=x onerror=alert(1)>"])


def test_without_a_connection_the_page_says_so(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    context.set_offline(True)
    page.get_by_role("searchbox").fill("cron")
    expect(page.get_by_role("alert")).to_contain_text("You are offline.")
    context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(FIRST_TITLE).first).to_contain_text("cron")
    context.close()
