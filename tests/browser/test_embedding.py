"""The pages of README.md and docs/embedding.md, as they are there, on another origin."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Blog

REPOSITORY = Path(__file__).resolve().parents[2]


def _example(name: str, heading: str, address: str) -> str:
    """The last example under a heading, for the service of the test."""
    text = (REPOSITORY / name).read_text()
    section = re.split(r"^## ", text.split(f"## {heading}\n")[1], flags=re.MULTILINE)[0]
    example = re.findall(r"```(?:html|php)\n(.*?)```", section, re.DOTALL)[-1]
    assert "https://search.example.org/" in example
    return str(example).replace("https://search.example.org/", f"{address}/")


def _rendered(template: str) -> str:
    """What a generator makes of a template, without its layout: all of ours is outside of tags."""
    without_front_matter = re.sub(r"\A---\n.*?\n---\n", "", template, flags=re.DOTALL)
    return re.sub(r"\{\{.*?\}\}|\{%.*?%\}|<\?php.*?\?>", "", without_front_matter)


# -- with the widget ---------------------------------------------------------------------------


def test_a_pasted_page_finds_posts(page: Page, address: str, blog: Blog) -> None:
    for name, heading in (
        ("README.md", "A search box on your page"),
        ("docs/embedding.md", "Plain HTML"),
        ("docs/embedding.md", "Hugo"),
        ("docs/embedding.md", "Jekyll"),
        ("docs/embedding.md", "WordPress"),
        ("docs/embedding.md", "Eleventy"),
    ):
        body = _rendered(_example(name, heading, address))
        page.goto(
            blog(body if "<html" in body else f"<!doctype html><title>A blog</title><body>{body}")
        )
        page.get_by_role("searchbox").fill("pythn")
        expect(page.get_by_role("status")).to_contain_text("Showing results for python.")
        link = page.locator("a.link").first
        expect(link).to_have_attribute("href", re.compile("^https://sample.example.org/"))


def test_a_pasted_page_has_a_link_without_javascript(
    browser: Browser, address: str, blog: Blog
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(blog(_example("docs/embedding.md", "Plain HTML", address)))
    page.get_by_role("link", name="Search this blog").click()
    page.wait_for_url(f"{address}/")
    context.close()


def test_the_documented_parts_and_variables(page: Page, address: str) -> None:
    text = (REPOSITORY / "docs" / "embedding.md").read_text()
    script = page.request.get(f"{address}/widget.js").text()
    variables = set(re.findall(r"var\((--blog-search-[\w-]+)", script))
    assert variables == set(re.findall(r"^\| `(--blog-search-[\w-]+)`", text, re.MULTILINE))
    texts = set(re.findall(r"^\| `text-(\w+)` \|", text, re.MULTILINE))
    assert {"placeholder", "results"} <= texts
    assert texts <= page.request.get(f"{address}/messages?lang=en").json().keys()


# -- without it --------------------------------------------------------------------------------


@pytest.fixture
def form(address: str, blog: Blog) -> str:
    """The URL of the page with the form."""
    example = _example("docs/embedding.md", "Without the widget", address)
    return blog(f"<!doctype html><title>A blog</title>{example}")


def _search(page: Page, q: str) -> None:
    page.get_by_label("Search").fill(q)
    page.get_by_role("button", name="Search").click()


def test_hits_are_shown_with_links_and_highlights(page: Page, form: str, address: str) -> None:
    page.goto(form)
    _search(page, "pythn")
    expect(page.get_by_role("status")).to_contain_text("11 found, for python.")
    first = page.locator("#search-hits li").first
    expect(first.locator("mark").first).to_contain_text(re.compile("python", re.IGNORECASE))
    link = first.get_by_role("link").first
    assert (link.get_attribute("href") or "").startswith("https://sample.example.org/")
    page.get_by_role("link", name="Search instead for pythn").click()
    page.wait_for_url(f"{address}/?q=pythn&typos=off")


def test_markup_in_queries_titles_and_comments_stays_text(page: Page, form: str) -> None:
    page.goto(form)
    _search(page, "details")
    expect(page.locator("#search-hits li", has_text="<details>").first).to_be_visible()
    _search(page, "<img src=x onerror=alert(2)>")
    expect(page.locator("#search-hits blockquote", has_text="<img src=x").first).to_be_visible()
    expect(page.locator("#search-hits img")).to_have_count(0)


def test_a_failing_service_is_reported(page: Page, form: str) -> None:
    page.route("**/search?*", lambda route: route.abort())
    page.goto(form)
    _search(page, "python")
    expect(page.get_by_role("status")).to_contain_text("not available")
