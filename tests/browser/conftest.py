"""A real browser and the real service behind a real port."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Response,
    Route,
    expect,
    sync_playwright,
)
from werkzeug.serving import make_server

from app import create_app
from app.settings import Settings
from tests.tcp import in_thread

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

expect.set_options(timeout=15_000)  # milliseconds: for machines that do other work

Blog = Callable[..., str]


@pytest.fixture(scope="session")
def address(engine_settings: Settings, sample_alias: str) -> Iterator[str]:
    """The URL of a service with the sample posts.

    On a slow machine more searches may run at a time before any is refused.
    """
    settings = replace(engine_settings, index=sample_alias, max_computations=64)
    with serving(settings) as url:
        yield url


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The service behind a port of its own; its URL."""
    app = _closed_at_once(create_app(settings))
    with in_thread(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield url


def _closed_at_once(app: "WSGIApplication") -> "WSGIApplication":
    """The application, with its response closed before it is sent.

    Werkzeug's server does not close the file of a response if the browser resets the connection,
    as Chromium does with the icon of a page that is left.
    """

    def call(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        response = app(environ, start_response)
        try:
            return [b"".join(response)]
        finally:
            if hasattr(response, "close"):
                response.close()

    return call


@pytest.fixture(scope="session")
def blog() -> Iterator[Blog]:
    """Serves a page on an origin of its own: `blog(html, Header_Name="value")` returns its URL."""
    pages: dict[str, tuple[bytes, dict[str, str]]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, headers = pages.get(self.headers["Host"].partition(":")[0], (b"", {}))
            self.send_response(204 if self.path == "/favicon.ico" else 200)
            for name, value in {"Content_Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.path != "/favicon.ico":
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with in_thread(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:

        def serve(html: str, **headers: str) -> str:
            host = f"blog{len(pages)}.localhost"
            pages[host] = html.encode(), headers
            return f"{url.replace('127.0.0.1', host)}/"

        yield serve


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM")
    if not path:
        pytest.fail("CHROMIUM is not set: run `make test`, or set it to a Chromium's path")
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    # Else each new page loads the browser's own user interface, which takes most of its time.
    quiet.append("--disable-features=PreloadTopChromeWebUI")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=[*quiet, *as_root])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Shared by the tests of a process: their pages have their own origins, or store nothing."""
    with browser.new_context(viewport={"width": 900, "height": 900}) as context:
        context.new_page()  # keeps the window: a new one takes as long as a whole test
        yield context


POLICY = "Content Security Policy"
MEANT = {"meant-by-the-test": "yes"}


def answering(body: str = "", status: int = 200, **headers: str) -> Callable[[Route], None]:
    """A route that gets this answer from another origin; `Retry_After` is a header."""
    cors = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda route: route.fulfill(status=status, body=body, headers=cors | named | MEANT)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails its test on a script error, a refused or a missing resource."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if POLICY in line.text else None)
    page.on("response", lambda got: _missing(got, complaints))
    yield page
    page.close()
    assert complaints == []


def _missing(response: Response, complaints: list[str]) -> None:
    meant = MEANT.keys() <= response.headers.keys() or response.request.is_navigation_request()
    if response.status >= 400 and not meant:
        complaints.append(f"{response.status} {response.url}")
