"""The widget's script as it is served; what it does is in tests/browser/test_widget.py."""

import os
import subprocess
import sys

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings


@pytest.fixture
def widget_client() -> FlaskClient:
    return create_app(Settings(redis_url="", rate_limit="1/minute", cors_origins="")).test_client()


def test_the_script_is_small(widget_client: FlaskClient) -> None:
    response = widget_client.get("/widget.js")
    assert response.mimetype == "text/javascript"
    assert 5_000 < len(response.data) < 14_000
    assert "Content-Encoding" not in response.headers


def test_an_unchanged_script_is_not_sent_again(widget_client: FlaskClient) -> None:
    first = widget_client.get("/widget.js")
    assert "max-age" in first.headers["Cache-Control"]
    again = widget_client.get("/widget.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_every_page_may_load_the_script(widget_client: FlaskClient) -> None:
    for _ in range(3):  # and as often as it likes: the rate limit is for searches
        response = widget_client.get("/widget.js", headers={"Origin": "https://blog.example.org"})
        assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_the_files_are_read_alike_in_every_locale() -> None:
    code = """if True:
        from app import create_app
        from app.settings import Settings

        client = create_app(Settings(redis_url="", elasticsearch_url="http://127.0.0.1:9"))
        for path, text in (("/widget.js", "Searching \\u2026"), ("/", "\\u2315")):
            assert text in client.test_client().get(path).text, path
    """
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **ascii_only})
