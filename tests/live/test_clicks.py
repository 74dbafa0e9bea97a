"""`POST /clicks`: which hits are opened, what `/insights` makes of it, and how it is erased."""

import base64
import html
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import redis
from click.testing import Result
from flask.testing import FlaskClient

from app import create_app
from app.cache import open_cache
from app.insights.counts import Opened, Report, read_opened, read_report
from app.insights.search_log import SearchLog
from app.insights.sessions import Event
from app.settings import Settings

TOKEN = "a-long-enough-token"
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}
BASIC = {"Authorization": "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()}
CLICK = {"q": "Python", "position": "2", "oid": "goodbye"}


@pytest.fixture
def settings(settings: Settings, redis_url: str) -> Iterator[Settings]:
    """The sample posts, and a namespace of Redis's that is empty."""
    own = replace(settings, insights_token=TOKEN)
    yield own
    with redis.Redis.from_url(redis_url) as server:
        for key in server.scan_iter(match=f"blogsearch:{{{own.index}}}:*"):
            server.delete(key)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def _opened(settings: Settings) -> dict[str, Opened]:
    cache = open_cache(settings)
    return dict(read_opened(cache.client, cache.keys, 1))


def _report(settings: Settings) -> Report:
    cache = open_cache(settings)
    report = read_report(cache.client, cache.keys, 1)
    assert report
    return report


def _count_searches(settings: Settings, *queries: str) -> None:
    """Count searches of different clients that found something."""
    cache = open_cache(settings)
    now = time.time()
    with redis.Redis.from_url(settings.redis_url) as server:
        for q in queries:
            event = Event(now - 60, uuid.uuid4().hex, f"q={q}&page=1&size=10", q, "HIT", True, 0.01)
            server.zadd(cache.keys.insights("events"), {event.dump(): now - 60})
    SearchLog(cache.client, cache.keys, days=30).count_due(now)


def test_an_opened_hit_is_counted_without_a_visitor(
    client: FlaskClient, settings: Settings, redis_url: str
) -> None:
    response = client.post("/clicks", data=CLICK, headers=BROWSER)
    assert (response.status_code, response.data) == (204, b"")
    assert "Set-Cookie" not in response.headers
    client.post("/clicks", data=CLICK | {"position": "4"}, headers=BROWSER)
    assert _opened(settings) == {"python": Opened(2, 3.0, "goodbye")}
    with redis.Redis.from_url(redis_url) as server:
        names = server.scan_iter(match=f"blogsearch:{{{settings.index}}}:*")
        assert not any(b"127.0.0.1" in name for name in names)


@pytest.mark.parametrize(
    "changed",
    [{"q": ""}, {"q": "x" * 101}, {"position": "0"}, {"position": "9" * 9}, {"position": "x"},
     {"oid": ""}, {"oid": "x" * 5_000}],
)  # fmt: skip
def test_a_bad_body_is_refused(
    client: FlaskClient, settings: Settings, changed: dict[str, str]
) -> None:
    response = client.post("/clicks", data=CLICK | changed, headers=BROWSER)
    assert response.status_code in (400, 413)
    assert response.get_json()["error"]["code"]
    assert _opened(settings) == {}


def test_who_does_not_agree_is_not_counted(client: FlaskClient, settings: Settings) -> None:
    for headers in ({**BROWSER, "DNT": "1"}, {**BROWSER, "Sec-GPC": "1"}, {"User-Agent": "curl/8"}):
        assert client.post("/clicks", data=CLICK, headers=headers).status_code == 204
    assert _opened(settings) == {}


@pytest.mark.parametrize("off", [{"insights_clicks": False}, {"insights_days": 0}])
def test_it_can_be_turned_off(settings: Settings, off: dict[str, object]) -> None:
    client = create_app(replace(settings, **off)).test_client()  # type: ignore[arg-type]
    assert client.post("/clicks", data=CLICK, headers=BROWSER).status_code == 204
    assert _opened(settings) == {}
    assert "data-clicks" not in client.get("/").text
    assert "CLICKS=false" in client.get("/widget.js").text


def test_a_client_that_opens_too_many_is_refused(client: FlaskClient, settings: Settings) -> None:
    statuses = [client.post("/clicks", data=CLICK, headers=BROWSER).status_code for _ in range(45)]
    assert 429 in statuses
    assert _opened(settings)["python"].times <= 40  # the end of a minute may lie between


def test_only_pages_that_may_read_answers_are_counted(settings: Settings) -> None:
    client = create_app(replace(settings, cors_origins="https://blog.example.org")).test_client()
    for origin, status in (
        ("https://blog.example.org", 204),
        ("http://localhost", 204),
        ("https://other.example", 403),
    ):
        response = client.post("/clicks", data=CLICK, headers={**BROWSER, "Origin": origin})
        assert response.status_code == status, origin


# -- what the owner of the blog does -----------------------------------------------------------


def _form(client: FlaskClient) -> str:
    match = re.search(r'name="form" value="(\w+)"', _page(client))
    assert match
    return match[1]


def _page(client: FlaskClient) -> str:
    return html.unescape(client.get("/insights", headers=BASIC).text)


def _post(client: FlaskClient, path: str, **fields: str) -> None:
    data = {"form": _form(client), "days": "7", **fields}
    response = client.post(f"/insights/{path}", data=data, headers=BASIC)
    assert response.status_code == 303, response.text
    assert response.headers["Location"] == "/insights?days=7"


def test_searches_that_are_opened_rarely_are_listed(
    client: FlaskClient, settings: Settings
) -> None:
    _count_searches(settings, *["python"] * 3, *["cron"] * 3, *["soup"] * 2, *["juggling"] * 3)
    assert "Opened rarely" not in _page(client)  # nothing was opened yet
    for q, position in (("cron", "1"), ("python", "5"), ("python", "4")):
        client.post("/clicks", data={**CLICK, "q": q, "position": position}, headers=BROWSER)
    listed = _page(client).partition("Opened rarely")[2].partition("</table>")[0]
    assert "2 times, at position 4.5" in listed
    assert "juggling" in listed
    assert "cron" not in listed
    assert "soup" not in listed


def test_a_post_is_pinned_and_unpinned(client: FlaskClient, settings: Settings) -> None:
    oids = [hit["oid"] for hit in client.get("/search?q=python&typos=off").get_json()["hits"]]
    _count_searches(settings, "python")
    _post(client, "pins", q="python", oid=oids[3])
    rule = f"python => {oids[3]}"
    assert f"Pinned: <code>{rule}</code>" in _page(client)
    hits = client.get("/search?q=python&typos=off").get_json()["hits"]
    assert (hits[0]["oid"], hits[0]["pinned"]) == (oids[3], True)
    _post(client, "pins", undo=rule)
    assert "Pinned:" not in _page(client)


def test_a_search_that_cannot_be_pinned(client: FlaskClient, settings: Settings) -> None:
    _count_searches(settings, "python")
    for q in ("a, b", "a => b", ""):
        data = {"form": _form(client), "q": q, "oid": "x"}
        assert client.post("/insights/pins", data=data, headers=BASIC).status_code == 400


def test_a_search_is_dismissed_and_listed_again(client: FlaskClient, settings: Settings) -> None:
    _count_searches(settings, *["python"] * 3)
    client.post("/clicks", data=CLICK | {"q": "cron"}, headers=BROWSER)
    assert "Opened rarely" in _page(client)
    _post(client, "dismissals", q="python")
    assert "Opened rarely" not in _page(client)
    assert "Dismissed: python" in _page(client)
    _post(client, "dismissals", undo="python")
    assert "Opened rarely" in _page(client)


def test_searches_are_erased(client: FlaskClient, settings: Settings) -> None:
    _count_searches(settings, "My Name", "python")
    client.post("/clicks", data=CLICK | {"q": "My Name"}, headers=BROWSER)
    _post(client, "erasures", q="my name")
    assert [query for query, _ in _report(settings).top] == ["python"]
    assert [query for query, _ in _report(settings).slow] == ["python"]
    assert _opened(settings) == {}
    _post(client, "erasures", all="yes")
    assert _report(settings).searches == 0


def test_the_command_erases(run: Callable[..., Result], settings: Settings) -> None:
    _count_searches(settings, "python", "cron")
    assert run("searches", "erase", "--yes", "CRON").exit_code == 0
    assert [query for query, _ in _report(settings).top] == ["python"]
    assert run("searches", "erase", "--yes").exit_code == 2
    assert run("searches", "erase", "--yes", "--all").exit_code == 0
    assert _report(settings).top == []


@pytest.mark.parametrize("path", ["pins", "dismissals", "erasures"])
def test_forms_of_other_sites_are_refused(client: FlaskClient, path: str) -> None:
    response = client.post(f"/insights/{path}", data={"form": "x", "all": "yes"}, headers=BASIC)
    assert response.status_code == 403
    headers = BASIC | {"Sec-Fetch-Site": "cross-site"}
    assert client.post(f"/insights/{path}", data={}, headers=headers).status_code == 403
    assert client.post(f"/insights/{path}", data={}).status_code == 401
