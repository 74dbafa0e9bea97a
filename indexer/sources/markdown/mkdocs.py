"""MkDocs: mkdocs.org/user-guide/configuration and /user-guide/writing-your-docs."""

import fnmatch
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.sources.markdown.config import mapping, read_config
from indexer.sources.markdown.site import MARKDOWN, Entry, Root, Site

CONFIGURATION = ("mkdocs.yml", "mkdocs.yaml")


class MkDocs(Site):
    """A site with `mkdocs.yml`."""

    generator = "MkDocs"

    def __init__(self, root: Path) -> None:
        config: dict[str, Any] = {}
        for name in CONFIGURATION:
            config = config or read_config(root / name)
        docs = (root / str(config.get("docs_dir") or "docs")).resolve()
        super().__init__(root, [Root(docs)], address=str(config.get("site_url") or ""))
        self._has_folders = config.get("use_directory_urls") is not False
        patterns = f"{config.get('exclude_docs') or ''}\n{config.get('draft_docs') or ''}"
        self._excluded = [line.strip() for line in patterns.split("\n") if line.strip(" /")]
        self._language = str(mapping(config.get("theme")).get("language") or "")
        if "blog" in str(config.get("plugins")):
            self.notes.append(
                f"{root}: the addresses of Material's blog are computed; build the site, then: "
                "blogsearch reindex site."
            )

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix.lower() not in MARKDOWN:
            return "not Markdown"
        if any(_matches(path, pattern) for pattern in self._excluded):
            return "excluded by the configuration"
        if (
            path.name == "README.md"
            and (self.roots[0].folder / path.with_name("index.md")).exists()
        ):
            return "README.md beside index.md"
        return ""

    def why_left_out(self, entry: Entry) -> str:
        return ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return super().language_of(path, language, fields) or self._language

    def own_url(self, entry: Entry) -> str:
        return ""

    def url_of(self, entry: Entry) -> str:
        path = entry.path.with_suffix("")
        if path.name in ("index", "README"):
            return f"/{path.parent.as_posix().strip('.')}/"
        return f"/{path}/" if self._has_folders else f"/{path}.html"


def _matches(path: PurePosixPath, pattern: str) -> bool:
    """Whether a line of `exclude_docs` names a file; lines with `!` are not followed."""
    bare = pattern.lstrip("/")
    names = [path.as_posix()] if pattern.startswith("/") else [path.as_posix(), path.name]
    is_below = path.as_posix().startswith(f"{bare.rstrip('/')}/")
    return is_below or any(fnmatch.fnmatchcase(name, bare) for name in names)
