"""The settings of `make run SITE=…`, from the home page of a blog."""

import pytest

from devstack.site import settings_of
from devstack.terminal import DevstackError
from tests.live.conftest import Server


def test_the_search_page_has_the_name_of_the_blog_and_an_index_of_its_own(server: Server) -> None:
    server.say("/", "<!doctype html><title>Home – The Blog</title>Hello", Content_Type="text/html")
    settings = settings_of(server.url("/"))
    assert settings["BLOGSEARCH_SITE_NAME"] == "Home – The Blog"
    assert settings["BLOGSEARCH_SITE_URL"] == server.url("/")
    assert settings["BLOGSEARCH_INDEX"] == "site-127-0-0-1-posts"


def test_a_home_page_that_cannot_be_fetched_is_an_error(server: Server) -> None:
    with pytest.raises(DevstackError, match="cannot be fetched"):
        settings_of(server.url("/missing"))
