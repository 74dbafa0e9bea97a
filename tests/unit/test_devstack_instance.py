"""The folders of an instance, who can read them, and its lock."""

import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from devstack.instance import locked, open_instance, readable_by
from devstack.terminal import DevstackError, with_log


def test_the_folder_and_the_instance_can_be_named(tmp_path: Path) -> None:
    _open_to_everybody(tmp_path)
    instance = open_instance(
        {"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path / "mine"), "BLOGSEARCH_DEVSTACK_INSTANCE": "two"}
    )
    assert instance.folder == tmp_path / "mine" / "instances" / "two"
    assert instance.folder.is_dir()
    assert instance.downloads.is_dir()


def test_root_runs_the_engines_as_another_user(tmp_path: Path) -> None:
    _open_to_everybody(tmp_path)
    environment = {"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path)}
    user = open_instance(environment, as_root=True).user
    assert user is not None
    assert pwd.getpwnam(user).pw_uid != 0
    assert open_instance(environment, as_root=False).user is None


def test_other_users_have_their_files_in_their_caches(tmp_path: Path) -> None:
    instance = open_instance({"XDG_CACHE_HOME": str(tmp_path)}, as_root=False)
    assert instance.root == tmp_path / "blogsearch-devstack"
    assert instance.user is None


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DevstackError, match="BLOGSEARCH_DEVSTACK_DIR"):
        open_instance({"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path / "file" / "below")})


def test_a_folder_that_the_engines_user_cannot_read_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DevstackError, match=r"the user \S+, who cannot read"):
        open_instance({"BLOGSEARCH_DEVSTACK_DIR": str(closed / "inside")}, as_root=True)


def test_readable_means_every_parent_folder(tmp_path: Path) -> None:
    _open_to_everybody(tmp_path)
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    assert readable_by("nobody", inside)
    inside.parent.chmod(0o750)
    assert not readable_by("nobody", inside)
    inside.parent.chmod(0o711)
    assert readable_by("nobody", inside)
    assert not readable_by("nobody", inside / "missing")


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


def test_an_error_ends_with_the_log_and_its_path(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("".join(f"line {number}\n" for number in range(20)))
    message = with_log("It has ended.", log, lines=2)
    assert message == f"It has ended.\n    line 18\n    line 19\n  The whole log: {log}"
    assert str(tmp_path / "gone") in with_log("It has ended.", tmp_path / "gone")


def _open_to_everybody(folder: Path) -> None:
    """pytest keeps its own folders closed to other users."""
    for place in (folder, *folder.parents):
        if "pytest" in str(place):
            place.chmod(0o755)
