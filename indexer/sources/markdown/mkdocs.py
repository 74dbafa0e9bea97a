"""MkDocs: mkdocs.org/user-guide/configuration and /user-guide/writing-your-docs."""

import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.sources.markdown.site import Entry, Root, Site, read_config

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
        self._folders = config.get("use_directory_urls") is not False
        self._titles = dict(_navigation(config.get("nav")))
        excluded = [config.get("exclude_docs"), config.get("draft_docs")]
        self._excluded = [
            line.strip() for each in excluded if isinstance(each, str) for line in each.split("\n")
        ]
        theme = config.get("theme")
        self._language = str(theme.get("language") or "") if isinstance(theme, dict) else ""
        if "blog" in str(config.get("plugins")):
            self.notes.append(
                f"{root}: the addresses of Material's blog are computed; build the site and index "
                "the folder that it builds (site)."
            )

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in (".html", ".htm", ".mdx"):
            return "not Markdown"
        name = path.as_posix()
        for pattern in self._excluded:
            bare = pattern.lstrip("/")
            if (
                bare
                and bare[0] not in "#!"
                and (
                    fnmatch.fnmatchcase(name, bare)
                    or (not pattern.startswith("/") and fnmatch.fnmatchcase(path.name, bare))
                    or name.startswith(f"{bare.rstrip('/')}/")
                )
            ):
                return "excluded by the configuration"
        if path.name == "README.md" and any(
            (root.folder / path.parent / "index.md").exists() for root in self.roots
        ):
            return "README.md beside index.md"
        return ""

    def why_left_out(self, entry: Entry) -> str:
        return ""

    def language_of(self, path: PurePosixPath, language: str, fields: Any) -> str:
        return super().language_of(path, language, fields) or self._language

    def title_of(self, path: PurePosixPath) -> str:
        return self._titles.get(path.as_posix(), "")

    def own_url(self, entry: Entry) -> str:
        return ""

    def url_of(self, entry: Entry) -> str:
        path = entry.path.with_suffix("")
        if path.name in ("index", "README"):
            bare = path.parent.as_posix().strip(".")
            return f"/{bare}/" if bare else "/"
        return f"/{path}/" if self._folders else f"/{path}.html"


def _navigation(nav: Any, depth: int = 0) -> list[tuple[str, str]]:
    """Path and title of every page that the navigation names with a title."""
    found = []
    for each in nav if isinstance(nav, list) and depth < 20 else ():
        for title, inner in each.items() if isinstance(each, dict) else ():
            if isinstance(inner, str):
                found.append((inner, str(title)))
            else:
                found += _navigation(inner, depth + 1)
    return found
