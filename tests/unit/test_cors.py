"""Which pages of other origins may read what. No engine is needed: errors have the headers too."""

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.errors import BadSettings
from app.settings import Settings, parse_settings

BLOG = "https://blog.example.org"
OTHER = "https://evil.example"


def _client(origins: str) -> FlaskClient:
    settings = Settings(cors_origins=origins, redis_url="", write_tokens="t" * 32)
    return create_app(settings).test_client()


def _cors(client: FlaskClient, path: str, method: str = "GET", **headers: str) -> dict[str, str]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.open(path, method=method, headers=sent)
    return {name: v for name, v in response.headers if name.startswith(("Access-Control", "Vary"))}


def _preflight(client: FlaskClient, path: str, method: str, origin: str = BLOG) -> dict[str, str]:
    return _cors(client, path, "OPTIONS", Origin=origin, Access_Control_Request_Method=method)


@pytest.mark.parametrize("origin", [BLOG, "https://www.example.org:8443"])
def test_allowed_origins_may_read(origin: str) -> None:
    client = _client(f"{BLOG}, https://www.example.org:8443")
    headers = _cors(client, "/search", Origin=origin)
    assert headers["Access-Control-Allow-Origin"] == origin
    assert "Origin" in headers["Vary"]
    exposed = headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ETag", "Retry-After", "X-Request-Id"} <= set(exposed)


@pytest.mark.parametrize(
    "origin", [OTHER, f"{BLOG}.evil.example", "http://blog.example.org", "null"]
)
def test_other_origins_may_not(origin: str) -> None:
    client = _client(BLOG)
    # Vary all the same, so that a shared cache keeps this response from the allowed origin.
    assert _cors(client, "/search", Origin=origin) == {"Vary": "Origin"}
    assert _preflight(client, "/search", "GET", origin) == {"Vary": "Origin"}


def test_without_origins_only_the_services_own_pages_may_read() -> None:
    assert _cors(_client(""), "/search", Origin=BLOG) == {}


def test_every_origin_may_read_by_default() -> None:
    headers = _cors(_client("*"), "/search", Origin=OTHER)
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in headers
    assert "Vary" not in headers


def test_a_preflight_of_a_read_is_answered() -> None:
    headers = _preflight(_client(BLOG), "/search", "GET")
    assert headers["Access-Control-Allow-Origin"] == BLOG
    assert headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "If-None-Match" in headers["Access-Control-Allow-Headers"]
    assert "Authorization" not in headers["Access-Control-Allow-Headers"]
    assert int(headers["Access-Control-Max-Age"]) > 0
    assert headers["Vary"] == "Origin"


@pytest.mark.parametrize("origins", ["*", BLOG])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/search", "/documents/one"])
def test_writes_are_never_allowed(origins: str, method: str, path: str) -> None:
    client = _client(origins)
    for headers in (_preflight(client, path, method), _cors(client, path, method, Origin=BLOG)):
        assert set(headers) <= {"Vary"}


@pytest.mark.parametrize("path", ["/", "/insights", "/metrics", "/__heartbeat__", "/documents/one"])
def test_what_is_not_for_other_origins(path: str) -> None:
    client = _client("*")
    assert "Access-Control-Allow-Origin" not in _preflight(client, path, "GET")
    if path in {"/insights", "/metrics"}:  # the others read the engines
        assert "Access-Control-Allow-Origin" not in _cors(client, path, Origin=BLOG)


@pytest.mark.parametrize(
    "origin",
    [
        "https://blog.example.org/",
        "https://Blog.example.org",
        "blog.example.org",
        "https://blog.example.org:443",
        "https://*.example.org",
    ],
)
def test_what_no_browser_sends_as_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(BadSettings, match="is not an origin"):
        parse_settings({"cors_origins": f"{BLOG}, {origin}"})
