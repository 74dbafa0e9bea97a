"""The parts of the cache that need no Redis."""

import math
import random
import time
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cache import open_cache
from app.cache.answer_cache import make_etag, refresh_due
from app.cache.keys import Keys, seal, unseal
from app.cache.redis_client import RedisClient, RedisRefused, RedisUnavailable, TimeLimit
from app.errors import BadSettings
from app.settings import Settings

# -- signatures --------------------------------------------------------------------------------

DIGEST = b"d" * 16
payloads = st.binary(max_size=500)


@given(value=payloads)
@settings(deadline=None)  # the machine may be busy
def test_a_sealed_value_comes_back(value: bytes) -> None:
    assert unseal(b"key", DIGEST, seal(b"key", DIGEST, value)) == value


@given(value=payloads, data=st.data())
@settings(deadline=None)  # the machine may be busy
def test_no_damage_goes_unseen(value: bytes, data: st.DataObject) -> None:
    sealed = seal(b"", DIGEST, value)
    at = data.draw(st.integers(0, len(sealed) - 1))
    flipped = sealed[:at] + bytes([sealed[at] ^ data.draw(st.integers(1, 255))]) + sealed[at + 1 :]
    for damaged in (flipped, sealed[:at], sealed + b"x"):
        assert unseal(b"", DIGEST, damaged) is None


@given(foreign=st.binary(max_size=200))
@settings(deadline=None)  # the machine may be busy
def test_a_foreign_value_is_not_read(foreign: bytes) -> None:
    assert unseal(b"", DIGEST, foreign) is None


@given(value=payloads)
@settings(deadline=None)  # the machine may be busy
def test_another_secret_or_request_does_not_open_a_value(value: bytes) -> None:
    sealed = seal(b"key", DIGEST, value)
    assert unseal(b"", DIGEST, sealed) is None
    assert unseal(b"another key", DIGEST, sealed) is None
    assert unseal(b"key", b"e" * 16, sealed) is None


# -- keys --------------------------------------------------------------------------------------


def test_shape_and_strategy_keep_answers_apart() -> None:
    variants = [
        Keys("posts", variant) for variant in ("1.0 blended", "1.1 blended", "1.0 fallback")
    ]
    assert len({keys.digest("q=python") for keys in variants}) == 3
    assert variants[0].digest("q=a\nb") != variants[0].digest("q=a")


def test_the_etag_changes_with_generation_request_and_answer() -> None:
    etag = make_etag(b"posts-000001 r 1", b"d" * 16, b"answer")
    assert etag == make_etag(b"posts-000001 r 1", b"d" * 16, b"answer")
    others = [
        make_etag(b"posts-000002 r 2", b"d" * 16, b"answer"),
        make_etag(b"posts-000001 r 1", b"e" * 16, b"answer"),
        make_etag(b"posts-000001 r 1", b"d" * 16, b"another"),
    ]
    assert len({etag, *others}) == 4


# -- refreshing early --------------------------------------------------------------------------


def share_refreshed(age: float, took: float) -> float:
    random.seed(5)
    return sum(refresh_due(age, ttl=100, took=took) for _ in range(4000)) / 4000


def test_the_nearer_the_expiry_the_likelier_a_refresh() -> None:
    assert share_refreshed(50, took=0.01) == 0
    # The lead is exponential with a mean of 2 s: exp(-left / 2).
    for left in (6, 2, 1):
        assert share_refreshed(100 - left, took=0.01) == pytest.approx(
            math.exp(-left / 2), abs=0.03
        )
    assert share_refreshed(100, took=0.01) == 1


def test_a_slow_computation_begins_earlier() -> None:
    assert share_refreshed(80, took=20) == pytest.approx(math.exp(-1), abs=0.03)


# -- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["http://127.0.0.1:6379", "127.0.0.1:6379", "redis://h:port/0"])
def test_an_invalid_redis_url_does_not_start(url: str) -> None:
    with pytest.raises(BadSettings, match="REDIS_URL"):
        open_cache(Settings(redis_url=url))


# -- the client ----------------------------------------------------------------------------------


def client_without_server() -> RedisClient:
    return RedisClient(redis.Redis(), timeout=0.2)  # which connects with its first command


def test_a_search_whose_time_is_up_sends_no_more_commands() -> None:
    client, limit = client_without_server(), TimeLimit(0.02)
    client.call(limit, lambda _: time.sleep(0.05))
    with pytest.raises(RedisUnavailable):
        client.call(limit, lambda _: pytest.fail("called"))
    assert client.call(TimeLimit(0.2), lambda _: "called") == "called"


def test_after_a_failure_redis_is_not_called() -> None:
    client = client_without_server()

    def refused(_: Any) -> None:
        raise redis.ConnectionError("refused")

    with pytest.raises(RedisUnavailable, match="refused"):
        client.call(TimeLimit(0.2), refused)
    with pytest.raises(RedisUnavailable):
        client.call(TimeLimit(0.2), lambda _: pytest.fail("called"))


def test_a_refused_command_is_no_failure_of_redis() -> None:
    client = client_without_server()

    def refused(_: Any) -> None:
        raise redis.ResponseError("OOM command not allowed")

    with pytest.raises(RedisRefused):
        client.call(TimeLimit(0.2), refused)
    assert client.call(TimeLimit(0.2), lambda _: "called") == "called"
