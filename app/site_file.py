"""`blogsearch.toml`: what the commands would otherwise be told on every command line.

Every command reads it from the folder it is started in. Options win over it, and in `[settings]`
the environment does.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.errors import BadSettings
from app.validation import convert_fields

NAME = "blogsearch.toml"


@dataclass(frozen=True, kw_only=True)
class FieldNames:
    """The front-matter fields to look at first for each part of a post."""

    title: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    language: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SiteFile:
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
    urls: dict[str, str] = field(default_factory=dict)
    fields: FieldNames = FieldNames()
    settings: dict[str, Any] = field(default_factory=dict)


def read_site_file(path: Path | None = None) -> SiteFile:
    """The file, or an empty one where there is none.

    Raises:
        BadSettings: it is not TOML, or something in it is unknown or of the wrong type.
    """
    path = path or Path(NAME)
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return SiteFile()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}. Correct it, or delete it.") from None
    converted, complaints = convert_fields(SiteFile, content)
    if complaints:
        listed = "; ".join(f"{name} {complaint}" for name, complaint in complaints.items())
        raise BadSettings(f"{path}: {listed}. docs/sources.md lists what it may contain.")
    return SiteFile(**converted)
