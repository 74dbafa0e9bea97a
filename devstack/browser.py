"""Finds a Chromium for the browser tests, or gets one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from devstack.errors import DevstackError, with_log
from devstack.talk import say

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_or_install(environment: Mapping[str, str], log: Path) -> str | None:
    """The path of a Chromium; None where there is none and it is no continuous integration.

    Raises:
        DevstackError: CHROMIUM names none, or `CI` is set and none can be had.
    """
    if named := environment.get("CHROMIUM"):
        if os.access(named, os.X_OK) and Path(named).is_file():
            return named
        raise DevstackError(f"CHROMIUM is set to {named}, and that is no program.")
    found = _installed(environment) or _of_playwright()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt(log)
        found = _installed(environment)
    if found is None:
        say("trying Playwright's own Chromium …")
        _run([sys.executable, "-m", "playwright", "install", "chromium"], log)
        found = _of_playwright()
    if found is None:
        message = with_log("No Chromium: install one (Debian: chromium), or set CHROMIUM.", log)
        if environment.get("CI"):
            raise DevstackError(message)
        say(f"the browser tests are left out. {message}")
    return found


def _installed(environment: Mapping[str, str]) -> str | None:
    for name in _NAMES:
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    return None


def _of_playwright() -> str | None:
    """The Chromium that `playwright install` has put into its cache."""
    from playwright.sync_api import Error, sync_playwright  # only tests need it; slow to load

    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Error:
        return None
    return path if Path(path).exists() else None


def _apt(log: Path) -> None:
    say("installing Debian's chromium for the browser tests; this takes a minute or two …")
    _run(["apt-get", "update"], log)
    _run(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"], log)


def _run(command: list[str], log: Path) -> None:
    with log.open("a") as output:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            check=False,  # whether a browser is there afterwards is what counts
        )
