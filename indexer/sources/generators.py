"""The site generator that a folder belongs to: where its content is, and where it builds the site.

Addresses follow from rules of each generator, which only its built site shows. So of what a
configuration says, only the address, the language and the time zone of the site are read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from indexer.sources.files import IGNORED_FOLDERS, MARKDOWN, files_in

_STEPS_UP = 6
_MAX_CHARACTERS = 1_000_000
_OUTPUTS = ("public", "_site", "site", "dist", "build", "out", "output", "book")
_BUILT = (*_OUTPUTS, "_build/html", ".vitepress/dist")
_BASE = "base_?url|base"
_LANGUAGE = "language_?code|default_?(?:content_?)?(?:language|lang|locale)|language|locale|lang"
_URL = r"https?://[\w.-]+(?::\d+)?(?:/[^\s\"'<>]*)?"


class _Generator(NamedTuple):
    """How a generator is told: by `files` in the root, and a line that begins with `line`."""

    name: str
    files: str
    line: str
    command: str
    content: str = ""
    address: str = ""


_HUGO = "hugo.toml hugo.y*ml hugo.json config/_default/*.*"
_FORMER_HUGO = "config.toml config.y*ml config.json"
_GENERATORS = (
    _Generator("Zola", "config.toml", "base_url", "zola build", "content", "base_url"),
    _Generator("Hugo", _HUGO, "", "hugo", "content", "baseurl"),
    _Generator("Hugo", _FORMER_HUGO, "(baseurl|theme)", "hugo", "content", "baseurl"),
    _Generator("Hexo", "package.json", "hexo", "npx hexo generate", "source"),
    _Generator("Jekyll", "_config.y*ml _posts", "", "jekyll build", "", "url"),
    _Generator("MkDocs", "mkdocs.y*ml", "", "mkdocs build", "docs", "site_url"),
    _Generator("Quarto", "_quarto.y*ml", "", "quarto render", "", "site-url"),
    _Generator("Nikola", "conf.py", "BLOG_TITLE", "nikola build", "", "SITE_URL"),
    _Generator("Sphinx", "conf.py", "extensions", "make html", "", "html_baseurl"),
    _Generator("Pelican", "pelicanconf.py publishconf.py", "", "pelican", "content", "SITEURL"),
    _Generator("mdBook", "book.toml", "", "mdbook build", "src"),
    _Generator("VitePress", ".vitepress/config.*", "", "npx vitepress build"),
    _Generator("Astro", "astro.config.*", "", "npx astro build", "src/content", "site"),
    _Generator("Docusaurus", "docusaurus.config.*", "", "npm run build", "", "url"),
    _Generator("Eleventy", "*eleventy*.*js", "", "npx @11ty/eleventy", "src content site"),
    _Generator("Gatsby", "gatsby-config.*", "", "npx gatsby build", "content", "siteUrl"),
)


@dataclass(frozen=True, slots=True)
class Site:
    """The root of a site: its configuration, its posts, and the folder that it has built.

    `address`, `language` and `zone` are "" and UTC where the configuration does not say them.
    """

    generator: str
    command: str
    folder: Path
    config: Sequence[Path]
    content: Path
    built: Path | None
    address: str
    language: str
    zone: tzinfo

    def has(self, place: Path) -> bool:
        """Whether a folder is a part of the sources, and not of what was built from them."""
        parts = place.relative_to(self.folder).parts
        if not parts or (self.content != self.folder and place.is_relative_to(self.content)):
            return True
        return parts[0] not in _OUTPUTS and not any(
            (name[0] in "._" and name not in ("_posts", "_drafts")) or name in IGNORED_FOLDERS
            for name in parts
        )


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
    folders = sorted(path for path in place.resolve().glob("*") if path.is_dir())
    sites = (_site_in(path) for path in folders if path.name[0] not in "._")
    return [site for site in sites if site]


def _site_in(folder: Path) -> Site | None:
    for generator in _GENERATORS:
        found = [path for glob in generator.files.split() for path in sorted(folder.glob(glob))]
        line = re.compile(rf"^[ \t]*[\"']?{generator.line}[\"']?\s*[:=]", re.I | re.M)
        if any(not generator.line or line.search(text_of(path)) for path in found):
            break
    else:
        return None
    config = [path for path in found if path.is_file()]
    places = (folder / name for name in generator.content.split())
    contents = (place for place in places if place.is_dir() and files_in(place, MARKDOWN))
    builds = (folder / name for name in _BUILT)
    return Site(
        generator.name,
        generator.command,
        folder,
        config,
        next(contents, folder),
        next((place for place in builds if (place / "index.html").is_file()), None),
        _address(config, generator.address),
        _setting(config, _LANGUAGE, r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?").replace("_", "-"),
        _zone(_setting(config, "time_?zone", r"[A-Z][\w+-]+(?:/[\w+-]+)*")),
    )


def _address(config: Sequence[Path], name: str) -> str:
    url = _setting(config, name, _URL).rstrip("/") if name else ""
    base = _setting(config, _BASE, r"/[\w.~/-]+").rstrip("/")
    return url if url.endswith(base) or not url else f"{url}{base}"


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _setting(config: Sequence[Path], name: str, value: str) -> str:
    """The value of the settings with such a name; "" if none has a value of that form.

    Of several lines the one with the least indentation counts: `url` is the site's at the top of a
    configuration, and that of something else further in.
    """
    pattern = re.compile(
        rf"^(?P<indent>[ \t]*)(?!#|//)(?:[^\n]*[{{,(][ \t]*)?[\"']?(?:{name})[\"']?"
        rf"[ \t]*[:=][ \t]*[\"'`]?(?P<value>{value})(?=[\"'`\s,;#)}}]|$)",
        re.IGNORECASE | re.MULTILINE,
    )
    found = [
        match
        for file in config
        for match in pattern.finditer(text_of(file))
        if name != "url" or "y" not in file.suffix or not match["indent"]
    ]
    least = min(found, key=lambda match: len(match["indent"]), default=None)
    return least["value"] if least else ""


def text_of(file: Path, most: int = _MAX_CHARACTERS) -> str:
    """The beginning of a file; "" if it cannot be read."""
    try:
        if not file.is_file():  # opening a FIFO would block
            return ""
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.read(most)
    except OSError:
        return ""
