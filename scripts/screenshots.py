"""Pictures of the search page, its explanation and the widget, light and dark.

    make run                 # in another terminal
    make screenshots

They are written to docs/pictures/; git keeps the two that README.md shows. CHROMIUM is the browser,
PORT that of the service.
"""

import base64
import os
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, Route, sync_playwright

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

_TIMEOUT = 120_000  # milliseconds: for machines that do other work
_DESK: dict[str, Any] = {"viewport": {"width": 1000, "height": 800}}
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}}
_PAGES = {
    "search": ("/?q=pythn+format&size=1&debug-search", _DESK),
    "start": ("/", _DESK),
    "nothing-found": ("/?q=xqzzwk", _DESK),
    "phone": ("/?q=thank+you", _PHONE),
}
_WIDGETS = {
    "widget": ("modal", "pythn", _DESK),
    "widget-inline": ("inline", "thank you", _DESK),
    "widget-phone": ("modal", "juggling", _PHONE),
}
_BLOG = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Siteswap and Sourdough</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="/widget.js" defer></script>
<style>
  :root { color-scheme: light dark }
  body { max-width: 46rem; margin: 2rem auto; padding: 0 1.25rem }
  body { font: 1.0625rem/1.65 Georgia, serif }
  header { display: flex; justify-content: space-between; align-items: center }
  h1 { font-size: 1.4rem }
  a { color: light-dark(#0b6e4f, #7ee0b8) }
  blog-search { --blog-search-font: system-ui, sans-serif }
</style></head>
<body>
<header>
<h1>Siteswap and Sourdough</h1>
<blog-search variant="VARIANT" filters></blog-search>
</header>
<h2>Three balls in a small kitchen</h2>
<p>It rained all Sunday, so I practised indoors. The ceiling is low, which turns out to teach:
a throw that touches it is a throw that was <a href="#">too high</a>, and the flour on the shelf
keeps a record.</p>
<p>By the evening I had forty catches in a row, and a loaf that had risen without any attention from
me at all. There may be a lesson in that.</p>
</body></html>"""


def main() -> None:
    """Take every picture."""
    if not (chromium := os.environ.get("CHROMIUM")):
        sys.exit(f"screenshots: set CHROMIUM; see {__file__}")
    address = f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=as_root)
        for scheme in ("light", "dark"):
            tab: dict[str, Any] = {"base_url": address, "color_scheme": scheme}
            try:
                for name, (path, size) in _PAGES.items():
                    with browser.new_page(**tab, **size) as page:
                        page.set_default_timeout(_TIMEOUT)
                        page.goto(path)
                        _take(page, f"{name}-{scheme}")
                for name, (variant, words, size) in _WIDGETS.items():
                    with browser.new_page(**tab, **size) as page:
                        page.set_default_timeout(_TIMEOUT)
                        page.route("**/blog/*", _serve_blog)
                        page.goto(f"/blog/{variant}")
                        _type(page, variant, words)
                        _take(page, f"{name}-{scheme}")
            except Error as error:
                reason = error.message.splitlines()[0]
                sys.exit(f"screenshots: {reason}. Is `make run` running?")


def _serve_blog(route: Route) -> None:
    """A post of a blog: `/blog/modal` and `/blog/inline` have that variant of the widget."""
    variant = route.request.url.rpartition("/")[2]
    route.fulfill(body=_BLOG.replace("VARIANT", variant), content_type="text/html")


def _type(page: Page, variant: str, words: str) -> None:
    if variant == "modal":
        page.get_by_role("button", name="Search").wait_for()
        page.keyboard.press("/")
    page.get_by_role("searchbox").press_sequentially(words, delay=30)
    page.locator("blog-search .hit a.link").first.wait_for()
    page.wait_for_timeout(500)


def _take(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    path = PICTURES / f"{name}.webp"
    path.parent.mkdir(exist_ok=True)
    session = page.context.new_cdp_session(page)  # Playwright writes no WebP
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": 72})
    path.write_bytes(base64.b64decode(shot["data"]))
    print(path)


if __name__ == "__main__":
    main()
