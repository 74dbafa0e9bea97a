"""The parts of the cache that need no Redis."""

import math
import random
import time
from itertools import pairwise
from typing import Any

import pytest
import redis
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from app.cache import open_cache
from app.cache.answer import Cached, State, Stored
from app.cache.coding import accepts
from app.cache.envelope import Envelope, opened
from app.cache.errors import CacheAway, Unreadable
from app.cache.expiry import Expiry
from app.cache.http import reply
from app.cache.keys import Keys
from app.cache.link import Link
from app.cache.serializers import serializers
from app.cache.shelf import index_of, named_generation
from app.errors import BadSettings
from app.settings import Settings, load_settings

BODY = {"q": "naïve", "hits": [{"title": "x" * 500}]}


def kept(name: str = "bytes", body: Any = BODY, state: State = "HIT", **changed: Any) -> Cached:
    payload, tagged = serializers()[name].dumps(body)
    stored = Stored(payload, serializers()[name], tagged)
    given = {"digest": b"d" * 16, "generation": b"posts-000001 r 1", "stored": stored} | changed
    return Cached(state, **given)


# -- envelope ----------------------------------------------------------------------------------

envelopes = st.builds(
    Envelope,
    digest=st.binary(min_size=16, max_size=16),
    serializer=st.sampled_from(sorted(serializers())),
    generation=st.binary(max_size=300),
    created=st.floats(0, 1e11),
    ttl=st.floats(0, 1e9),
    took=st.floats(0, 1e3, width=32),
    tagged=st.booleans(),
    found=st.booleans(),
    payload=st.binary(max_size=500),
)


@given(envelope=envelopes)
def test_envelope_comes_back(envelope: Envelope) -> None:
    assert opened(envelope.seal()) == envelope


@given(envelope=envelopes, data=st.data())
def test_no_damage_to_an_envelope_goes_unseen(envelope: Envelope, data: st.DataObject) -> None:
    sealed = envelope.seal()
    at = data.draw(st.integers(0, len(sealed) - 1))
    flipped = sealed[:at] + bytes([sealed[at] ^ data.draw(st.integers(1, 255))]) + sealed[at + 1 :]
    for damaged in (flipped, sealed[:at], sealed + b"x"):
        with pytest.raises(Unreadable):
            opened(damaged)


@given(foreign=st.binary(max_size=200))
def test_a_foreign_value_is_unreadable(foreign: bytes) -> None:
    with pytest.raises(Unreadable):
        opened(foreign)


# -- keys and generations ----------------------------------------------------------------------


def test_all_keys_of_an_alias_lie_on_one_node_of_a_cluster() -> None:
    keys = Keys("posts", "1.0 blended")
    digest = keys.digest("q=python")
    names = [keys.generation, keys.counts, keys.answer(digest), keys.lock(digest)]
    names += [keys.searches("2026-11-21"), keys.memo("f:1"), keys.every_answer]
    slots = {redis.crc.key_slot(name.encode()) for name in names}
    assert slots == {redis.crc.key_slot(b"posts")}
    assert len(set(names)) == len(names)


def test_version_and_strategy_keep_answers_apart() -> None:
    variants = [
        Keys("posts", variant) for variant in ("1.0 blended", "1.1 blended", "1.0 fallback")
    ]
    assert len({keys.digest("q=python") for keys in variants}) == 3
    assert variants[0].digest("q=a\nb") != variants[0].digest("q=a")


def test_a_generation_says_its_index_and_never_comes_twice() -> None:
    first, second = (named_generation("posts-000001", "abc") for _ in range(2))
    assert first != second
    assert index_of(first) == "posts-000001"
    assert index_of(named_generation("", "")) == ""
    assert index_of(b"\xff\xff") not in ("", "posts-000001")


# -- expiry ------------------------------------------------------------------------------------


def test_expiry_is_spread_and_shorter_for_empty_answers() -> None:
    expiry = Expiry(ttl=100, ttl_empty=10, stale=1000)
    found = [expiry.fresh_for(True) for _ in range(500)]
    assert 90 <= min(found) < 92
    assert 108 < max(found) <= 110
    assert all(9 <= expiry.fresh_for(False) <= 11 for _ in range(100))


def test_the_nearer_the_expiry_the_likelier_a_refresh() -> None:
    expiry = Expiry(ttl=100, ttl_empty=10, stale=1000)
    random.seed(5)

    def share(age: float) -> float:
        return sum(expiry.due(age, ttl=100, took=0.01) for _ in range(4000)) / 4000

    assert share(50) == 0
    # The lead is exponential with a mean of 2 s: exp(-left / 2).
    for left in (6, 2, 1):
        assert share(100 - left) == pytest.approx(math.exp(-left / 2), abs=0.03)
    assert share(100) == 1


def test_a_slow_computation_is_begun_earlier() -> None:
    expiry = Expiry(ttl=100, ttl_empty=10, stale=1000)
    random.seed(5)
    assert sum(expiry.due(80, ttl=100, took=20) for _ in range(1000)) > 250


# -- HTTP --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "coding", "taken"),
    [
        ("gzip, deflate, br, zstd", "zstd", True),
        ("gzip, deflate, br, zstd", "gzip", True),
        ("GZIP", "gzip", True),
        ("gzip;q=0.5", "gzip", True),
        ("gzip;q=0", "gzip", False),
        ("gzip;q=0, *", "gzip", False),
        ("*", "br", True),
        ("*;q=0", "br", False),
        ("gzip", "zstd", False),
        ("gzipped", "gzip", False),
        ("identity", "gzip", False),
        ("", "gzip", False),
        (";;,=,q", "gzip", False),
    ],
)
def test_accept_encoding(header: str, coding: str, taken: bool) -> None:
    assert accepts(header, coding) is taken


@pytest.mark.parametrize(
    ("name", "coding"), [("bytes+zlib", "gzip"), ("bytes+zstd", "zstd"), ("bytes+brotli", "br")]
)
def test_a_compressed_hit_goes_out_as_it_is_stored(name: str, coding: str) -> None:
    cached = kept(name)
    data, sent = cached.payload(coding)
    assert (data, sent) == (serializers()[name].dumps(BODY)[0], coding)
    assert cached.payload("identity") == (kept("bytes").payload()[0], None)


def test_what_is_stored_as_zstd_is_zstd() -> None:
    data, _ = kept("bytes+zstd").payload("zstd")
    assert zstandard.ZstdDecompressor().decompress(data) == kept().payload()[0]


@pytest.mark.parametrize("name", sorted(serializers()))
def test_every_serializer_gives_the_same_response(name: str) -> None:
    assert kept(name).payload("") == kept("bytes").payload("")
    assert kept(name).body == BODY


@pytest.mark.parametrize("accepted", ["", "gzip", "gzip, deflate, br, zstd"])
def test_the_etag_is_the_same_for_every_coding_and_weak(accepted: str) -> None:
    cached = kept("bytes+zlib")
    answered = reply(cached, {"Accept-Encoding": accepted}, 60, 600)
    assert answered.headers["ETag"] == cached.etag
    assert cached.etag.startswith('W/"')
    assert answered.headers["Vary"] == "Accept-Encoding"


def test_the_etag_changes_with_generation_request_and_answer() -> None:
    others = [
        kept(generation=b"posts-000002 r 2"),
        kept(digest=b"e" * 16),
        kept(body={**BODY, "q": "x"}),
    ]
    assert len({one.etag for one in [kept(), *others]}) == 4
    assert kept().etag == kept(state="STALE").etag


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("{}", 304),
        ('"other", {}', 304),
        ("*", 304),
        ('W/"other"', 200),
        ("", 200),
        ("nonsense", 200),
    ],
)
def test_if_none_match(header: str, status: int) -> None:
    cached = kept()
    answered = reply(cached, {"If-None-Match": header.format(cached.etag)}, 60, 600)
    assert answered.status == status
    assert (answered.body == b"") is (status == 304)
    assert {"ETag", "Cache-Control", "Vary"} <= set(answered.headers)
    assert ("Content-Type" in answered.headers) is (status == 200)


def test_a_strong_form_of_the_etag_matches_too() -> None:
    # Proxies that compress or decompress turn a weak validator into a strong one now and then.
    header = kept().etag.removeprefix("W/")
    assert reply(kept(), {"If-None-Match": header}, 60, 600).status == 304


@pytest.mark.parametrize(
    ("state", "max_age", "told"),
    [
        ("HIT", 60, "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"),
        ("MISS", 60, "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"),
        ("OFF", 60, "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"),
        ("STALE", 60, "no-cache"),
        ("HIT", 0, "no-cache"),
    ],
)
def test_cache_control(state: State, max_age: int, told: str) -> None:
    answered = reply(kept(state=state), {}, max_age, 600)
    assert answered.headers["Cache-Control"] == told
    assert answered.headers["X-Cache"] == state


# -- settings ----------------------------------------------------------------------------------


def test_an_unknown_serializer_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_CACHE_SERIALIZER", "msgpakc")
    with pytest.raises(BadSettings, match=r"msgpakc.*known are.*msgpack\+zstd"):
        load_settings()


def test_pickle_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_CACHE_SERIALIZER", "pickle+lz4")
    with pytest.raises(BadSettings, match="run code"):
        load_settings()


@pytest.mark.parametrize("url", ["http://127.0.0.1:6379", "127.0.0.1:6379", "redis://h:port/0"])
def test_an_address_that_is_none_does_not_start(url: str) -> None:
    with pytest.raises(BadSettings, match="REDIS_URL"):
        open_cache(Settings(redis_url=url))


# -- the link ----------------------------------------------------------------------------------


class FailingClient:
    """Fails as long as it is told to, and counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = True

    def ping(self) -> bool:
        self.asked += 1
        if self.fails:
            raise redis.ConnectionError("refused")
        return True


def ping(link: Link) -> bool:
    try:
        return link.call(lambda client: client.ping(), link.budget())
    except CacheAway:
        return False


def test_a_failure_gives_redis_a_rest_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    client: Any = FailingClient()
    link = Link(client, timeout=0.2)
    asked = []
    for _ in range(400):
        ping(link)
        if client.asked > len(asked):
            asked.append(now)
        now += 0.1
    waits = [round(later - earlier, 1) for earlier, later in pairwise(asked)]
    assert waits[:5] == pytest.approx([0.5, 1, 2, 4, 8], abs=0.11)
    assert max(waits) < 10.2
    client.fails = False
    now += 10
    assert ping(link)
    assert ping(link)  # at once: it answers again
    client.fails = True
    assert not ping(link)
    now += 0.6  # and the next rest is a short one
    before = client.asked
    ping(link)
    assert client.asked == before + 1


def test_a_search_whose_time_is_up_asks_no_more() -> None:
    client: Any = FailingClient()
    client.fails = False
    link = Link(client, timeout=0.2)
    budget = link.budget()
    link.call(lambda _: time.sleep(0.25), budget)
    with pytest.raises(CacheAway):
        link.call(lambda asked: asked.ping(), budget)
    assert client.asked == 0
    assert ping(link)


def test_a_refused_command_is_no_fault_of_the_connection() -> None:
    link = Link(FailingClient(), timeout=0.2)  # type: ignore[arg-type]

    def refused(_: Any) -> None:
        raise redis.ResponseError("OOM command not allowed")

    with pytest.raises(redis.ResponseError):
        link.call(refused, link.budget())
    assert link.call(lambda _: "asked", link.budget()) == "asked"
