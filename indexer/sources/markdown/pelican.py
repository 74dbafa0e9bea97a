"""Pelican: docs.getpelican.com/en/latest/settings.html and /content.html."""

import ast
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.sources.markdown.front_matter import FrontMatter, split_front_matter
from indexer.sources.markdown.site import PAGES, Entry, Root, Site, is_regex, read_text, zone_named

CONFIGURATION = "pelicanconf.py"
_LINE = re.compile(r"[ ]{0,3}([\w-]+):\s*(.*)")
_MORE = re.compile(r"[ ]{4,}(.*)")
_NAMED = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2}).*")
_LISTS = ("tags", "authors")


class Pelican(Site):
    """A site with `pelicanconf.py`, of which plain values are read, and `publishconf.py`."""

    generator: ClassVar[str] = "pelican"

    def __init__(self, root: Path) -> None:
        settings = _settings(root / CONFIGURATION) | _settings(root / "publishconf.py")
        # Without PATH the folder is usually said on Pelican's command line.
        default = "content" if (root / "content").is_dir() else "."
        content = (root / str(settings.get("PATH") or default)).resolve()
        zone = zone_named(settings.get("TIMEZONE"))
        address = str(settings.get("SITEURL") or "")
        super().__init__(root, [Root(content)], address=address, zone=zone)
        self._settings = settings
        self._articles = _paths(settings.get("ARTICLE_PATHS", [""]))
        self._pages = _paths(settings.get("PAGE_PATHS", ["pages"]))
        self._excluded = _paths(settings.get("ARTICLE_EXCLUDES")) + _paths(
            settings.get("PAGE_EXCLUDES")
        )
        self._output = str(settings.get("OUTPUT_PATH") or "output").strip("/")
        self._language = str(settings.get("DEFAULT_LANG") or "en")
        said = settings.get("FILENAME_METADATA")
        self._named = re.compile(said) if isinstance(said, str) and is_regex(said) else _NAMED
        self.publishes_future = settings.get("WITH_FUTURE_DATES") is not False
        if any(isinstance(each, _Computed) for each in settings.values()):
            self.notes.append(
                f"{root / CONFIGURATION}: what is computed in Python is not followed; "
                "--url-template says what the addresses are."
            )

    def skips_folder(self, path: PurePosixPath) -> bool:
        return path.as_posix() in (self._output, *self._excluded)

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in PAGES:
            return "HTML page, not Markdown"
        if not self._is_page(path) and not any(map(path.is_relative_to, self._articles)):
            return "in none of ARTICLE_PATHS and PAGE_PATHS"
        return ""

    def split(self, content: str) -> FrontMatter:
        """Lines `Key: value` at the beginning, up to a blank one; YAML too."""
        found = split_front_matter(content)
        if found.fields is not None:
            return found
        lines = content.replace("\r\n", "\n").split("\n")
        said: dict[str, list[str]] = {}
        name, end = "", 0
        for line in lines:
            if first := _LINE.fullmatch(line):
                name = first[1].lower()
                said[name] = [first[2].strip()]
            elif name and (more := _MORE.fullmatch(line)):
                said[name].append(more[1].strip())
            else:
                break
            end += 1
        if not said:
            return found
        fields = {name: "\n".join(parts).strip() for name, parts in said.items()}
        return FrontMatter(fields, "\n".join(lines[end:]))

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        fields = dict(own)
        named = self._named.match(path.stem)
        if named:
            fields = {**{key: each for key, each in named.groupdict().items() if each}, **fields}
        if not self._is_page(path) and "category" not in fields:
            by_folder = self._settings.get("USE_FOLDER_AS_CATEGORY") is not False
            folder = path.parent.name if by_folder and path.parent.name else ""
            fields["category"] = folder or str(self._settings.get("DEFAULT_CATEGORY") or "misc")
        for name in _LISTS:
            if isinstance(said := fields.get(name), str):
                fields[name] = [
                    each.strip() for each in re.split(";" if ";" in said else ",", said)
                ]
        return fields

    def why_left_out(self, entry: Entry) -> str:
        if not entry.fields.get("title") and not entry.has_head:
            return "no metadata"
        if str(entry.fields.get("status")).lower() == "skip":
            return "skipped by its status"
        return ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        said = fields.get("lang")
        return said if isinstance(said, str) else self._language

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("url") or entry.fields.get("save_as")
        return said.strip() if isinstance(said, str) else ""

    def url_of(self, entry: Entry) -> str:
        kind = "PAGE" if self._is_page(entry.path) else "ARTICLE"
        folder = "pages/" if kind == "PAGE" else ""
        is_default = entry.language == self._language
        name = f"{kind}_URL" if is_default else f"{kind}_LANG_URL"
        template = self._settings.get(name)
        if not isinstance(template, str):
            template = f"{folder}{{slug}}.html" if is_default else f"{folder}{{slug}}-{{lang}}.html"
        authors = entry.fields.get("authors")
        first = next(iter(authors), "") if isinstance(authors, list) else authors
        author = entry.fields.get("author") or first or ""
        values = {
            **entry.fields,
            "slug": self._slug_of(entry),
            "lang": entry.language,
            "date": self.local_date(entry) or "",
            "category": _slug(str(entry.fields.get("category") or "")),
            "author": _slug(str(author)),
        }
        try:
            return template.format(**values)
        except (KeyError, ValueError, IndexError, AttributeError, TypeError):
            return f"{folder}{values['slug']}.html"

    def _slug_of(self, entry: Entry) -> str:
        said = entry.fields.get("slug")
        if isinstance(said, str) and said:
            return said
        source = self._settings.get("SLUGIFY_SOURCE")
        return _slug(entry.path.stem if source == "basename" else str(entry.fields.get("title")))

    def _is_page(self, path: PurePosixPath) -> bool:
        return any(map(path.is_relative_to, self._pages))


class _Computed:
    """The value of a setting that is not a plain one."""


def _settings(file: Path) -> dict[str, Any]:
    """The settings of a Python file that are plain values; nothing is executed."""
    try:
        tree = ast.parse(read_text(file))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    return dict(_assigned(tree))


def _assigned(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                try:
                    yield target.id, ast.literal_eval(node.value)
                except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                    if target.id.endswith("_URL"):
                        yield target.id, _Computed()


def _paths(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [each.strip("/") for each in values if isinstance(each, str)]


def _slug(text: str) -> str:
    """Pelican's slugify with its own substitutions: ASCII, lower case, hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip()).lower()
