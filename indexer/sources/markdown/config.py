"""The configuration files of site generators."""

import json
import tomllib
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from indexer.errors import SourceError
from indexer.sources.markdown.front_matter import load_yaml


def lower_names(value: Any) -> Any:
    """A configuration with the names in lower case, however deep; Hugo ignores their case."""
    if isinstance(value, dict):
        return {str(name).lower(): lower_names(inner) for name, inner in value.items()}
    return [lower_names(inner) for inner in value] if isinstance(value, list) else value


def zone_named(name: Any) -> tzinfo:
    """The time zone of a configuration; UTC where it names none, as on a build server."""
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def read_config(file: Path) -> dict[str, Any]:
    """A YAML, TOML or JSON file of configuration; empty when there is no such file.

    Raises:
        SourceError: it cannot be read; without it addresses would be wrong.
    """
    try:
        text = read_text(file)
        if file.suffix == ".toml":
            return tomllib.loads(text)
        if file.suffix == ".json":
            return mapping(json.loads(text))
        return mapping(load_yaml(text))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = str(error)
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            reason = f"{error.problem} (at line {error.problem_mark.line + 1})"
        raise SourceError(f"{file} cannot be read: {reason}.", "Correct it.") from error


def read_text(file: Path) -> str:
    """The text of a small file; one of more than 1 MB is not taken as a configuration."""
    if not file.is_file():
        raise FileNotFoundError(file)
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        return stream.read(1_000_000)


def mapping(value: Any) -> dict[str, Any]:
    """A table of a configuration; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The tables of a setting: the table that it is, or those of a list."""
    return [table for table in (value if isinstance(value, list) else [value]) if mapping(table)]
