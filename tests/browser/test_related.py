"""`<blog-related>` in a page of another origin, as a reader sees it."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Blog, answering

POST = "https://sample.example.org/crontab-lines-i-keep-forgetting"
Open = Callable[..., Locator]


@pytest.fixture
def opened(page: Page, address: str, blog: Blog) -> Open:
    """Opens a page with the element, and returns that."""

    def open_(attributes: str = "", head: str = "", lang: str = "de", **headers: str) -> Locator:
        script = f'<script src="{address}/related.js" async></script>'
        head = f"<title>A blog</title>{head}{script}"
        element = f"<blog-related hidden {attributes}><h2>Related posts</h2></blog-related>"
        html = (
            f'<!doctype html><html lang="{lang}"><head>{head}</head><body>{element}</body></html>'
        )
        page.goto(blog(html, **headers))
        return page.locator("blog-related")

    return open_


def test_posts_like_the_one_of_the_page_are_links_below_the_heading(opened: Open) -> None:
    related = opened(head=f'<link rel="canonical" href="{POST}">', lang="pt_BR")
    expect(related.get_by_role("heading", name="Related posts")).to_be_visible()
    links = related.get_by_role("listitem").get_by_role("link")
    expect(links).to_have_count(5)
    hrefs = [link.get_attribute("href") for link in links.all()]
    assert "https://sample.example.org/crontabber-jobs-that-know-each-other" in hrefs
    assert POST not in hrefs
    expect(related.locator(".about").first).to_contain_text(r"2")  # the date


def test_the_address_and_the_number_may_be_given(opened: Open, address: str) -> None:
    policy = f"default-src 'none'; script-src {address}; connect-src {address}"
    related = opened(f'url="{POST}" size="3"', Content_Security_Policy=policy)
    links = related.get_by_role("link")
    expect(links).to_have_count(3)
    links = opened('url="/goodbye-pyhton24"').get_by_role("link")
    expect(links.first).to_have_text("Goodbye, python2.4")


def test_without_posts_nothing_is_shown(page: Page, opened: Open) -> None:
    for body in ("", "no JSON", '{"known": true}', '{"known": true, "posts": []}'):
        if body:
            page.route("**/similar?*", answering(body))
        with page.expect_response("**/similar?*"):
            related = opened('url="/1234"')
        expect(related).to_be_hidden()


def test_nothing_in_an_answer_becomes_markup_or_a_script(page: Page, opened: Open) -> None:
    posts = [
        {"title": "<img src=x onerror=alert(1)>", "url": "/a"},
        {"title": "A script", "url": "javascript:alert(1)", "categories": ["<b>"]},
        {"title": "No address", "categories": ["<b>"]},
    ]
    page.route("**/similar?*", answering(json.dumps({"posts": posts})))
    related = opened()
    expect(related.get_by_role("link")).to_have_count(1)
    expect(related.get_by_role("link")).to_have_text("<img src=x onerror=alert(1)>")
