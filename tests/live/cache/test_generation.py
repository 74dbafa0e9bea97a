"""What was acknowledged is what is served: the promises of docs/reliability.md on freshness.

Each client is a process of its own with its connections; those on one Redis share it.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import redis
from elasticsearch import ConnectionTimeout, Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.index.synonyms import index_settings
from app.index.watch import IndexWatch, Intervals
from app.search.view import open_session
from app.service import EXTENSION, Service
from app.settings import Settings
from devstack.servers import free_port, redis_server
from indexer.posts.records import Origin, RawPost
from indexer.runs.build import IndexSettings, reindex, rollback
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.waiting import wait_until

TOKEN = "a-token-for-these-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def posts(*titles: str) -> list[RawPost]:
    return [
        RawPost(Origin("a test", number), oid=title, title=title, text=f"about {title}")
        for number, title in enumerate(titles, 1)
    ]


@pytest.fixture(scope="module")
def blog(module_index: Callable[[Iterable[RawPost]], str], elastic: Elasticsearch) -> str:
    """An alias that only writers refresh; each test writes a post of its own."""
    alias = module_index(posts("heron"))
    elastic.indices.put_settings(index=alias, settings={"refresh_interval": -1})
    return alias


@pytest.fixture
def own(engine_settings: Settings, blog: str) -> Settings:
    """Settings of an index with a heron and an otter, and a token that may write."""
    settings = replace(engine_settings, index=blog, write_tokens=TOKEN)
    for title in ("heron", "otter"):
        sent = {"title": title, "text": f"about {title}"}
        client = create_app(settings).test_client()
        assert client.put(f"/documents/{title}", json=sent, headers=HEADERS).status_code < 300
    return settings


def service_of(client: FlaskClient) -> Service:
    service: Service = client.application.extensions[EXTENSION]
    return service


Process = Callable[..., FlaskClient]


@pytest.fixture
def process(own: Settings) -> Process:
    """Starts a process: `process(elastic=…, intervals=…, redis_url=…)`."""

    def start(
        elastic: Elasticsearch | None = None, intervals: Intervals | None = None, **changed: Any
    ) -> FlaskClient:
        return start_process(replace(own, **changed), elastic, intervals)

    return start


def start_process(
    settings: Settings, elastic: Elasticsearch | None, intervals: Intervals | None
) -> FlaskClient:
    client = create_app(settings, elastic).test_client()
    service = service_of(client)
    if intervals:
        parts = (service.elastic, service.cache, service.settings, service.admission)
        service.watch = IndexWatch(*parts, intervals)
    return client


QUICK = Intervals(ask=0.1, trust=0.2)


def search(client: FlaskClient, q: str = "otter") -> tuple[str, int]:
    """X-Cache and the number of hits."""
    answer = client.get("/search", query_string={"q": q})
    body = answer.get_json()
    assert answer.status_code == 200, body
    return answer.headers["X-Cache"], body["count"]


def delete(client: FlaskClient, oid: str = "otter") -> int:
    return client.delete(f"/documents/{oid}", headers=HEADERS).status_code


def unless(away: threading.Event) -> Callable[[Callable[[], Any]], Any]:
    """For `faulty`: requests are answered unless Elasticsearch is away."""

    def answer(send: Callable[[], Any]) -> Any:
        if away.is_set():
            raise ConnectionTimeout("away")
        return send()

    return answer


# -- one Redis ---------------------------------------------------------------------------------


def test_other_processes_serve_nothing_from_before_a_write(process: Process) -> None:
    writer, other = process(), process()
    wait_until(lambda: search(other) == ("HIT", 1))
    assert delete(writer) == 200
    assert search(other) == ("MISS", 0)
    again = writer.put("/documents/otter", json={"title": "otter"}, headers=HEADERS)
    assert again.status_code == 201
    assert search(other) == ("MISS", 1)
    wait_until(lambda: search(writer) == ("HIT", 1))


def test_an_elasticsearch_that_takes_long_delays_a_search_and_serves_nothing_older(
    process: Process, faulty: Faulty
) -> None:
    passing = threading.Event()
    passing.set()
    slow = process(faulty("_msearch", lambda send: passing.wait(60) and send()))
    writer = process()
    wait_until(lambda: search(slow) == ("HIT", 1))
    passing.clear()
    assert delete(writer) == 200
    found: list[tuple[str, int]] = []
    thread = threading.Thread(target=lambda: found.append(search(slow)))
    thread.start()
    thread.join(1.5)
    passing.set()
    thread.join(60)
    assert found == [("MISS", 0)]


def test_a_repeated_deletion_completes_what_was_cut_off(process: Process, faulty: Faulty) -> None:
    cut_off = process(faulty("/_stats", ConnectionTimeout("as if it were killed")))
    writer = process(intervals=Intervals(60, 60))
    wait_until(lambda: search(writer) == ("HIT", 1))
    assert delete(cut_off) == 503
    assert search(writer) == ("HIT", 1)  # nothing was acknowledged
    assert delete(writer) == 404
    assert search(writer) == ("MISS", 0)


def test_a_sync_that_changes_nothing_completes_one_that_was_killed(
    process: Process, run: Run, own: Settings, elastic: Elasticsearch, tmp_path: Path
) -> None:
    client = process(intervals=Intervals(60, 60))
    wait_until(lambda: search(client) == ("HIT", 1))
    elastic.delete(index=own.index, id="otter")
    source = tmp_path / "posts.jsonl"
    source.write_text('{"oid": "heron", "title": "heron", "text": "about heron"}\n')
    assert run("sync", source, settings=replace(own, synonyms_dir=tmp_path)).exit_code == 0
    assert search(client) == ("MISS", 0)


def test_a_search_that_sees_a_change_ends_the_generation_before_it(
    process: Process, elastic: Elasticsearch, own: Settings
) -> None:
    """Else the next search could go back behind what this one showed."""
    client = process(intervals=Intervals(60, 60))
    assert search(client, "heron")[1] == 1
    elastic.delete_by_query(index=own.index, query={"match_all": {}}, refresh=True)
    assert search(client, "otter") == ("MISS", 0)
    assert search(client, "heron") == ("MISS", 0)


@pytest.mark.parametrize("later", range(4))
def test_a_search_that_sees_two_changes_ends_also_the_generation_between_them(
    later: int, process: Process, faulty: Faulty, elastic: Elasticsearch, own: Settings
) -> None:
    """Both at once, or the second before a later request, as when it is computed again."""
    other, begins, requests = process(intervals=Intervals(60, 60)), threading.Event(), count()

    def change(send: Callable[[], Any]) -> Any:
        if begins.is_set():
            number = next(requests)
            if number == 0:
                assert delete(other, "heron") == 200
                wait_until(lambda: search(other) == ("HIT", 1))
            if number == later:
                elastic.delete(index=own.index, id="otter", refresh=True)  # not published yet
        return send()

    client = process(faulty("_msearch", change), Intervals(60, 60))
    wait_until(lambda: search(client) == ("HIT", 1))
    begins.set()
    assert search(client, "about otter") == ("MISS", 0)
    assert search(other) == ("MISS", 0)


def test_pins_are_served_once_they_are_saved(
    process: Process, run: Run, own: Settings, tmp_path: Path
) -> None:
    other, file = process(intervals=Intervals(60, 60)), tmp_path / "a.pins"
    wait_until(lambda: search(other, "swan") == ("HIT", 0))
    file.write_text("swan => heron\n")
    for words, found in (("load", file), 1), (("remove", "a"), 0):
        assert run("pins", *words, settings=own).exit_code == 0
        assert search(other, "swan") == ("MISS", found)


def test_a_search_in_the_middle_of_a_write_learns_nothing_that_stays(
    process: Process, faulty: Faulty
) -> None:
    """Each process knows how popular a usual post is, 0 at first."""
    other, searches = process(), count()

    def search_before(send: Callable[[], Any]) -> Any:
        search(other, f"unknown{next(searches)}")
        return send()

    writer = process(faulty("/_refresh", search_before))
    for post in ({"title": "yew"}, {"title": "yew", "popularity": 5}):
        assert writer.put("/documents/yew", json=post, headers=HEADERS).status_code < 300
    explained = other.get("/search?q=yew&debug-search").get_json()["debug"]["hits"][0]["parts"]
    assert "popularity" in [part["part"] for part in explained]


def test_hits_and_figures_are_of_one_state(own: Settings, elastic: Elasticsearch) -> None:
    """Else an answer could be kept as one of the state before it."""
    session, ends = open_session(elastic, own.index), time.monotonic() + 2
    of_others = int(session.view.figures.rpartition(":")[2])
    query: dict[str, Any] = {"match": {"title": "otter teal"}}
    body = {"query": query, "seq_no_primary_term": True, "highlight": {"fields": {"title": {}}}}

    def read(_: int) -> list[tuple[int, int]]:
        seen = []
        while time.monotonic() < ends:
            one = replace(session)
            hits: list[Any] = one.send("first", body)[0]["hits"]["hits"]
            of_all = int(one.figures.rpartition(":")[2])
            seen += [(hit["_seq_no"], of_all - of_others) for hit in hits if hit["_id"] == "teal"]
        return seen

    with ThreadPoolExecutor(4) as readers:
        seen = readers.map(read, range(4))
        while time.monotonic() < ends:
            teal = {"oid": "teal", "title": "teal"}
            elastic.index(index=own.index, id="teal", document=teal, refresh=True)
    pairs = {pair for of_reader in seen for pair in of_reader}
    assert len(pairs) > 1
    assert not [(of_hit, of_figures) for of_hit, of_figures in pairs if of_hit != of_figures]


def test_no_two_states_of_an_index_have_the_same_generation(
    settings: Settings, elastic: Elasticsearch
) -> None:
    """Not even if what is deleted in one shard and written in another has the same number."""
    sharded = IndexSettings(NO_RULES, 3, 0)
    reindex(elastic, settings.index, posts("otter"), sharded, print)
    client = create_app(replace(settings, write_tokens=TOKEN)).test_client()
    cache, seen = service_of(client).cache, set()
    for number in range(8):
        oid = f"post-{number % 3}"
        if delete(client, oid) == 404:
            client.put(f"/documents/{oid}", json={"title": oid}, headers=HEADERS)
        seen.add(cache.read_generation())
    assert len(seen) == 8
    reindex(elastic, settings.index, posts("otter"), sharded, print)
    service_of(client).watch.publish()
    assert cache.read_generation() not in seen


def test_a_view_is_of_one_index_if_the_alias_is_swapped_while_it_is_read(
    settings: Settings, elastic: Elasticsearch, faulty: Faulty
) -> None:
    index, swaps = settings.index, [False]

    def swap(send: Callable[[], Any]) -> Any:
        response = send()
        if swaps.pop():
            rollback(elastic, index)
        swaps.append(False)
        return response

    reindex(elastic, index, posts("otter"), IndexSettings(NO_RULES, 1, 0), print)
    swapping = faulty("features=mappings", swap)
    client, other = (start_process(settings, one, Intervals(60, 60)) for one in (swapping, None))
    service_of(client).watch.publish()
    reindex(elastic, index, posts("otter"), index_settings(settings), print)
    service_of(other).watch.publish()
    rollback(elastic, index)  # published by nobody
    swaps[0] = True
    debug = client.get("/search?q=otter&debug-search").get_json()["debug"]
    assert "note" not in debug["synonyms"]  # the rules are those of the live index


# -- Redis away, restored, or another one ------------------------------------------------------


def test_a_redis_of_another_host_follows_within_seconds(process: Process, faulty: Faulty) -> None:
    """Also if Elasticsearch did not tell the generation some time ago."""
    away = threading.Event()
    with redis_server() as first, redis_server() as second:
        writer = process(redis_url=first.url)
        other = process(faulty("/_stats", unless(away)), QUICK, redis_url=second.url)
        wait_until(lambda: search(other) == ("HIT", 1))
        away.set()
        time.sleep(QUICK.trust)
        search(other)  # asks for it in vain
        assert delete(writer) == 200
        time.sleep(2 * QUICK.trust)
        away.clear()
        assert search(other) == ("MISS", 0)


def snapshot(url: str) -> Callable[[], None]:
    """What restores the data that Redis has now, as a restart from an older snapshot does."""
    with redis.Redis.from_url(url) as server:
        dumped = {key: server.dump(key) for key in server.scan_iter()}

    def restore() -> None:
        with redis.Redis.from_url(url) as server:
            server.flushall()
            for key, data in dumped.items():
                server.restore(key, 0, data)

    return restore


def test_a_redis_that_lost_what_it_was_told_is_corrected(process: Process) -> None:
    with redis_server() as server:
        flush = snapshot(server.url)  # it has nothing yet
        client = process(redis_url=server.url, intervals=QUICK)
        wait_until(lambda: search(client) == ("HIT", 1))
        restore = snapshot(server.url)
        assert delete(client) == 200
        for lose in (flush, restore):
            assert search(client)[1] == 0
            lose()
            wait_until(lambda: search(client)[1] == 0)


def test_a_write_waits_for_a_redis_that_is_slow(process: Process) -> None:
    """Searches do not; then other processes would serve what was before the write."""
    with redis_server() as server:
        other = process(redis_url=server.url, intervals=Intervals(60, 60))
        writer = process(redis_url=server.url, intervals=Intervals(60, 60), cache_timeout=0.1)
        wait_until(lambda: search(other) == ("HIT", 1))
        server.process.send_signal(signal.SIGSTOP)
        goes_on = threading.Timer(0.7, server.process.send_signal, [signal.SIGCONT])
        goes_on.start()
        assert delete(writer) == 200
        goes_on.join()
        wait_until(lambda: search(other)[0] != "OFF")
        assert search(other)[1] == 0


def test_redis_was_away_during_a_write(process: Process) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    client = process(redis_url=url, intervals=Intervals(60, 60))
    with redis_server(port=port):
        wait_until(lambda: search(client)[0] == "HIT")
        restore = snapshot(url)
    assert delete(client) == 200
    assert search(client) == ("OFF", 0)
    assert client.get("/__heartbeat__").get_json()["status"] == "degraded"
    with redis_server(port=port):
        restore()
        wait_until(lambda: search(client)[0] != "OFF")
        assert search(client)[1] == 0


# -- Elasticsearch away ------------------------------------------------------------------------


def test_in_an_outage_answers_of_the_present_generation_are_served(process: Process) -> None:
    up, client = process(), process(elasticsearch_url=f"http://127.0.0.1:{free_port()}")
    wait_until(lambda: search(up) == ("HIT", 1))
    client.get("/search?q=heron")
    wait_until(lambda: not service_of(client).admission.available)
    assert search(client) == ("HIT", 1)
    assert client.get("/search?q=heron").status_code == 503
    assert delete(up) == 200
    refused = client.get("/search?q=otter")
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) > 0


def test_in_an_outage_a_redis_that_was_restored_is_not_believed(
    process: Process, faulty: Faulty
) -> None:
    away = threading.Event()
    with redis_server() as server:
        client = process(faulty(".", unless(away)), QUICK, redis_url=server.url)
        assert search(client)[1] == 1
        restore = snapshot(server.url)
        assert delete(client) == 200
        assert search(client) == ("MISS", 0)
        away.set()
        restore()
        wait_until(lambda: client.get("/search?q=otter").status_code == 503)


def test_writes_in_an_outage_are_refused_with_what_became_of_each(process: Process) -> None:
    """tests/live/test_outage.py has one that is known."""
    client = process(elasticsearch_url=f"http://127.0.0.1:{free_port()}")
    for method, path, body in (
        ("PUT", "/documents/a", {"title": "a"}),
        ("DELETE", "/documents/a", None),
        ("PUT", "/documents/a/comments/b", {"comment": "c"}),
        ("POST", "/documents", [{"oid": "a", "title": "a"}, {"oid": "b"}]),
    ):
        sent = client.open(path, method=method, json=body, headers=HEADERS)
        assert int(sent.headers["Retry-After"]) > 0
        assert sent.get_json()["error"]["details"][0]["result"] == "unknown"
    wait_until(lambda: not service_of(client).admission.available)  # writes find it out, too
