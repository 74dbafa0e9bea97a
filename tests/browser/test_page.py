"""The search page, as a visitor uses it."""

import re

from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect


def test_typing_a_misspelt_word_finds_posts(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Search posts and comments").fill("pythn")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("status")).to_contain_text("results")
    expect(page.locator(".hits li").first).to_contain_text("Python")
    expect(page.locator(".hits mark").first).to_be_visible()
    expect(page.get_by_label("Search posts and comments")).to_have_value("pythn")


def test_nothing_found_says_so(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=xqzzwk")
    expect(page.get_by_role("status")).to_contain_text("0 results")
    expect(page.locator("#answer")).to_contain_text("xqzzwk")


def test_pages_lead_on_and_back(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=python&size=3")
    first = page.locator(".hits h2").first.inner_text()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("navigation", name="Pages").locator("[aria-current]")).to_have_text(
        "Page 2"
    )
    assert page.locator(".hits h2").first.inner_text() != first
    page.get_by_role("link", name="Previous").click()
    expect(page.locator(".hits h2").first).to_have_text(first)


def test_what_a_visitor_types_stays_text(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    expect(page.get_by_label("Search posts and comments")).to_have_value(
        "<script>alert(1)</script>"
    )
    assert page.locator("main script").count() == 0


def test_markup_in_a_title_is_shown_as_text(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=details")
    expect(page.locator(".hits h2", has_text="<details>")).to_have_count(1)


def test_a_bad_parameter_is_explained_on_the_page(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=python&size=1000")
    expect(page.get_by_role("alert")).to_contain_text("size must be a whole number from 1 to 50")


def test_a_comment_leads_to_its_place(page: Page, address: str, client: FlaskClient) -> None:
    words = ("thank you", "comment")
    hits = [hit for q in words for hit in client.get(f"/search?q={q}").get_json()["hits"]]
    assert any(hit.get("comments") for hit in hits)
    page.goto(f"{address}/?q=thank+you")
    link = page.locator(".comment a").first
    expect(link).to_contain_text("Comment by")
    assert "#comment-" in (link.get_attribute("href") or "")


def test_exactly_what_was_typed_keeps_the_filters(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=pythn&since=2016-01-01&sort=newest")
    page.get_by_text("Search instead for").get_by_role("link").click()
    for part in ("q=pythn", "typos=off", "since=2016-01-01", "sort=newest"):
        assert part in page.url


def test_results_follow_what_is_typed_and_back_leads_to_the_search_before(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/?q=cron")
    box = page.get_by_label("Search posts and comments")
    box.fill("")
    box.press_sequentially("cornwl")
    expect(page.get_by_text("Showing results for")).to_contain_text("cornwall")
    assert "q=cornwl" in page.url
    page.go_back()
    expect(box).to_have_value("cron")
    expect(page.locator(".hits h2").first).to_contain_text("cron")


def test_a_filter_narrows_the_results(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=python")
    page.locator("#tools summary", has_text="Year").click()
    page.locator("#tools details[open] a", has_text=re.compile(r"^\s*20\d\d\s*$")).first.click()
    page.wait_for_url("**since=**")
    expect(page.locator(".hits li").first).to_be_visible()


def test_the_page_works_without_javascript(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Search posts and comments").fill("pythn")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hits li").first).to_contain_text("Python")
    context.close()
