"""VitePress, VuePress and mdBook: every page of a folder, at the address of its path.

Of Sphinx, Quarto, Lektor and Nikola only the Markdown files are read.

Sources: vitepress.dev/guide/routing, vuepress.vuejs.org/guide/page.html, and
rust-lang.github.io/mdBook/format.
"""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.sources.markdown.front_matter import FrontMatter, split_front_matter
from indexer.sources.markdown.site import (
    OTHER_MARKUP,
    PAGES,
    Entry,
    Root,
    Site,
    glob_pattern,
    is_error_page,
    js_string,
    read_config,
    read_text,
)

_LISTED = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\(\s*<?([^)>]*?)>?\s*\)")
_INCLUDE = re.compile(
    r"(?<!\\)\{\{#(?:include|rustdoc_include|playground|title)\b[^{}\n]{0,500}\}\}\n?"
)
_LOCALE = re.compile(r"(?m)^\s*[\"']?/?([a-z]{2}(?:-[A-Za-z]+)?)/?[\"']?\s*:\s*\{")
_STRINGS = re.compile(r"[\"'`]([^\"'`$]+)[\"'`]")


class VitePress(Site):
    """The pages beside a folder `.vitepress` or `.vuepress`."""

    generator: ClassVar[str] = "vitepress"

    def __init__(self, root: Path, settings: Path) -> None:
        text = "".join(map(read_text, _configurations(settings)))
        self._is_vuepress = settings.name == ".vuepress"
        content = (root / js_string(text, "srcDir")).resolve()
        address = js_string(text, "hostname")  # of the sitemap
        roots = [Root(content if content.is_dir() else root.resolve())]
        super().__init__(root, roots, address=address)
        self.base = js_string(text, "base").strip("/")
        self._clean = bool(re.search(r"\bcleanUrls\s*:\s*true\b", text))
        listed = re.search(r"\bsrcExclude\s*:\s*\[([^\]]*)\]", text)
        self._excluded = [
            glob_pattern(each) for each in _STRINGS.findall(listed[1] if listed else "")
        ]
        self._locales = _LOCALE.findall(text)
        self._language = js_string(text, "lang")
        if re.search(r"\b(?:rewrites|permalinkPattern)\b", text):
            self.notes.append(
                f"{root}: rewrites of addresses in JavaScript are not followed; "
                "index the built site, or say them with --url-template."
            )

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in PAGES:
            return "HTML page, not Markdown"
        if any(each.fullmatch(path.as_posix()) for each in self._excluded):
            return "excluded by the configuration"
        if "[" in path.as_posix():
            return "template of a dynamic route"
        return "error page" if is_error_page(path) else ""

    def why_left_out(self, entry: Entry) -> str:
        return ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        if path.parts[0] in self._locales:
            return path.parts[0]
        return super().language_of(path, language, fields) or self._language

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("permalink") if self._is_vuepress else None
        return f"/{self.base}/{said.lstrip('/')}" if isinstance(said, str) else ""

    def url_of(self, entry: Entry) -> str:
        path = entry.path.with_suffix("")
        if path.name == "index" or (self._is_vuepress and path.name.lower() == "readme"):
            return f"/{self.base}/{path.parent.as_posix().removeprefix('.')}/"
        return f"/{self.base}/{path}" + ("" if self._clean else ".html")


class MdBook(Site):
    """The chapters that `SUMMARY.md` lists; other files are not rendered."""

    generator: ClassVar[str] = "mdbook"

    def __init__(self, root: Path) -> None:
        config = read_config(root / "book.toml")
        book = config.get("book")
        book = book if isinstance(book, dict) else {}
        source = (root / str(book.get("src") or "src")).resolve()
        super().__init__(root, [Root(source)])
        output = config.get("output")
        html = output.get("html") if isinstance(output, dict) else None
        said = html.get("site-url") if isinstance(html, dict) else None
        self.base = said.strip("/") if isinstance(said, str) else ""
        self._language = str(book.get("language") or "")
        try:
            summary = read_text(source / "SUMMARY.md")
        except OSError:
            summary = ""
        self._titles = {
            PurePosixPath(path).as_posix(): title
            for title, path in _LISTED.findall(summary)
            if path
        }

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.as_posix() == "SUMMARY.md":
            return "list page"
        return "" if path.as_posix() in self._titles else "not in SUMMARY.md"

    def split(self, content: str) -> FrontMatter:
        found = split_front_matter(content)
        return FrontMatter(found.fields, _INCLUDE.sub("", found.text))

    def why_left_out(self, entry: Entry) -> str:
        return ""

    def title_of(self, path: PurePosixPath) -> str:
        return re.sub(r"\\(.)", r"\1", self._titles.get(path.as_posix(), ""))

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return self._language

    def own_url(self, entry: Entry) -> str:
        return ""

    def url_of(self, entry: Entry) -> str:
        path = entry.path.with_suffix("")
        if path.name in ("index", "README"):
            return f"/{self.base}/{path.parent.as_posix().removeprefix('.')}/"
        return f"/{self.base}/{path}.html"


class BuiltOnly(Site):
    """A site whose pages are written in other formats than Markdown as well, or only in them."""

    formats: ClassVar[str]

    def __init__(self, root: Path, address: str = "") -> None:
        super().__init__(root, [Root(root.resolve())], address=address)
        self.notes.append(f"{root}: {self.formats} are not read; index the built site.")

    def skips_folder(self, path: PurePosixPath) -> bool:
        return path.as_posix() == self.output or super().skips_folder(path)

    def why_not_content(self, path: PurePosixPath) -> str:
        return "HTML page, not Markdown" if path.suffix in PAGES else ""


class Quarto(BuiltOnly):
    """A site with `_quarto.yml`; what begins with an underscore is a part of other pages."""

    generator: ClassVar[str] = "quarto"
    formats: ClassVar[str] = "Quarto's formats (.qmd, .ipynb)"

    def __init__(self, root: Path) -> None:
        config = read_config(root / "_quarto.yml")
        website, project = (config.get(name) for name in ("website", "project"))
        said = website.get("site-url") if isinstance(website, dict) else None
        super().__init__(root, str(said or ""))
        output = project.get("output-dir") if isinstance(project, dict) else None
        self.output = str(output or "_site").strip("/")

    def why_not_content(self, path: PurePosixPath) -> str:
        if any(part[0] == "_" for part in path.parts):
            return "excluded by its underscore"
        return super().why_not_content(path)

    def url_of(self, entry: Entry) -> str:
        return f"/{entry.path.with_suffix('')}.html"


class Lektor(BuiltOnly):
    """A site with a file `*.lektorproject`."""

    generator: ClassVar[str] = "lektor"
    formats: ClassVar[str] = "Lektor's pages (contents.lr)"

    def __init__(self, project: Path) -> None:
        said = re.search(r"(?m)^url\s*=\s*(\S+)", read_text(project))
        super().__init__(project.parent, said[1] if said else "")


class Nikola(BuiltOnly):
    """A site with Nikola's `conf.py`."""

    generator: ClassVar[str] = "nikola"
    unread: ClassVar[tuple[str, ...]] = (*OTHER_MARKUP, ".txt")
    formats: ClassVar[str] = "Nikola's formats (.rst, .txt)"

    def __init__(self, root: Path) -> None:
        said = re.search(r"(?m)^SITE_URL\s*=\s*[\"']([^\"']+)", read_text(root / "conf.py"))
        super().__init__(root, said[1] if said else "")
        self.output = "output"


def is_nikola(folder: Path) -> bool:
    """Whether a folder's `conf.py` is that of Nikola, and not that of Sphinx."""
    file = folder / "conf.py"
    return file.is_file() and bool(re.search(r"(?m)^BLOG_TITLE\s*=", read_text(file)))


class Sphinx(BuiltOnly):
    """Sphinx with MyST, or Jupyter Book: the addresses are followed, the directives are not."""

    generator: ClassVar[str] = "sphinx"
    formats: ClassVar[str] = "other formats of Sphinx and Jupyter Book (.rst, .ipynb)"

    def skips_folder(self, path: PurePosixPath) -> bool:
        return path.as_posix() in ("_build", "build", "_templates", "_static")

    def own_url(self, entry: Entry) -> str:
        return ""

    def url_of(self, entry: Entry) -> str:
        return f"/{entry.path.with_suffix('')}.html"


def vue_settings(folder: Path) -> Path | None:
    """The folder with the configuration of VitePress or VuePress."""
    places = (folder / name for name in (".vitepress", ".vuepress"))
    return next((place for place in places if place.is_dir()), None)


def _configurations(settings: Path) -> list[Path]:
    places = [settings, settings / "config"]
    return [file for place in places for file in sorted(place.glob("*.[jmtc]*")) if file.is_file()]
