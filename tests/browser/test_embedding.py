"""The pages of README.md and docs/embedding.md, as they are there, on another origin."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Blog

REPOSITORY = Path(__file__).resolve().parents[2]


def _example(name: str, heading: str, address: str) -> str:
    """The last example under a heading, for the service of the test."""
    text = (REPOSITORY / name).read_text()
    section = re.split(r"^## ", text.split(f"## {heading}\n")[1], flags=re.MULTILINE)[0]
    example = re.findall(r"```html\n(.*?)```", section, re.DOTALL)[-1]
    assert "https://search.example.org/" in example
    return str(example).replace("https://search.example.org/", f"{address}/")


def test_a_pasted_page_finds_posts(page: Page, address: str, blog: Blog) -> None:
    for name, heading in (
        ("README.md", "A search box on your page"),
        ("docs/embedding.md", "A page for searching"),
    ):
        body = _example(name, heading, address)
        page.goto(blog(f"<!doctype html><title>A blog</title><body>{body}"))
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
    assert texts - {"placeholder"} <= page.request.get(f"{address}/messages?lang=en").json().keys()
