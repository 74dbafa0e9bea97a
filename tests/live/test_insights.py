"""Counting searches: through HTTP into Redis, what is stored and what is not."""

import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient

from app import create_app
from app.cache import open_cache
from app.insights.counts import Report, read_report
from app.insights.search_log import SearchLog, day_of, last_days
from app.insights.sessions import PAUSE, Visitor
from app.search.request import SearchRequest
from app.service import EXTENSION, Service
from app.settings import Settings
from devstack.servers import free_port, redis_server
from tests.waiting import wait_until

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
ADDRESS = "203.0.113.77"


@pytest.fixture
def settings(settings: Settings, server: "redis.Redis") -> Iterator[Settings]:
    """The sample posts, with keys in Redis of the test's own."""
    _clear(server, settings)
    yield settings
    _clear(server, settings)


def _clear(server: "redis.Redis", settings: Settings) -> None:
    for key in _keys(server, settings):
        server.delete(key)


def _keys(server: "redis.Redis", settings: Settings) -> list[str]:
    pattern = f"blogsearch:{{{settings.index}}}:insights:*"
    return [key.decode() for key in server.scan_iter(match=pattern)]


@pytest.fixture
def server(redis_url: str) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def _log(settings: Settings, **options: int) -> SearchLog:
    cache = open_cache(settings)
    return SearchLog(cache.client, cache.keys, days=settings.insights_days, **options)


def _events(settings: Settings) -> str:
    """The key of the requests that were not counted yet."""
    return f"blogsearch:{{{settings.index}}}:insights:events"


def _visitor() -> Visitor:
    return Visitor("198.51.100.1", f"{BROWSER} {uuid.uuid4()}")


def _get(client: FlaskClient, path: str, **headers: str) -> None:
    sent = {"User-Agent": BROWSER, **{k.replace("_", "-"): v for k, v in headers.items()}}
    environ = {"REMOTE_ADDR": ADDRESS}
    assert client.get(path, headers=sent, environ_base=environ).status_code == 200


def _report(client: FlaskClient) -> Report:
    """The counts of a service, once all of them are counted."""
    service: Service = client.application.extensions[EXTENSION]
    service.search_log.flush()
    service.search_log.count_due(time.time() + 100)
    report = read_report(service.cache.client, service.cache.keys, 3)
    assert report is not None
    return report


def test_searches_of_search_and_page_are_counted_from_the_cache_or_not(
    client: FlaskClient,
) -> None:
    for n in range(3):
        _get(client, "/search?q=cron", User_Agent=f"{BROWSER} {n}")
    _get(client, "/?q=Cron", User_Agent=f"{BROWSER} page")
    _get(client, "/search?q=xqzzwk", User_Agent=f"{BROWSER} other")
    report = _report(client)
    assert report.top == [("cron", 4), ("xqzzwk", 1)]
    assert report.nothing == [("xqzzwk", 1)]
    assert (report.searches, report.without_hits) == (5, 1)
    assert report.cached >= 2
    assert {query for query, _ in report.slow} == {"cron", "xqzzwk"}
    assert all(milliseconds > 0 for _, milliseconds in report.slow)


def test_an_empty_answer_from_the_cache_is_one_that_found_nothing(client: FlaskClient) -> None:
    for n in range(2):
        _get(client, "/search?q=xqzzwk", User_Agent=f"{BROWSER} {n}")
    assert _report(client).nothing == [("xqzzwk", 2)]


def test_pages_typing_programs_and_dnt_are_not_counted(client: FlaskClient) -> None:
    for q in ("c", "cr", "cro", "cron"):
        _get(client, f"/?q={q}")
    _get(client, "/search?q=cron&page=2")
    _get(client, "/search?q=secret", DNT="1")
    _get(client, "/search?q=secret", Sec_GPC="1")
    _get(client, "/search?q=secret", User_Agent="Googlebot/2.1")
    assert _report(client).top == [("cron", 1)]


def test_nothing_stored_tells_who_searched(
    client: FlaskClient, server: "redis.Redis", settings: Settings
) -> None:
    service: Service = client.application.extensions[EXTENSION]
    _get(client, "/search?q=cron")
    service.search_log.flush()

    def stored() -> str:
        texts = []
        for key in _keys(server, settings):
            kind: Any = server.type(key)
            whole: Any = (
                server.zrange(key, 0, -1)
                if kind == b"zset"
                else server.hgetall(key)
                if kind == b"hash"
                else server.get(key)
            )
            texts.append(f"{key} {whole}")
        return "\n".join(texts)

    waiting = f"blogsearch:{{{settings.index}}}:insights:events"
    assert 0 < server.ttl(waiting) <= 60
    assert "cron" in stored()
    assert ADDRESS not in stored()
    assert "Firefox" not in stored()
    service.search_log.count_due(time.time() + 100)
    assert not server.exists(waiting)
    assert ADDRESS not in stored()


def test_a_search_is_counted_without_another_one_after_it(settings: Settings) -> None:
    """The last visitor of the day is counted by the timer alone."""
    log = _log(settings)
    log.record("MISS", SearchRequest("cron"), visitor=_visitor())
    log.flush()
    log.count_due(time.time() + 30)
    assert log.popular(1) == []
    log.count_due(time.time() + 50)
    assert log.popular(1) == [(SearchRequest("cron"), 1.0)]


def test_counting_costs_a_search_no_trip_and_arrives_by_itself(
    settings: Settings, server: "redis.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(settings)
    threads: set[threading.Thread] = set()
    send = redis.Connection.send_packed_command

    def record_thread(*arguments: Any, **options: Any) -> None:
        threads.add(threading.current_thread())
        send(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(redis.Connection, "send_packed_command", record_thread)
        for _ in range(100):
            log.record("MISS", SearchRequest("python"), visitor=_visitor())
    assert threading.current_thread() not in threads
    wait_until(lambda: server.zcard(_events(settings)) == 100)


def test_pairs_are_of_one_client(settings: Settings, server: "redis.Redis") -> None:
    log = _log(settings)
    patient, other = _visitor(), _visitor()
    log.record("MISS", SearchRequest("K8s"), has_hits=False, visitor=patient)
    log.record("MISS", SearchRequest("rust"), visitor=other)
    time.sleep(PAUSE + 0.1)
    log.record("MISS", SearchRequest("Kubernetes"), visitor=patient)
    log.flush()
    # The log's own timer may be sending some of them.
    wait_until(lambda: server.zcard(_events(settings)) == 3)
    log.count_due(time.time() + 100)
    cache = open_cache(settings)
    report = read_report(cache.client, cache.keys, 1)
    assert report is not None
    assert report.pairs == [(("k8s", "kubernetes"), 1)]
    assert report.then("k8s") == ["kubernetes"]
    assert dict(report.top) == {"k8s": 1, "kubernetes": 1, "rust": 1}


def test_hostile_searches_are_bounded(settings: Settings, server: "redis.Redis") -> None:
    log = _log(settings, size=20)
    for _ in range(5):
        log.record("MISS", SearchRequest("frequent"), visitor=_visitor())
    log.flush()
    log.count_due(time.time() + 100)
    for n in range(200):
        log.record("MISS", SearchRequest(f"rare{n}"), has_hits=False, visitor=_visitor())
    log.record("MISS", SearchRequest("x" * 5000), has_hits=False, visitor=_visitor())
    log.record("MISS", SearchRequest("\x00"), visitor=_visitor())
    log.flush()
    log.count_due(time.time() + 100)
    assert log.popular(1) == [(SearchRequest("frequent"), 5.0)]
    today = day_of(time.time())
    for kind in ("requests", "nothing"):
        name = f"blogsearch:{{{settings.index}}}:insights:{kind}:{today}"
        assert server.zcard(name) == 20
        assert 29 * 86400 < server.ttl(name) <= 30 * 86400
    assert max(len(request.key()) for request, _ in log.popular(100)) < 1000


def test_requests_of_one_client_are_bounded(settings: Settings, server: "redis.Redis") -> None:
    log = _log(settings)
    visitor = _visitor()
    for n in range(6000):
        log.record("MISS", SearchRequest(f"word{n}"), visitor=visitor)
    log.flush()
    assert server.zcard(_events(settings)) <= 5000
    log.count_due(time.time() + 100)
    assert log.popular(5) == []


def test_a_search_of_yesterday_counts_half_for_the_cache(
    settings: Settings, server: "redis.Redis"
) -> None:
    def name(back: int) -> str:
        day = (datetime.now(UTC) - timedelta(days=back)).date()
        return f"blogsearch:{{{settings.index}}}:insights:requests:{day}"

    server.zadd(name(0), {"q=today": 3})
    server.zadd(name(1), {"q=yesterday": 8, "q=today": 2})
    server.zadd(name(8), {"q=long+ago": 1000})
    assert _log(settings).popular(5) == [
        (SearchRequest("today"), 4.0),
        (SearchRequest("yesterday"), 4.0),
    ]


def test_nothing_is_stored_when_the_setting_says_so(
    settings: Settings, server: "redis.Redis"
) -> None:
    log = _log(replace(settings, insights_days=0))
    log.record("MISS", SearchRequest("python"), visitor=_visitor())
    log.flush()
    log.count_due(time.time() + 100)
    assert _keys(server, settings) == []


def test_counts_wait_for_a_redis_that_is_away(settings: Settings) -> None:
    port = free_port()
    log = _log(replace(settings, redis_url=f"redis://127.0.0.1:{port}"))
    log.record("MISS", SearchRequest("python"), visitor=_visitor())
    log.flush()
    log.count_due()
    assert (log.popular(5), log.states()) == ([], {})

    def counted() -> bool:
        log.flush()
        log.count_due(time.time() + 100)
        return log.popular(5) == [(SearchRequest("python"), 1.0)]

    with redis_server(port=port):
        wait_until(counted)


def test_many_threads_count_right(settings: Settings) -> None:
    log = _log(settings)
    before = log.states().get("HIT", 0)

    def count() -> None:
        for _ in range(500):
            log.record("HIT", SearchRequest("python"))

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    log.flush()
    for thread in threads:
        thread.join()
    assert log.states()["HIT"] == before + 4000


def test_two_processes_count_a_search_once(settings: Settings) -> None:
    first, other = _log(settings), _log(settings)
    for _ in range(50):
        first.record("MISS", SearchRequest("python"), visitor=_visitor())
    first.flush()
    threads = [
        threading.Thread(target=log.count_due, args=(time.time() + 100,)) for log in (first, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.popular(1) == [(SearchRequest("python"), 50.0)]


def test_what_another_process_has_counted_is_not_counted_again(
    settings: Settings, server: "redis.Redis"
) -> None:
    """It may have read the requests of the same visitor before the last one arrived."""
    log, cache = _log(settings), open_cache(settings)
    visitor = _visitor()
    log.record("MISS", SearchRequest("python"), visitor=visitor)
    time.sleep(PAUSE + 0.1)
    log.record("MISS", SearchRequest("redis"), visitor=visitor)
    log.flush()
    events = _events(settings)
    wait_until(lambda: server.zcard(events) == 2)  # the log's own timer may be sending one

    class Late:
        """Another process counts a request after they were read."""

        def ask(self, *arguments: Any) -> Any:
            reply = cache.client.ask(*arguments)
            server.zremrangebyrank(events, 0, 0)
            return reply

    late: Any = Late()
    SearchLog(late, cache.keys, days=1, size=10).count_due(time.time() + 100)
    assert log.popular(5) == [(SearchRequest("redis"), 1.0)]


def test_the_address_behind_a_trusted_proxy_tells_visitors_apart(settings: Settings) -> None:
    app = create_app(replace(settings, trusted_proxies=ADDRESS))
    client = app.test_client()
    for n in range(4):
        _get(client, "/search?q=cron", X_Forwarded_For=f"192.0.2.{n}")
    assert _report(client).top == [("cron", 4)]


@pytest.fixture
def own_redis() -> Iterator[str]:
    """A Redis that a test may empty."""
    with redis_server() as running:
        yield running.url


def _service(settings: Settings) -> Service:
    service: Service = create_app(settings).extensions[EXTENSION]
    return service


def test_former_days_outlive_redis(own_settings: Settings, own_redis: str) -> None:
    settings = replace(own_settings, redis_url=own_redis)
    service = _service(settings)
    _, yesterday = last_days(2)
    keys = service.cache.keys
    with redis.Redis.from_url(own_redis) as client:
        client.hset(keys.insights("totals", yesterday), mapping={"searches": 3, "nothing": 1})
        client.zadd(keys.insights("requests", yesterday), {"q=cron&page=1&size=10": 3})
        client.zadd(keys.insights("nothing", yesterday), {"xqzz": 1})
        service.search_log.record("MISS", SearchRequest("new"), visitor=_visitor())
        service.counts.store_former_days()
        before = service.counts.report(7)
        client.flushall()
        assert before
        assert _service(settings).counts.report(7) == before
        assert before.top == [("cron", 3)]

        service.counts.erase("cron")
        client.flushall()
        erased = _service(settings).counts.report(7)
        assert erased
        assert (erased.top, erased.nothing) == ([], [("xqzz", 1)])
        service.counts.erase()
        client.flushall()
        assert (_service(settings).counts.report(7) or before).searches == 0


def test_days_that_are_too_old_are_deleted(own_settings: Settings, own_redis: str) -> None:
    settings = replace(own_settings, redis_url=own_redis)
    _, yesterday, before = last_days(3)
    with redis.Redis.from_url(own_redis) as client:
        keys = _service(settings).cache.keys
        for date in (yesterday, before):
            client.hset(keys.insights("totals", date), "searches", 1)
        _service(settings).counts.store_former_days()
        _service(replace(settings, insights_days=2)).counts.store_former_days()
        client.flushall()
    report = _service(settings).counts.report(3)
    assert report
    assert [day.searches for day in report.days] == [0, 1, 0]


def test_malformed_values_in_redis_are_no_error(own_settings: Settings, own_redis: str) -> None:
    settings = replace(own_settings, redis_url=own_redis, insights_token="a-password-of-this-test")
    client = create_app(settings).test_client()
    keys = open_cache(settings).keys
    (today,) = last_days(1)
    with redis.Redis.from_url(own_redis) as server:
        for kind in ("requests", "nothing", "slow", "next", "opened"):
            server.zadd(
                keys.insights(kind, today),
                {b"\xff{": 1, "[1]": 2, "null": 3, "[1,2,3]": 4, "endless": float("inf")},
            )
        totals = {b"\xff": "x", "searches": "many", "HIT": "1.5"}
        server.hset(keys.insights("totals", today), mapping=totals)
        server.hset(keys.counts, mapping=totals)
        server.zadd(keys.insights("dismissed"), {b"\xff": 1})
        server.zadd(keys.insights("events"), {b"\xff": 1, "[]": 2, "{}": 3})
        paths = ("/insights", "/metrics", "/search?q=a", "/__heartbeat__")
        for wrong_types in (False, True):
            for path in paths:
                answer = client.get(path, auth=("", "a-password-of-this-test"))
                assert answer.status_code in {200, 403, 503}, path
            service: Service = client.application.extensions[EXTENSION]
            service.search_log.states()
            service.search_log.popular(5)
            service.search_log.count_due(time.time() + 100)
            if not wrong_types:
                for name in server.keys("*"):
                    server.delete(name)
                    server.lpush(name, "a list")
