"""When an outage begins and ends, and how many computations run."""

import threading
import time

import pytest

from app.engines.back_off import Admission, start_thread
from app.errors import BlogsearchError, Busy, NoIndex, Unavailable
from tests.waiting import wait_until


class Engine:
    """Answers probes; counts how many ran and how many ran at the same time."""

    def __init__(self, *, up: bool = False) -> None:
        self.up = up
        self.probes = self.most_at_once = self._running = 0

    def responds(self) -> bool:
        self.probes += 1
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        time.sleep(0.01)
        self._running -= 1
        return self.up


def _fail(admission: Admission, error: BlogsearchError) -> None:
    with pytest.raises(type(error)), admission.admit():
        raise error


def test_an_outage_is_probed_by_one_at_a_time_until_it_ends() -> None:
    engine = Engine()
    admission = Admission(engine.responds, 8)
    for _ in range(2):  # the second one is probed, too
        engine.up = False
        _fail(admission, Unavailable("timed out"))
        wait_until(lambda: not admission.available)
        with pytest.raises(Unavailable), admission.admit():
            pytest.fail("a computation was admitted")
        engine.up = True
        wait_until(lambda: admission.available)
        with admission.admit():
            pass
    assert engine.most_at_once == 1


def test_an_outage_lasts_until_searches_are_answered() -> None:
    engine, searches = Engine(), Engine()
    admission = Admission(engine.responds, 8, searches.responds)
    _fail(admission, Unavailable("timed out"))
    wait_until(lambda: not admission.available)
    engine.up = True
    wait_until(lambda: searches.probes >= 2)
    assert not admission.available
    searches.up = True
    wait_until(lambda: admission.available)


def test_a_probe_that_raises_anything_is_repeated() -> None:
    errors: list[Exception] = [KeyError("version"), ValueError("no JSON"), ZeroDivisionError()]

    def responds() -> bool:
        if errors:
            raise errors.pop()
        return True

    admission = Admission(responds, 8)
    _fail(admission, Unavailable("timed out"))
    wait_until(lambda: not errors and admission.available)


def test_one_failed_search_is_no_outage_and_a_missing_index_is_not_probed() -> None:
    engine = Engine(up=True)
    admission = Admission(engine.responds, 8)
    _fail(admission, NoIndex("no index"))
    _fail(admission, BlogsearchError("rejected"))
    with admission.admit():
        assert engine.probes == 0
    _fail(admission, Unavailable("timed out"))
    wait_until(lambda: engine.probes == 1)
    assert admission.available


def test_more_computations_than_allowed_are_refused_soon() -> None:
    admission = Admission(Engine(up=True).responds, 1)
    with admission.admit(), pytest.raises(Busy), admission.admit():
        pytest.fail("a computation was admitted")
    with admission.admit():
        pass


def test_where_no_thread_can_be_started_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")  # as at the limit of a container

    monkeypatch.setattr(threading.Thread, "start", start)
    assert not start_thread(lambda: None)
