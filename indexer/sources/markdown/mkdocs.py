"""MkDocs: mkdocs.org/user-guide/configuration and /user-guide/writing-your-docs.

The blog is that of Material: squidfunk.github.io/mkdocs-material/plugins/blog.
"""

import fnmatch
import html
import posixpath
import re
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.sources.markdown.site import Entry, Root, Site, read_config, strings

CONFIGURATION = ("mkdocs.yml", "mkdocs.yaml")
_UNICODE = {"yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d"}
"""Parts of a date in Unicode's notation, for `strftime`."""


class MkDocs(Site):
    """A site with `mkdocs.yml`; titles of the navigation come before those of the pages."""

    generator: ClassVar[str] = "mkdocs"

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
        self._blog = _blog_options(config.get("plugins"))

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
        if self._blog is not None:
            folder = str(self._blog.get("blog_dir") or "blog")
            said = str(self._blog.get("post_dir") or "{blog}/posts").replace("{blog}", folder)
            if path.is_relative_to(posixpath.normpath(said)):
                path = PurePosixPath(folder) / self._post_path(entry, self._blog)
                return f"/{path}/" if self._folders else f"/{path}.html"
        if path.name in ("index", "README"):
            bare = path.parent.as_posix().strip(".")
            return f"/{bare}/" if bare else "/"
        return f"/{path}/" if self._folders else f"/{path}.html"

    def _post_path(self, entry: Entry, options: dict[str, Any]) -> str:
        """The path of a post of the blog plugin, by its options."""
        when = self.local_date(entry)
        date = str(options.get("post_url_date_format") or "yyyy/MM/dd")
        date = re.sub("y{4}|yy|M{2,4}|dd", lambda part: _UNICODE[part[0]], date)
        most = str(options.get("post_url_max_categories", 1))
        categories = strings(entry.fields.get("categories"))
        slug = entry.fields.get("slug")
        values = {
            "date": when.strftime(date) if when else "",
            "slug": slug if isinstance(slug, str) else _slug(_title(entry)),
            "file": entry.path.stem,
            "categories": "/".join(map(_slug, categories[: int(most) if most.isdecimal() else 1])),
        }
        try:
            path = str(options.get("post_url_format") or "{date}/{slug}").format(**values)
        except (KeyError, ValueError, IndexError, AttributeError):
            path = f"{values['date']}/{values['slug']}"
        return posixpath.normpath(path.strip("/"))


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


def _blog_options(plugins: Any) -> dict[str, Any] | None:
    """The options of Material's blog plugin; None without it."""
    for each in plugins if isinstance(plugins, list) else [plugins]:
        for name, options in (each if isinstance(each, dict) else {each: None}).items():
            if name in ("blog", "material/blog"):
                found = options if isinstance(options, dict) else {}
                return None if found.get("enabled") is False else found
    return None


def _title(entry: Entry) -> str:
    """The title from which the blog plugin makes the slug, before the Markdown is rendered."""
    if said := entry.fields.get("title"):
        return str(said)
    first = entry.text.strip().partition("\n")[0].strip()
    return first.lstrip("# ") if first.startswith("# ") else entry.path.stem.replace("_", " ")


def _slug(text: str) -> str:
    """As pymdownx.slugs.slugify(case="lower"), which does not join hyphens."""
    plain = re.sub(r"</?[^>]*>", "", html.unescape(unicodedata.normalize("NFC", text)))
    return re.sub(r"[^\w\- ]", "", plain).strip().lower().replace(" ", "-")
