"""Signals and child processes of devstack, in processes of their own."""

import signal
import subprocess
import sys
from pathlib import Path

_MAIN = """
import os, signal, sys
from pathlib import Path
from devstack.terminal import exit_on_signals, run_child
exit_on_signals()
try:
    run_child([sys.executable, "-c", sys.argv[1]], os.environ, Path.cwd(), signal.{}, timeout={})
finally:
    os.kill(os.getpid(), signal.SIGINT)  # a second Ctrl-C does not interrupt this
    print("cleaned up", flush=True)
"""
_PRINTS_SIGNALS = (
    "import signal, sys, time\n"
    "def note(number, frame): print('child got', number, flush=True); sys.exit(7)\n"
    "signal.signal(signal.SIGINT, note); signal.signal(signal.SIGTERM, note)\n"
    "print('ready', flush=True); time.sleep(600)"
)
_IGNORES = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('ready', os.getpid(), flush=True); time.sleep(600)"
)


def _interrupted(child: str, ends_with: str, sent: signal.Signals, timeout: float) -> list[str]:
    """The lines of a program that runs `child` and is then sent a signal; its code is checked."""
    with subprocess.Popen(
        [sys.executable, "-c", _MAIN.format(ends_with, timeout), child],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        process.send_signal(sent)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    return [ready, *rest.splitlines()]


def test_the_child_gets_the_signal_chosen_for_it_once_and_cleaning_up_is_not_interrupted() -> None:
    _ready, *lines = _interrupted(_PRINTS_SIGNALS, "SIGINT", signal.SIGTERM, 30)
    assert lines == [f"child got {signal.SIGINT:d}", "cleaned up"]


def test_a_child_that_ignores_the_signal_is_killed() -> None:
    ready, *lines = _interrupted(_IGNORES, "SIGTERM", signal.SIGHUP, 0.2)
    assert lines == ["cleaned up"]
    assert not Path(f"/proc/{ready.split()[1]}").exists()
