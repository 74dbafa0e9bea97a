"""The two pictures of README.md: the search page with its explanation, and the widget on a blog.

    make run                 # in another terminal
    make screenshots

They are written to docs/pictures/. CHROMIUM is the browser, PORT that of the service.
"""

import base64
import os
import sys
from pathlib import Path

from playwright.sync_api import Error, Page, sync_playwright

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

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
<blog-search variant="modal" filters></blog-search>
</header>
<h2>Three balls in a small kitchen</h2>
<p>It rained all Sunday, so I practised indoors. The ceiling is low, which turns out to teach:
a throw that touches it is a throw that was <a href="#">too high</a>, and the flour on the shelf
keeps a record.</p>
<p>By the evening I had forty catches in a row, and a loaf that had risen without any attention from
me at all. There may be a lesson in that.</p>
</body></html>"""


def main() -> None:
    """Take both pictures."""
    if not (chromium := os.environ.get("CHROMIUM")):
        sys.exit(f"screenshots: set CHROMIUM; see {__file__}")
    address = f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=as_root)
        with browser.new_page(base_url=address, viewport={"width": 1000, "height": 800}) as page:
            try:
                page.goto("/?q=pythn+format&size=1&debug-search")
                _take(page, "search-light")
                page.route("**/blog", lambda route: route.fulfill(body=_BLOG))
                page.goto("/blog")
                page.get_by_role("button", name="Search").click()
                page.get_by_role("searchbox").press_sequentially("pythn", delay=30)
                page.locator("blog-search .hit a.link").first.wait_for()
                page.wait_for_timeout(500)
                _take(page, "widget-light")
            except Error as error:
                reason = error.message.splitlines()[0]
                sys.exit(f"screenshots: {reason}. Is `make run` running?")


def _take(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    path = PICTURES / f"{name}.webp"
    session = page.context.new_cdp_session(page)  # Playwright writes no WebP
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": 72})
    path.write_bytes(base64.b64decode(shot["data"]))
    print(path)


if __name__ == "__main__":
    main()
