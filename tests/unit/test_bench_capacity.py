"""The calculation of machines, against a case worked out by hand."""

import pytest

from bench.capacity import Assumptions, capacity


def test_shards_follow_from_the_latency_and_cores_from_the_searches() -> None:
    given = Assumptions(
        posts=1e6, searches=100, hit_ratio=0.5, bytes_per_post=1_000, engine_ms=10,
        engine_ms_per_100k=20, latency_ms=50, app_ms=4, cached_ms=1, cores=4, utilization=0.5,
    )  # fmt: skip
    found = capacity(given)
    assert found.index_gb == 1
    assert found.shards == 5  # 200,000 posts take 40 ms
    assert found.engine_cores == pytest.approx(50 * (5 * 10 + 200) / 1000 / 0.5)
    assert found.engine_hosts == 7
    assert found.app_cores == pytest.approx((50 * 4 + 50 * 1) / 1000 / 0.5)
    assert found.app_hosts == 1


def test_a_large_index_needs_shards_and_machines_for_its_disk() -> None:
    given = Assumptions(
        posts=1e6, searches=1, bytes_per_post=100_000, shard_gb=30, latency_ms=10_000, disk_gb=50
    )
    assert (capacity(given).shards, capacity(given).engine_hosts) == (4, 4)


def test_a_latency_that_no_shard_can_have_is_an_error() -> None:
    with pytest.raises(ValueError, match="latency_ms"):
        capacity(Assumptions(engine_ms=20, latency_ms=20))
