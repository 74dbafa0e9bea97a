"""The look of a blog for `make run SITE=…`, from its home page."""

from pathlib import Path

import pytest

from devstack.site import look_of
from tests.live.conftest import Server

PAGE = """<!doctype html><head><title>Home – The Blog</title>{head}</head><body>Hello</body>"""


@pytest.mark.parametrize(
    ("head", "accent"),
    [
        ('<meta name="theme-color" content="#13425c">', "#13425c"),
        ("<style>:root { --link-color: #a3195b }</style>", "#a3195b"),
        ("<style>nav a { color: #a3195b }</style>", "#a3195b"),
        ('<link rel="stylesheet" href="/look.css">', "#b00020"),
        ('<meta name="theme-color" content="#ffffff"><style>a{color:#777777}</style>', ""),
        ('<link rel="stylesheet" href="/missing.css">', ""),
    ],
)
def test_the_colour_is_one_that_links_can_have(server: Server, head: str, accent: str) -> None:
    server.say("/", PAGE.format(head=head), Content_Type="text/html")
    server.say("/look.css", "body { margin: 0 } a:link { color: #b00020 }", Content_Type="text/css")
    with look_of(server.url("/")) as settings:
        assert settings["BLOGSEARCH_SITE_NAME"] == "Home – The Blog"
        assert settings["BLOGSEARCH_SITE_URL"] == server.url("/")
        assert settings["BLOGSEARCH_INDEX"] == "site-127-0-0-1-posts"
        style = settings.get("BLOGSEARCH_SITE_STYLE")
        assert (style is not None) is bool(accent)
        if style:
            assert f"light-dark({accent}," in Path(style).read_text()
