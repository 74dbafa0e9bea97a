"""What holds in Chromium, Firefox and WebKit: keys, focus, the dialog, Back, directions."""

import pytest

from tests.browser.conftest import Blog
from tests.browser.test_headers import LOOK, QUERY, THEMES, header_page
from tests.browsers.conftest import Keys, Reader

HITS = "root.querySelectorAll('.hit').length"
LONG = "<p>Some text of a page.</p>" * 60


def _page(
    reader: Reader, address: str, blog: Blog, body: str, html: str = "", **headers: str
) -> None:
    """Opens a page with a widget, once that is there."""
    reader.open(
        blog(
            f'<!doctype html><html lang="en" {html}><title>A blog</title>{body}'
            f'<script src="{address}/widget.js"></script>',
            **headers,
        )
    )
    reader.wait("root !== document && root.querySelector('.box') !== null")


def _type(reader: Reader, text: str) -> None:
    reader.press(*text)
    reader.wait(
        f"box.value === arguments[0] && {HITS} > 0 && !root.querySelector('[aria-busy=true]')", text
    )


def test_typing_arrows_enter_and_escape(reader: Reader, address: str, blog: Blog) -> None:
    policy = f"default-src 'none'; script-src {address} 'unsafe-inline'; connect-src {address}"
    script = (
        "<script>addEventListener('blogsearch:select', (event) => { event.preventDefault();"
        "chosen = event.detail.url })</script>"
    )
    body = f"<blog-search variant=modal filters></blog-search>{script}{LONG}"
    _page(reader, address, blog, body, Content_Security_Policy=policy)
    before = reader.read("document.documentElement.clientWidth")
    reader.press(Keys.CONTROL + "k")
    reader.wait("root.querySelector('dialog').open && root.activeElement === box")
    assert reader.read("document.body.getBoundingClientRect().width") <= before
    _type(reader, "pythn")
    reader.press(Keys.ARROW_DOWN)
    reader.wait("root.activeElement.matches('.hit a')")
    reader.press(Keys.ARROW_UP)
    reader.wait("root.activeElement === box")
    # Escape closes the open menu only.
    reader.click("root.querySelector('.menu')")
    reader.wait("root.querySelector(':popover-open') !== null")
    reader.press(Keys.ESCAPE)
    reader.wait("root.querySelector(':popover-open') === null")
    assert reader.read("root.querySelector('dialog').open")
    reader.read("box.focus()")
    reader.press(Keys.ENTER)
    reader.wait("window.chosen !== undefined")
    reader.wait("!root.querySelector('dialog').open")


@pytest.mark.parametrize("variant", ["inline", "modal", "page"])
def test_the_letters_of_an_input_method_are_not_the_word_yet(
    reader: Reader, address: str, blog: Blog, variant: str
) -> None:
    hits = HITS
    if variant == "page":
        hits = "document.querySelectorAll('.hits li').length"
        reader.open(f"{address}/")
        reader.read("box.focus()")
    else:
        script = "<script>addEventListener('blogsearch:select', () => { opened = true })</script>"
        _page(reader, address, blog, f"<blog-search variant={variant}></blog-search>{script}")
        reader.read("document.querySelector('blog-search').focus()")
    searched = (
        "performance.getEntriesByType('resource').map(({ name }) => new URL(name))"
        ".filter(({ pathname }) => /^\\/(search)?$/.test(pathname))"
        ".map(({ searchParams }) => searchParams.get('q'))"
    )
    reader.press(*"pyth")
    reader.wait(f"{searched}.includes('pyth')")
    reader.compose()
    reader.wait("box.value === 'pythu6f'")
    reader.read("setTimeout(() => { document.body.dataset.later = box.value }, 500)")
    reader.wait("document.body.dataset.later === 'pythu6f'")
    reader.commit()
    reader.wait(f"box.value === 'pytho' && {searched}.includes('pytho') && {hits} > 0")
    assert reader.read(searched)[-1] == "pytho"
    assert not [q for q in reader.read(searched) if q and "u" in q]
    # Enter was that of the input method.
    assert reader.read("window.opened") is None
    reader.press("n")
    reader.wait(f"box.value === 'python' && {searched}.includes('python')")


def test_a_click_beside_the_dialog_closes_it(reader: Reader, address: str, blog: Blog) -> None:
    _page(reader, address, blog, f"<blog-search variant=modal></blog-search>{LONG}")
    for closes, x, y in ((False, 500, 65), (True, 5, 300)):
        reader.read("root.querySelector('.opener').click()")
        reader.wait("root.querySelector('dialog').open")
        reader.click_at(x, y)
        reader.wait("root.querySelector('dialog').open === !arguments[0]", closes)


def test_the_page_does_not_jump_when_the_dialog_opens(
    reader: Reader, address: str, blog: Blog
) -> None:
    _page(reader, address, blog, f"<blog-search variant=modal></blog-search>{LONG}")
    width = "document.querySelector('p').getBoundingClientRect().width"
    before = reader.read(width)
    reader.read("root.querySelector('.opener').click()")
    reader.wait("root.querySelector('dialog').open")
    assert reader.read(width) == before


@pytest.mark.parametrize("variant", ["inline", "modal", "page"])
def test_back_shows_the_query_that_the_results_are_of(
    reader: Reader, address: str, blog: Blog, variant: str
) -> None:
    # Of the same site: WebKitWebDriver loses a page that comes back from another process.
    other = f"{address}/docs"
    if variant == "page":
        reader.open(f"{address}/")
        reader.read("box.focus()")
        reader.press(*"python")
        reader.wait("document.querySelectorAll('.hits li').length > 0")
        reader.wait("location.search.includes('q=python')")
    else:
        _page(reader, address, blog, f"<blog-search variant={variant} query=q></blog-search>")
        reader.read("document.querySelector('blog-search').open()")
        _type(reader, "python")
        reader.wait("location.search === '?q=python'")
        other = blog("<!doctype html><title>Other</title><p>Other")
    reader.open(other)
    reader.wait("location.href === arguments[0]", other)
    reader.back()
    reader.wait("location.search === '?q=python' && box?.value === 'python'")
    # WebKit empties the box after `pageshow`.
    reader.read("setTimeout(() => { document.body.dataset.later = box.value }, 500)")
    reader.wait("document.body.dataset.later !== undefined")
    assert reader.read("document.body.dataset.later") == "python"


def test_left_to_right_hits_on_a_page_from_right_to_left(
    reader: Reader, address: str, blog: Blog
) -> None:
    _page(reader, address, blog, "<blog-search></blog-search>", 'dir="rtl"')
    reader.read("box.focus()")
    _type(reader, "pythn")
    hit = "root.querySelector('.hit')"
    assert reader.read(f"getComputedStyle({hit}).direction") == "ltr"
    assert reader.read(f"getComputedStyle({hit}).textAlign") == "start"
    reader.open(f"{address}/?q=pythn")
    assert reader.read("getComputedStyle(document.querySelector('.hits li')).textAlign") == "start"


def test_no_list_is_a_tab_stop(reader: Reader, address: str, blog: Blog) -> None:
    _page(reader, address, blog, "<blog-search variant=modal filters></blog-search>")
    reader.press(Keys.CONTROL + "k")
    reader.wait("root.activeElement === box")
    _type(reader, "python")
    stops = set()
    for _ in range(25):
        reader.press(Keys.TAB)
        stops.add(reader.read("root.activeElement?.localName ?? 'body'"))
    assert stops <= {"a", "button", "input", "body", "dialog"}


def test_filters_pages_and_reload_of_the_search_page(reader: Reader, address: str) -> None:
    reader.open(f"{address}/?q=python&size=3")
    reader.click("document.querySelector('#tools summary')")
    marker = "getComputedStyle(document.querySelector('#tools summary')).listStyleType"
    assert reader.read(marker) == "none"
    reader.click("document.querySelector('#tools details[open] a')")
    reader.wait(
        "location.search.includes('category=') && document.querySelector('.chips') !== null"
    )
    reader.click("document.querySelector('.pages [rel=next]')")
    reader.wait("location.search.includes('page=2') && box.value === 'python'")
    reader.driver.refresh()
    reader.wait("location.search.includes('page=2') && box.value === 'python'")
    assert reader.read("document.querySelector('.hits').start") == 4


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("theme", THEMES)
def test_headers(reader: Reader, address: str, blog: Blog, theme: str, dark: bool) -> None:
    for attributes, over in (('variant="modal"', "dialog"), ("overlay", ".panel")):
        reader.open(blog(header_page(theme, dark, address, attributes)))
        reader.wait("root !== document && box !== null")
        reader.read("document.querySelector('blog-search').focus()")
        _type(reader, QUERY)
        look = f"({LOOK})(root.querySelector(arguments[0]), arguments[1])"
        assert reader.read(look, over, dark) == []
