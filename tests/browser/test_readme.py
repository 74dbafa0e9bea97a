"""The README's search box works when it is pasted into a page of another origin."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.fixture
def blog(address: str) -> Iterator[str]:
    """The URL of a page with the search box, served on a port of its own."""
    (snippet,) = re.findall(r"```html\n(.*?)```", README.read_text(), re.DOTALL)
    page = f"<!doctype html><title>A blog</title>{snippet}".replace(
        "https://search.example.org/", f"{address}/"
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/" else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path == "/":
                self.wfile.write(page.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def _search(page: Page, q: str) -> None:
    page.get_by_label("Search").fill(q)
    page.get_by_role("button", name="Search").click()


def test_hits_are_shown_with_links_and_highlights(page: Page, blog: str) -> None:
    page.goto(blog)
    _search(page, "pythn")
    expect(page.get_by_role("status")).to_contain_text("found")
    first = page.locator("#search-hits li").first
    expect(first.locator("mark").first).to_contain_text(re.compile("python", re.IGNORECASE))
    link = first.get_by_role("link").first
    assert (link.get_attribute("href") or "").startswith("https://blog.example.org/")


def test_a_matching_comment_is_shown(page: Page, blog: str) -> None:
    page.goto(blog)
    _search(page, "rutabaga")
    comment = page.locator("#search-hits blockquote")
    expect(comment).to_contain_text("rutabaga")
    assert "#comment-" in (comment.get_by_role("link").get_attribute("href") or "")


def test_an_empty_query_clears_the_hits(page: Page, blog: str) -> None:
    page.goto(blog)
    _search(page, "juggling")
    expect(page.locator("#search-hits li").first).to_be_visible()
    _search(page, "  ")
    expect(page.locator("#search-hits li")).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("")


def test_nothing_found(page: Page, blog: str) -> None:
    page.goto(blog)
    _search(page, "xqzzwk")
    expect(page.get_by_role("status")).to_have_text("Nothing found")


def test_markup_in_queries_titles_and_comments_stays_text(page: Page, blog: str) -> None:
    page.goto(blog)
    _search(page, "details")
    expect(page.locator("#search-hits li", has_text="<details>").first).to_be_visible()
    _search(page, "<img src=x onerror=alert(2)>")
    expect(page.locator("#search-hits blockquote", has_text="<img src=x").first).to_be_visible()
    expect(page.locator("#search-hits img")).to_have_count(0)


@pytest.mark.parametrize("failure", ["refused", "not json", "error"])
def test_a_failing_service_is_reported(page: Page, blog: str, failure: str) -> None:
    def fail(route: Route) -> None:
        if failure == "refused":
            route.abort()
        elif failure == "not json":
            route.fulfill(body="<html>", headers={"Access-Control-Allow-Origin": "*"})
        else:
            route.fulfill(
                body='{"error": {"code": "engine_unavailable", "message": "", "details": []}}',
                headers={"Access-Control-Allow-Origin": "*"},
            )

    page.route("**/search?*", fail)
    page.goto(blog)
    _search(page, "python")
    expect(page.get_by_role("status")).to_contain_text("not available")
