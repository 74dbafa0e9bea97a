"""`blogsearch.toml`: what the commands would otherwise be told on every command line.

Every command reads it from the folder it is started in. Options win over it, and in `[settings]`
the environment does.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import BadSettings

NAME = "blogsearch.toml"


class FieldNames(BaseModel):
    """The front-matter fields to look at first for each part of a post."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    language: tuple[str, ...] = ()


class SiteFile(BaseModel):
    """The content of `blogsearch.toml`; everything is optional."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: tuple[str, ...] = ()
    kind: str = ""
    site: str = ""
    language: str = ""
    drafts: bool = False
    future: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    urls: dict[str, str] = Field(default_factory=dict)
    fields: FieldNames = FieldNames()
    settings: dict[str, Any] = Field(default_factory=dict)


def read_site_file(path: Path | None = None) -> SiteFile:
    """The file, or an empty one where there is none.

    Raises:
        BadSettings: it is not TOML, or something in it is unknown or of the wrong type.
    """
    path = path or Path(NAME)
    try:
        return SiteFile.model_validate(tomllib.loads(path.read_text("utf-8-sig")))
    except FileNotFoundError:
        return SiteFile()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}. Correct it, or delete it.") from None
    except ValidationError as error:
        complaints = (
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        hint = "docs/sources.md lists what it may contain."
        raise BadSettings(f"{path}: {'; '.join(complaints)}. {hint}") from None
