"""The site generator that a folder belongs to: where its content is, and where it builds the site.

Addresses follow from rules of each generator, which only its built site shows. So of what a
configuration says, only the address, the language and the time zone of the site are read.
"""

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from indexer.sources.files import IGNORED_FOLDERS, MARKDOWN, files_in

_STEPS_UP = 6
_MAX_BYTES = 1_000_000
_OUTPUTS = ("public", "_site", "site", "dist", "build", "out", "output")
_BASE = "base_?url|base"
_LANGUAGE = "language_?code|default_?(?:content_?)?(?:language|lang|locale)|language|locale|lang"
_URL = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[^\s\"'<>]*)?")
_PATH = re.compile(r"/[\w.~/-]+")
_ZONE = re.compile(r"[A-Z][\w+-]+(?:/[\w+-]+)*")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?")


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator.

    Args:
        files: globs of its configuration in the root of a site.
        output: the folder that it builds by default, `command` builds it.
        content: folders of which the first with Markdown has the posts, separated by `|`; where
            there is none, the root.
        line: what a line of its configuration begins with, where others have a file of this name;
            in `package.json` the name of its package.
        address: the name of the setting that has the site's address.
    """

    name: str
    files: tuple[str, ...]
    output: str
    command: str
    content: str = ""
    line: str = ""
    address: str = ""

    def is_in(self, folder: Path) -> bool:
        """Whether a folder is the root of one of its sites."""
        pattern = re.compile(rf"^[ \t]*[\"']?{self.line}[\"']?\s*[:=]", re.I | re.M)
        for name in self.files:
            if any(not self.line or pattern.search(text_of(file)) for file in folder.glob(name)):
                return True
        return False


_HUGO = ("hugo.toml", "hugo.y*ml", "hugo.json", "config/_default")
_FORMER_HUGO = ("config.toml", "config.y*ml", "config.json")
_JEKYLL = ("_config.y*ml", "_config.toml", "_posts")
_PELICAN = ("pelicanconf.py", "publishconf.py")
_GENERATORS = (
    Generator("Zola", ("config.toml",), "public", "zola build", "content", "base_url", "base_url"),
    Generator("Hugo", _HUGO, "public", "hugo", "content", "", "baseurl"),
    Generator("Hugo", _FORMER_HUGO, "public", "hugo", "content", "(baseurl|theme)", "baseurl"),
    Generator("Jupyter Book", ("_toc.yml",), "_build/html", "jupyter-book build ."),
    Generator("Hexo", ("package.json",), "public", "npx hexo generate", "source", "hexo"),
    Generator("Jekyll", _JEKYLL, "_site", "jekyll build", address="url"),
    Generator("MkDocs", ("mkdocs.y*ml",), "site", "mkdocs build", "docs", "", "site_url"),
    Generator("Quarto", ("_quarto.y*ml",), "_site", "quarto render", address="site-url"),
    Generator("Lektor", ("*.lektorproject",), "", "lektor build -O FOLDER", "content", "", "url"),
    Generator("Nikola", ("conf.py",), "output", "nikola build", "", "BLOG_TITLE", "SITE_URL"),
    Generator("Sphinx", ("conf.py",), "_build/html", "make html", "", "extensions", "html_baseurl"),
    Generator("Pelican", _PELICAN, "output", "pelican content", "content", "", "SITEURL"),
    Generator("mdBook", ("book.toml",), "book", "mdbook build", "src"),
    Generator("VitePress", (".vitepress/config.*",), ".vitepress/dist", "npx vitepress build"),
    Generator("VuePress", (".vuepress/config.*",), ".vuepress/dist", "npx vuepress build"),
    Generator("Astro", ("astro.config.*",), "dist", "npx astro build", "src/content", "", "site"),
    Generator("Docusaurus", ("docusaurus.config.*",), "build", "npm run build", address="url"),
    Generator("Eleventy", ("*eleventy*.*js",), "_site", "npx @11ty/eleventy", "src|content|site"),
    Generator("Next.js", ("next.config.*",), "out", "npx next build", "src/content|content|pages"),
    Generator(
        "Gatsby", ("gatsby-config.*",), "public", "npx gatsby build", "content", "", "siteUrl"
    ),
)


@dataclass(frozen=True)
class Site:
    """The root of a site."""

    folder: Path
    generator: Generator

    @cached_property
    def content(self) -> Path:
        """The folder of its posts."""
        folders = [self.folder / name for name in self.generator.content.split("|") if name]
        places = filter(Path.is_dir, folders)
        return next((folder for folder in places if files_in(folder, MARKDOWN)), self.folder)

    @property
    def how_to_build(self) -> str:
        """What to do to have the built site."""
        folder = self.generator.output
        return f"`{self.generator.command}` builds the site" + (f" in {folder}" if folder else "")

    @property
    def built(self) -> Path | None:
        """The folder that it has built; None if there is none with a front page."""
        places = (self.folder / name for name in (self.generator.output, *_OUTPUTS) if name)
        return next((place for place in places if (place / "index.html").is_file()), None)

    @cached_property
    def files(self) -> list[Path]:
        """The files of its configuration, as far as they are text."""
        names = (*self.generator.files, "config/_default/*.*")
        return [file for name in names for file in sorted(self.folder.glob(name)) if file.is_file()]

    @cached_property
    def address(self) -> str:
        """The URL of the front page; "" if the configuration does not say it."""
        url = self._setting(self.generator.address, _URL).rstrip("/")
        base = self._setting(_BASE, _PATH).rstrip("/")
        return url if url.endswith(base) or not url else f"{url}{base}"

    @cached_property
    def language(self) -> str:
        """The language of posts that name none; "" if the configuration does not say it."""
        return self._setting(_LANGUAGE, _LANGUAGE_TAG).replace("_", "-")

    @cached_property
    def zone(self) -> tzinfo:
        """The time zone of dates without one; UTC if there is none, as on a build server."""
        name = self._setting("time_?zone", _ZONE)
        try:
            return ZoneInfo(name) if name else UTC
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC

    def has(self, place: Path) -> bool:
        """Whether a folder is a part of the sources, and not of what was built from them."""
        if place == self.folder:
            return True
        path = place.relative_to(self.folder)
        built = {self.generator.output, *_OUTPUTS} - set(self.generator.content.split("|"))
        is_built = any(str(folder) in built for folder in (path, *path.parents))
        return not is_built and not any(
            (name[0] in "._" and name not in ("_posts", "_drafts")) or name in IGNORED_FOLDERS
            for name in path.parts
        )

    def _setting(self, name: str, value: re.Pattern[str]) -> str:
        """The value of the settings with such a name; "" if none has a value of that form.

        Of several lines the one with the least indentation counts: `url` is the site's at the top
        of a configuration, and that of something else further in.
        """
        pattern = re.compile(
            rf"^(?P<indent>[ \t]*)(?!#|//)(?:[^\n]*[{{,(][ \t]*)?[\"']?(?:{name})[\"']?"
            rf"[ \t]*[:=][ \t]*[\"'`]?(?P<value>{value.pattern})(?=[\"'`\s,;#)}}]|$)",
            re.IGNORECASE | re.MULTILINE,
        )
        found = [
            match
            for file in self.files
            for match in (pattern.finditer(text_of(file)) if name else ())
            if name != "url" or "y" not in file.suffix or not match["indent"]
        ]
        least = min(found, key=lambda match: len(match["indent"]), default=None)
        return least["value"] if least else ""


def site_of(place: Path) -> Site | None:
    """The site whose sources a folder or a single post belongs to, looked for upwards from there.

    None if there is no configuration, or if the place is in what was built.
    """
    place = place.resolve()
    start = place if place.is_dir() else place.parent
    for folder in (start, *list(start.parents)[:_STEPS_UP]):
        if site := _site_in(folder):
            return site if site.has(start) else None
        if (folder / ".git").exists():
            break
    return None


def sites_in(place: Path) -> list[Site]:
    """The sites with their roots in the folders of a folder, such as `docs` and `website`."""
    try:
        folders = sorted(path for path in place.resolve().iterdir() if path.is_dir())
    except OSError:
        return []
    sites = (_site_in(path) for path in folders if path.name[0] not in "._")
    return [site for site in sites if site]


def _site_in(folder: Path) -> Site | None:
    found = (generator for generator in _GENERATORS if generator.is_in(folder))
    return next((Site(folder, generator) for generator in found), None)


def text_of(file: Path) -> str:
    """The beginning of a file; "" if it cannot be read."""
    try:
        if not file.is_file():
            return ""
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.read(_MAX_BYTES)
    except OSError:
        return ""
