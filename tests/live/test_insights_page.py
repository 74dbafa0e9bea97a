"""`/insights` and `blogsearch searches`: who may see them, and what they show."""

import base64
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
import redis
from click.testing import Result
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.cache import open_cache
from app.insights.search_log import SearchLog, last_days
from app.insights.sessions import PAUSE, Event
from app.settings import Settings
from indexer.build.builder import IndexSettings, reindex
from indexer.records import Origin, RawPost

TOKEN = "a-long-enough-token"
HOSTILE = "<script>alert(1)</script>\"'&"

Run = Callable[..., Result]
Searched = Callable[..., None]


@pytest.fixture
def posts(elastic: Elasticsearch, alias: str) -> None:
    """Three posts in the index."""
    texts = {"k": "Kubernetes at home", "cron": "Cron jobs", "soup": "A soup with leeks"}
    posts = (RawPost(Origin("test"), oid, text, f"<p>{text}.</p>") for oid, text in texts.items())
    patient = elastic.options(request_timeout=300)
    reindex(patient, alias, posts, IndexSettings(NO_RULES, 1, 0), pytest.fail)


@pytest.fixture
def settings(own_settings: Settings, redis_url: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings without an index: reading the counts needs none."""
    folder = tmp_path / "synonyms"
    folder.mkdir()
    yield replace(own_settings, synonyms_dir=folder, insights_token=TOKEN)
    with redis.Redis.from_url(redis_url) as server:
        for key in server.scan_iter(match=f"blogsearch:{{{own_settings.index}}}:*"):
            server.delete(key)


@pytest.fixture
def searched(settings: Settings) -> Searched:
    """Counts the searches of one visitor, one after the other: `("query", found)`."""

    def count(*queries: tuple[str, bool]) -> None:
        cache = open_cache(settings)
        log = SearchLog(cache.client, cache.keys, days=30, size=100)
        began, client = time.time(), uuid.uuid4().hex
        waiting = {}
        for n, (q, has_hits) in enumerate(queries):
            at = began - 30 + n * PAUSE
            event = Event(at, client, "q=" + q.replace("&", "%26"), q, "MISS", has_hits, 0.0123)
            waiting[event.dump()] = at
        assert cache.client.redis is not None
        cache.client.redis.zadd(cache.keys.insights("events"), waiting)
        log.count_due(began + 100)

    return count


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def _basic(password: str = TOKEN) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"me:{password}".encode()).decode()}


def _page(client: FlaskClient, path: str = "/insights") -> str:
    response = client.get(path, headers=_basic())
    assert response.status_code == 200, response.text
    return response.text


def test_the_page_is_closed_without_a_token(settings: Settings) -> None:
    closed = replace(settings, insights_token="")
    response = create_app(closed).test_client().get("/insights", headers=_basic(""))
    assert response.status_code == 403
    assert "BLOGSEARCH_INSIGHTS_TOKEN" in response.text


@pytest.mark.parametrize(
    "header",
    ["Basic \xff\xff", "Basic", "Basic ====", "Basic /////w==", "Basic 7aCA", "Digest x", "\xff"],
)
def test_a_malformed_password_is_a_wrong_one(client: FlaskClient, header: str) -> None:
    assert client.get("/insights", headers={"Authorization": header}).status_code == 401


def test_only_the_token_opens_the_page(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    asked = client.get("/insights")
    assert asked.status_code == 401
    assert asked.headers["WWW-Authenticate"].startswith("Basic ")
    assert client.get("/insights", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401
    began = time.monotonic()
    assert client.get("/insights", headers=_basic("wrong")).status_code == 401
    assert time.monotonic() - began >= 0.5
    assert "wrong password" in caplog.text
    opened = client.get("/insights", headers={**_basic(), "Origin": "https://evil.example"})
    assert opened.status_code == 200
    assert not [name for name, _ in opened.headers if name.startswith("Access-Control")]
    assert opened.headers["Cache-Control"] == "no-store"
    assert "unsafe" not in opened.headers["Content-Security-Policy"]
    assert "script-src" not in opened.headers["Content-Security-Policy"]


def test_the_page_shows_what_was_searched(client: FlaskClient, searched: Searched) -> None:
    empty = _page(client)
    assert "No searches were counted" in empty
    searched(("cron", True))
    searched(("cron", True), ("xyzzy", False), (HOSTILE, False))
    page = _page(client, "/insights?days=7")
    assert HOSTILE not in page
    assert unescape(page).count(HOSTILE) >= 1
    assert "<script" not in page
    tiles = re.findall(r"<dd>(.*?)</dd>", page)
    assert [re.sub("<.*?>", "", tile) for tile in tiles] == ["4", "50 % 2", "0 % 0"]
    assert "xyzzy" in page
    assert page.count('<rect class="all"') == 7
    assert _page(client, "/insights?days=400")
    for wrong in ("days=x", "days=0", "day=7"):
        refused = client.get(f"/insights?{wrong}", headers=_basic())
        assert refused.status_code == 400
        assert wrong.partition("=")[0] in refused.text


def test_without_redis_the_page_says_so(settings: Settings) -> None:
    for url, status in (("redis://127.0.0.1:1/0", 503), ("", 404)):
        app = create_app(replace(settings, redis_url=url))
        assert app.test_client().get("/insights", headers=_basic()).status_code == status


@pytest.mark.usefixtures("posts")
def test_a_proposed_rule_can_be_loaded_as_the_page_says(
    client: FlaskClient, run: Run, searched: Searched
) -> None:
    assert client.get("/search?q=k8s").get_json()["count"] == 0
    for _ in range(2):
        searched(("k8s", False), ("kubernetes", True))
    rule, file, command = map(unescape, re.findall("<code>(.*?)</code>", _page(client)))
    with Path(file).open("a") as stream:
        stream.write(f"{rule}\n")
    loaded = run(*command.split()[1:])
    assert loaded.exit_code == 0, loaded.output
    assert client.get("/search?q=k8s").get_json()["count"] == 1
    assert "<code>" not in _page(client)


def test_a_rule_is_the_one_of_the_period_that_the_page_shows(
    client: FlaskClient, searched: Searched, settings: Settings
) -> None:
    for _ in range(2):
        searched(("k8s", False), ("kubernetes", True))
    cache = open_cache(settings)
    assert cache.client.redis is not None
    earlier = cache.keys.insights("next", last_days(20)[-1])
    cache.client.redis.zadd(earlier, {json.dumps(["k8s", "kubelet"]): 5})
    assert "k8s => kubelet" in unescape(_page(client, "/insights?days=30"))
    assert "k8s => kubernetes" in unescape(_page(client, "/insights?days=7"))


def test_the_page_says_why_nothing_can_be_proposed(
    client: FlaskClient, searched: Searched, settings: Settings, elastic: Elasticsearch
) -> None:
    for _ in range(2):
        searched(("k8s", False), ("kubernetes", True))
    file = settings.synonyms_dir / "insights.synonyms"
    file.write_bytes("gemüse => essen\n".encode("latin-1"))
    assert "insights.synonyms cannot be read" in _page(client)
    file.unlink()
    elastic.indices.create(index=f"{settings.index}-other", aliases={settings.index: {}})
    assert "which this service did not create" in _page(client)


def test_the_commands(run: Run, searched: Searched, settings: Settings) -> None:
    for _ in range(2):
        searched(("k8s", False), ("Kubernetes", True))
        searched(("soup recipe", False), ("soup", True))
        searched(("the", False), ("kubernetes", True))
    searched(("cron", True))

    top = json.loads(run("searches", "top", "--format", "json").stdout)
    assert (top["searches"], top["nothing"]) == (13, 6)
    assert top["queries"][0] == {"times": 4, "query": "kubernetes"}
    assert "kubernetes" in run("searches", "top", "--limit", "1").stdout
    assert "cron" not in run("searches", "top", "--limit", "1").stdout

    nothing = json.loads(run("searches", "nothing", "--format", "json").stdout)
    assert {"times": 2, "query": "k8s", "then": ["kubernetes"]} in nothing["queries"]
    assert "kubernetes" in run("searches", "nothing").stdout

    # `the` is a stop word, which the check refuses; from `soup recipe` no word was replaced.
    proposed = run("searches", "nothing", "--propose")
    assert proposed.exit_code == 0, proposed.output
    assert proposed.stdout == "k8s => kubernetes\n"
    assert json.loads(run("searches", "nothing", "--propose", "--format", "json").stdout) == [
        {"rule": "k8s => kubernetes", "query": "k8s", "then": "kubernetes", "times": 2}
    ]

    slow = json.loads(run("searches", "slow", "--format", "json").stdout)
    assert slow["queries"][0]["ms"] == 12.3


def test_exit_codes_of_the_commands(run: Run, settings: Settings) -> None:
    assert run("searches", "top").exit_code == 0
    assert run("searches", "top", "--days", "0").exit_code == 2
    off = replace(settings, insights_days=0)
    assert run("searches", "top", settings=off).exit_code == 1
    gone = replace(settings, redis_url="redis://127.0.0.1:1/0")
    failed = run("searches", "slow", settings=gone)
    assert failed.exit_code == 1
    assert "Redis" in failed.output


@pytest.mark.parametrize("sent", ["Basic \xff\xff", "Basic ====", "Basic", "Bearer \xff", "\xff"])
def test_a_password_that_is_no_text_is_a_wrong_one(settings: Settings, sent: str) -> None:
    client = create_app(replace(settings, insights_token="a-password-of-this-test")).test_client()
    refused = client.get("/insights", environ_overrides={"HTTP_AUTHORIZATION": sent})
    assert refused.status_code == 401
