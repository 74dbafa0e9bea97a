"""The pages of README.md and docs/embedding.md, as they are there, on another origin."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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


def test_the_documented_parts_and_variables(page: Page, address: str) -> None:
    text = (REPOSITORY / "docs" / "embedding.md").read_text()
    script = page.request.get(f"{address}/widget.js").text()
    variables = set(re.findall(r"var\((--blog-search-[\w-]+)", script))
    assert variables == set(re.findall(r"^\| `(--blog-search-[\w-]+)`", text, re.MULTILINE))
    texts = set(re.findall(r"^\| `text-(\w+)` \|", text, re.MULTILINE))
    assert {"placeholder", "results"} <= texts
    assert texts <= page.request.get(f"{address}/messages?lang=en").json().keys()


@pytest.fixture
def form(address: str, blog: Blog) -> str:
    """The URL of the page with the form."""
    example = _example("docs/embedding.md", "Without the widget", address)
    return blog(f"<!doctype html><title>A blog</title>{example}")


def test_a_form_shows_hits_as_text_and_says_what_failed(
    page: Page, form: str, address: str
) -> None:
    page.goto(form)
    box, button = page.get_by_label("Search"), page.get_by_role("button", name="Search")
    hits, status = page.locator("#search-hits"), page.get_by_role("status")
    box.fill("<img src=x onerror=alert(2)>")
    button.click()
    expect(hits.locator("blockquote", has_text="<img src=x").first).to_be_visible()
    expect(hits.locator("img")).to_have_count(0)
    page.route("**/search?q=cron*", lambda route: route.abort())
    box.fill("cron")
    button.click()
    expect(status).to_contain_text("not available")
    box.fill("pythn")
    button.click()
    expect(status).to_contain_text("11 found, for python.")
    expect(hits.locator("mark").first).to_contain_text(re.compile("python", re.IGNORECASE))
    link = hits.get_by_role("link").first
    expect(link).to_have_attribute("href", re.compile("^https://sample.example.org/"))
    page.get_by_role("link", name="Search instead for pythn").click()
    page.wait_for_url(f"{address}/?q=pythn&typos=off")
