"""`blogsearch.toml`: what the commands would otherwise be told on every command line.

Every command reads one file: that of `--config` or BLOGSEARCH_CONFIG, else that in the folder it is
started in, else that of the host. Options win over it, and in `[settings]` the environment does.
"""

import os
from pathlib import Path
from typing import Any

import msgspec

from app.errors import BadSettings

NAME = "blogsearch.toml"
HOST = Path("/etc") / NAME
VARIABLE = "BLOGSEARCH_CONFIG"


class SiteFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `blogsearch.toml`; everything is optional."""

    sources: tuple[str, ...] = ()
    kind: str = ""
    site: str = ""
    language: str = ""
    content: str = ""
    drafts: bool = False
    future: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    url_template: str = ""
    settings: dict[str, Any] = {}


def found() -> Path | None:
    """The file that is read, or None."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return next((path for path in (Path(NAME), HOST) if os.path.lexists(path)), None)


def read_site_file(path: Path | None = None) -> SiteFile:
    """The content of `path`, or of the file that is found, if there is one.

    Raises:
        BadSettings: it cannot be read, or something in it is unknown or of the wrong type.
    """
    path = path or found()
    if path is None:
        return SiteFile()
    try:
        return msgspec.toml.decode(path.read_text("utf-8-sig"), type=SiteFile)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise BadSettings(
            f"{path} cannot be read: {error}. docs/sources.md lists what it may contain."
        ) from None
