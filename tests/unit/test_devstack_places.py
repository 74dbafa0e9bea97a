"""Where the engines' files go, who can read them, and one devstack at a time."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from devstack.errors import DevstackError, with_log
from devstack.places import find_places, locked, readable_by

ROOT = os.geteuid() == 0


def test_the_folder_and_the_instance_can_be_named(tmp_path: Path) -> None:
    _let_everybody_in(tmp_path)
    places = find_places(
        {"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path / "mine"), "BLOGSEARCH_DEVSTACK_INSTANCE": "two"}
    )
    assert places.folder == tmp_path / "mine" / "instances" / "two"
    assert places.folder.is_dir()
    assert places.downloads.is_dir()


def test_root_hands_the_engines_to_somebody_else(tmp_path: Path) -> None:
    _let_everybody_in(tmp_path)
    user = find_places({"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path)}).user
    if ROOT:
        assert user is not None
        assert pwd.getpwnam(user).pw_uid != 0
    else:
        assert user is None


def test_other_users_have_their_files_in_their_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    places = find_places({"XDG_CACHE_HOME": str(tmp_path)})
    assert places.root == tmp_path / "blogsearch-devstack"
    assert places.user is None


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DevstackError, match="BLOGSEARCH_DEVSTACK_DIR"):
        find_places({"BLOGSEARCH_DEVSTACK_DIR": str(tmp_path / "file" / "below")})


def test_a_folder_that_the_engines_user_cannot_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("devstack.places._engines_user", lambda: "nobody")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DevstackError, match="the user nobody, who cannot read"):
        find_places({"BLOGSEARCH_DEVSTACK_DIR": str(closed / "inside")})


def test_readable_means_every_folder_on_the_way(tmp_path: Path) -> None:
    _let_everybody_in(tmp_path)
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
        "import sys; from pathlib import Path; from devstack.places import locked\n"
        "with locked(Path(sys.argv[1])): print('mine')"
    )
    with locked(lock):
        second = subprocess.Popen(
            [sys.executable, "-c", waits, str(lock)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        assert "another devstack is at work" in second.stderr.readline()
        assert second.poll() is None
    out, _err = second.communicate(timeout=30)
    assert out == "mine\n"


def test_an_error_ends_with_the_log_and_its_path(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("".join(f"line {number}\n" for number in range(20)))
    told = with_log("It has ended.", log, lines=2)
    assert told == f"It has ended.\n    line 18\n    line 19\n  The whole log: {log}"
    assert str(tmp_path / "gone") in with_log("It has ended.", tmp_path / "gone")


def _let_everybody_in(folder: Path) -> None:
    """pytest keeps its own folders closed to other users."""
    for place in (folder, *folder.parents):
        if "pytest" in str(place):
            place.chmod(0o755)
