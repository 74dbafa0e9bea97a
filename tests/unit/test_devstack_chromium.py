"""Which Chromium the browser tests use. A script stands in for Chromium."""

from pathlib import Path

import pytest

from devstack.chromium import find_or_install
from devstack.terminal import DevstackError


def _script(path: Path, text: str = "") -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_one_that_is_named_or_on_the_path(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path / "bin")}
    assert find_or_install(nothing) is None
    with pytest.raises(DevstackError, match="No Chromium"):
        find_or_install({**nothing, "CI": "1"})
    chromium = _script(tmp_path / "bin" / "google-chrome")
    assert find_or_install(nothing) == chromium
    assert find_or_install({"CHROMIUM": chromium, "PATH": ""}) == chromium
    with pytest.raises(DevstackError, match="CHROMIUM is set to /nowhere/chromium"):
        find_or_install({"CHROMIUM": "/nowhere/chromium"})
