"""The search page, as a visitor uses it."""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawComment, RawPost
from tests.browser.conftest import serving

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HEBREW = "שלום Python!"


def _post(oid: str, title: str, text: str = "text", **fields: Any) -> RawPost:
    return RawPost(Origin("test"), oid, title, text, f"/{oid}", **fields)


def _posts() -> Iterator[RawPost]:
    """Posts that the sample does not have."""
    comment = RawComment("c", HEBREW, "Eve")
    yield _post("hebrew", HEBREW, HEBREW, comments=(comment,), pub_date="2015-05-11")
    comment = RawComment("c", "Deutsch ist gut", "Eve")
    yield _post(
        "a", "Deutsch a", "Deutsch", language="de", comments=(comment,), pub_date="2014-01-01"
    )
    yield _post("b", "Deutsch b", "Deutsch")
    hostile = f"<p>hostile {html.escape(SCRIPT)}</p>"
    named = f"hostile {SCRIPT}"
    comment = RawComment("c", hostile, f"Eve {SCRIPT}")
    fields: dict[str, Any] = {"categories": [named], "comments": (comment,)}
    yield _post("hostile", named, hostile, pub_date="2020-01-02", **fields)
    part = "<h3>A &lt;b&gt; word</h3><p>With more words than fit into a line of a phone.</p>"
    for number in range(9):
        yield _post(f"{number}", "Title", f"<h2>One &amp; all</h2>{part}{part}")


@pytest.fixture(scope="module")
def other_address(
    elastic: Elasticsearch,
    engine_settings: Settings,
    module_index: Callable[[Iterable[RawPost]], str],
) -> Iterator[str]:
    """A service with `_posts()`."""
    alias = module_index(_posts())
    # Another indexer might write what ours rejects.
    bad = {"url": "javascript:document.title='owned'"}
    elastic.update(index=alias, id="hostile", doc=bad, refresh=True)
    with serving(replace(engine_settings, index=alias)) as url:
        yield url


def test_only_the_start_page_is_for_search_engines(client: FlaskClient) -> None:
    """Parameters of analytics tools are ignored."""
    response = client.get("/?q=python&utm_source=news&fbclid=x&gclid=y")
    assert response.status_code == 200
    assert "utm_source" not in response.text
    assert '<link rel="canonical" href="/?q=python">' in response.text
    for path in ("search", "suggest", "search.atom"):
        assert client.get(f"/{path}?q=python&utm_source=news&_=1712").status_code == 200
        assert client.get(f"/{path}?q=python&nonsense=1").status_code == 400
    others = ("/?q=python", "/?category=juggling", "/?size=x", "/search?q=a", "/suggest?q=a", "/no")
    for path in ("/", *others, *others):  # also from the cache
        tag = None if path == "/" else "noindex, nofollow"
        assert client.get(path).headers.get("X-Robots-Tag") == tag


def test_everything_works_below_a_path(engine_settings: Settings, sample_alias: str) -> None:
    settings = replace(engine_settings, index=sample_alias, path_prefix="/find")
    client = create_app(settings).test_client()
    for path in ("/", "/?q=pythn", "/?q=pythn&debug-search", "/docs", "/?q=x&size=x"):
        page = client.get(f"/find{path}").text
        own = re.findall(r'(?:href|src|action|data-clicks)="(/[^"]*)"', page)
        assert len(own) > 3
        assert {url for url in own if not url.startswith("/find/")} == set()
        for url in set(own):
            with client.get(html.unescape(url)) as response:
                assert response.status_code != 404
    for path in ("opensearch.xml", "search.atom?q=python"):
        linked = re.findall(r'http://localhost(/[^"?<]*)', client.get(f"/find/{path}").text)
        assert linked
        assert {url for url in linked if not url.startswith("/find/")} == set()
    search = "/find/search?q=pythn"
    instead = urljoin(search, client.get(search).get_json()["instead"])
    assert (instead, client.get(instead).status_code) == (f"{search}&typos=off", 200)
    assert client.get("/find/openapi.json").get_json()["servers"] == [{"url": "."}]
    assert client.get("/find/widget.js").status_code == 200
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert client.post("/find/mcp", json=ping).get_json()["id"] == 1


def test_the_page_speaks_the_language_of_the_visitor(client: FlaskClient) -> None:
    for accepted, html_tag, shown in (
        ("de-AT,en;q=0.5", '<html lang="de" dir="ltr">', "Ergebnisse"),
        ("ar", '<html lang="ar" dir="rtl">', "نتيجة"),
        ("xx", '<html lang="en" dir="ltr">', "results"),
    ):
        response = client.get("/?q=python", headers={"Accept-Language": accepted})
        assert html_tag in response.text
        assert shown in response.text
        assert "Accept-Language" in response.headers["Vary"]


def test_the_keyboard_chooses_several_categories(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=python&category=python")
    alone = int(page.locator("#status").inner_text().split()[0])
    category = page.locator("#tools summary", has_text="Category")
    choices = page.locator("#tools details[open] a")
    for key in ("Escape", "Tab"):
        category.focus()
        page.keyboard.press("Enter")
        expect(choices.first).to_be_visible()
        if key == "Tab":
            choices.last.focus()
        page.keyboard.press(key)
        expect(choices).to_have_count(0)
    category.click()
    choices.and_(page.locator("a:not([aria-current])")).first.press("Enter")
    page.wait_for_url(re.compile("category=python&category="))
    assert int(page.locator("#status").inner_text().split()[0]) > alone
    category.click()
    chosen = choices.and_(page.locator("[aria-current]"))
    expect(chosen).to_have_count(2)
    chosen.filter(has_text="python").click()
    page.wait_for_url(re.compile(r"q=python&category=(?!python)[^&]*$"))


def test_filters_stay_when_the_query_changes_or_goes(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#tools summary", has_text="Category").click()
    juggling = page.locator("#tools details[open] a", has_text="juggling")
    count = juggling.locator(".count").inner_text().split()[0]
    juggling.click()
    page.wait_for_url("**category=juggling")
    expect(page.locator(".posts li")).to_have_count(int(count))
    # Exactly what was typed is about that query only.
    page.goto(f"{address}/?q=siteswap&category=juggling&typos=off")
    box = page.get_by_role("searchbox")
    box.fill("")
    page.wait_for_url(f"{address}/?category=juggling")
    expect(page.get_by_role("list", name="Filters")).to_contain_text("juggling")
    box.fill("three")
    page.wait_for_url(f"{address}/?q=three&category=juggling")
    expect(page.locator(".hits > li").first).to_be_visible()


def test_the_page_works_without_javascript(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/?q=xqzzwk")
        expect(page.locator(".posts a").first).to_be_visible()
        page.get_by_label("Search", exact=True).fill("pythn")
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".hits li").first).to_contain_text("Python")
        first = page.locator(".hits h3").first.inner_text()
        page.get_by_role("link", name="Next").click()
        pages = page.get_by_role("navigation", name="Pages")
        expect(pages.locator("[aria-current]")).to_have_text("2")
        page.get_by_role("link", name="Previous").click()
        expect(page.locator(".hits h3").first).to_have_text(first)
        page.goto(f"{address}/?q=python&debug-search")
        page.locator(".body summary").first.click()
        expect(page.locator(".body pre").first).to_contain_text('"query"')
        expect(page.locator("#debug button")).to_have_count(0)


def test_everything_of_a_page_of_results_is_under_30_kb(page: Page, address: str) -> None:
    sizes: dict[str, int] = {}
    page.on("response", lambda got: sizes.update({got.url: len(got.body())}))
    page.goto(f"{address}/?q=python", wait_until="networkidle")
    assert page.locator(".hits > li").count() == 10
    assert any("search.js" in url for url in sizes)
    assert all(url.startswith(address) for url in sizes), "a request to another site"
    assert sum(sizes.values()) < 30_000, sizes


def test_text_from_right_to_left_is_shown_so(page: Page, other_address: str) -> None:
    page.goto(other_address)
    expect(page.locator(".posts a", has_text=HEBREW)).to_have_css("direction", "rtl")
    page.get_by_role("searchbox").fill("שלום")
    expect(page.get_by_role("searchbox")).to_have_css("direction", "rtl")
    for part in (".hits h3", ".hits .meta", ".hits .text", ".hits .part p"):
        expect(page.locator(part).first).to_have_css("direction", "rtl")
    # Otherwise the parts of an Arabic date change places.
    expect(page.locator(".meta time")).to_have_css("unicode-bidi", "isolate")


def test_posts_are_marked_with_their_language(page: Page, other_address: str) -> None:
    found = ["Deutsch a", "Deutsch", "Deutsch ist gut"]
    for path, texts in (("/", ["Deutsch a"]), ("/?q=deutsch", found)):
        page.goto(other_address + path)
        expect(page.locator("[lang=de]")).to_have_text(texts)
        expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_hostile_post_stays_text(page: Page, other_address: str) -> None:
    for path, typed in (("/?q=hostile&debug-search", ""), ("/", ""), ("/", "hostile")):
        page.goto(other_address + path)
        if typed:
            page.get_by_role("searchbox").fill(typed)
            expect(page.locator(".hits li").first).to_be_visible()
        expect(page.locator("#answer").get_by_text("<script>").first).to_be_visible()
        assert page.locator("main script, main img").count() == 0
        assert page.locator("a[href^='javascript:' i]").count() == 0
        assert page.title() != "owned"


def test_what_is_refused_is_a_page(client: FlaskClient, settings: Settings) -> None:
    broken: dict[str, Any] = {"elasticsearch_url": "http://127.0.0.1:9", "redis_url": ""}
    limited = create_app(replace(settings, rate_limit="1/day", redis_url="")).test_client()
    down = create_app(replace(settings, **broken)).test_client()
    assert limited.get("/?q=python").status_code == down.get("/").status_code == 200
    for one, query, status, said in (
        (client, "q=python&size=1000", 400, "This search is not possible."),
        (client, f"q={'x' * 201}", 400, "A search has at most 200 characters."),
        (limited, "q=python", 429, r"Too many searches\. Try again in \d+ s\."),
        (down, "q=python&page=2", 503, "Search is not available now."),
    ):
        refused = one.get(f"/?{query}")
        assert (refused.status_code, refused.mimetype) == (status, "text/html")
        assert re.search(said, refused.text)
        assert (int(refused.headers.get("Retry-After", 0)) > 0) is (status > 400)
    assert 'href="?q=python&amp;page=2">Try again' in refused.text


def test_the_name_the_link_and_the_style_of_the_blog(
    page: Page, settings: Settings, tmp_path: Path
) -> None:
    """The page fixture fails if the policy refuses the style."""
    file = tmp_path / "blog.css"
    file.write_text(":root { --accent: rgb(1,2,3) }")
    site = {"site_name": "Ann & Bob", "site_url": "https://blog.example.org/"}
    named: dict[str, Any] = {**site, "site_style": str(file)}
    with serving(replace(settings, **named)) as url:
        page.goto(f"{url}/?q=cron")
        expect(page).to_have_title("cron – Ann & Bob")
        expect(page.get_by_role("heading", level=1)).to_have_text("Ann & Bob")
        expect(page.locator("[href='https://blog.example.org/']")).to_be_visible()
        accent = page.evaluate("getComputedStyle(document.body).getPropertyValue('--accent')")
        assert accent == "rgb(1,2,3)"


def test_a_phone_shows_four_hits_with_their_sections(page: Page, other_address: str) -> None:
    page.set_viewport_size({"width": 375, "height": 720})
    page.goto(f"{other_address}/?q=word")
    part_of_first = page.locator(".hits > li").first.locator(".part").first
    expect(part_of_first).to_contain_text("One & all › A <b> word")
    expect(part_of_first.get_by_role("link")).to_have_text("A <b> word")
    expect(part_of_first.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"^/\d#:~:text=With%20more%20words,of%20a%20phone\.$")
    )
    boxes = [title.bounding_box() for title in page.locator(".hits > li > h3").all()]
    assert sum(box is not None and box["y"] + box["height"] <= 720 for box in boxes) >= 4


def test_nothing_moves_while_the_visitor_types(page: Page, address: str) -> None:
    page.goto(address)
    box = page.get_by_role("searchbox")
    before = box.bounding_box()
    box.press_sequentially("siteswap in f", delay=40)
    expect(page.locator(".hits h3 a").first).to_be_visible()
    expect(page.locator("#suggested a").first).to_be_visible()
    top = page.locator(".bar").bounding_box()
    box.press_sequentially("xqz")
    expect(page.locator("#suggested a")).to_have_count(0)
    assert (box.bounding_box(), page.locator(".bar").bounding_box()) == (before, top)


def test_enter_keeps_the_hits_and_back_leads_to_the_search_before(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=cron")
    box = page.get_by_role("searchbox")
    box.fill("")
    box.press_sequentially("cornwl")
    expect(page.get_by_text("Showing results for")).to_contain_text("cornwall")
    page.wait_for_url(f"{address}/?q=cornwl")
    box.press("Enter")
    page.wait_for_url(f"{address}/?q=cornwl&typing=on")
    page.reload()
    expect(page.locator("#tools details").first).to_be_visible()
    page.go_back()
    expect(box).to_have_value("cron")
    expect(page.locator(".hits h3 a").first).to_contain_text("cron")


def test_a_finger_hits_every_link_and_the_focus_is_never_below_the_box(
    browser: Browser, address: str
) -> None:
    with browser.new_context(
        viewport={"width": 390, "height": 500}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        page.goto(f"{address}/?q=cron+job&category=linux")
        small = page.locator("a:visible, summary:visible, button:visible").evaluate_all(
            "all => all.filter((one) => one.getBoundingClientRect().height < 24)"
            ".map((one) => one.outerHTML)"
        )
        assert [one for one in small if "position: absolute" not in one] == []
        hidden = page.evaluate(
            """() => [...document.querySelectorAll("main a")].reverse().filter((link) => {
              link.focus();
              return link.checkVisibility() && link.getBoundingClientRect().top
                < document.querySelector("header").getBoundingClientRect().bottom;
            }).map((link) => link.outerHTML)"""
        )
        assert hidden == []


def test_debug_search_shows_words_variants_synonyms_and_scores(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=pythn+colour+format&debug-search")
    debug = page.get_by_role("region", name="How this answer was computed")
    row = debug.get_by_role("row", name=re.compile("pythn"))
    for cell in ("python", "spelling", "0.7"):
        expect(row).to_contain_text(cell)
    expect(debug).to_contain_text(re.compile(r"british-american\.synonyms:\d+"))
    expect(debug).to_contain_text("Highest scores")
    expect(debug.locator(".scores > li").first).to_contain_text("Matched: pythn (as python)")
    expect(debug.locator(".scores > li").first).to_contain_text("Missing: colour")
    page.locator(".body summary").first.click()
    page.locator(".body pre").first.click()
    assert "query" in json.loads(page.evaluate("`${getSelection()}`"))
    # It follows what is typed.
    page.get_by_role("searchbox").fill("juggling")
    expect(page.get_by_role("row", name=re.compile("juggling"))).to_be_visible()
