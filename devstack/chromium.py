"""Finds a Chromium for the browser tests."""

import os
import shutil
import subprocess
from collections.abc import Mapping

from devstack.terminal import DevstackError, say

_NAMES = (
    "chromium-headless-shell",  # without windows: two thirds of the CPU time of the next one
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)


def find_or_install(environment: Mapping[str, str]) -> str | None:
    """The path of a Chromium; None when there is none, outside of continuous integration.

    Args:
        environment: CHROMIUM names the program, PATH is searched. With `CI`, root installs Debian's
            package, and a missing program is an error.

    Raises:
        DevstackError: CHROMIUM is not a program, or `CI` is set and there is none.
    """
    if named := environment.get("CHROMIUM"):
        if shutil.which(named):
            return named
        raise DevstackError(f"CHROMIUM is set to {named}, which is not a program.")
    path = environment.get("PATH", os.defpath)
    if program := _program(path):
        return program
    if environment.get("CI") and os.geteuid() == 0 and (apt := shutil.which("apt-get", path=path)):
        say("installing Debian's Chromium for the browser tests …")
        for command in ("update", f"install -y {_NAMES[0]}", "install -y chromium"):
            subprocess.run([apt, "-qq", *command.split()], stdout=2, env=environment, check=False)
            if program := _program(path):
                return program
    message = "No Chromium: install one (Debian: chromium-headless-shell), or set CHROMIUM."
    if environment.get("CI"):
        raise DevstackError(message)
    say(f"the browser tests are left out. {message}")
    return None


def _program(path: str) -> str | None:
    """A Chromium in one of the folders of `path`."""
    return next(filter(None, (shutil.which(name, path=path) for name in _NAMES)), None)
