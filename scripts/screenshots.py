"""Pictures of the search page, its explanation, the widget and the insights, light and dark.

    eval "$(make -s services)"
    make screenshots

They are written to docs/pictures/, which git ignores: pictures are made of the code that is there,
and the repository contains nothing generated. They come from a service of their own with the sample
posts, in an index that is deleted afterwards. CHROMIUM is the browser.
"""

import logging
import os
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elasticsearch import Elasticsearch
from flask import Flask
from playwright.sync_api import Browser, Page, Route, sync_playwright
from werkzeug.serving import make_server

from analyzers.rules import read_rules, rule_files
from app import create_app
from app.service import EXTENSION
from app.settings import Settings
from indexer.build.builder import IndexSettings
from indexer.build.reindex import reindex
from indexer.sources import SourceOptions, open_source

REPOSITORY = Path(__file__).resolve().parent.parent
PICTURES = REPOSITORY / "docs" / "pictures"

_TOKEN = "only for these pictures"
# What a visitor searches for, one line each. Programs are not counted.
_VISITORS = (
    ("python",),
    ("juggling patterns",),
    ("pythn", "python"),
    ("cornwall", "pasty"),
    ("velocipede", "bicycle"),
    ("velocipede", "bicycle"),
    ("velocipede", "bicycle"),
    ("date format",),
    ("unicorn",),
)
_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.{}) Gecko/20100101 Firefox/140.{}"

_NEEDED = ("ELASTICSEARCH_URL", "REDIS_URL", "CHROMIUM")

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
    Picture("insights", "/insights", whole=True),
    Picture("widget-phone", "/blog/modal", _open_and_type("juggling"), width=390, height=780),
)


def main() -> int:
    """Make every picture."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    missing = [name for name in _NEEDED if not os.environ.get(name)]
    if missing:
        print(f"screenshots: set {', '.join(missing)}; see {__file__}", file=sys.stderr)
        return 2
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    with _service() as address, sync_playwright() as playwright:
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=os.environ["CHROMIUM"], args=["--no-first-run", *as_root]
        )
        for picture in PICTURES_MADE:
            for scheme in ("light", "dark"):
                print(_take(browser, address, picture, scheme).relative_to(REPOSITORY))
        browser.close()
    return 0


@contextmanager
def _service() -> Iterator[str]:
    """The URL of a service with the sample posts."""
    alias = f"screenshots-x{uuid.uuid4().hex[:8]}"
    settings = Settings(
        index=alias,
        elasticsearch_url=os.environ["ELASTICSEARCH_URL"],
        redis_url=os.environ["REDIS_URL"],
        elasticsearch_timeout=60,
        insights_token=_TOKEN,
    )
    with Elasticsearch(settings.elasticsearch_url, request_timeout=120) as elastic:
        try:
            rules = read_rules(rule_files(REPOSITORY / "synonyms"))
            posts = open_source(str(REPOSITORY / "sample" / "posts.jsonl"), None, SourceOptions())
            reindex(elastic, alias, posts.read(), IndexSettings(rules, 1, 0), lambda _: None)
            app = create_app(settings)
            _search_a_little(app)
            server = make_server("127.0.0.1", 0, app, threaded=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
        finally:
            for index in elastic.indices.get(index=f"{alias}*", expand_wildcards="all"):
                elastic.indices.delete(index=index)


def _search_a_little(app: Flask) -> None:
    """Searches for the insights to show, counted at once and not a minute later."""
    client = app.test_client()
    for number, words in enumerate(_VISITORS):
        for q in words:
            user_agent = _USER_AGENT.format(number, number)
            client.get("/search", query_string={"q": q}, headers={"User-Agent": user_agent})
    search_log = app.extensions[EXTENSION].search_log
    search_log.flush()
    search_log.count_due(time.time() + 60)


def _take(
    browser: Browser, address: str, picture: Picture, scheme: Literal["light", "dark"]
) -> Path:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=scheme,
        http_credentials={"username": "", "password": _TOKEN, "origin": address},
    )
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
    raise SystemExit(main())
