"""Astro, Next.js and Docusaurus: their configuration is JavaScript, of which strings are read.

Sources: docs.astro.build/en/guides/content-collections, nextjs.org/docs/app/guides/mdx,
docusaurus.io/docs/create-doc and /docs/blog.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.sources.markdown.front_matter import FrontMatter, javascript_fields
from indexer.sources.markdown.site import (
    LANGUAGES,
    MARKDOWN,
    PAGES,
    Entry,
    Root,
    Site,
    is_error_page,
    js_string,
    js_strings,
    read_text,
    said_slug,
    slugified,
)

_DATED_PATH = re.compile(r"(.*)(\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(.*?)")
_LOCALE = re.compile(r"(?m)^\s*[\"']?([a-z]{2}(?:-[A-Za-z]{2,4})?)[\"']?\s*:\s*\{")
_EXPORTED = re.compile(
    r"^export const (?:metadata|meta|frontmatter)\b[^={]*=\s*\{(.{0,5000}?)^\}",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
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
        super().__init__(root, roots or [Root(root.resolve())], address=_url(text, "site"))
        self.base = js_string(text, "base").strip("/")
        self._is_file = js_string(text, "format") == "file"
        self._slash = js_string(text, "trailingSlash") != "never"
        self._routes = _routes(self._pages)
        for name, base in bases.items():  # a post's path has the folder, not the collection
            if name in self._routes:
                self._routes.setdefault(PurePosixPath(base).name, self._routes[name])
        self._is_starlight = "starlight" in text
        known = {*self._routes, "pages", "docs" if self._is_starlight else ""}
        names = _folders(content) + [root.target.name for root in roots if root.target.name]
        if guessed := [name for name in names if name not in known]:
            self.notes.append(
                f"{root}: no route in src/pages names the collection {', '.join(guessed)}, so its "
                "addresses are guessed; index the built site, or say them with --url-template."
            )
        self._locales = _LOCALE.findall(text)
        main = re.search(r"\broot\s*:\s*\{([^{}]*)\}", text)
        self._language = js_string(main[1], "lang") if main else js_string(text, "defaultLocale")

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.stem.startswith("_") or any(part[0] == "_" for part in path.parts[:-1]):
            return "excluded by its underscore"
        if is_error_page(path):
            return "error page"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        first = path.parts[1].lower() if len(path.parts) > 2 else ""
        if first in LANGUAGES or first in map(str.lower, self._locales):
            return first
        return super().language_of(path, language, fields) or self._language

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
        path = "/".join([self.base, *parts]).strip("/")
        if self._is_file and path:
            return f"/{path}.html"
        return f"/{path}/" if path and self._slash else f"/{path}"


def _url(text: str, name: str) -> str:
    """The first URL that has this name; options of plugins may be called so too."""
    if said := next((each for each in js_strings(text, name) if each.startswith("http")), ""):
        return said
    found = re.search(rf"\b{name}\s*[:=][^\n]*?[\"'`](https?://[^\"'`$\s]+)", text)  # `x || "…"`
    return found[1] if found else ""


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
        # The collection may be named in a module that the route imports.
        found.setdefault(file.parent.name, file.parent.relative_to(pages).as_posix())
    return found


def _folders(place: Path) -> list[str]:
    """The names of the folders with posts in a folder."""
    found = sorted(place.iterdir()) if place.is_dir() else []
    return [each.name for each in found if each.is_dir() and _has_markdown(each)]


_NEXT_FOLDERS = ("app", "pages", "content", "contents", "data", "posts", "_posts")


class Next(Site):
    """MDX pages of `app` or `pages`; of other folders only the paths are known."""

    generator: ClassVar[str] = "next"

    def __init__(self, root: Path) -> None:
        places = [root / folder / name for folder in ("src", ".") for name in _NEXT_FOLDERS]
        found = [place.resolve() for place in places if _has_markdown(place)]
        roots = [Root(each, PurePosixPath(each.relative_to(root.resolve()))) for each in found]
        super().__init__(root, roots or [Root(root.resolve())])
        self.notes.append(
            f"{root}: {self.generator.capitalize()} decides in code where posts are shown; "
            "index the built site, or say it with --url-template."
        )

    def why_not_content(self, path: PurePosixPath) -> str:
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def split(self, content: str) -> FrontMatter:
        """The same; MDX without front matter may export an object with these fields."""
        found = super().split(content)
        exported = _EXPORTED.search(found.text) if found.fields is None else None
        if exported is None:
            return found
        return FrontMatter(javascript_fields(exported[1]), found.text)

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
        elif parts[0] in ("content", "contents", "data"):
            parts = parts[1:-1] if parts[-1] == "index" else parts[1:]
            parts = [*parts[:-1], said_slug(entry) or parts[-1]] if parts else []
        elif parts[0] == "_posts":
            parts = ["posts", *parts[1:-1], said_slug(entry) or parts[-1]]
        elif parts[0] == "public":
            parts = parts[1:]
        parts = parts[:-1] if parts and parts[-1] == "index" else parts
        return "/" + "/".join(parts)


def _has_markdown(folder: Path) -> bool:
    return any(file.suffix in MARKDOWN for file in folder.rglob("*.m*"))


class Gatsby(Next):
    """Markdown files; `gatsby-node` decides in code where they are shown."""

    generator: ClassVar[str] = "gatsby"


class Docusaurus(Site):
    """The documents, the blog and the pages of the classic preset."""

    generator: ClassVar[str] = "docusaurus"
    all_mdx: ClassVar[bool] = True

    def __init__(self, root: Path, configuration: Path) -> None:
        text = read_text(configuration)
        address = _url(text, "url")
        docs, blog = _option(text, "docs"), _option(text, "blog")
        self._slash = not re.search(r"trailingSlash\s*:\s*false", text)
        self._says_slash = "trailingSlash" in text
        versions = _versions(root)
        latest = docs.get("lastVersion") or next(iter(versions), "current")
        folder = f"versioned_docs/version-{latest}"
        if latest == "current" or not (root / folder).is_dir():
            folder, latest = docs.get("path", "docs"), "current"
        # The kind, folder and route of each part of the site, by the first part of its paths.
        self._parts = {
            "docs": ("docs", folder, docs.get("routeBasePath", "docs")),
            "blog": ("blog", blog.get("path", "blog"), blog.get("routeBasePath", "blog")),
            "pages": ("pages", "src/pages", ""),
        }
        for kind, said in _plugins(text):
            name = said.get("id") or said.get("path", kind).strip("./").replace("/", "-")
            if name not in self._parts:
                path, route = said.get("path", kind), said.get("routeBasePath", kind)
                self._parts[name] = (kind, path, "" if kind == "pages" else route)
        roots = [
            Root((root / place).resolve(), PurePosixPath(name))
            for name, (_, place, _) in self._parts.items()
            if (root / place).is_dir()
        ]
        super().__init__(root, roots or [Root(root.resolve())], address=address)
        self.base = js_string(text, "baseUrl").strip("/")
        self._locale = js_string(text, "defaultLocale")
        if (root / "i18n").is_dir():
            self.notes.append(f"{root}: translations in i18n are not read; index the built site.")
        if versions:
            self.notes.append(f"{root}: of several versions only one is read, {latest}.")

    def why_not_content(self, path: PurePosixPath) -> str:
        if any(part[0] == "_" for part in path.parts):
            return "excluded by its underscore"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def why_left_out(self, entry: Entry) -> str:
        return "unlisted" if entry.fields.get("unlisted") is True else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return super().language_of(path, language, fields) or self._locale

    def url_of(self, entry: Entry) -> str:
        name, *parts = entry.path.with_suffix("").parts
        kind, _, route = self._parts.get(name, ("pages", "", ""))
        if kind == "pages":
            parts = parts[:-1] if parts and parts[-1] == "index" else parts
        elif kind == "blog":
            parts = self._blog_path(entry, parts)
        else:
            parts = self._docs_path(entry, parts)
        path = "/" + "/".join(part for part in (self.base, route.strip("/"), *parts) if part)
        return f"{path}/" if self._says_slash and self._slash and path != "/" else path

    def _docs_path(self, entry: Entry, parts: list[str]) -> list[str]:
        slug, said = entry.fields.get("slug"), entry.fields.get("id")
        folder = [_NUMBERED.sub("", part) for part in parts[:-1]]
        name = _NUMBERED.sub("", parts[-1])
        if isinstance(slug, str):
            rest = slug.strip("/").split("/")
            return rest if slug.startswith("/") else [*folder, *rest]
        if name.lower() in ("index", "readme") or (folder and name == folder[-1]):
            return folder
        return [*folder, said if isinstance(said, str) else name]

    def _blog_path(self, entry: Entry, parts: list[str]) -> list[str]:
        slug = entry.fields.get("slug")
        if isinstance(slug, str):
            return slug.strip("/").split("/")
        # Only a date in the path is in the address, before everything else.
        parts = parts[:-1] if parts[-1] == "index" and len(parts) > 1 else parts
        found = _DATED_PATH.fullmatch("/".join(parts))
        if found is None:
            return parts
        return [*re.split(r"[-/]", found[2]), *found[1].split("/"), *found[3].split("/")]


def _option(text: str, name: str) -> dict[str, str]:
    """The plain strings of a preset's option, such as `docs: {path: …}`."""
    for found in re.finditer(rf"\b{name}[\"']?\s*:\s*\{{", text):
        values = _strings_of(_block(text, found.end()), text)
        if values:
            return values
    return {}


def _plugins(text: str) -> list[tuple[str, dict[str, str]]]:
    """Kind and plain strings of further instances of the plugins for documents and blogs."""
    found = re.finditer(r"plugin-content-(docs|blog|pages)[\"'`)\s,]+\{", text)
    return [(each[1], _strings_of(_block(text, each.end()), text)) for each in found]


def _block(text: str, start: int) -> str:
    """The text from `start` to the brace that closes the one before it, without inner blocks."""
    kept = []
    depth = 1
    for part in re.split(r"([{}])", text[start : start + 20_000]):
        depth += (part == "{") - (part == "}")
        if not depth:
            break
        if depth == 1:
            kept.append(part)
    return "".join(kept)


def _strings_of(block: str, text: str) -> dict[str, str]:
    keys = ("routeBasePath", "path", "id", "lastVersion")
    return {key: value for key in keys if (value := js_string(block, key, text))}


def _versions(root: Path) -> list[str]:
    try:
        found = json.loads(read_text(root / "versions.json"))
    except (OSError, ValueError):
        return []
    return [str(each) for each in found] if isinstance(found, list) else []
