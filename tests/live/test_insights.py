"""What people search for: from requests over HTTP to the counts of a day and /insights."""

import base64
import csv
import html
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
import redis
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.insights.counts import Counts, Extent, Opening, Search
from app.service import EXTENSION, Service
from app.settings import Settings
from indexer.posts.records import Origin, RawPost

TOKEN = "a-long-enough-token"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
BASIC = {"Authorization": "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()}
CLICK = {"q": "Python", "oid": "goodbye"}
HOSTILE = "<script>alert(1)</script>"
Index = Callable[..., Any]


@pytest.fixture(scope="module")
def index(module_index: Index) -> str:
    """An index of three posts."""
    alias: str = module_index(
        RawPost(Origin("test"), oid, title, text)
        for oid, title, text in (
            ("goodbye", "Goodbye, Python & 2.4", "A python of a server."),
            ("cron", "Cron, explained", "A job every night."),
            ("python", "Python in winter", "It sleeps."),
        )
    )
    return alias


@pytest.fixture
def settings(engine_settings: Settings, elastic: Elasticsearch, index: str) -> Iterator[Settings]:
    """The posts; what a test counted and pinned is deleted after it."""
    yield replace(engine_settings, index=index, insights_token=TOKEN)
    state = f"{index}-state"
    elastic.indices.refresh(index=state, ignore_unavailable=True)
    elastic.delete_by_query(
        index=state,
        ignore_unavailable=True,
        query={"terms": {"what": ["insights", "pins"]}},
        refresh=True,
    )
    with redis.Redis.from_url(engine_settings.redis_url) as server:
        for key in server.scan_iter(match=f"blogsearch:{{{index}}}:*"):
            server.delete(key)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


@pytest.fixture
def counts(elastic: Elasticsearch, settings: Settings) -> Counts:
    return Counts(elastic, settings.index, days=30)


def _search(q: str, found: Extent = "all", mark: str = "m", days_ago: float = 0) -> Search:
    at = time.time() - days_ago * 86_400
    return Search(at, "visitor", mark, f"q={quote(q)}&page=1&size=10", q, found)


def _get(client: FlaskClient, path: str, address: str = "203.0.113.7", **headers: str) -> Any:
    sent = {"User-Agent": BROWSER, **{name.replace("_", "-"): v for name, v in headers.items()}}
    return client.get(path, headers=sent, environ_base={"REMOTE_ADDR": address})


def _count(client: FlaskClient) -> Service:
    """Count everything that waits."""
    service: Service = client.application.extensions[EXTENSION]
    service.search_log.flush()
    service.search_log.count_due(time.time() + 100)
    return service


def _page(client: FlaskClient, path: str = "/insights?days=7") -> str:
    response = client.get(path, headers=BASIC)
    assert response.status_code == 200, response.text
    return response.text


def test_searches_over_http_are_counted(client: FlaskClient) -> None:
    for number in range(3):
        _get(client, "/search?q=cron", f"203.0.113.{number}")
    _get(client, "/?q=Cron", "203.0.113.9")
    _get(client, "/search?q=xqzzwk", "203.0.113.10")
    for number in range(2):  # from Elasticsearch, and from the cache
        _get(client, "/search?q=cron+xqzzwk", f"203.0.113.2{number}")
        _get(client, "/search?q=explained+winter", f"203.0.113.3{number}")
    report = _count(client).counts.report(1)
    assert [(row.query, row.times, row.nothing, row.partly) for row in report.searched] == [
        ("cron", 4, 0, 0),
        ("cron xqzzwk", 2, 0, 2),
        ("explained winter", 2, 0, 2),
        ("xqzzwk", 1, 1, 0),
    ]
    assert report.total == {"searches": 9, "nothing": 1, "some": 4}


def test_typing_pages_and_who_does_not_agree_are_not_counted(client: FlaskClient) -> None:
    for q in ("c", "cr", "cro", "cron"):
        _get(client, f"/?q={q}")
    _get(client, "/search?q=cron&page=2")
    for refused in ({"DNT": "1"}, {"Sec_GPC": "1"}, {"User_Agent": "Googlebot/2.1"}):
        _get(client, "/search?q=secret", **refused)
        headers = {name.replace("_", "-"): value for name, value in refused.items()}
        sent = client.post("/clicks", data=CLICK, headers={"User-Agent": BROWSER, **headers})
        assert sent.status_code == 204
    report = _count(client).counts.report(1)
    assert [(row.query, row.times, row.opened) for row in report.searched] == [("cron", 1, 0)]


def test_nothing_that_is_stored_tells_who_searched(
    client: FlaskClient, elastic: Elasticsearch, settings: Settings, redis_url: str
) -> None:
    service: Service = client.application.extensions[EXTENSION]
    _get(client, "/search?q=cron", "203.0.113.77")
    service.search_log.flush()
    with redis.Redis.from_url(redis_url) as server:
        events = f"blogsearch:{{{settings.index}}}:insights:events"
        waiting: Any = server.zrange(events, 0, -1)
        assert b"cron" in waiting[0]
        assert b"203.0.113.77" not in waiting[0]
        assert 0 < server.ttl(events) <= 60
        _count(client)
        assert not server.exists(events)
    visitor = json.loads(waiting[0])[2]
    today = datetime.now(UTC).date()
    stored = elastic.get(index=f"{settings.index}-state", id=f"insights:{today}")
    assert "cron" in str(stored)
    assert visitor not in str(stored)


def test_what_few_visitors_searched_or_posts_lack_is_shown_to_nobody(counts: Counts) -> None:
    for query, founds in (
        ("partly", ["some"] * 5),
        ("withdrawn", ["all", "all", "all", "all", "nothing"]),
        ("published", ["nothing", "nothing", "some", "some", "all"]),
    ):
        counts.add(
            _search(query, found, mark=mark, days_ago=5 - number)  # type: ignore[arg-type]
            for number, (mark, found) in enumerate(zip("abcde", founds, strict=True))
        )
    for query, visitors, days in (
        ("enough", "abcde", [0, 0, 0, 1, 1]),
        ("four visitors", "abcd", [0, 0, 0, 1]),
        ("one day", "abcde", [0] * 5),
        ("one visitor", "aaaaa", range(5)),
        ("one visitor, several keys", ["1.a", "2.b", "3.c", "4.d", "5.e"], range(5)),
    ):
        counts.add(
            _search(query, mark=mark, days_ago=day)
            for mark, day in zip(visitors, days, strict=True)
        )
    assert [row.query for row in counts.report(7).searched if row.is_public] == [
        *("enough", "published")
    ]


def test_a_household_is_one_visitor_and_other_origins_are_none(settings: Settings) -> None:
    client = create_app(replace(settings, cors_origins="")).test_client()
    foreign = {"Sec_Fetch_Site": "cross-site"}
    for number in range(5):
        _get(client, "/search?q=cron", f"2001:db8:0:{number}::7")
        _get(client, "/search?q=python", f"2001:db8:1{number}::7")
        _get(client, "/search?q=winter", f"2001:db8:2{number}::7", **foreign)
        _get(client, "/search?q=sleeps", f"2001:db8:3{number}::7", Origin="https://else.example")
    _get(client, "/?q=explained", "2001:db8:40::7", Sec_Fetch_User="?1", **foreign)
    searched = {row.query: row for row in _count(client).counts.report(1).searched}
    assert searched.keys() == {"cron", "python", "explained"}
    assert (len(searched["cron"].marks), len(searched["python"].marks)) == (1, 5)


# -- opened hits ---------------------------------------------------------------------------------


def test_an_opened_hit_counts_once_a_day_for_each_visitor(client: FlaskClient) -> None:
    headers = {"User-Agent": BROWSER}
    for address in ("203.0.113.7", "203.0.113.7", "2001:db8:1:1::7", "2001:db8:1:2::7"):
        environ = {"REMOTE_ADDR": address}
        sent = client.post("/clicks", data=CLICK, headers=headers, environ_base=environ)
        assert (sent.status_code, sent.data) == (204, b"")
        assert "Set-Cookie" not in sent.headers
        _count(client)
    for nth in range(40):
        data = {"q": f"invented {nth}", "oid": "cron"}
        assert client.post("/clicks", data=data, headers=headers).status_code == 204
    posts = sum((row.posts for row in _count(client).counts.report(1).searched), Counter())
    assert posts == {"goodbye": 2, "cron": 5}


def test_an_opened_hit_counts_for_its_search(client: FlaskClient) -> None:
    headers = {"User-Agent": BROWSER}
    for changed in ({}, {"oid": "cron"}):
        assert client.post("/clicks", data=CLICK | changed, headers=headers).status_code == 204
    (row,) = _count(client).counts.report(1).searched
    assert (row.query, dict(row.posts)) == ("python", {"goodbye": 1, "cron": 1})


def test_an_opened_hit_of_a_foreign_page_is_refused(settings: Settings) -> None:
    origins = {"cors_origins": "*, https://a.example", "site_url": "https://blog.example.org/x/"}
    client = create_app(replace(settings, **origins)).test_client()  # type: ignore[arg-type]
    for sent, status in (
        ({"Origin": "https://blog.example.org"}, 204),
        ({"Origin": "https://a.example"}, 204),
        ({"Origin": "https://www.a.example", "Sec-Fetch-Site": "same-site"}, 204),
        ({"Origin": "http://localhost"}, 204),
        ({"Origin": "https://behind.a.proxy", "Sec-Fetch-Site": "same-origin"}, 204),
        ({"Origin": "https://else.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        headers = {"User-Agent": BROWSER, **sent}
        assert client.post("/clicks", data=CLICK, headers=headers).status_code == status, sent
    _count(client)  # so that none of them is counted in another test


def test_an_opened_hit_counts_where_nobody_said_where_the_blog_is(client: FlaskClient) -> None:
    headers = {"User-Agent": BROWSER, "Origin": "https://blog.example"}
    assert client.post("/clicks", data=CLICK, headers=headers).status_code == 204
    assert _count(client).counts.report(1).total["opened"] == 1


def test_a_bad_body_is_refused(client: FlaskClient) -> None:
    for changed in (
        *({"q": ""}, {"q": "x" * 101}),
        *({"oid": ""}, {"oid": "x" * 5_000}),
    ):
        response = client.post("/clicks", data=CLICK | changed, headers={"User-Agent": BROWSER})
        assert response.status_code in (400, 413)
        assert response.get_json()["error"]["code"]
    assert _count(client).counts.report(1).total["opened"] == 0


# -- the page and the commands -------------------------------------------------------------------


def test_the_page_needs_the_password(settings: Settings) -> None:
    closed = create_app(replace(settings, insights_token="")).test_client()
    assert closed.get("/insights").status_code == 403
    client = create_app(settings).test_client()
    refused = client.get("/insights")
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic")
    wrong = base64.b64encode(b"me:wrong").decode()
    for sent in (f"Basic {wrong}", "Basic \xff\xff", "Basic", "Bearer \xff"):
        environ = {"HTTP_AUTHORIZATION": sent}
        assert client.get("/insights", environ_overrides=environ).status_code == 401
    opened = client.get("/insights", headers=BASIC)
    assert opened.status_code == 200
    assert opened.headers["Cache-Control"] == "no-store"
    assert "unsafe" not in opened.headers["Content-Security-Policy"]


def test_the_page_shows_what_was_searched(client: FlaskClient, counts: Counts) -> None:
    assert "No searches were counted" in _page(client)
    found = [_search("k8s", "nothing"), _search("kubernetes", "some"), _search(HOSTILE, "nothing")]
    counts.add([*found, _search("python"), Opening(time.time(), "python", "goodbye")])
    page = _page(client)
    assert HOSTILE not in page
    assert HOSTILE in html.unescape(page)
    tiles = [re.sub(r"<.*?>", "", tile).split() for tile in re.findall(r"<dd>(.*?)</dd>", page)]
    assert tiles == [["4"], ["50", "%", "2"], ["25", "%", "1"], ["0.25", "1"]]
    sections = dict(re.findall(r'<section aria-labelledby="(\w+)">(.*?)</section>', page, re.S))
    assert "k8s" in sections["nothing"]
    assert "kubernetes" in sections["partly"]
    assert "Goodbye, Python &amp; 2.4" in sections["top"]
    for days, shown in (("x", 30), ("0", 1), ("99", 30)):
        assert _page(client, f"/insights?days={days}").count('<th scope="row">20') == shown


def test_no_cell_of_the_csv_is_calculated(client: FlaskClient, counts: Counts) -> None:
    """Also not in a program that splits at semicolons."""
    counts.add(
        _search(q) for q in ("=1", "a;=1", "a, +1", "a|@x", "a\t-1", "c++", "a;b", "x ＝1;＝1")
    )
    text = client.get("/insights/searches.csv?days=7", headers=BASIC).text
    cells = [row[0] for row in csv.reader(text.splitlines())][1:]
    guarded = {"'=1", "a;'=1", "a,' +1", "a|'@x", "a\t'-1", "c++", "a;b", "x ＝1;'＝1"}
    assert set(cells) == guarded


def test_a_post_is_pinned_after_its_place_was_shown(client: FlaskClient, counts: Counts) -> None:
    before = [hit["oid"] for hit in client.get("/search?q=python").get_json()["hits"]]
    last = before[-1]
    counts.add([_search("python"), Opening(time.time(), "python", last)])
    (path,) = re.findall(r'href="(/insights/pins\?[^"]+)"', _page(client))
    shown = _page(client, html.unescape(path))
    listed = re.findall(r"<li>(.*?)(?: <span|</li>)", shown)
    form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', shown))
    assert client.post("/insights/pins", data=form, headers=BASIC).status_code == 303
    after = client.get("/search?q=python").get_json()["hits"]
    assert after[0]["oid"] == last
    assert [hit["title"] for hit in after] == [html.unescape(title) for title in listed]
    undo = {"form": form["form"], "undo": f"python => {last}"}
    assert client.post("/insights/pins", data=undo, headers=BASIC).status_code == 303
    assert [hit["oid"] for hit in client.get("/search?q=python").get_json()["hits"]] == before


def test_what_cannot_be_a_rule_is_not_pinned(client: FlaskClient) -> None:
    form = {"q": "python", "oid": "cron", "form": "guessed"}  # of another site
    assert client.post("/insights/pins", data=form, headers=BASIC).status_code == 403
    for query in ("", "q=%20&oid=cron", "q=cron", "q=cron&oid=no-such-post"):
        assert client.get(f"/insights/pins?{query}", headers=BASIC).status_code == 400, query
    shown = _page(client, "/insights/pins?q=a&oid=cron")
    key = re.findall(r'name="form" value="(\w+)"', shown)[0]
    for q, oid in (("cron", "a,b"), ("cron\njob", "cron"), ("# x", "cron")):
        data = {"form": key, "q": q, "oid": oid}
        assert client.post("/insights/pins", data=data, headers=BASIC).status_code == 400, (q, oid)
