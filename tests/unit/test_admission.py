"""Admission: when the circuit breaker opens and closes, and how many computations run."""

import mmap
import threading
import time
from collections.abc import Callable

import pytest

from app.back_off import Admission
from app.errors import BlogsearchError, Busy, NoIndex, Unavailable


class Engine:
    """Answers probes, slowly; counts how many ran and how many ran at the same time."""

    def __init__(self) -> None:
        self.up = False
        self.probes = 0
        self.most_at_once = 0
        self._running = 0

    def responds(self) -> bool:
        self.probes += 1
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        time.sleep(0.05)
        self._running -= 1
        return self.up


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _fail(admission: Admission, error: BlogsearchError) -> None:
    with pytest.raises(type(error)), admission.admit():
        raise error


def test_an_outage_opens_the_breaker_and_one_probe_at_a_time_closes_it() -> None:
    engine = Engine()
    admission = Admission(engine.responds, 8)
    for _ in range(8):
        _fail(admission, Unavailable("timed out"))
    _until(lambda: not admission.available)
    with pytest.raises(Unavailable), admission.admit():
        pytest.fail("a computation was admitted")
    _until(lambda: engine.probes >= 2)
    assert engine.most_at_once == 1
    engine.up = True
    _until(lambda: admission.available)
    with admission.admit():
        pass


def test_processes_share_what_they_know_of_an_outage() -> None:
    engine = Engine()
    memory = memoryview(mmap.mmap(-1, 8))
    first, second = (Admission(engine.responds, 8) for _ in range(2))
    first.share(memory)
    second.share(memory)
    _fail(first, Unavailable("timed out"))
    _until(lambda: not second.available)
    with pytest.raises(Unavailable), second.admit():
        pytest.fail("a computation was admitted")
    engine.up = True
    _until(lambda: second.available)


def test_another_process_goes_on_when_the_one_that_probed_has_ended() -> None:
    engine = Engine()
    engine.up = True
    memory = memoryview(mmap.mmap(-1, 8))
    memory.cast("d")[0] = time.monotonic() - 60
    admission = Admission(engine.responds, 8)
    admission.share(memory)
    assert not admission.available
    _until(lambda: admission.available)


def test_an_outage_lasts_until_searches_are_answered() -> None:
    engine, searches = Engine(), Engine()
    admission = Admission(engine.responds, 8, searches.responds)
    _fail(admission, Unavailable("timed out"))
    _until(lambda: not admission.available)
    engine.up = True
    _until(lambda: searches.probes >= 2)
    assert not admission.available
    searches.up = True
    _until(lambda: admission.available)


def test_a_probe_that_raises_anything_is_repeated() -> None:
    engine = Engine()
    errors = [KeyError("version"), ValueError("no JSON"), ZeroDivisionError()]

    def responds() -> bool:
        if errors:
            raise errors.pop()
        return engine.responds()

    admission = Admission(responds, 8)
    _fail(admission, Unavailable("timed out"))
    _until(lambda: not admission.available)
    engine.up = True
    _until(lambda: admission.available)


def test_one_failed_search_is_no_outage() -> None:
    engine = Engine()
    engine.up = True
    admission = Admission(engine.responds, 8)
    _fail(admission, Unavailable("timed out"))
    _until(lambda: engine.probes == 1)
    assert admission.available


def test_a_missing_index_or_a_bug_is_not_probed() -> None:
    engine = Engine()
    admission = Admission(engine.responds, 1)
    _fail(admission, NoIndex("no index"))
    _fail(admission, BlogsearchError("rejected"))
    with admission.admit():
        assert engine.probes == 0


def test_a_second_outage_is_probed_too() -> None:
    engine = Engine()
    admission = Admission(engine.responds, 1)
    for _ in range(2):
        engine.up = False
        _fail(admission, Unavailable("timed out"))
        _until(lambda: not admission.available)
        engine.up = True
        _until(lambda: admission.available)


def test_more_computations_than_allowed_are_refused_soon() -> None:
    engine = Engine()
    engine.up = True
    admission = Admission(engine.responds, 1)
    end = threading.Event()

    def compute() -> None:
        with admission.admit():
            end.wait(5)

    first = threading.Thread(target=compute)
    first.start()
    started = time.monotonic()
    with pytest.raises(Busy), admission.admit():
        pytest.fail("a computation was admitted")
    assert time.monotonic() - started < 4  # of the 5 that the other one takes
    end.set()
    first.join()
    with admission.admit():
        pass


def test_a_hang_is_noticed_before_the_first_computation_times_out() -> None:
    engine = Engine()
    admission = Admission(engine.responds, 8)
    end = threading.Event()

    def hang() -> None:
        with admission.admit():
            end.wait(5)

    first = threading.Thread(target=hang)
    first.start()

    _until(lambda: not admission.available)
    assert first.is_alive()
    end.set()
    first.join()
