"""Which Chromium the browser tests use. A script stands in for Chromium."""

from pathlib import Path

import pytest

from devstack.chromium import find_or_install
from devstack.terminal import DevstackError


def _script(path: Path, text: str = "") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment without a browser, in which Playwright can download none."""
    monkeypatch.setattr("sys.executable", str(_script(tmp_path / "python" / "python")))
    return {"PATH": str(tmp_path / "bin")}


def test_chromium_on_the_path(tmp_path: Path) -> None:
    chromium = _script(tmp_path / "bin" / "google-chrome")
    assert find_or_install({"PATH": str(tmp_path / "bin")}) == str(chromium)
    assert find_or_install({"CHROMIUM": str(chromium), "PATH": ""}) == str(chromium)
    with pytest.raises(DevstackError, match="CHROMIUM is set to /nowhere/chromium"):
        find_or_install({"CHROMIUM": "/nowhere/chromium"})


def test_without_a_browser_only_continuous_integration_fails(
    nothing_installed: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_or_install(nothing_installed) is None
    assert "left out" in capsys.readouterr().err
    with pytest.raises(DevstackError, match="No Chromium"):
        find_or_install({**nothing_installed, "CI": "1"})


def test_root_installs_the_package_in_continuous_integration(
    nothing_installed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    folder = tmp_path / "bin"
    installed = folder / "chromium"
    script = f'if [ "$2" = install ]; then cp "$0" {installed}; fi'
    _script(folder / "apt-get", f"PATH=/bin:/usr/bin; {script}")
    assert find_or_install({**nothing_installed, "CI": "1"}) == str(installed)
