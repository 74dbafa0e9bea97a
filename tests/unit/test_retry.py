"""The policy of repeated requests, with a clock that only pauses move."""

import pytest

from indexer.store.retry import Retry


class Clock:
    """Seconds since the start; `wait` adds to them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    monkeypatch.setattr("time.sleep", clock.wait)  # looked up late, as gevent replaces it
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    return clock


def test_it_pauses_twice_as_long_each_time_up_to_the_longest(clock: Clock) -> None:
    attempts = Retry(total=100, first_pause=1, longest_pause=3).attempts()
    for _ in range(5):
        next(attempts)
    assert clock.pauses == [1, 2, 3, 3]


def test_the_total_limits_attempts_and_pauses_together(clock: Clock) -> None:
    for _ in Retry(total=10, first_pause=1).attempts():
        clock.now += 4
    assert clock.now == 4 + 1 + 4  # a pause of two seconds would end after the limit


@pytest.mark.usefixtures("clock")
def test_each_attempt_is_told_the_seconds_since_the_first() -> None:
    assert list(Retry(total=4, first_pause=1).attempts()) == [0, 1, 3]
    assert list(Retry(total=0).attempts()) == [0]
    assert list(Retry(total=10).attempts(lambda seconds: True)) == [0]
