"""MkDocs: mkdocs.org/user-guide/configuration and /user-guide/writing-your-docs."""

import fnmatch
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.sources.markdown.config import mapping, read_config, tables
from indexer.sources.markdown.site import Entry, Root, Site

CONFIGURATION = ("mkdocs.yml", "mkdocs.yaml")


class MkDocs(Site):
    """A site with `mkdocs.yml`; titles of the navigation come before those of the pages."""

    generator = "MkDocs"

    def __init__(self, root: Path) -> None:
        config: dict[str, Any] = {}
        for name in CONFIGURATION:
            config = config or read_config(root / name)
        docs = (root / str(config.get("docs_dir") or "docs")).resolve()
        super().__init__(root, [Root(docs)], address=str(config.get("site_url") or ""))
        self._has_folders = config.get("use_directory_urls") is not False
        self._titles = dict(_navigation(config.get("nav")))
        patterns = f"{config.get('exclude_docs') or ''}\n{config.get('draft_docs') or ''}"
        self._excluded = [line.strip() for line in patterns.split("\n") if line.strip(" /")]
        self._language = str(mapping(config.get("theme")).get("language") or "")
        if "blog" in str(config.get("plugins")):
            self.notes.append(
                f"{root}: the addresses of Material's blog are computed; build the site and index "
                "the folder that it builds (site)."
            )

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in (".html", ".htm", ".mdx"):
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

    def title_of(self, path: PurePosixPath) -> str:
        return self._titles.get(path.as_posix(), "")

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


def _navigation(nav: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Path and title of every page that the navigation names with a title."""
    for table in tables(nav) if depth < 20 else ():
        for title, inner in table.items():
            if isinstance(inner, str):
                yield inner, str(title)
            else:
                yield from _navigation(inner, depth + 1)
