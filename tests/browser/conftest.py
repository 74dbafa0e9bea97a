"""A real browser and the real service behind a real port."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page, Response, expect, sync_playwright
from werkzeug.serving import make_server

from app import create_app
from app.settings import Settings
from tests.tcp import in_thread

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

expect.set_options(timeout=15_000)  # milliseconds: for machines that do other work

Blog = Callable[..., str]


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with serving(settings) as url:
        yield url


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """As for other tests; on a slow machine more searches may run at a time before any is
    refused."""
    return replace(settings, max_computations=64)


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


@pytest.fixture
def serve() -> Iterator[Callable[[Settings], str]]:
    """Serves the application with these settings on a port of its own; the URL."""
    with ExitStack() as stack:
        yield lambda settings: stack.enter_context(serving(settings))


@pytest.fixture
def blog() -> Iterator[Blog]:
    """Serves a page on another origin: `blog(html, Header_Name="value")` returns its URL."""
    with ExitStack() as stack:
        yield lambda html, **headers: stack.enter_context(_page_server(html, headers))


@contextmanager
def _page_server(html: str, headers: dict[str, str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(204 if self.path == "/favicon.ico" else 200)
            for name, value in {"Content_Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.path != "/favicon.ico":
                self.wfile.write(html.encode())

        def log_message(self, *args: object) -> None:
            pass

    with in_thread(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield f"{url}/"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM")
    if not path:
        pytest.fail("CHROMIUM is not set: run `make test`, or set it to a Chromium's path")
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=[*quiet, *as_root])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails its test on a script error, a refused or a missing resource."""
    context = browser.new_context(viewport={"width": 900, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: _policy(line.text, complaints))
    page.on("response", lambda got: _missing(got, complaints))
    yield page
    context.close()
    assert complaints == []


def _policy(line: str, complaints: list[str]) -> None:
    if "Content Security Policy" in line:
        complaints.append(line)


def _missing(response: Response, complaints: list[str]) -> None:
    if response.status >= 400 and not response.request.is_navigation_request():
        complaints.append(f"{response.status} {response.url}")
