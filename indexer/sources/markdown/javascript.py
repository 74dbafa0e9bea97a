"""Astro, Next.js and Docusaurus: their configuration is JavaScript, of which strings are read.

Sources: docs.astro.build/en/guides/content-collections, nextjs.org/docs/app/guides/mdx,
docusaurus.io/docs/create-doc and /docs/blog.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.sources.markdown.site import (
    DATED,
    PAGES,
    Entry,
    Root,
    Site,
    js_string,
    read_text,
    said_slug,
    slugified,
)

_NUMBERED = re.compile(r"^\d+\s*[-_.]+\s*(?=[^\d\s])")


class Astro(Site):
    """Content collections and pages; a collection's address is that of its dynamic route."""

    generator: ClassVar[str] = "astro"

    def __init__(self, root: Path, configuration: Path) -> None:
        text = read_text(configuration)
        folders = [root / "src" / "content", root / "src" / "pages"]
        files = [*root.glob("src/content.config.*"), *root.glob("src/content/config.*")]
        bases = _bases(read_text(files[0])) if files else {}
        extra = [(root / each).resolve() for each in bases.values()]
        content = folders[0].resolve()
        roots = [Root(content)] if content.is_dir() else []
        roots += [
            Root(each, PurePosixPath(each.name))
            for each in extra
            if each.is_dir()
            and each.is_relative_to(root.resolve())
            and not each.is_relative_to(content)
        ]
        self._pages = folders[1].resolve()
        if self._pages.is_dir():
            roots.append(Root(self._pages, PurePosixPath("pages")))
        super().__init__(root, roots or [Root(root.resolve())], address=js_string(text, "site"))
        self._base = js_string(text, "base").strip("/")
        self._is_file = js_string(text, "format") == "file"
        self._slash = js_string(text, "trailingSlash") != "never"
        self._routes = _routes(self._pages)
        for name, base in bases.items():  # a post's path has the folder, not the collection
            if name in self._routes:
                self._routes.setdefault(PurePosixPath(base).name, self._routes[name])
        self._is_starlight = "starlight" in text
        self._locales = re.findall(r"(?m)^\s*[\"']?([a-z]{2}(?:-[A-Z]{2})?)[\"']?\s*:\s*\{", text)

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.stem.startswith("_") or any(part[0] == "_" for part in path.parts[:-1]):
            return "excluded by its underscore"
        if path.stem == "404":
            return "error page"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        parts = path.parts[1:3] if len(path.parts) > 1 else ()
        found = next((part for part in parts[:-1] if part in self._locales), "")
        return found or super().language_of(path, language, fields)

    def url_of(self, entry: Entry) -> str:
        if entry.path.parts[0] == "pages":
            parts = list(entry.path.with_suffix("").parts[1:])
        else:
            collection, *rest = entry.path.with_suffix("").parts
            route = self._routes.get(collection)
            if route is None and self._is_starlight and collection == "docs":
                route = ""
            parts = [each for each in (collection if route is None else route).split("/") if each]
            slug = entry.fields.get("slug")
            parts += [slug.strip("/")] if isinstance(slug, str) else map(slugified, rest)
        if parts and parts[-1] == "index":
            parts.pop()
        path = "/".join([self._base, *parts]).strip("/")
        if self._is_file and path:
            return f"/{path}.html"
        return f"/{path}/" if path and self._slash else f"/{path}"


def _bases(config: str) -> dict[str, str]:
    """The folder of each collection that names one, by the collection's name."""
    before, *parts = config.split("defineCollection(")
    found: dict[str, str] = {}
    for part in parts:
        name = re.search(r"[\"']?([\w-]+)[\"']?\s*[:=]\s*$", before)
        base = js_string(part, "base")
        if name and base:
            found[name[1]] = base
        before = part
    return found


def _routes(pages: Path) -> dict[str, str]:
    """The folder of the dynamic route that shows each collection."""
    found: dict[str, str] = {}
    for file in sorted(pages.rglob("[[]*.astro")) if pages.is_dir() else ():
        for name in re.findall(r"getCollection\(\s*[\"'`](\w[\w-]*)", read_text(file)):
            found.setdefault(name, file.parent.relative_to(pages).as_posix().removeprefix("."))
    return found


class Next(Site):
    """MDX pages of `app` or `pages`; of other folders only the paths are known."""

    generator: ClassVar[str] = "next"

    def __init__(self, root: Path) -> None:
        super().__init__(root, [Root(root.resolve())])
        self.notes.append(
            f"{root}: Next.js decides in code where the posts of a folder are shown; "
            "--url-template says it."
        )

    def why_not_content(self, path: PurePosixPath) -> str:
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def why_left_out(self, entry: Entry) -> str:
        if not entry.has_head and len(entry.path.parts) == 1:
            return "about the folder, not content"
        return super().why_left_out(entry)

    def url_of(self, entry: Entry) -> str:
        parts = [part for part in entry.path.with_suffix("").parts if part[0] != "("]
        parts = parts[1:] if parts[0] == "src" else parts
        if parts[0] in ("app", "pages"):
            parts = parts[1:]
            if parts and parts[-1] in ("page", "index"):
                parts.pop()
        elif parts[0] in ("content", "data", "posts", "_posts"):
            parts = parts[1:] if len(parts) > 2 else parts
            parts = parts[:-1] if parts[-1] == "index" else parts
            parts = [*parts[:-1], said_slug(entry) or parts[-1]]
        return "/" + "/".join(parts)


class Docusaurus(Site):
    """The documents, the blog and the pages of the classic preset."""

    generator: ClassVar[str] = "docusaurus"

    def __init__(self, root: Path, configuration: Path) -> None:
        text = read_text(configuration)
        self._base = js_string(text, "baseUrl").strip("/")
        address = js_string(text, "url")
        docs, blog = _option(text, "docs"), _option(text, "blog")
        self._docs_route = docs.get("routeBasePath", "docs").strip("/")
        self._blog_route = blog.get("routeBasePath", "blog").strip("/")
        self._slash = not re.search(r"trailingSlash\s*:\s*false", text)
        self._says_slash = "trailingSlash" in text
        versions = _versions(root)
        folder = f"versioned_docs/version-{versions[0]}" if versions else docs.get("path", "docs")
        places = {
            "docs": root / folder,
            "blog": root / blog.get("path", "blog"),
            "pages": root / "src" / "pages",
        }
        roots = [
            Root(place.resolve(), PurePosixPath(name))
            for name, place in places.items()
            if place.is_dir()
        ]
        super().__init__(root, roots or [Root(root.resolve())], address=address)
        self._locale = js_string(text, "defaultLocale")
        if (root / "i18n").is_dir():
            self.notes.append(f"{root}: translations in i18n are not read; index the built site.")
        if versions:
            self.notes.append(f"{root}: of the versions only {versions[0]}, the latest, is read.")

    def why_not_content(self, path: PurePosixPath) -> str:
        if any(part[0] == "_" for part in path.parts):
            return "excluded by its underscore"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def why_left_out(self, entry: Entry) -> str:
        return "unlisted" if entry.fields.get("unlisted") is True else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return super().language_of(path, language, fields) or self._locale

    def url_of(self, entry: Entry) -> str:
        kind, *parts = entry.path.with_suffix("").parts
        slug = entry.fields.get("slug")
        if kind == "pages":
            parts = parts[:-1] if parts[-1] == "index" else parts
        elif kind == "blog":
            parts = [self._blog_route, *self._blog_path(entry, parts)]
        else:
            folder = [_NUMBERED.sub("", part) for part in parts[:-1]]
            name = _NUMBERED.sub("", parts[-1])
            said = entry.fields.get("id")
            if isinstance(slug, str):
                rest = slug.strip("/").split("/")
                parts = rest if slug.startswith("/") else [*folder, *rest]
            elif name.lower() in ("index", "readme") or (folder and name == folder[-1]):
                parts = folder
            else:
                parts = [*folder, said if isinstance(said, str) else name]
            parts = [self._docs_route, *parts]
        path = "/" + "/".join(part for part in (self._base, *parts) if part)
        return f"{path}/" if self._says_slash and self._slash and path != "/" else path

    def _blog_path(self, entry: Entry, parts: list[str]) -> list[str]:
        slug = entry.fields.get("slug")
        if isinstance(slug, str):
            return slug.strip("/").split("/")
        when = self.local_date(entry)
        name = parts[-2] if parts[-1] == "index" and len(parts) > 1 else parts[-1]
        dates = [f"{when:%Y}", f"{when:%m}", f"{when:%d}"] if when else []
        above = [part for part in parts[: -2 if parts[-1] == "index" else -1] if not part.isdigit()]
        above = [DATED.sub("", part) for part in above]
        return [*dates, *above, DATED.sub("", name)]


def _option(text: str, name: str) -> dict[str, str]:
    """The plain strings of a preset's option, such as `docs: {path: …}`."""
    found = re.search(rf"\b{name}\s*:\s*\{{(.{{0,2000}})", text, re.DOTALL)
    block = found[1] if found else ""
    keys = ("routeBasePath", "path")
    return {key: value for key in keys if (value := js_string(block.partition("}")[0], key))}


def _versions(root: Path) -> list[str]:
    try:
        found = json.loads(read_text(root / "versions.json"))
    except (OSError, ValueError):
        return []
    return [str(each) for each in found] if isinstance(found, list) else []
