"""Which Chromium the browser tests get."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devstack import browser
from devstack.errors import DevstackError


@pytest.fixture
def chromium(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "chromium"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing_to_be_had(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No browser anywhere, and no way to get one; what was tried."""
    tried: list[str] = []
    monkeypatch.setattr(browser, "_of_playwright", lambda: None)
    monkeypatch.setattr(browser, "_apt", lambda _log: tried.append("apt"))
    monkeypatch.setattr(browser, "_run", lambda command, _log: tried.append(command[2]))
    return tried


def test_the_one_that_is_named(chromium: Path, tmp_path: Path) -> None:
    found = browser.find_or_install({"CHROMIUM": str(chromium), "PATH": ""}, tmp_path / "log")
    assert found == str(chromium)


def test_one_that_is_named_and_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DevstackError, match="CHROMIUM is set to /nowhere/chromium"):
        browser.find_or_install({"CHROMIUM": "/nowhere/chromium"}, tmp_path / "log")


def test_one_on_the_path(chromium: Path, tmp_path: Path) -> None:
    found = browser.find_or_install({"PATH": str(chromium.parent)}, tmp_path / "log")
    assert found == str(chromium)


def test_root_installs_debians(
    nothing_to_be_had: list[str], chromium: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser.shutil, "which", _appears(chromium, nothing_to_be_had))
    assert browser.find_or_install({"PATH": ""}, tmp_path / "log") == str(chromium)
    assert nothing_to_be_had == ["apt"]


def _appears(chromium: Path, tried: list[str]) -> Callable[..., str | None]:
    def which(name: str, path: str | None = None) -> str | None:
        if name == "apt-get":
            return "/usr/bin/apt-get"
        return str(chromium) if name == "chromium" and tried else None

    return which


def test_none_leaves_the_browser_tests_out_and_says_so(
    nothing_to_be_had: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000)
    assert browser.find_or_install({"PATH": ""}, tmp_path / "log") is None
    assert nothing_to_be_had == ["playwright"]
    assert "the browser tests are left out" in capsys.readouterr().err


def test_none_fails_continuous_integration(nothing_to_be_had: list[str], tmp_path: Path) -> None:
    with pytest.raises(DevstackError, match="No Chromium"):
        browser.find_or_install({"PATH": "", "CI": "true"}, tmp_path / "log")
    assert nothing_to_be_had
