"""The widget in the headers of ten themes: it takes its button from them, and nothing else.

The pages in tests/data/headers have the structure and the variables of each theme's header in our
own words.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Blog
from tests.browser.test_accessibility import violations

FOLDER = Path(__file__).resolve().parents[1] / "data" / "headers"
THEMES = sorted(path.stem for path in FOLDER.glob("*.html"))
LOOK = (FOLDER / "look.js").read_text().partition("\n")[2].rstrip(";\n")
WIDTHS = (390, 820, 1280, 1600)
QUERY = "pythn"


def header_page(theme: str, dark: bool, service: str, attributes: str) -> str:
    """A page with the header of a theme, and the widget in it."""
    html = (FOLDER / f"{theme}.html").read_text()
    chosen = re.findall("<!-- dark: (.*) -->", html)[0] if dark else ""
    widget = f"<blog-search {attributes}></blog-search>"
    text = "<p>Sow <a href='/beans'>beans</a> in May.</p>" * 30
    return (
        f'<!doctype html><html lang="en" {chosen}><head><title>Garden notes</title>'
        '<meta name="viewport" content="width=device-width"></head><body>'
        f"{html.replace('<search-here></search-here>', widget)}"
        f'<main class="md-typeset"><h1>Beans</h1>{text}</main>'
        f'<script src="{service}/widget.js"></script></body></html>'
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("theme", THEMES)
def test_a_header_changes_neither_size_nor_colours(
    page: Page, address: str, blog: Blog, theme: str, dark: bool
) -> None:
    """The dialog on light pages, the panel on dark ones: all four would take a tenth of the time of
    all tests."""
    assert len(THEMES) == 10
    attributes, over = ("overlay", ".panel") if dark else ('variant="modal"', ".dialog")
    page.goto(blog(header_page(theme, dark, address, f"{attributes} filters")))
    page.locator("blog-search .box").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type(QUERY)
    expect(page.locator(".hit mark").first).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        # The page is told of its new size before the next frame.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
        page.locator("blog-search").evaluate("(search) => search.focus()")
        looked = page.locator(f"blog-search {over}")
        assert (width, looked.evaluate(LOOK, dark)) == (width, [])
    assert violations(page, inside="blog-search") == []
