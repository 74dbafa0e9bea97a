"""axe-core finds nothing to complain about, in every state of the page."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

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
}
VIEWS = {"desktop": (1000, 900), "phone": (320, 640)}


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


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
    found = {}
    for state, path in STATES.items():
        page.goto(address + path)
        found[state] = violations(page)
        if wider_than_the_window(page):
            found[state].append("wider than the window")
    page.goto(address)
    page.get_by_role("searchbox").press_sequentially("date f")
    expect(page.locator("#suggested a").first).to_be_visible()
    expect(page.locator(".hits h3").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    found["typed"] = violations(page)
    page.goto(f"{address}/?q=python")
    for menu in page.locator("#tools summary").all():
        menu.click()
        found[f"menu {menu.inner_text()}"] = violations(page)
    context.close()
    assert {state: one for state, one in found.items() if one} == {}


def test_at_200_percent_nothing_is_cut_off(browser: Browser, address: str) -> None:
    # A zoom of 200 % halves the window's width in CSS pixels.
    context = browser.new_context(viewport={"width": 640, "height": 400}, device_scale_factor=2)
    page = context.new_page()
    for state, path in STATES.items():
        page.goto(address + path)
        assert not wider_than_the_window(page), state
        search = page.get_by_role("button", name="Search")
        start = page.get_by_role("link", name="Start a new search")
        expect(search.or_(start).first).to_be_in_viewport()
    context.close()


def test_axe_would_find_a_fault(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate("document.getElementById('q').removeAttribute('placeholder')")
    assert violations(page)
