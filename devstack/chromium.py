"""Find or install a Chromium for the browser tests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from devstack.terminal import DevstackError, say

_NAMES = (
    "chromium-headless-shell",  # without windows: two thirds of the CPU time of the next one
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
MISSING = (
    "The browser tests (tests/browser) were left out: there is no Chromium, and playwright could "
    "not download one. Install one (Debian: chromium-headless-shell), or set CHROMIUM to its path."
)


def find_or_install(environment: Mapping[str, str]) -> str | None:
    """Return the path of a Chromium, or None if there is none outside of continuous integration.

    If no Chromium is found, playwright's own is installed.

    Args:
        environment: CHROMIUM names the program, and PATH is searched. With `CI`, root also installs
            Debian's package, and a missing program is an error.

    Raises:
        DevstackError: CHROMIUM is not a program, or `CI` is set and there is none.
    """
    if named := environment.get("CHROMIUM"):
        if shutil.which(named):
            return named
        raise DevstackError(f"CHROMIUM is set to {named}, which is not a program.")
    path = environment.get("PATH", os.defpath)
    if program := _program(path) or _of_playwright(environment):
        return program
    if environment.get("CI") and os.geteuid() == 0 and (apt := shutil.which("apt-get", path=path)):
        say("installing Debian's Chromium for the browser tests …")
        for command in ("update", f"install -y {_NAMES[0]}", "install -y chromium"):
            subprocess.run([apt, "-qq", *command.split()], stdout=2, env=environment, check=False)
            if program := _program(path):
                return program
    if environment.get("CI"):
        raise DevstackError(MISSING)
    return None


def _of_playwright(environment: Mapping[str, str]) -> str | None:
    """Return the Chromium of the installed playwright; download it if it is missing."""
    install = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
    run = partial(subprocess.run, env=environment, capture_output=True, text=True, check=False)
    plan = run([*install, "--dry-run"])
    folders = [Path(folder) for folder in re.findall(r"Install location: +(.+)", plan.stdout)]
    if not any(folder.exists() for folder in folders):
        say("downloading a Chromium for the browser tests with playwright, once …")
        run(install)
    found = (file for folder in folders for file in folder.rglob("*headless*shell"))
    return next((str(file) for file in found if os.access(file, os.X_OK) and file.is_file()), None)


def _program(path: str) -> str | None:
    """Find a Chromium in the folders of `path`."""
    return next(filter(None, (shutil.which(name, path=path) for name in _NAMES)), None)
