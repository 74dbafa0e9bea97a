"""Finds the generator of a folder, its content, and the folder of the built site.

Only the built site shows all addresses. So of a configuration only address, language, excluded
files and Jekyll's collections are used; other settings that hide pages are refused.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import yaml

from indexer.errors import SourceError
from indexer.sources.files import IGNORED_FOLDERS, MARKDOWN, files_in
from indexer.sources.markdown.front_matter import load_yaml, why_draft, why_hidden

_STEPS_UP = 7
_MAX_CHARACTERS = 1_000_000
_OUTPUTS = ("public", "_site", "site", "dist", "build", "out", "output", "book")
_BUILT = (*_OUTPUTS, "_build/html", ".vitepress/dist", ".vuepress/dist")
_BASE = "base_?url|base"
_OUTPUT = (
    "site_dir|publish_?dir|destination|public_dir|output[_-]?(?:path|dir|folder)|build-dir|outdir"
)
_LANGUAGE = "language_?code|default_?(?:content_?)?(?:language|lang|locale)|language|locale|lang"
_URL = r"https?://[\w.-]+(?::\d+)?(?:/[^\s\"'<>]*)?"


class Generator(NamedTuple):
    """A row of generators.toml: `files` in the root of a site, one with a line that begins with
    `line`; the build command, folders of content, and the setting of the address. `excludes` names
    the list of files that are left out, `hides` other settings by which pages are."""

    name: str
    files: str
    command: str
    line: str = ""
    content: str = ""
    address: str = ""
    excludes: str = ""
    hides: str = ""


@cache
def _generators() -> list[Generator]:
    text = resources.files(__package__).joinpath("generators.toml").read_text("utf-8")
    return [Generator(**row) for row in tomllib.loads(text)["generators"]]


_FOR_MANY = re.compile(
    r"^[ \t]*(?:\[+cascade|[\"']?(?:cascade|defaults)[\w.]*[\"']?[ \t]*[:=])"
    r".*(?:\n(?![\w\"']+:|\[).*)*|^draft *[:=] *true|publishByDefault: *false",
    re.MULTILINE,
)
"""What a configuration or a section's front matter sets for many posts."""
_PAIR = re.compile(
    r"""^[ \t]*(?:\#|//).*|(?<![\w.-])(?:cascade\.)?([\w.-]++)["']?[ \t]*[:=]
    (?:\s*-[ ](?=no)|[ \t]*)["'`\[]*([^\s"'`,;{}\[\]]*(?:,[ ]*["']?no(?:index|ne)\b(?!["']?:))?)""",
    re.MULTILINE | re.VERBOSE,
)
_HIDES = (
    r"^(?![ \t]*(?:#|//)).*?\b({}|encrypt(?=[\"']?:(?:[^\n}}]{{0,99}}\n[ \t]){{0,40}}[^\n}}]"
    r"{{0,99}}\b(?:tags|config|global|admin)\b))[\"']?[ \t]*[:=](?![ \t]*(?:[\[{{]\s*[\]}}]|false))"
)
"""The settings of a generator that hide pages, and the table by which Hexo and VuePress encrypt
some: at most 40 short lines of it."""
_FENCE = re.compile(r"^(?:---|\+\+\+)\s*$", re.MULTILINE)
_OF_POSTS = re.compile(
    r"(?:_metadata|_data|\.meta)\.(?:ya?ml|json|[jt]s)|(.+?)(?:\.11tydata\.(?:json|[cm]?[jt]s)|\.json)"
)
"""Files with front matter for all posts of their folder and those below (Quarto, Lume, Material for
MkDocs), or for the folder or the page whose name they have (Eleventy)."""
_ITEMS = r"((?>\"[^\"\n]*\"|'[^'\n]*'|(?:#|//).*|[^%s])*+)"
_EXCLUDES = (
    r"^(?![ \t]*(?:#|//)).*?\b(?:{})[\"']?[ \t]*(?:\+?[:=][ \t]*)?"
    rf"(?:\[{_ITEMS % ']'}|\({_ITEMS % ')'})"
)
_QUOTED = re.compile(r"""["'`]([^"'`\n]+)["'`]""")


@dataclass(frozen=True, slots=True)
class Site:
    """A site's sources: its configuration, its content, and the folder of the built site.

    `address` and `language` are "" if the configuration does not state them.
    """

    generator: Generator
    folder: Path
    config: Sequence[Path]
    content: Path
    built: Path | None
    address: str
    language: str

    def collections(self) -> Iterator[str]:
        """Yield the names of the folders with the collections that Jekyll writes as pages."""
        for file in self.config if self.generator.name in ("Jekyll", "Bridgetown") else ():
            stated = _table(file).get("collections")
            for name, about in stated.items() if isinstance(stated, dict) else ():
                if isinstance(about, dict) and str(about.get("output")).lower() == "true":
                    yield f"_{name}"


def site_of(place: Path) -> Site | None:
    """Find the site to whose sources a folder or a post belongs, in the folders above it.

    None if there is no sign of one, or if the place is in the built site.
    """
    place = place.resolve()
    bare: Site | None = None  # it has no configuration: `source` of Hexo looks like one of Jekyll
    for folder in [place, *place.parents][:_STEPS_UP]:
        site = _site_in(folder)
        if site and site.config:
            return site if bare is None or place.is_relative_to(site.content) else bare
        bare = bare or site
        if folder.name in (*_OUTPUTS, *IGNORED_FOLDERS) or (folder / ".git").exists():
            break
        if folder.name.startswith((".", "_")) and folder.name not in ("_posts", "_drafts"):
            break
    return bare


def sites_in(place: Path) -> list[Site]:
    """Return the sites whose roots are in subfolders, such as `docs` and `website`."""
    folders = sorted(path for path in place.resolve().glob("*") if path.is_dir())
    sites = (_site_in(path) for path in folders if path.name[0] not in "._")
    return [site for site in sites if site]


def find_built(folder: Path, *names: str) -> Path | None:
    """Find the folder of a built site below a folder: with one of these names, or else a usual one.

    The pages may be in its only subfolder, such as `site/uv`. None if there is none.
    """
    for place in (folder / name for name in (*names, *_BUILT)):
        inner = list(place.iterdir()) if place.is_dir() else []
        for pages in [place, *inner] if len(inner) == 1 else [place]:
            if (pages / "index.html").is_file():
                return pages
    return None


def _site_in(folder: Path) -> Site | None:
    for generator in _generators():
        found = [path for glob in generator.files.split() for path in sorted(folder.glob(glob))]
        line = re.compile(rf"^[ \t]*[\"']?{generator.line}[\"']?\s*[:=]", re.I | re.M)
        if any(not generator.line or line.search(text_of(path)) for path in found):
            break
    else:
        return None
    config = [path for path in found if path.is_file()]
    places = (folder / name for name in generator.content.split())
    contents = (place for place in places if place.is_dir() and files_in(place, MARKDOWN))
    output = _setting(config, _OUTPUT, r"[\w./-]+")
    return Site(
        generator,
        folder,
        config,
        next(contents, folder),
        find_built(folder, *([output] if output else ())),
        _address(config, generator.address),
        _setting(config, _LANGUAGE, r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?").replace("_", "-"),
    )


def check_settings(site: Site | None, top: Path, files: Sequence[Path]) -> None:
    """Raise a SourceError if settings may hide pages of the site, or these files, in another way
    than those that `excluded_globs` follows. `top` is the folder that is read."""
    root, config = (site.folder, site.config) if site else (top.resolve(), ())
    hides = _HIDES.format((site and site.generator.hides) or "(?!)")
    for file in config:
        found = re.search(hides, text_of(file), re.I | re.M)
        _refuse(file, found[1] if found else "", site)
    pages = {file.parent.resolve() / file.stem for file in files}
    folders = {up for page in pages for up in page.parents if up.is_relative_to(root)}
    for file in (file for folder in sorted(folders) for file in sorted(folder.iterdir())):
        of = _OF_POSTS.fullmatch(file.name)
        if of and (of[1] in (None, file.parent.name) or file.parent / of[1] in pages):
            _refuse(file, _hiding(text_of(file)), site)
    for file in (*config, *(file for file in files if file.stem.startswith("_index"))):
        head = "".join(_FENCE.split(text_of(file), maxsplit=2)[:2])
        for_many = head if file.stem == "cascade" else "\n".join(_FOR_MANY.findall(head))
        _refuse(file, _hiding(for_many), site)


def _hiding(text: str) -> str:
    """Return the first setting that hides posts, also inside of `search` and `build`, or ""."""
    for name, value in dict.fromkeys(_PAIR.findall(text)):
        own = {name: value}
        if why_draft(own) or any(map(why_hidden, (own, {"search": own}, {"build": own}))):
            return str(name)
    return ""


def excluded_globs(site: Site | None) -> Iterator[str]:
    """Yield globs of the files and folders below the content that the site leaves out."""
    if not site or not site.generator.excludes:
        return
    stated = [text_of(at / ".eleventyignore") for at in (site.folder, site.content)]
    lists = re.compile(_EXCLUDES.format(site.generator.excludes), re.MULTILINE)
    for file in site.config:
        config = _table(file)
        for given in map(config.get, site.generator.excludes.split("|")):
            stated += [given] if isinstance(given, str) else map(str, given or ())
        if not config:
            stated += _QUOTED.findall("\n".join(map("".join, lists.findall(text_of(file)))))
    below = f"{site.content.relative_to(site.folder).as_posix()}/"
    is_vitepress = site.generator.name == "VitePress"
    source = _setting(site.config, "srcDir", r"[\w./-]+") if is_vitepress else ""
    for pattern in filter(str.strip, "\n".join(stated).splitlines()):
        name = pattern.strip().removeprefix("./").strip("/").removeprefix(below)
        name = PurePath(source, name).as_posix()
        for glob in (name, name.replace("**/", "")):
            yield from (glob, f"{glob}/*")


def _table(file: Path) -> dict[str, Any]:
    """Return the configuration in a YAML file; an empty one for other files."""
    try:
        config = load_yaml(text_of(file)) if file.suffix in (".yml", ".yaml") else None
    except (yaml.YAMLError, ValueError, RecursionError):
        reason = f"{file} is not valid YAML."
        raise SourceError(reason, "Correct the file: it may hide pages.") from None
    return config if isinstance(config, dict) else {}


def _refuse(file: Path, setting: str, site: Site | None) -> None:
    if setting:
        build = f"Build the site (`{site.generator.command}`)" if site else "Build the site"
        reason = f"{file} may hide pages with `{setting}`, which is not supported."
        raise SourceError(reason, f"{build} and index the built folder.")


def _address(config: Sequence[Path], name: str) -> str:
    url = _setting(config, name, _URL).rstrip("/") if name else ""
    base = _setting(config, _BASE, r"/[\w.~/-]*").rstrip("/")
    return url if url.endswith(base) or not url else f"{url}{base}"


def _setting(config: Sequence[Path], name: str, value: str) -> str:
    """Return the first value of a setting with such a name; "" if none has a value of that form."""
    pattern = re.compile(
        rf"^(?![ \t]*(?:#|//))(?:[^\n]*[{{,(])?[ \t]*[\"']?(?:{name})[\"']?"
        rf"[ \t]*[:=][ \t]*[\"'`]?({value})(?=[\"'`\s,;#)}}]|$)",
        re.IGNORECASE | re.MULTILINE,
    )
    found = (pattern.search(text_of(file)) for file in config)
    return next((match[1] for match in found if match), "")


def text_of(file: Path, most: int = _MAX_CHARACTERS) -> str:
    """Return the beginning of a file; "" if it cannot be read."""
    try:
        if not file.is_file():  # opening a FIFO would block
            return ""
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.read(most)
    except OSError:
        return ""
