"""Which site generator a folder belongs to, and what its configuration says about addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.sources.markdown.front_matter import parsed_config

_STEPS_UP = 6
_CONTENT_OF = {"hugo": "content", "zola": "content", "astro": "src/content"}


@dataclass(frozen=True, slots=True)
class Site:
    """A folder of posts. Paths and oids count from `content`, wherever below it reading begins.

    `generator` is jekyll, hugo, zola, astro or eleventy, which also stands for an unknown one.
    `permalinks` has a template for each section, "" for all others.
    """

    generator: str
    content: Path
    address: str = ""
    permalinks: Mapping[str, str] = field(default_factory=dict)


def site_of(place: Path) -> Site:
    """The site that a folder (or a single post) belongs to, looked for upwards from there."""
    start = place.resolve() if place.is_dir() else place.resolve().parent
    for folder in (start, *list(start.parents)[:_STEPS_UP]):
        if found := _configured(folder):
            return found
        if (folder / ".git").exists():
            break
    for folder in (start, *list(start.parents)[:_STEPS_UP]):
        if folder.name == "_posts":
            return Site("jekyll", folder.parent)
    return Site("jekyll" if (start / "_posts").is_dir() else "eleventy", start)


def _configured(folder: Path) -> Site | None:
    if (file := folder / "_config.yml").is_file():
        config = _read(file)
        address = f"{config.get('url') or ''}{config.get('baseurl') or ''}"
        return Site("jekyll", folder, address, _templates(config.get("permalink")))
    for name in ("hugo", "config", "config/_default/hugo", "config/_default/config"):
        for suffix in ("toml", "yaml", "yml", "json"):
            if (file := folder / f"{name}.{suffix}").is_file() and (folder / "content").is_dir():
                return _hugo_or_zola(folder, _read(file))
    if any(folder.glob("astro.config.*")):
        return _below(folder, "astro", "", {})
    if (folder / ".eleventy.js").is_file() or any(folder.glob("eleventy.config.*")):
        return Site("eleventy", folder)
    return None


def _hugo_or_zola(folder: Path, config: dict[str, Any]) -> Site:
    if "base_url" in config:
        return _below(folder, "zola", str(config["base_url"]), {})
    address = next((str(config[name]) for name in config if name.lower() == "baseurl"), "")
    return _below(folder, "hugo", address, _templates(config.get("permalinks")))


def _below(folder: Path, generator: str, address: str, permalinks: dict[str, str]) -> Site:
    content = folder / _CONTENT_OF[generator]
    return Site(generator, content if content.is_dir() else folder, address, permalinks)


def _templates(value: Any) -> dict[str, str]:
    """`permalink: …` (Jekyll), `permalinks: {posts: …}` or `{page: {posts: …}}` (Hugo)."""
    if isinstance(value, str):
        return {"": value}
    if not isinstance(value, dict):
        return {}
    inner = value.get("page")
    found = {**value, **(inner if isinstance(inner, dict) else {})}
    return {str(name): each for name, each in found.items() if isinstance(each, str)}


def _read(file: Path) -> dict[str, Any]:
    try:
        return parsed_config(file.read_text("utf-8"), file.suffix.removeprefix("."))
    except (OSError, UnicodeDecodeError):
        return {}
