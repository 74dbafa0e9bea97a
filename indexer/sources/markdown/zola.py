"""Zola: getzola.org/documentation/content/page and /content/multilingual."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.sources.markdown.config import lower_names, mapping, read_config, tables
from indexer.sources.markdown.site import DATED, Entry, Root, Site, is_section_list


class Zola(Site):
    """A site with `config.toml` that has `base_url`."""

    generator = "Zola"

    def __init__(self, root: Path) -> None:
        config = read_config(root / "config.toml")
        content = (root / "content").resolve()
        super().__init__(root, [Root(content)], address=str(config.get("base_url") or ""))
        self.languages = tuple(mapping(config.get("languages")))
        self._default = str(config.get("default_language") or "en")
        names = [str(table.get("name")) for table in tables(config.get("taxonomies"))]
        self.more_tags = [name for name in names if name not in ("tags", "categories", "authors")]

    def skips_folder(self, path: PurePosixPath) -> bool:
        return False

    def why_not_content(self, path: PurePosixPath) -> str:
        return "" if path.suffix == ".md" else "not Markdown"

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        return {**lower_names(mapping(own.get("extra"))), **own}

    def why_left_out(self, entry: Entry) -> str:
        if not entry.has_head:
            return "no front matter"
        if self.stem(entry.path) == "_index" and is_section_list(entry):
            return "list page"
        return "no page is rendered (render = false)" if entry.fields.get("render") is False else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return self.language_in_name(path) or self._default

    def own_url(self, entry: Entry) -> str:
        path = entry.fields.get("path")  # used as it is: Zola puts no language before it
        return f"/{path.strip().strip('/')}/" if isinstance(path, str) and path.strip() else ""

    def url_of(self, entry: Entry) -> str:
        language, stem = self.language_in_name(entry.path), self.stem(entry.path)
        place = entry.path.parent if stem in ("index", "_index") else entry.path.with_name(stem)
        slug = entry.fields.get("slug")
        name = slug if isinstance(slug, str) and slug else DATED.sub("", place.name)
        path = "/".join(map(_slugified, (*place.parent.parts, *name.split("/"))))
        return f"/{language}/{path}/" if language not in ("", self._default) else f"/{path}/"


def _slugified(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode() or text
    return re.sub(r"[^\w]+|_", "-", plain.lower()).strip("-")
