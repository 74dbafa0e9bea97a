"""Ctrl-C and other signals stop devstack once, and its child with it."""

import os
import signal
import subprocess
import sys
import weakref

import pytest

from devstack.terminal import Stopped, ending_with_us, raise_if_stopped, stoppable

SLEEPS = "import time; print(flush=True); time.sleep(60)"
NOTES_INTERRUPT = """
import sys, time
try:
    print(flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(7)
"""


def _child(code: str) -> "subprocess.Popen[bytes]":
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()  # it runs
    child.stdout.close()
    return child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_raises_once_and_does_not_interrupt_the_cleanup(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        with stoppable():
            try:
                os.kill(os.getpid(), number)
            finally:
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(number)
    with pytest.raises(Stopped) as raised:
        interrupted()
    assert raised.value.number == number
    assert "already stopping" in capsys.readouterr().err
    assert signal.getsignal(number) == before


class _Thing:
    pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_whose_exception_python_drops_still_stops() -> None:
    with stoppable():
        thing = _Thing()
        reference = weakref.ref(thing, lambda _gone: os.kill(os.getpid(), signal.SIGTERM))
        del thing  # the handler raises inside of the callback, and Python drops what it raises
        assert reference() is None
        with pytest.raises(Stopped):
            raise_if_stopped()
    raise_if_stopped()  # does nothing outside of the block


def test_a_child_ends_with_the_block() -> None:
    child = _child(SLEEPS)
    with pytest.raises(Stopped), ending_with_us(child, signal.SIGTERM):
        raise Stopped(signal.SIGTERM)
    assert child.returncode == -signal.SIGTERM


def test_a_child_gets_the_signal_that_was_chosen_for_it() -> None:
    child = _child(NOTES_INTERRUPT)
    with pytest.raises(Stopped), ending_with_us(child, signal.SIGINT):
        raise Stopped(signal.SIGTERM)
    assert child.returncode == 7


def test_a_child_that_has_ended_keeps_its_exit_code() -> None:
    child = _child("print(flush=True); raise SystemExit(3)")
    with ending_with_us(child, signal.SIGTERM):
        assert child.wait() == 3
    assert child.returncode == 3


def test_a_child_that_ignores_the_signal_is_killed() -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + SLEEPS
    child = _child(deaf)
    with pytest.raises(Stopped), ending_with_us(child, signal.SIGTERM, timeout=0.2):
        raise Stopped(signal.SIGTERM)
    assert child.returncode == -signal.SIGKILL
