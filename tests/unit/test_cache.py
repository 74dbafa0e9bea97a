"""The parts of the cache that need no Redis."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cache import open_cache
from app.cache.answer_cache import refresh_due
from app.cache.keys import Keys, seal, unseal
from app.errors import BadSettings
from app.settings import Settings

DIGEST = b"d" * 16


@given(value=st.binary(max_size=500), data=st.data())
@settings(deadline=None)  # the machine may be busy
def test_a_sealed_value_comes_back_and_no_damage_goes_unseen(
    value: bytes, data: st.DataObject
) -> None:
    sealed = seal(b"key", DIGEST, value)
    assert unseal(b"key", DIGEST, sealed) == value
    at = data.draw(st.integers(0, len(sealed) - 1))
    flipped = sealed[:at] + bytes([sealed[at] ^ data.draw(st.integers(1, 255))]) + sealed[at + 1 :]
    for damaged in (flipped, sealed[:at], sealed + b"x"):
        assert unseal(b"key", DIGEST, damaged) is None
    for secret, digest in ((b"", DIGEST), (b"another key", DIGEST), (b"key", b"e" * 16)):
        assert unseal(secret, digest, sealed) is None


@given(foreign=st.binary(max_size=200))
@settings(deadline=None)
def test_a_foreign_value_is_not_read(foreign: bytes) -> None:
    assert unseal(b"", DIGEST, foreign) is None


def test_shape_and_strategy_keep_answers_apart() -> None:
    variants = [Keys("posts", variant) for variant in ("1 blended", "2 blended", "1 fallback")]
    assert len({keys.digest("q=python") for keys in variants}) == 3
    assert variants[0].digest("q=a\nb") != variants[0].digest("q=a")


def share_refreshed(age: float, took: float) -> float:
    random.seed(5)
    return sum(refresh_due(age, ttl=100, took=took) for _ in range(4000)) / 4000


def test_the_nearer_the_expiry_the_likelier_a_refresh() -> None:
    assert share_refreshed(50, took=0.01) == 0
    # The lead is exponential with a mean of 2 s: exp(-left / 2).
    for left in (6, 2, 1):
        expected = pytest.approx(math.exp(-left / 2), abs=0.03)
        assert share_refreshed(100 - left, took=0.01) == expected
    assert share_refreshed(100, took=0.01) == 1
    # A slow computation begins earlier.
    assert share_refreshed(80, took=20) == pytest.approx(math.exp(-1), abs=0.03)


@pytest.mark.parametrize("url", ["http://127.0.0.1:6379", "127.0.0.1:6379", "redis://h:port/0"])
def test_an_invalid_redis_url_does_not_start(url: str) -> None:
    with pytest.raises(BadSettings, match="REDIS_URL"):
        open_cache(Settings(redis_url=url))
