"""The widget's script as it is served; what it does is in tests/browser/test_widget.py."""

import gzip

import pytest
from flask.testing import FlaskClient

from analyzers.languages import LANGUAGES
from app import create_app
from app.settings import Settings


@pytest.fixture
def widget_client() -> FlaskClient:
    return create_app(Settings(redis_url="", rate_limit="", cors_origins="")).test_client()


@pytest.mark.parametrize(("path", "most"), [("/widget.js", 12_000), ("/related.js", 2_000)])
def test_the_script_is_small(widget_client: FlaskClient, path: str, most: int) -> None:
    response = widget_client.get(path, headers={"Accept-Encoding": "gzip"})
    assert response.mimetype == "text/javascript"
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(response.data) < most
    plain = widget_client.get(path)
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(response.data) == plain.data


def test_the_script_is_small_in_every_language() -> None:
    sizes = {}
    for language in LANGUAGES:
        client = create_app(Settings(redis_url="", language=language)).test_client()
        response = client.get("/widget.js", headers={"Accept-Encoding": "gzip"})
        sizes[language] = len(response.data)
    assert {language: size for language, size in sizes.items() if size >= 12_000} == {}


def test_the_messages_are_those_of_the_blog_or_of_the_page(widget_client: FlaskClient) -> None:
    german = create_app(Settings(redis_url="", language="german")).test_client()
    assert '"lang":"de"' in german.get("/widget.js").text.replace(" ", "")
    assert german.get("/messages?lang=xx").get_json()["lang"] == "de"
    response = widget_client.get("/messages?lang=ar-EG")
    assert response.get_json()["dir"] == "rtl"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
