"""Who may call each route, and what it counts for."""

import pytest

from app import create_app
from app.errors import BadSettings
from app.http.access import READING, Access
from app.settings import Settings, parse_settings

OLD, NEW, OWNER, MONITOR = (
    f"{name}-token-of-a-test" for name in ("old", "new", "owner", "monitor")
)
APP = create_app(
    Settings(
        redis_url="",
        elasticsearch_url="http://127.0.0.1:9",
        write_tokens=f"{OLD}, ,{NEW},",
        insights_token=OWNER,
        metrics_token=MONITOR,
        rate_limit="3/day",
        cors_origins="https://blog.example.org",
    )
)

WRITE, OWN, PAGE = Access("", only_for="writer"), Access(only_for="owner"), Access()
ROUTES = {
    "/": Access(with_query="searches"),
    "/search": Access("searches", in_lookup=True, origins=READING),
    "/suggest": Access("suggestions", in_lookup=True, origins=READING),
    "/similar": Access("suggestions", in_lookup=True, origins=READING),
    "/search.atom": Access("searches"),
    "/opensearch/suggest": Access("suggestions", in_lookup=True),
    "/opensearch.xml": PAGE,
    "/mcp": Access("searches", origins=("POST",)),
    "/start": Access(origins=READING),
    "/openapi.json": Access(origins=READING),
    "/docs": PAGE,
    "/messages": PAGE,
    "/widget.js": PAGE,
    "/related.js": PAGE,
    "/clicks": PAGE,
    "/documents": WRITE,
    "/documents/<oid:oid>": WRITE,
    "/documents/<oid:post_oid>/comments": WRITE,
    "/documents/<oid:post_oid>/comments/<oid:oid>": WRITE,
    "/insights": OWN,
    "/insights/searches.csv": OWN,
    "/insights/pins": OWN,
    "/insights/golden": OWN,
    "/metrics": Access(only_for="monitor"),
    "/__version__": PAGE,
    "/__heartbeat__": Access(""),
    "/__lbheartbeat__": Access(""),
}


def test_every_route_declares_who_may_call_it() -> None:
    rules = [rule for rule in APP.url_map.iter_rules() if rule.endpoint != "static"]
    declared = {rule.rule: APP.view_functions[rule.endpoint] for rule in rules}
    assert {path: getattr(view, "access", None) for path, view in declared.items()} == ROUTES


def _status(path: str, address: str, sent: str = "") -> int:
    """The status for a client; 503 after every check, as Elasticsearch is away."""
    headers = {"Authorization": sent} if sent else {}
    environ = {"REMOTE_ADDR": address}
    return APP.test_client().get(path, headers=headers, environ_base=environ).status_code


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/documents/1", f"Bearer {OLD}", 503),
        ("/documents/1", f"bearer  {NEW} ", 503),
        ("/documents/1", "", 401),
        ("/documents/1", "Bearer ", 401),
        ("/documents/1", f"Basic {NEW}", 401),
        ("/documents/1", f"Bearer {NEW[:-1]}", 401),
        ("/documents/1", f"Bearer {NEW},{OLD}", 401),
        ("/documents/1", f"Bearer {NEW}\xff", 401),
        ("/documents/1", f"Bearer {MONITOR}", 401),
        ("/metrics", f"Bearer {MONITOR}", 200),
        ("/metrics", f"Bearer {NEW}", 200),
        ("/metrics", f"Bearer {OWNER}", 401),
        ("/insights", f"Bearer {OWNER}", 401),
        ("/insights", "Basic nonsense", 401),
    ],
)
def test_each_role_has_its_tokens(
    path: str, sent: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert _status(path, f"2001:db8:{abs(hash((path, sent))) % 65_536:x}::1", sent) == status
    assert NEW[:-1] not in caplog.text


@pytest.mark.parametrize("tokens", ["fifteen-letters", f"{NEW},short"])
def test_a_short_token_is_no_valid_setting(tokens: str) -> None:
    with pytest.raises(BadSettings, match="at least 16 characters"):
        parse_settings({"write_tokens": tokens})


@pytest.mark.parametrize("path", ["/größe", "/search/größe"])
def test_the_log_has_the_path_as_it_was_sent(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "blogsearch.requests"):
        assert _status(path, "192.0.2.99") == 404
    assert [record.path for record in caplog.records] == [path]  # type: ignore[attr-defined]
