"""axe-core finds nothing to complain about, in every state of the page."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

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
Faults = dict[str, list[str]]


def violations(page: Page, *rules: str) -> list[str]:
    """What axe finds with all rules, or with these."""
    options = {"runOnly": list(rules)} if rules else None
    reported = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']}: {node['html']}"
        for violation in reported
        for node in violation["nodes"]
    ]


def wider_than_the_window(page: Page) -> bool:
    script = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    return bool(page.evaluate(script))


@contextmanager
def _opened(browser: Browser, scheme: Literal["light", "dark"], width: int) -> Iterator[Page]:
    view: ViewportSize = {"width": width, "height": 400}
    with browser.new_context(viewport=view, color_scheme=scheme) as context:
        yield context.new_page()


# All rules once, on a narrow window, as a phone or a zoom of 200 % has; then only the colours.
SCHEMES: list[tuple[Literal["light", "dark"], int, tuple[str, ...]]] = [
    ("light", 320, ()),
    ("dark", 1000, ("color-contrast",)),
]


@pytest.mark.parametrize(("scheme", "width", "rules"), SCHEMES)
def test_every_state(
    browser: Browser,
    address: str,
    scheme: Literal["light", "dark"],
    width: int,
    rules: tuple[str, ...],
) -> None:
    faults: Faults = {}
    with _opened(browser, scheme, width) as page:
        for state, path in STATES.items():
            page.goto(address + path)
            faults[state] = violations(page, *rules)
            if wider_than_the_window(page):
                faults[state].append("wider than the window")
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
        faults["typed"] = violations(page, *rules)
        page.locator("#tools summary").first.click()
        faults["menu"] = violations(page, *rules)
    assert {state: found for state, found in faults.items() if found} == {}


WIDGETS = {
    "empty": ("", ""),
    "comments": ("", "thnak you"),
    "nothing found": ("", "xqzzwk"),
    "answer": ("filters", "what is the short answer on a licence"),
    "dialog": ('variant="modal"', ""),
    "dialog with results": ('variant="modal" filters', "pythn"),
}


@pytest.mark.parametrize(("scheme", "width", "rules"), SCHEMES)
def test_every_state_of_the_widget(
    browser: Browser,
    address: str,
    blog: Blog,
    scheme: Literal["light", "dark"],
    width: int,
    rules: tuple[str, ...],
) -> None:
    language = 'lang="he" dir="rtl"' if scheme == "dark" else 'lang="en"'
    style = f":root {{ color-scheme: {scheme} }}"
    faults: Faults = {}
    with _opened(browser, scheme, width) as page:
        for state, (attributes, q) in WIDGETS.items():
            page.goto(
                blog(
                    f"<!doctype html><html {language}><title>A blog</title><style>{style}</style>"
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
            faults[state] = violations(page, *rules)
            if wider_than_the_window(page):
                faults[state].append("wider than the window")
    assert {state: found for state, found in faults.items() if found} == {}


def test_axe_would_find_a_fault(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate("document.getElementById('q').removeAttribute('placeholder')")
    assert violations(page)
