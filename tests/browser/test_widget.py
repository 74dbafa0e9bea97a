"""The widget in a page of another origin, as a reader uses it."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import Blog, answering

READER = "document.activeElement?.shadowRoot?.activeElement?.tagName ?? document.activeElement.id"
"""What has the focus: a tag inside of the widget, or the id of an element of the page."""


def _page(address: str, body: str = "<blog-search></blog-search>", lang: str = "en") -> str:
    head = f'<title>A blog</title><script src="{address}/widget.js" defer></script>'
    return f'<!doctype html><html lang="{lang}"><head>{head}</head><body>{body}</body></html>'


Show = Callable[..., str]


@pytest.fixture
def show(page: Page, address: str, blog: Blog) -> Show:
    """Opens a page with the widget, or another body, and searches for `q`; returns its URL."""

    def opened(
        body: str = "<blog-search></blog-search>", lang: str = "en", q: str = "", **headers: str
    ) -> str:
        url = blog(_page(address, body, lang), **headers)
        page.goto(url)
        if q:
            _box(page).fill(q)
        return url

    return opened


def _modal(attributes: str = "") -> str:
    search = f'<blog-search variant="modal" {attributes}></blog-search>'
    return f'<a id="before" href="#">A link</a>{search}<p>Text</p>'


def _box(page: Page) -> Locator:
    return page.get_by_role("searchbox")


def _options(page: Page) -> Locator:
    """The links to posts, sections and comments that an answer has; the empty dialog has others."""
    return page.locator(".hit a.link")


def _answer(route: Route, **changed: Any) -> None:
    body = {"q": "q", "count": 1, "page": 1, "size": 10, "hits": [_hit()]} | changed
    answering(json.dumps(body))(route)


def _suggest(page: Page, body: str = "{}") -> None:
    page.route("**/suggest?*", answering(body))


def _find(page: Page, *hits: dict[str, Any], **changed: Any) -> None:
    """Answers every search with these hits."""
    found = {"hits": list(hits)} if hits else {}
    page.route("**/search?*", lambda route: _answer(route, **found, **changed))


def _hit(oid: str = "a", title: str = "A", text: str = "", **changed: Any) -> dict[str, Any]:
    highlight = {"title": title, "text": [text] if text else []}
    return {
        "oid": oid,
        "title": title,
        "url": f"/{oid}",
        "pub_date": None,
        "highlight": highlight,
    } | changed


# -- searching ---------------------------------------------------------------------------------


def test_a_script_tag_puts_the_box_where_it_stands(page: Page, address: str, blog: Blog) -> None:
    tag = f'<script src="{address}/widget.js" async data-text-placeholder="Look for"></script>'
    page.goto(blog(f"<!doctype html><title>A blog</title><h1>Blog</h1>{tag}<p>After</p>"))
    expect(page.get_by_placeholder("Look for")).to_be_visible()
    assert page.locator("script + blog-search + p").count() == 1
    # In the head two of them make one button.
    page.goto(blog(f"<!doctype html><head><title>A blog</title>{tag}{tag}</head><p>Text</p>"))
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_more_results_are_of_the_query_in_the_box(page: Page, show: Show) -> None:
    """Pressed before the answer to what was typed since, the button searches for that."""
    searches: list[str] = []

    def search(route: Route) -> None:
        query = route.request.url.partition("?")[2].replace("&typing=on", "")
        searches.append(query)
        if len(searches) != 2:  # the second has no answer yet
            _answer(route, q=query, count=11, page=2 if "page=2" in query else 1)

    page.route("**/search?*", search)
    _suggest(page)
    show(q="python")
    more = page.get_by_role("button", name="More results")
    expect(more).to_be_visible()
    with page.expect_request("**/search?*"):
        _box(page).fill("crontab")
    with page.expect_response("**/search?*"):
        more.click()
    expect(page.locator("blog-search .list")).to_have_attribute("aria-busy", "false")
    expect(_options(page)).to_have_count(1)
    more.focus()
    page.keyboard.press("Enter")
    expect(_options(page)).to_have_count(2)
    expect(more).to_be_hidden()
    assert page.evaluate(READER) == "UL"  # the list: the button that had the focus is gone
    assert searches == ["q=python", "q=crontab", "q=crontab", "q=crontab&page=2"]


def test_keys_in_the_box_are_no_shortcuts_of_the_page(page: Page, show: Show) -> None:
    """The page sees <blog-search> as the target, which is no field to type in."""
    script = (
        "<script>pressed = [];"
        "document.addEventListener('keydown', (event) => pressed.push(event.key))</script>"
    )
    show(f"<blog-search></blog-search><a id=link href='#'>x</a>{script}")
    page.keyboard.press("/")
    page.keyboard.type("jug/")
    for key in ("ArrowDown", "Escape"):  # a page may close what the box is in
        page.keyboard.press(key)
    expect(_box(page)).to_have_value("")
    page.locator("#link").focus()
    page.keyboard.press("j")
    assert page.evaluate("pressed") == ["/", "Escape", "j"]


# -- the dialog and the keyboard ---------------------------------------------------------------


def test_the_dialog_keeps_the_focus_and_gives_it_back(page: Page, show: Show) -> None:
    show(_modal())
    opener = page.locator("blog-search button.opener")
    expect(opener).to_have_attribute("aria-keyshortcuts", "Control+K")
    expect(opener.locator("kbd")).to_have_text("Ctrl K")
    page.locator("#before").focus()
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Search")
    expect(dialog).to_be_visible()
    assert dialog.locator("button.close kbd").evaluate("(key) => key.offsetHeight") < 25
    assert page.evaluate(READER) == "INPUT"
    for key in ("Tab", "Tab", "Tab", "Shift+Tab", "Tab"):
        page.keyboard.press(key)
        assert page.evaluate(READER) != "before"
    for key in ("Escape", "Control+k"):
        page.keyboard.press(key)
        expect(dialog).to_be_hidden()
        assert page.evaluate(READER) == "before"
        page.keyboard.press("Control+k")
        expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    opener.click()
    page.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    assert page.evaluate(READER) == "BUTTON"
    page.keyboard.press("/")
    page.mouse.click(5, 5)
    expect(dialog).to_be_hidden()


def test_no_shortcut_while_typing_in_a_field(page: Page, show: Show) -> None:
    fields = "<input><div contenteditable>x</div><select><option>x</select><x-field></x-field>"
    show(f"{fields}<blog-search variant=modal></blog-search>")
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    page.evaluate(
        """() => {
          const field = document.createElement("textarea");
          const element = document.querySelector("x-field");
          element.attachShadow({ mode: "closed" }).append(field);
          element.focus = () => field.focus();
        }"""
    )
    for field in ("input", "div", "select", "x-field"):
        page.locator(f"body > {field}").evaluate("(field) => field.focus()")
        for key in ("/", "Control+k"):
            page.keyboard.press(key)
            expect(page.get_by_role("dialog")).to_be_hidden()


def test_shortcuts_are_chosen_by_an_attribute(page: Page, show: Show) -> None:
    show(_modal('shortcut="s mod+j"'))
    dialog = page.get_by_role("dialog")
    for key in ("/", "Control+k", "Control+Shift+j", "Alt+s"):
        page.keyboard.press(key)
        expect(dialog).to_be_hidden()
    for key in ("s", "Control+j"):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def test_several_widgets_do_not_disturb_each_other(page: Page, show: Show) -> None:
    """A dialog in a hidden element would be invisible and block the page."""
    hidden = '<nav style="display: none"><blog-search variant="modal"></blog-search></nav>'
    boxes = "<blog-search></blog-search><blog-search text-placeholder='Second'></blog-search>"
    show(f"{hidden}{boxes}<blog-search variant=modal></blog-search><a href='#'>Link</a>")
    expect(_box(page).first).to_be_visible()
    page.locator("blog-search").first.evaluate("(search) => search.open()")
    page.get_by_role("link", name="Link").click()
    page.keyboard.press("/")
    page.keyboard.type("juggling")
    first, second = page.locator("blog-search").nth(1), page.locator("blog-search").nth(2)
    expect(first.locator("a.link").first).to_be_visible()
    expect(second.locator("a.link")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_keys_of_another_alphabet_and_of_another_search(page: Page, show: Show) -> None:
    """Where a search of the generator takes Ctrl+K, the button promises the other key."""
    show(_modal() + "<site-search></site-search>")
    expect(page.locator("blog-search kbd").first).to_have_text("/")
    expect(page.locator("button.opener")).to_have_attribute("aria-keyshortcuts", "/")
    press = "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', "
    press += "{ key, code, ctrlKey: true, bubbles: true, cancelable: true }))"
    dialog = page.get_by_role("dialog")
    for key, opens in ("л", True), ("κ", True), ("ל", True), ("x", False):
        page.evaluate(press, [key, "KeyK"])
        expect(dialog).to_be_visible(visible=opens)
        if opens:
            page.keyboard.press("Escape")
    page.locator("blog-search").evaluate("(search) => search.focus()")
    expect(dialog).to_be_visible()


def test_the_box_is_cleared_and_read_aloud_when_typing_rests(page: Page, show: Show) -> None:
    _find(page)
    _suggest(page)
    show()
    box, spoken, wipe = _box(page), page.get_by_role("status"), page.locator(".wipe")
    for name in ("autocorrect", "autocapitalize"):
        expect(box).to_have_attribute(name, "off")
    expect(wipe).to_be_hidden()
    page.locator("blog-search").evaluate(
        "(search) => { said = []; new MutationObserver(() => said.push(1))"
        ".observe(search.shadowRoot.querySelector('[role=status]'), { childList: true }) }"
    )
    box.press_sequentially("juggling", delay=60)
    expect(page.locator(".status")).to_have_text("1 result")
    expect(spoken).to_have_text("1 result")
    assert page.evaluate("said") == [1]
    page.get_by_role("button", name="Clear").click()
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(_options(page)).to_have_count(0)
    page.emulate_media(media="print")
    expect(box).to_be_hidden()
    show("<blog-search variant=modal floating></blog-search>")
    expect(page.locator("blog-search")).to_have_css("display", "none")
    page.emulate_media(media="screen")


# -- pages that replace their content ----------------------------------------------------------

NEW_BODY = """(tag) => {
  const body = document.createElement("body");
  body.innerHTML = "<h1>Next</h1>";
  if (tag) body.append(Object.assign(document.createElement("script"), { src: tag }));
  document.body.replaceWith(body);
}"""
"""A navigation as Turbo does it; a script of the new body runs."""


def test_a_script_that_runs_again_puts_the_box_into_the_new_body(
    page: Page, address: str, blog: Blog
) -> None:
    tag = f'<script src="{address}/widget.js"></script>'
    page.goto(blog(f"<!doctype html><title>A blog</title><body><p>First</p>{tag}</body>"))
    expect(_box(page)).to_have_count(1)
    for _ in range(2):
        page.evaluate(NEW_BODY, f"{address}/widget.js")
        expect(page.locator("script + blog-search")).to_have_count(1)
        _box(page).fill("juggling")
        expect(_options(page).first).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("body").click()
    page.keyboard.press("/")
    assert page.evaluate(READER) == "INPUT"
    page.evaluate(
        "document.body.innerHTML = document.querySelector('script').outerHTML"
    )  # as Swup does it: the new tag does not run
    expect(page.locator("script + blog-search")).to_have_count(1)
    # Turbo keeps a copy of the body, in which the element has no shadow DOM.
    page.evaluate("copy = document.body.cloneNode(true)")
    page.evaluate(NEW_BODY)  # a page without the script
    page.wait_for_timeout(100)
    assert page.locator("blog-search").count() == 0
    page.evaluate("document.body.replaceWith(copy)")
    page.wait_for_timeout(100)
    expect(_box(page)).to_have_count(1)


def test_the_content_of_the_element_stays_where_it_cannot_work(
    page: Page, address: str, blog: Blog
) -> None:
    page.add_init_script("delete AbortSignal.any")
    body = '<blog-search><a href="/search">Search</a></blog-search>'
    with page.expect_console_message(lambda line: "needs a browser of 2024" in line.text):
        page.goto(blog(_page(address, body)))
    expect(page.get_by_role("link", name="Search")).to_be_visible()


# -- what a page can change --------------------------------------------------------------------


def test_the_widget_speaks_the_language_of_the_page(page: Page, show: Show) -> None:
    """Texts in another language are marked with it; a day is that of the date's time zone."""
    comment = {"url": "/a#c", "author": "Eve", "highlight": ["Yes"]}
    late = "2015-12-31T23:30:00-05:00"  # 2016 in UTC
    english = _hit("a", "Title", "Text", language="en", pub_date=late, comments=[comment])
    _find(page, english, _hit("b"), count=11)
    show(lang="de-AT")
    expect(_box(page)).to_have_attribute("placeholder", "Suche …")
    _box(page).fill("title")
    expect(page.get_by_role("status")).to_contain_text("11 Ergebnisse")
    expect(_options(page).first).to_contain_text("31.12.2015")
    expect(page.locator("blog-search [lang=en]")).to_have_text(["Title", "Text", "Yes"])


def test_a_translation_is_linked_below_its_post(page: Page, show: Show) -> None:
    other = {"language": "pt", "title": "O <b>mar</b>", "url": "/pt/mar/"}
    _find(page, _hit("sea", "The sea", language="en", translations=[other]))
    show(q="sea")
    link = _options(page).nth(1)
    expect(link).to_have_attribute("href", re.compile("/pt/mar/$"))
    expect(link.locator("[lang=pt]")).to_have_text("pt: O <b>mar</b>")


def test_posts_in_the_language_of_the_page_are_asked_for(page: Page, show: Show) -> None:
    show('<blog-search under="/docs/"></blog-search>', "pt_BR")
    expect(_box(page)).to_have_attribute("aria-label", "Pesquisar")
    with (
        page.expect_request("**/search?*") as searched,
        page.expect_request("**/suggest?*") as suggested,
    ):
        _box(page).fill("python")
    assert searched.value.all_headers()["accept-language"].startswith("pt-BR,en-US")
    assert all("under=%2Fdocs%2F" in one.value.url for one in (searched, suggested))


def test_text_from_right_to_left_is_shown_so(page: Page, show: Show) -> None:
    said = "שלום Python!"
    _find(page, _hit(title=said, text=said, pub_date="2015-06-05T00:00:00Z"))
    _suggest(page, json.dumps({"suggestions": [{"kind": "search", "text": f"{said} 2"}]}))
    show('<div dir="rtl"><blog-search></blog-search></div>')
    expect(_box(page)).to_have_css("direction", "rtl")  # the text that is in the empty box
    show()
    expect(_box(page)).to_have_css("direction", "ltr")
    _box(page).fill(said)
    for part in ("input", ".suggested a", ".hit .title", ".about", ".snippet"):
        expect(page.locator(f"blog-search {part}")).to_have_css("direction", "rtl")


def test_sizes_follow_the_text_around_and_styles_stay_outside(page: Page, show: Show) -> None:
    style = (
        "html { font-size: 62.5% } body { font-size: 1.8rem } small { font-size: 12px }"
        "* { text-transform: uppercase; letter-spacing: 9px } a { display: none }"
    )
    boxes = "<blog-search></blog-search><small><blog-search variant=modal></blog-search></small>"
    show(f"<style>{style}</style>{boxes}")
    first, second = page.locator("blog-search").all()
    box = first.get_by_role("searchbox")
    expect(box).to_have_css("font-size", "16.96px")  # at most 16, × 1.06
    box.fill("juggling")
    expect(_options(page).first).to_be_visible()
    for name, value in (("text-transform", "none"), ("letter-spacing", "normal")):
        expect(_options(page).first).to_have_css(name, value)
    second.get_by_role("button").click()
    expect(second.get_by_role("searchbox")).to_have_css("font-size", "16px")
    expect(second.get_by_role("dialog")).to_have_css("font-size", "15px")
    expect(second.get_by_role("dialog")).to_have_css("width", "675px")


def test_a_strict_policy_of_the_page(page: Page, address: str, show: Show) -> None:
    """The page fixture fails on every violation."""
    policy = (
        f"default-src 'none'; script-src {address}; connect-src {address}; form-action 'none'; "
        "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    embedder = {"Cross_Origin_Embedder_Policy": "require-corp"}
    show(q="pythn", Content_Security_Policy=policy, **embedder)
    _box(page).press("Enter")
    expect(_options(page).first.locator("mark").first).to_be_visible()
    expect(_options(page).first).to_have_css("display", "grid")


def test_a_hostile_answer_stays_text(page: Page, show: Show) -> None:
    bad = "<img src=x onerror=document.title='hacked'><mark>x</mark>&lt;b&gt;&amp;lt;"
    shown = "<img src=x onerror=document.title='hacked'>x<b>&lt;"
    urls = ["javascript:document.title='hacked'", "data:text/html,x", " JaVaScRiPt:1", "http://["]
    comment = {"author": bad, "highlight": [bad]}
    hostile = _hit("a", bad, bad, pub_date="<b>", categories=[bad])
    hits = [hostile | {"url": url, "comments": [comment | {"url": url}]} for url in urls]
    corrected = {"from": bad, "to": bad}
    answer = {"heading": bad, "highlight": bad, "url": urls[0], "snippet": bad}
    _find(page, *hits, q=bad, count=4, corrected=corrected, answer=answer)
    suggestions = json.dumps({"suggestions": [{"kind": "search", "text": bad}]})
    _suggest(page, suggestions)
    show(q="python")
    expect(_options(page)).to_have_count(8)
    for option in [*_options(page).all(), page.locator(".card")]:
        assert option.get_attribute("href") is None
        option.click()
    expect(page.locator(".title").first).to_have_text(shown)
    expect(page.locator("blog-search img, blog-search b:not(.title)")).to_have_count(0)
    assert page.title() == "A blog"


def test_an_answer_that_is_none(page: Page, show: Show) -> None:
    show("<blog-search filters></blog-search>")
    page.route("**/suggest?*", answering("<html>"))  # hits need none
    for number, (status, body) in enumerate(
        [
            (503, '{"error": {"code": "engine_unavailable", "message": "no", "details": []}}'),
            (200, "<html>A proxy's own page</html>"),
            (200, '{"hits": 1}'),
        ]
    ):
        _box(page).fill("juggling")
        expect(_options(page).first).to_be_visible()
        expect(page.locator(".filters")).to_be_visible()
        page.route("**/search?*", answering(body, status))
        _box(page).fill(f"python {number}")
        expect(page.get_by_role("status")).to_contain_text("Search is not available")
        expect(page.locator(".filters")).to_be_hidden()
        page.unroute("**/search?*")


# -- what a visitor finds beside the hits ------------------------------------------------------


def test_enter_in_the_dialog_opens_the_first_hit(page: Page, show: Show) -> None:
    page.route("https://sample.example.org/**", lambda route: route.fulfill(body="A post"))
    show(_modal())
    page.keyboard.press("/")
    page.keyboard.type("cornwall")
    page.keyboard.press("Enter")  # before there are results
    page.wait_for_url("https://sample.example.org/**")


def test_escape_takes_enter_back_before_there_are_results(page: Page, show: Show) -> None:
    held: list[Route] = []
    page.route("**/search?*", lambda route: held.append(route))
    show(_modal())
    page.evaluate("addEventListener('blogsearch:select', () => (opened = true))")
    page.keyboard.press("/")
    with page.expect_request("**/search?*"):
        page.keyboard.insert_text("cornwall")
    with page.expect_request("**/search?*"):
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    _answer(held[-1])
    expect(page.locator(".hit")).to_be_attached()
    assert page.evaluate("typeof opened") == "undefined"


def test_recent_and_frequent_searches_are_offered(page: Page, show: Show) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    newest = [{"title": "New", "url": "/new"}]
    page.route("**/start?*", answering(json.dumps({"popular": ["juggling"], "newest": newest})))
    show(_modal())
    page.evaluate("addEventListener('blogsearch:select', (event) => event.preventDefault())")
    page.keyboard.press("/")
    expect(page.locator(".newest").first).to_be_visible()
    recent = page.locator(".recent", has=page.get_by_role("button")).get_by_role("link")
    expect(recent).to_have_count(0)
    page.get_by_role("link", name="juggling").click()
    expect(_box(page)).to_have_value("juggling")
    _box(page).fill("cornwall")
    expect(_options(page).first).to_contain_text("Cornwall")
    _options(page).first.click()
    page.keyboard.press("/")
    _box(page).fill("")
    expect(recent).to_have_text(["cornwall"])
    recent.click()
    expect(_options(page).first).to_be_visible()
    _box(page).fill("")
    page.get_by_role("button", name="Clear: cornwall").click()
    expect(recent).to_have_count(0)
    assert page.evaluate("Object.keys(localStorage).length") <= 1
    assert not any("recent" in url for url in sent)


def test_back_with_an_open_dialog_leaves_a_page_that_scrolls(page: Page, show: Show) -> None:
    show(_modal())
    root = page.locator("html")
    root.evaluate("(html) => { html.style.overflowY = 'scroll'; history.pushState(0, '', '?two') }")
    page.keyboard.press("Control+k")
    expect(root).to_have_css("overflow-y", "hidden")
    page.go_back()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(root).to_have_css("overflow-y", "scroll")
    page.keyboard.press("Control+k")
    page.locator("blog-search").evaluate("(element) => element.remove()")
    expect(root).to_have_css("overflow-y", "scroll")


def test_the_results_lie_over_the_page(page: Page, show: Show) -> None:
    body = "<blog-search overlay></blog-search><p id=below tabindex=0>Below</p>"
    show(body)
    expect(_box(page)).to_be_visible()
    before = page.locator("#below").bounding_box()
    _box(page).fill("python")
    expect(_options(page).first).to_be_visible()
    assert page.locator("#below").bounding_box() == before
    page.locator("#below").focus()
    expect(_options(page).first).to_be_hidden()
    _box(page).focus()
    expect(_options(page).first).to_be_visible()


SEEN = """() => {
  const hit = document.querySelector("blog-search").shadowRoot.querySelector(".hit a");
  const { left, top, width, height } = hit.getBoundingClientRect();
  return document.elementFromPoint(left + width / 2, top + height / 2)?.localName;
}"""


@pytest.mark.parametrize(
    "header",
    ["overflow:hidden", "overflow:hidden;transform:translateY(0)", "position:fixed;bottom:0"],
    ids=["clipped", "moved", "below"],
)
def test_no_header_hides_the_results(page: Page, show: Show, header: str) -> None:
    text = "<p>Sow beans in May.</p>" * 60
    show(f"<div style='{header}'><blog-search overlay filters></blog-search></div>{text}")
    form, panel = page.locator("blog-search form"), page.locator("blog-search .panel")
    _box(page).focus()
    expect(panel).to_be_hidden()  # there is nothing to show
    _box(page).fill("python")
    expect(_options(page).first).to_be_visible()
    assert page.evaluate(SEEN) == "blog-search"
    before = form.bounding_box(), panel.bounding_box()
    page.mouse.wheel(0, 40)
    page.wait_for_function("scrollY === 40")
    expect(panel).to_be_in_viewport()
    after = form.bounding_box(), panel.bounding_box()
    moved = {a["y"] - b["y"] for a, b in zip(after, before, strict=True) if a and b}
    assert moved == {0 if "fixed" in header else -40}
    page.get_by_role("button", name="Category").click()
    page.locator(".choices:popover-open label").first.click()
    expect(page.locator(".chip")).to_be_in_viewport()


def test_enter_opens_the_excerpt_or_the_top_if_the_title_has_all_words(
    page: Page, show: Show
) -> None:
    show(_modal())
    page.evaluate(
        "addEventListener('blogsearch:select', (event) => {"
        "event.preventDefault(); chosen = event.detail.url })"
    )
    section = {"heading": "x", "highlight": "<mark>hot</mark>", "snippet": "y", "url": "/a#hot"}
    for opened, excerpt in (("/a#hot", {"excerpt_url": "/a#hot"}), ("/a", {})):
        _find(page, _hit(sections=[section], **excerpt))
        page.evaluate("chosen = undefined")
        page.keyboard.press("Control+k")
        with page.expect_response("**/search?*"):
            _box(page).fill(f"hot reload {len(excerpt)}")
        expect(page.locator(".on")).to_have_count(1)
        page.keyboard.press("Enter")
        page.wait_for_function("chosen")
        assert page.evaluate("chosen").endswith(opened)


def test_rows_have_an_image_the_first_mark_and_what_is_missing(page: Page, show: Show) -> None:
    text = f"{'far away ' * 20}&lt;b&gt; then the <mark>word</mark> and more"
    image = "https://images.example.org/a.png"
    page.route(image, lambda route: route.fulfill(body=b"", content_type="image/png"))
    hits = _hit("a", text=text, image=image), _hit("b", missing=["juggling"])
    _find(page, *hits, count=7, matches={"all_words": 1})
    show('<blog-search images parameters="category=python"></blog-search>', q="word")
    expect(page.locator(".hit img")).to_have_count(1)
    snippet = page.locator(".snippet").first
    expect(snippet).to_contain_text("<b> then the word and more")
    shown = snippet.inner_text()
    assert shown.startswith("… ")
    assert shown.index("word") < 45
    expect(page.get_by_role("status")).to_contain_text("1 with all words · 6 with some")
    expect(page.locator(".hit + .rule + .hit .missing")).to_have_text("Missing: juggling")
    link = page.get_by_role("link", name="All results")
    expect(link).to_have_attribute("href", re.compile(r"/\?category=python&q=q$"))


def test_filters_are_chips_and_menus_that_stay_in_the_address(page: Page, show: Show) -> None:
    old = "<script>Object.prototype.old = 1</script>"  # of a page with an old library
    show(f'{old}<blog-search query="q" filters></blog-search>', q="python")
    chips, choices = page.locator(".chip"), page.locator(".choices:popover-open label")
    page.get_by_role("button", name="Category").click()
    first, second = choices.nth(0), choices.nth(1)
    with page.expect_response("**/search?*category=*"):
        first.click()
    with page.expect_response("**/search?*category=*&category=*"):
        second.click()
    expect(chips).to_have_count(2)
    page.keyboard.press("Escape")
    expect(choices).to_have_count(0)
    expect(_box(page)).to_have_value("python")
    page.get_by_role("button", name="Year").click()
    with page.expect_response("**/search?*year=*"):
        choices.last.click()
    page.wait_for_url(re.compile("q=python&q-category=.*&q-category=.*&q-year="))
    page.reload()
    expect(chips).to_have_count(3)
    with page.expect_response("**/search?*"):
        chips.first.click()
    expect(chips).to_have_count(2)
    expect(_box(page)).to_be_focused()
    # What is chosen stays when another query is typed, even if no post has it.
    _box(page).fill("xqzzwk")
    expect(page.get_by_role("status")).to_contain_text("Nothing found")
    expect(chips).to_have_count(2)


def test_a_page_is_told_what_happens(page: Page, show: Show) -> None:
    script = (
        "<script>told = []; for (const name of ['search', 'open', 'close', 'error', 'select'])"
        "addEventListener(`blogsearch:${name}`, (event) => { event.preventDefault();"
        "const { q, count, status, position, url, hit } = event.detail ?? {};"
        "told.push([name, q, count, status, position, url, hit?.oid]) })</script>"
    )
    _find(page, _hit("a"), _hit("b"), q="cornwall", count=2)
    show(_modal('shortcut=""') + script)
    page.locator("blog-search").evaluate("(search) => { search.open(); search.open(); }")
    _box(page).press_sequentially("cornwall")
    expect(_options(page)).to_have_count(2)
    page.wait_for_function("told.some(([name]) => name === 'search')")
    url = _options(page).nth(1).get_attribute("href")
    _options(page).nth(1).click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator("blog-search").evaluate("(search) => search.open()")
    page.route("**/search?*", answering(status=503))
    _box(page).fill("x")
    page.wait_for_function("told.at(-1)[0] === 'error'")
    nothing = [None] * 6
    assert page.evaluate("told") == [
        ["open", *nothing],
        ["search", "cornwall", 2, None, None, None, None],
        ["select", "cornwall", None, None, 2, url, "b"],
        ["close", *nothing],
        ["open", *nothing],
        ["error", "x", None, 503, None, None, None],
    ]


def test_colours_follow_the_page(page: Page, show: Show) -> None:
    style = (
        "<style>.dark { color-scheme: dark } .own { --blog-search-text: rgb(1, 2, 3) }"
        "p a { color: rgb(0, 80, 40) }</style><a href=#>x</a><p><a href=#>x</a></p>"
    )
    boxes = "".join(f'<blog-search class="{name}"></blog-search>' for name in ("", "dark", "own"))
    page.emulate_media(color_scheme="dark")  # the reader's choice counts only if the page says so
    show(style + boxes)
    expect(_box(page)).to_have_count(3)
    colours = [box.evaluate("(box) => getComputedStyle(box).color") for box in _box(page).all()]
    assert colours == ["rgb(24, 24, 27)", "rgb(237, 237, 240)", "rgb(1, 2, 3)"]
    # A page without `color-scheme` switches its colours on a click.
    page.evaluate(
        "addEventListener('click', () => document.body.toggleAttribute('light'));"
        "document.body.insertAdjacentHTML('beforeend', '<style>[light] { color: #eee }</style>')"
    )
    for colour in ("rgb(237, 237, 240)", "rgb(24, 24, 27)"):
        page.get_by_text("x").first.click()
        expect(_box(page).first).to_have_css("color", colour)
    _box(page).first.fill("python")
    # Too dark a green for the dark box, which keeps its own accent.
    expect(page.get_by_role("link", name="All results").first).to_have_css(
        "color", "color(srgb 0 0.313726 0.156863)"
    )
    _box(page).nth(1).fill("python")
    expect(page.get_by_role("link", name="All results").nth(1)).to_have_css(
        "color", "rgb(165, 166, 255)"
    )


def test_on_a_phone_everything_fits_and_a_finger_hits_it(
    browser: Browser, address: str, blog: Blog
) -> None:
    bar = (
        "<nav style='display: flex; gap: 1em'><b>Blog</b><blog-search filters></blog-search></nav>"
    )
    with browser.new_context(
        viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        head = '<meta name="viewport" content="width=device-width">'
        page.goto(blog(_page(address, f"{head}{bar}")))
        _box(page).fill("pythn")
        page.get_by_role("button", name="Category").click()
        expect(page.locator(".choices:popover-open")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        heights = page.locator("button:visible, label:visible, .all, .suggested a").evaluate_all(
            "all => all.map((one) => [one.getBoundingClientRect().height, one.className])"
        )
        assert [one for one in heights if one[0] < 40] == []


def test_the_dialog_has_six_whole_hits_and_outlines_in_forced_colours(
    page: Page, show: Show
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    section = {"heading": "A section", "highlight": "A <mark>section</mark>", "url": "/a#b"}
    text = "Some <mark>words</mark> " * 30
    _find(page, *[_hit(str(n), sections=[section | {"snippet": text}]) for n in range(10)])
    show(_modal("filters"))
    page.keyboard.press("/")
    page.keyboard.type("words")
    expect(page.locator(".hit").nth(9)).to_be_attached()
    bottom = page.locator(".panel").evaluate("(panel) => panel.getBoundingClientRect().bottom")
    whole = page.locator(".hit").evaluate_all(
        f"all => all.filter((hit) => hit.getBoundingClientRect().bottom <= {bottom}).length"
    )
    assert whole >= 6
    # A new answer is seen from its start.
    _options(page).last.focus()
    page.keyboard.type("x")
    expect(_options(page).first).to_be_in_viewport()
    page.emulate_media(forced_colors="active")
    expect(page.get_by_role("dialog")).to_have_css("border-top-color", "rgb(0, 0, 0)")
    expect(page.locator(".on")).to_have_css("outline-style", "solid")
    expect(page.locator("mark").first).to_have_css("background-color", "rgb(255, 255, 0)")
