"""The folders of an instance, who can read them, and its lock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devstack.instance import locked, open_instance
from devstack.terminal import DevstackError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the engines as another user")


@as_root
def test_a_folder_that_the_engines_user_cannot_read_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DevstackError, match=r"the user \S+, who cannot read"):
        open_instance({"BLOGSEARCH_DEVSTACK_DIR": str(closed / "inside")}, as_root=True)


def test_a_second_devstack_waits_for_the_first(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    waits = (
        "import sys; from pathlib import Path; from devstack.instance import locked\n"
        "with locked(Path(sys.argv[1])): print('locked')"
    )
    with locked(lock):
        second = subprocess.Popen(
            [sys.executable, "-c", waits, str(lock)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        assert "another devstack process is working" in second.stderr.readline()
        assert second.poll() is None
    out, _err = second.communicate(timeout=30)
    assert out == "locked\n"
