"""Zola: getzola.org/documentation/content/page and /content/multilingual."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.sources.markdown.site import Entry, Root, Site, is_section_list, read_config


class Zola(Site):
    """A site with `config.toml` that has `base_url`."""

    generator = "Zola"

    def __init__(self, root: Path) -> None:
        config = read_config(root / "config.toml")
        content = (root / "content").resolve()
        super().__init__(root, [Root(content)], address=str(config.get("base_url") or ""))
        languages = config.get("languages")
        self._languages = list(languages) if isinstance(languages, dict) else []
        self._default = str(config.get("default_language") or "en")
        slugify = config.get("slugify")
        self._slugify = str(slugify.get("paths", "on") if isinstance(slugify, dict) else "on")
        names = [each.get("name") for each in _tables(config.get("taxonomies"))]
        self.more_tags = [
            str(each) for each in names if each not in ("tags", "categories", "authors", None)
        ]

    def skips_folder(self, path: PurePosixPath) -> bool:
        return False

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix != ".md":
            return "not Markdown"
        return ""

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(own)
        for name in ("taxonomies", "extra"):
            inner = found.get(name)
            if isinstance(inner, dict):
                found = {**{str(key).lower(): each for key, each in inner.items()}, **found}
        return found

    def why_left_out(self, entry: Entry) -> str:
        if not entry.has_head:
            return "no front matter"
        if self._stem(entry.path) == "_index" and is_section_list(entry):
            return "list page"
        return "no page is rendered (render = false)" if entry.fields.get("render") is False else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return self._language_in_name(path) or self._default

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("path")  # used as it is: Zola puts no language before it
        return f"/{said.strip().strip('/')}/" if isinstance(said, str) and said.strip() else ""

    def url_of(self, entry: Entry) -> str:
        slug = entry.fields.get("slug")
        name = slug if isinstance(slug, str) and slug else entry.name
        if not slug and self._language_in_name(entry.path):
            name = name.removesuffix(f".{self._language_in_name(entry.path)}")
            name = entry.path.parent.name if name in ("index", "_index") else name
        is_index = self._stem(entry.path) in ("index", "_index")
        folder = entry.path.parent.parent if is_index else entry.path.parent
        parts = [*folder.parts, *name.split("/")]
        path = "/".join(map(self._slugified, parts))
        return f"{self._prefix(entry)}/{path}/"

    def _stem(self, path: PurePosixPath) -> str:
        language = self._language_in_name(path)
        return path.stem.removesuffix(f".{language}") if language else path.stem

    def _language_in_name(self, path: PurePosixPath) -> str:
        name = path.stem.rpartition(".")[2]
        return name if name in self._languages else ""

    def _prefix(self, entry: Entry) -> str:
        language = self._language_in_name(entry.path)
        return f"/{language}" if language and language != self._default else ""

    def _slugified(self, text: str) -> str:
        if self._slugify == "off":
            return text
        if self._slugify == "safe":
            return re.sub(r"""[<>:"/|?*#^'\s]+""", "-", text).strip("-")
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode() or text
        return re.sub(r"[^\w]+|_", "-", plain.lower()).strip("-")


def _tables(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
