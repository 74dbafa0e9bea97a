"""Pictures of the search page, its explanation and the widget, light and dark.

    make run                 # in another terminal
    make screenshots

They are written to docs/pictures/, which git ignores. CHROMIUM is the browser, PORT that of the
service.
"""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Error, Page, Route, sync_playwright

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

_BLOG = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Siteswap and Sourdough</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="/widget.js" defer></script>
<style>
  :root { color-scheme: light dark }
  body { max-width: 42rem; margin: 2.5rem auto; padding: 0 1.25rem }
  body { font: 1.0625rem/1.65 Georgia, serif }
  h1 { font-size: 1.4rem }
  blog-search { --blog-search-font: system-ui, sans-serif }
</style></head>
<body>
<header><h1>Siteswap and Sourdough</h1></header>
<blog-search variant="VARIANT"></blog-search>
<h2>Three balls in a small kitchen</h2>
<p>It rained all Sunday, so I practised indoors. The ceiling is low, which turns out to teach:
a throw that touches it is a throw that was too high, and the flour on the shelf keeps a record.</p>
<p>By the evening I had forty catches in a row, and a loaf that had risen without any attention from
me at all. There may be a lesson in that.</p>
</body></html>"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, what a visitor does on it, and how much of it is shown."""

    name: str
    path: str
    act: Callable[[Page], None] = lambda page: None
    width: int = 1000
    height: int = 800
    whole: bool = False


def _type(words: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.get_by_role("searchbox").press_sequentially(words, delay=30)
        page.locator("blog-search a.link").first.wait_for()

    return act


def _open_and_type(words: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.get_by_role("button", name="Search").wait_for()
        page.keyboard.press("/")
        _type(words)(page)
        page.keyboard.press("ArrowDown")

    return act


PICTURES_MADE = (
    Picture("search", "/?q=pythn"),
    Picture("start", "/"),
    Picture("nothing-found", "/?q=xqzzwk"),
    Picture("phone", "/?q=thank+you", width=390, height=780),
    Picture("debug", "/?q=pythn+date+format&debug-search=requests", whole=True),
    Picture("widget", "/blog/modal", _open_and_type("pythn")),
    Picture("widget-inline", "/blog/inline", _type("thank you")),
    Picture("widget-phone", "/blog/modal", _open_and_type("juggling"), width=390, height=780),
)


def main() -> None:
    """Make every picture."""
    if not (chromium := os.environ.get("CHROMIUM")):
        sys.exit(f"screenshots: set CHROMIUM; see {__file__}")
    address = f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
    shutil.rmtree(PICTURES, ignore_errors=True)
    with sync_playwright() as playwright:
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=as_root)
        for picture in PICTURES_MADE:
            for scheme in ("light", "dark"):
                try:
                    print(_take(browser, address, picture, scheme))
                except Error as error:
                    sys.exit(
                        f"screenshots: {error.message.splitlines()[0]}. Is `make run` running?"
                    )
        browser.close()


def _take(
    browser: Browser, address: str, picture: Picture, scheme: Literal["light", "dark"]
) -> Path:
    viewport = {"width": picture.width, "height": picture.height}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(120_000)  # milliseconds: for machines that do other work
    page = context.new_page()
    page.route("**/blog/*", _serve_blog)
    page.goto(address + picture.path)
    picture.act(page)
    page.wait_for_load_state("networkidle")
    path = PICTURES / f"{picture.name}-{scheme}.png"
    page.screenshot(path=path, full_page=picture.whole)
    context.close()
    return path


def _serve_blog(route: Route) -> None:
    """A post of a blog: `/blog/modal` and `/blog/inline` have that variant of the widget."""
    variant = route.request.url.rpartition("/")[2]
    body = _BLOG.replace("VARIANT", variant)
    route.fulfill(body=body, content_type="text/html")


if __name__ == "__main__":
    main()
