"""axe-core finds nothing to complain about, in every state of the page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Blog

STATES = {
    "start": "/",
    "pages and comments": "/?q=thnak+you&size=2&page=2&category=python",
    "nothing found": "/?q=%22pythn+siteswap%22",
    "error": "/?q=python&size=1000",
    "debug": "/?q=pythn+colour+format&debug-search",
    "answer": "/?q=what+is+the+short+answer+on+a+licence",
    "the API": "/docs",
}


def violations(page: Page, *rules: str, inside: str = "html") -> list[str]:
    """What axe finds with all rules, or with these, inside of an element."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    reported = Axe().run(page, inside, options).response["violations"]
    return [
        f"{violation['id']}: {node['html']}"
        for violation in reported
        for node in violation["nodes"]
    ]


@dataclass
class View:
    """A page whose states are looked at."""

    page: Page
    rules: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)

    def look(self, state: str) -> None:
        script = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        if self.page.evaluate(script):
            self.faults.append(f"{state}: wider than the window")
        # Of rows and articles that one template makes, some each.
        rows = self.page.locator("main :is(li, tr, dt, dd, article):nth-child(n+7)")
        rows.evaluate_all("all => all.forEach((one) => one.remove())")
        faults = violations(self.page, *self.rules)
        faults += violations(self.page, "label-content-name-mismatch")  # not among all rules
        self.faults += [f"{state}: {fault}" for fault in faults]


@pytest.fixture(params=["light", "dark"])
def view(browser: Browser, request: pytest.FixtureRequest) -> Iterator[View]:
    """All rules on a narrow window, as a phone or a zoom of 200 % has; in the dark the colours."""
    dark = request.param == "dark"
    with browser.new_context(
        viewport={"width": 1000 if dark else 320, "height": 400}, color_scheme=request.param
    ) as context:
        yield View(context.new_page(), ("color-contrast",) if dark else ())


def test_every_state(view: View, address: str) -> None:
    page = view.page
    for state, path in STATES.items():
        page.goto(address + path)
        view.look(state)
        if state != "the API":
            expect(page.get_by_role("searchbox")).to_be_in_viewport()
    page.goto(address)
    # The last request, after a pause, is the one with the counts for the filters.
    with page.expect_response(lambda response: response.url.endswith("/?q=date+f&typing=on")):
        page.get_by_role("searchbox").fill("date f")
    expect(page.locator("body")).not_to_have_class("busy")
    expect(page.locator("#suggested a").first).to_be_visible()
    expect(page.locator(".hits h3").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.locator("#tools summary").first.click()
    view.look("typed, with an open menu")
    assert view.faults == []


WIDGETS = {
    "empty": ("", ""),
    "comments": ("", "thnak you"),
    "nothing found": ("", "xqzzwk"),
    "answer": ("filters", "what is the short answer on a licence"),
    "dialog": ('variant="modal"', ""),
    "dialog with results": ('variant="modal" filters', "pythn"),
}


def test_every_state_of_the_widget(view: View, address: str, blog: Blog) -> None:
    dark = bool(view.rules)
    language = 'lang="he" dir="rtl"' if dark else 'lang="en"'
    style = f"<style>:root {{ color-scheme: {'dark' if dark else 'light'} }}</style>"
    page = view.page
    for state, (attributes, q) in WIDGETS.items():
        if dark and not q:
            continue  # others have the same colours
        page.goto(
            blog(
                f"<!doctype html><html {language}><title>A blog</title>{style}"
                f"<main><h1>A blog</h1><blog-search {attributes}></blog-search></main>"
                f'<script src="{address}/widget.js"></script>'
            )
        )
        page.locator("blog-search .box").first.wait_for()
        page.keyboard.press("/")
        page.keyboard.type(q)
        if q:
            expect(page.locator("blog-search .status")).to_contain_text(re.compile(r"\S"))
            expect(page.locator("blog-search [aria-busy=true]")).to_have_count(0)
        view.look(state)
    assert view.faults == []


def test_axe_would_find_a_fault(page: Page, blog: Blog) -> None:
    page.goto(blog("<!doctype html><title>A box without a label</title><input>"))
    assert "label: <input>" in violations(page)
