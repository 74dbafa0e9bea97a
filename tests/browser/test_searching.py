"""What the search page and the widget have in common: searching, typing, keys and failures."""

import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Error, Locator, Page, Route, expect

from tests.browser.conftest import Blog, answering


@dataclass(frozen=True)
class Place:
    """The page of the service, or a page with the widget."""

    page: Page
    url: str
    searches: str
    titles: Locator
    failure: Locator

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("searchbox")

    @property
    def status(self) -> Locator:
        return self.page.locator("#status, .status")

    @property
    def suggested(self) -> Locator:
        return self.page.get_by_role("navigation", name="Suggested searches").get_by_role("link")


@pytest.fixture(params=["page", "widget"])
def place(request: pytest.FixtureRequest, page: Page, address: str, blog: Blog) -> Place:
    if request.param == "page":
        alert = page.get_by_role("alert")
        place = Place(page, f"{address}/", "**/?q=", page.locator(".hits h3 a"), alert)
    else:
        url = blog(
            '<!doctype html><html lang="en"><title>A blog</title><blog-search></blog-search>'
            f'<script src="{address}/widget.js"></script>'
        )
        titles = page.locator("a.link:not(.section, .comment)")
        place = Place(page, url, "**/search?*q=", titles, page.locator(".status"))
    page.goto(place.url)
    place.box.wait_for()
    return place


def test_results_follow_what_is_typed(place: Place) -> None:
    with place.page.expect_request(re.compile("q=p(y|yt|yth)?&")):
        place.box.press_sequentially("pythn", delay=150)
    expect(place.page.locator("body, .status").get_by_text("Showing results for")).to_be_visible()
    expect(place.titles.first.locator("mark").first).to_have_text(re.compile("python", re.I))
    place.box.fill("python xqzzwk")
    expect(place.page.locator("body, .status").get_by_text("No post contains")).to_be_visible()
    place.box.fill("python -rutabaga")
    expect(place.page.locator("body, .status").get_by_text("Without: rutabaga")).to_be_visible()
    place.box.fill("rutabaga")
    comment = place.page.get_by_role("link", name="Comment")
    expect(comment).to_have_attribute("href", re.compile("#comment-"))


def test_a_held_key_sends_few_requests(place: Place) -> None:
    sent: list[str] = []
    place.page.on("request", lambda request: sent.append(request.url))
    start = time.monotonic()
    with place.page.expect_request("**?*q=x*"):
        place.box.press_sequentially("x" * 40, delay=10)
    seconds = time.monotonic() - start
    searches = [url for url in sent if "?q=" in url and "suggest" not in url]
    assert len(searches) <= seconds * 20 + 2


def test_a_slow_search_is_announced_and_its_late_answer_left_out(place: Place) -> None:
    place.box.fill("juggling")
    expect(place.titles.first).to_be_visible()
    title = place.titles.first.text_content() or ""
    held: list[Route] = []
    place.page.route(f"{place.searches}cron*", lambda route: held.append(route))
    with place.page.expect_request(f"{place.searches}cron*"):
        place.box.fill("cron")
    expect(place.status).to_have_text("Searching …")
    assert place.titles.first.text_content() == title
    place.box.fill("sourdough")
    expect(place.status).not_to_have_text("Searching …")
    title = place.titles.first.text_content() or ""
    for route in held:
        with suppress(Error):  # the page has aborted the request
            route.continue_()
    place.page.wait_for_timeout(700)
    expect(place.titles.first).to_have_text(title)
    expect(place.status).not_to_have_text("Searching …")


def test_suggested_searches_are_links_that_keep_the_filters(place: Place) -> None:
    filters = "category=juggling"
    place.page.goto(f"{place.url}?{filters}")
    place.page.locator("blog-search").evaluate_all(
        "(all, filters) => all.forEach((one) => one.setAttribute('parameters', filters))", filters
    )
    place.box.fill("siteswap in f")
    expect(place.suggested.first).to_have_text("siteswap in forty")
    href = place.suggested.first.get_attribute("href") or ""
    assert parse_qs(href.partition("?")[2]) == {
        "q": ["siteswap in forty"],
        "category": ["juggling"],
    }
    place.suggested.first.click()
    expect(place.box).to_have_value("siteswap in forty")
    expect(place.box).to_be_focused()
    markup = "<img src=x onerror=alert(1)>"
    body = json.dumps({"suggestions": [{"text": markup, "kind": "search"}]})
    place.page.route("**/suggest?*", answering(body))
    place.box.fill("x")
    expect(place.suggested).to_have_text([markup])


def test_arrows_move_through_the_hits_and_back_to_the_box(place: Place) -> None:
    place.box.fill("crontab lines")
    expect(place.titles.first).to_be_visible()
    for key in ("End", "ArrowDown", "ArrowDown", "ArrowUp"):
        place.page.keyboard.press(key)
    expect(place.titles.first).to_be_focused()
    place.page.keyboard.press("ArrowUp")
    expect(place.box).to_be_focused()
    place.page.keyboard.press("ArrowUp")
    expect(place.box).not_to_be_focused()  # the last hit
    place.page.keyboard.type("s")
    expect(place.box).to_be_focused()
    expect(place.box).to_have_value("crontab liness")


def test_an_input_method_has_its_keys_and_letters(place: Place) -> None:
    place.box.fill("cron")
    expect(place.titles.first).to_be_visible()
    sent: list[str] = []
    place.page.on("request", lambda request: sent.append(request.url))
    place.box.evaluate(
        """(box) => {
          for (const init of [{ isComposing: true }, { keyCode: 229 }])
            for (const key of ["ArrowDown", "Escape"])
              box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...init }));
          box.value += "か";
          box.dispatchEvent(new InputEvent("input", { isComposing: true, bubbles: true }));
        }"""
    )
    expect(place.box).to_be_focused()
    expect(place.box).to_have_value("cronか")
    place.page.wait_for_timeout(200)
    assert not any("cron%" in url for url in sent)
    with place.page.expect_request(f"{place.searches}cron*"):
        place.box.dispatch_event("compositionend")


def test_a_question_has_a_card_that_leads_to_its_section(place: Place) -> None:
    place.box.fill("what is the short answer on a licence")
    card = place.page.locator(".card")
    expect(card.locator("mark")).to_have_text(["licence"])
    link = place.page.get_by_role("link", name=re.compile("Read in Which licence .* › The short"))
    expect(link).to_have_attribute("href", re.compile("#:~:text=Without%20a%20licence"))
    # It is not said twice.
    expect(place.page.locator(".section, .part").get_by_text("The short answer")).to_have_count(0)
    place.box.fill("licence")
    expect(card).to_have_count(0)


def test_an_opened_hit_is_told_to_the_service(place: Place) -> None:
    place.page.route("https://sample.example.org/**", lambda route: route.fulfill(body="the post"))
    place.box.fill("cornwall")
    expect(place.titles.nth(1)).to_be_visible()
    with place.page.expect_request("**/clicks") as sent:
        place.titles.nth(1).click()
    told = parse_qs(sent.value.post_data or "")
    assert told["q"] == ["cornwall"]
    assert told["oid"][0]


def test_what_fails_is_said_and_can_be_tried_again(place: Place) -> None:
    again = place.page.get_by_role("button", name="Try again")
    place.box.fill("juggling")
    expect(place.titles.first).to_be_visible()
    place.page.route(f"{place.searches}*", lambda route: route.abort())
    place.box.fill("cron")
    expect(place.failure).to_contain_text("Search is not available now.")
    expect(place.titles).to_have_count(0)
    place.page.evaluate("Object.defineProperty(navigator, 'onLine', { value: false })")
    again.click()
    expect(place.failure).to_contain_text("You are offline.")
    place.page.unroute(f"{place.searches}*")
    again.click()
    expect(place.titles.first).to_contain_text("cron")


def test_a_limit_of_a_proxy_says_when_to_try_again(place: Place) -> None:
    for header, said in (
        ("7", "in 7 s."),
        ("Thu, 01 Jan 2099 00:00:00 GMT", re.compile(r"in [\d,.]+ s")),
        (None, "in 10 s."),
    ):
        headers = {"Retry_After": header} if header else {}
        slow_down = answering("<h1>Slow down</h1>", 429, **headers)
        place.page.route(f"{place.searches}*", slow_down)
        place.box.fill(f"python {header}")
        expect(place.failure).to_contain_text("Too many searches. Try again")
        expect(place.failure).to_contain_text(said)
        place.page.unroute(f"{place.searches}*")
