"""Suggestions under the search box, by keyboard, mouse and touch."""

import re
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, Route, expect


@pytest.fixture
def box(page: Page, address: str) -> Locator:
    page.goto(address)
    return page.get_by_role("combobox", name="Search posts and comments")


def _type(box: Locator, text: str) -> Locator:
    """The options for `text`, which is typed key by key."""
    with box.page.expect_response(lambda got: parse_qs(urlsplit(got.url).query).get("q") == [text]):
        box.press_sequentially(text)
    options = box.page.get_by_role("option")
    expect(options.first).to_be_visible()
    return options


def test_arrows_move_through_the_options_and_back_to_the_box(box: Locator) -> None:
    options = _type(box, "date f")
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    first = options.first.get_attribute("id") or ""
    expect(box).to_have_attribute("aria-activedescendant", first)
    expect(options.first).to_have_attribute("aria-selected", "true")
    box.press("ArrowUp")
    assert box.get_attribute("aria-activedescendant") is None
    box.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    expect(box).to_have_value("date f")


def test_enter_searches_for_the_chosen_option(page: Page, box: Locator) -> None:
    _type(box, "siteswp pyt")
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value("siteswap python")
    expect(page).to_have_url(re.compile(r"q=siteswap\+python"))
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(page.locator(".hits h2").first).to_contain_text("Siteswap")


def test_enter_without_a_choice_searches_for_what_was_typed(page: Page, box: Locator) -> None:
    options = _type(box, "juggl")
    box.press("Enter")
    expect(options).to_have_count(0)
    expect(page).to_have_url(re.compile(r"q=juggl$"))
    page.wait_for_timeout(500)
    expect(options).to_have_count(0)


def test_escape_closes_the_list_and_keeps_the_text(box: Locator) -> None:
    options = _type(box, "juggl")
    box.press("ArrowDown")
    box.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_value("juggl")
    expect(box).to_have_attribute("aria-expanded", "false")
    box.press("ArrowDown")
    expect(options.first).to_be_visible()


def test_tab_leaves_the_box_and_closes_the_list(page: Page, box: Locator) -> None:
    options = _type(box, "juggl")
    box.press("Tab")
    expect(options).to_have_count(0)
    expect(page.get_by_role("button", name="Search")).to_be_focused()


def test_a_title_leads_to_its_post(page: Page, box: Locator) -> None:
    page.route("https://blog.example.org/**", lambda route: route.fulfill(body="the post"))
    _type(box, "siteswap in f")
    page.get_by_role("option", name="Siteswap in forty lines of Python").click()
    page.wait_for_url("https://blog.example.org/**")


def test_an_option_can_be_touched(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640}, has_touch=True)
    page = context.new_page()
    page.goto(address)
    box = page.get_by_role("combobox")
    _type(box, "siteswp pyt").first.tap()
    expect(box).to_have_value("siteswap python")
    context.close()


def test_a_key_within_a_composition_chooses_nothing(page: Page, box: Locator) -> None:
    _type(box, "siteswp pyt")
    box.press("ArrowDown")
    box.evaluate(
        "box => box.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"
    )
    expect(box).to_have_value("siteswp pyt")
    expect(page.get_by_role("option").first).to_be_visible()


def test_back_leads_to_the_search_before_the_suggested_one(page: Page, box: Locator) -> None:
    box.fill("cron")
    box.press("Enter")
    expect(page).to_have_url(re.compile("q=cron$"))
    expect(page.locator(".hits h2").first).to_contain_text("cron")
    box.fill("")
    _type(box, "siteswp pyt")
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.locator(".hits h2").first).to_contain_text("Siteswap")
    while "q=cron" not in page.url:
        page.go_back()
        assert "q=" in page.url, "Back left the searches"
    expect(box).to_have_value("cron")
    expect(page.locator(".hits h2").first).to_contain_text("cron")
    expect(page.get_by_role("option")).to_have_count(0)


def test_a_late_answer_does_not_open_the_list_again(page: Page, box: Locator) -> None:
    held: list[Route] = []
    page.route("**/suggest?*", lambda route: held.append(route))
    with page.expect_request("**/suggest?*"):
        box.press_sequentially("juggl")
    box.press("Enter")
    for route in held:
        with suppress(Error):  # the page has aborted the request
            route.fulfill(json={"suggestions": [{"text": "late", "kind": "search"}]})
    page.wait_for_timeout(200)
    expect(page.get_by_role("option")).to_have_count(0)


def test_markup_and_scripts_in_suggestions_stay_text(page: Page, box: Locator) -> None:
    hostile = [
        {"text": "<img src=x onerror=alert(1)>", "kind": "search"},
        {"text": "click me", "kind": "post", "url": "javascript:alert(1)"},
    ]
    page.route("**/suggest?*", lambda route: route.fulfill(json={"suggestions": hostile}))
    options = _type(box, "x")
    expect(options).to_have_text(["<img src=x onerror=alert(1)>"])


def test_results_come_even_if_suggestions_fail(page: Page, box: Locator, address: str) -> None:
    page.route("**/suggest?*", lambda route: route.abort())
    box.press_sequentially("juggling")
    expect(page.locator(".hits h2").first).to_be_visible()
