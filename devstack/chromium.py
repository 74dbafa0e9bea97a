"""Finds a Chromium for the browser tests, or has Playwright download one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from devstack.terminal import DevstackError, say

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PRINT_PATH = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)


def find_or_install(environment: Mapping[str, str]) -> str | None:
    """The path of a Chromium; None when there is none, outside of continuous integration.

    Args:
        environment: CHROMIUM names the program, PATH is searched, `CI` makes a missing one fail.

    Raises:
        DevstackError: CHROMIUM is not a program, or `CI` is set and there is none.
    """
    if named := environment.get("CHROMIUM"):
        if shutil.which(named):
            return named
        raise DevstackError(f"CHROMIUM is set to {named}, which is not a program.")
    for name in _NAMES:
        if program := shutil.which(name, path=environment.get("PATH", os.defpath)):
            return program
    say("downloading Playwright's Chromium for the browser tests, once …")
    # Does nothing if it was downloaded before. Its output goes to stderr.
    download = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(download, stdout=2, env=environment, check=False)
    print_path = [sys.executable, "-c", _PRINT_PATH]
    printed = subprocess.run(print_path, capture_output=True, text=True, env=environment)
    path = printed.stdout.strip()
    if path and Path(path).is_file():
        return path
    message = "No Chromium: install one (Debian: chromium), or set CHROMIUM."
    if environment.get("CI"):
        raise DevstackError(message)
    say(f"the browser tests are left out. {message}")
    return None
