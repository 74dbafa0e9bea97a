"""What a process knows: words that it has looked up, and frequent searches."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from devstack.servers import redis_server
from indexer.posts.records import Origin, RawPost
from tests.live.conftest import Faulty

TOKEN = "a-token-for-these-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
TITLES = ("Python tips", "Python for gardens", "Asyncio")


@pytest.fixture
def own(
    module_index: Callable[[Iterable[RawPost]], str], engine_settings: Settings
) -> Iterator[Settings]:
    """Settings of an index and a Redis of the test's own."""
    posts = [
        RawPost(Origin("test"), title, title, f"<p>{title}</p>", f"/{number}")
        for number, title in enumerate(TITLES)
    ]
    with redis_server() as server:
        index = module_index(posts)
        yield replace(engine_settings, index=index, redis_url=server.url, write_tokens=TOKEN)


def explained(client: FlaskClient, q: str, parameters: str = "") -> tuple[int, dict[str, bool]]:
    """How many requests a search took, and by word whether its lookup was remembered."""
    answer = client.get(f"/search?q={q}&debug-search{parameters}").get_json()
    debug = answer["debug"]
    words = [word["word"] for word in debug["words"]]
    known = {one["word"]: one["remembered"] for one in debug["lookup"] if one["word"] in words}
    return len(debug["requests"]), known


def test_words_are_looked_up_once_under_a_generation(own: Settings) -> None:
    client = create_app(own).test_client()
    assert explained(client, "python") == (1, {"python": False})
    assert explained(client, "pythn") == (2, {"pythn": False})
    assert explained(client, "pythn", "&page=2") == (1, {"pythn": True})
    # One word is new, and right: what is sent is right, too.
    assert explained(client, "pythn tips") == (1, {"pythn": True, "tips": False})
    assert explained(client, "asyncoi pythn") == (2, {"asyncoi": False, "pythn": True})
    first, again = (client.get(f"/search?q=pythn&size={size}").get_json() for size in (7, 8))
    assert (first["hits"], first["corrected"]) == (again["hits"], again["corrected"])
    written = client.put("/documents/Pythn", json={"title": "Pythn"}, headers=HEADERS)
    assert written.status_code == 201
    assert explained(client, "pythn", "&page=3")[1] == {"pythn": False}
    assert client.get("/search?q=pythn").get_json()["hits"][0]["oid"] == "Pythn"


def test_what_is_remembered_is_of_no_former_state_without_redis(own: Settings) -> None:
    """Each process finds out by the figures in the response to its own search."""
    settings = replace(own, redis_url="")
    client, writer = (create_app(settings).test_client() for _ in range(2))
    assert client.get("/search?q=gardenn").get_json()["corrected"]["to"] == "gardens"
    written = writer.put("/documents/new", json={"title": "Gardenn"}, headers=HEADERS)
    assert written.status_code == 201
    answer = client.get("/search?q=gardenn").get_json()
    assert (answer["hits"][0]["oid"], answer.get("corrected")) == ("new", None)


def test_of_several_threads_one_reads_what_is_searched_for_often(
    own: Settings, faulty: Faulty
) -> None:
    reads: list[int] = []
    started, threads = threading.Barrier(7), []

    def read(send: Callable[[], Any]) -> Any:
        reads.append(1)
        time.sleep(0.3)  # so long that all threads ask meanwhile
        return send()

    app = create_app(own, faulty("-state/_mget", read))

    def ask() -> None:
        started.wait()
        assert app.test_client().get("/start").status_code == 200

    for _ in range(6):
        threads.append(threading.Thread(target=ask))
        threads[-1].start()
    started.wait()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
