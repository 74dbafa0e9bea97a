"""The version in pyproject.toml, and the commit that the service was built from."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

VERSION = version("blogsearch")


@cache
def commit() -> str:
    """The commit; "" if it is not known. `make wheel` and the Dockerfile write it into a file."""
    try:
        return Path(__file__).with_name("COMMIT").read_text().strip()
    except OSError:
        return ""
