"""Finds a Chromium for the browser tests, or installs one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from devstack.terminal import DevstackError, say, with_log

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_or_install(
    environment: Mapping[str, str], log: Path, *, as_root: bool | None = None
) -> str | None:
    """The path of a Chromium; None when there is none, outside of continuous integration.

    Args:
        environment: CHROMIUM names the program, PATH is searched, `CI` makes a missing one fail.
        log: the file for the output of installers.
        as_root: whether Debian's package may be installed; None: when the caller is root.

    Raises:
        DevstackError: CHROMIUM is not a program, or `CI` is set and none can be installed.
    """
    if named := environment.get("CHROMIUM"):
        if os.access(named, os.X_OK) and Path(named).is_file():
            return named
        raise DevstackError(f"CHROMIUM is set to {named}, which is not a program.")
    path = environment.get("PATH")
    found = _on_path(path) or _playwrights_own(environment)
    if as_root is None:
        as_root = os.geteuid() == 0
    if found is None and as_root and (apt := shutil.which("apt-get", path=path)):
        say("installing Debian's chromium for the browser tests; this takes a minute or two …")
        _run([apt, "update"], environment, log)
        _run([apt, "install", "--yes", "--no-install-recommends", "chromium"], environment, log)
        found = _on_path(path)
    if found is None:
        say("installing Playwright's Chromium for the browser tests …")
        _run([sys.executable, "-m", "playwright", "install", "chromium"], environment, log)
        found = _playwrights_own(environment)
    if found is None:
        message = with_log("No Chromium: install one (Debian: chromium), or set CHROMIUM.", log)
        if environment.get("CI"):
            raise DevstackError(message)
        say(f"the browser tests are left out. {message}")
    return found


def _on_path(path: str | None) -> str | None:
    for name in _NAMES:
        if found := shutil.which(name, path=path):
            return found
    return None


def _playwrights_own(environment: Mapping[str, str]) -> str | None:
    """The Chromium that `playwright install` downloaded."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=dict(environment),
        check=False,
    )
    path = done.stdout.strip()
    return path if done.returncode == 0 and Path(path).is_file() else None


def _run(command: list[str], environment: Mapping[str, str], log: Path) -> None:
    with log.open("a") as output:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**environment, "DEBIAN_FRONTEND": "noninteractive"},
            check=False,  # the caller looks for the browser afterwards
        )
