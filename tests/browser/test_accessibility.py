"""axe-core finds nothing to complain about, in every state of the page."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Blog

STATES = {
    "start": "/",
    "start filtered": "/?category=juggling",
    "results": "/?q=pythn",
    "pages": "/?q=python&size=2&page=2",
    "filtered": "/?q=python&since=2018-01-01&until=2018-12-31&category=programming",
    "comments": "/?q=thank+you",
    "nothing found": "/?q=%22pythn+siteswap%22",
    "nothing near": "/?q=xqzzwk",
    "error": "/?q=python&size=1000",
    "unknown page": "/nothing",
    "debug": "/?q=pythn+colour+format&debug-search",
    "answer": "/?q=what+is+the+short+answer+on+a+licence",
    "the API": "/docs",
}
VIEWS = {"desktop": (1000, 900), "phone": (320, 640)}


def violations(page: Page) -> list[str]:
    reported = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html']}"
        for violation in reported
        for node in violation["nodes"]
    ]


def wider_than_the_window(page: Page) -> bool:
    script = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    return bool(page.evaluate(script))


# Each scheme and each view once; colours do not depend on the view.
@pytest.mark.parametrize(("scheme", "view"), [("light", "phone"), ("dark", "desktop")])
def test_every_state(browser: Browser, address: str, scheme: str, view: str) -> None:
    width, height = VIEWS[view]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    violations_in = {}
    for state, path in STATES.items():
        page.goto(address + path)
        violations_in[state] = violations(page)
        if wider_than_the_window(page):
            violations_in[state].append("wider than the window")
    page.goto(address)
    # The last request, after a pause, is the one with the counts for the filters.
    with page.expect_response(lambda response: response.url.endswith("/?q=date+f&typing=on")):
        page.get_by_role("searchbox").press_sequentially("date f")
    expect(page.locator("body")).not_to_have_class("busy")
    expect(page.locator("#suggested a").first).to_be_visible()
    expect(page.locator(".hits h3").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    violations_in["typed"] = violations(page)
    page.goto(f"{address}/?q=python")
    for menu in page.locator("#tools summary").all():
        menu.click()
        violations_in[f"menu {menu.inner_text()}"] = violations(page)
    context.close()
    assert {
        state: violations_of_it
        for state, violations_of_it in violations_in.items()
        if violations_of_it
    } == {}


WIDGETS = {
    "empty": ("", ""),
    "results": ("", "pythn"),
    "comments": ("", "thank you"),
    "nothing found": ("", "xqzzwk"),
    "filters": ("filters", "python"),
    "answer": ("", "what is the short answer on a licence"),
    "overlay": ("overlay", "python"),
    "dialog": ('variant="modal"', ""),
    "dialog with results": ('variant="modal"', "python"),
}


@pytest.mark.parametrize(
    ("scheme", "width", "html"),
    [("light", 320, 'lang="en"'), ("dark", 1000, 'lang="he" dir="rtl"')],
)
def test_every_state_of_the_widget(
    browser: Browser, address: str, blog: Blog, scheme: str, width: int, html: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 700},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    style = f":root {{ color-scheme: {scheme} }}"
    violations_in = {}
    for state, (attributes, q) in WIDGETS.items():
        page.goto(
            blog(
                f"<!doctype html><html {html}><title>A blog</title><style>{style}</style><main>"
                f"<h1>A blog</h1><blog-search {attributes}></blog-search></main>"
                f'<script src="{address}/widget.js"></script>'
            )
        )
        page.locator("blog-search .box").first.wait_for()
        page.keyboard.press("/")
        page.keyboard.type(q)
        if q:
            expect(page.locator("blog-search .status")).to_contain_text(re.compile(r"\S"))
            expect(page.locator("blog-search [aria-busy=true]")).to_have_count(0)
        violations_in[state] = violations(page)
        if wider_than_the_window(page):
            violations_in[state].append("wider than the window")
    context.close()
    assert {state: faults for state, faults in violations_in.items() if faults} == {}


def test_at_200_percent_nothing_is_cut_off(browser: Browser, address: str) -> None:
    # A zoom of 200 % halves the window's width in CSS pixels.
    context = browser.new_context(viewport={"width": 640, "height": 400}, device_scale_factor=2)
    page = context.new_page()
    for state, path in STATES.items():
        page.goto(address + path)
        assert not wider_than_the_window(page), state
        if state not in ("the API", "unknown page"):
            expect(page.get_by_role("searchbox")).to_be_in_viewport()
    context.close()


def test_axe_would_find_a_fault(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate("document.getElementById('q').removeAttribute('placeholder')")
    assert violations(page)
