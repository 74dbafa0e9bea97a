"""Hugo: gohugo.io/content-management/urls, /front-matter, /configuration, /build-options."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.records import When
from indexer.sources.markdown.config import (
    lower_names,
    mapping,
    read_config,
    read_text,
    tables,
    zone_named,
)
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter
from indexer.sources.markdown.site import Entry, Root, Site, is_section_list

_NAMES = ("hugo", "config")
_SUFFIXES = ("toml", "yaml", "yml", "json")
_TOKEN = re.compile(r":([a-z_]+|\d{4})")
_GLOB = re.compile(r"\*\*|.")
_NOT_KEYWORDS = frozenset(("categories", "tags", "authors", "author"))
_NOT_FOLLOWED = ("ignorefiles", "uglyurls", "disablepathtolower")
"""Settings that change what is published or where."""


class Hugo(Site):
    """A site with `hugo.toml`, `config.toml` or a folder `config/_default`."""

    generator = "Hugo"

    def __init__(self, root: Path) -> None:
        config = read_configuration(root)
        self._languages = {
            name: language
            for name, language in mapping(config.get("languages")).items()
            if isinstance(language, dict) and language.get("disabled") is not True
        }
        self._default = str(config.get("defaultcontentlanguage") or "en").lower()
        self._in_subfolder = config.get("defaultcontentlanguageinsubdir") is True
        zone = zone_named(config.get("timezone"))
        address = str(config.get("baseurl") or "")
        super().__init__(root, self._content_folders(root, config), address=address, zone=zone)
        self._config = config
        permalinks = mapping(config.get("permalinks"))
        self._rules = {**permalinks, **mapping(permalinks.get("page"))}
        self._site_cascade = config.get("cascade")
        self._cascades: dict[PurePosixPath, list[dict[str, Any]]] = {}
        self._bundles: dict[PurePosixPath, bool] = {}
        self.publishes_future = config.get("buildfuture") is True
        self.publishes_drafts = config.get("builddrafts") is True
        self.publishes_expired = config.get("buildexpired") is True
        taxonomies = map(str, mapping(config.get("taxonomies")).values())
        self.more_tags = [name for name in map(str.lower, taxonomies) if name not in _NOT_KEYWORDS]
        names = [name for name in _NOT_FOLLOWED if config.get(name)]
        mounts = tables(mapping(config.get("module")).get("mounts"))
        if any(str(mount.get("target")).startswith("content") for mount in mounts):
            names.append("module.mounts")
        if not all(map(_is_followed, tables(self._site_cascade))):
            names.append("cascade with a target")
        names += ["content adapters"] if any(root.glob("content/**/_content.gotmpl")) else []
        names += [rule for rule in map(str, self._rules.values()) if "[" in rule]
        if names:
            self.notes.append(
                f"{root}: not followed: {', '.join(names)}; build the site, then: "
                "blogsearch reindex public."
            )

    def _content_folders(self, root: Path, config: dict[str, Any]) -> list[Root]:
        """The folders of content: `content`, or one for each language."""
        named = {name: language.get("contentdir") for name, language in self._languages.items()}
        folders = {str(folder): name for name, folder in named.items() if folder}
        if len(folders) < len(named) or not named:
            folders.setdefault(str(config.get("contentdir") or "content"), "")
        roots = [Root((root / folder).resolve(), name) for folder, name in folders.items()]
        return [place for place in roots if place.folder.exists()] or roots[:1]

    # -- which files -----------------------------------------------------------------------------

    def skips_folder(self, path: PurePosixPath) -> bool:
        return False

    def why_not_content(self, path: PurePosixPath) -> str:
        is_page = self._stem(path) in ("index", "_index")
        if not is_page and any(map(self._is_bundle, path.parents)):
            return "resource of a page bundle"
        return ""

    def _is_bundle(self, folder: PurePosixPath) -> bool:
        """Whether a folder is a leaf bundle: then only its `index.md` is a page."""
        if folder not in self._bundles:
            self._bundles[folder] = any(
                self._stem(PurePosixPath(file.name)) == "index"
                and file.suffix in (".md", ".markdown", ".html")
                for root in self.roots
                for file in (root.folder / folder).glob("index.*")
            )
        return self._bundles[folder]

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for cascade in self._site_cascade, *map(self._cascades_in, reversed(path.parents)):
            for table in tables(cascade):
                merged |= table if self._is_target(table, path) else {}
        merged |= own
        return {**lower_names(mapping(merged.get("params"))), **merged}

    def _cascades_in(self, folder: PurePosixPath) -> list[dict[str, Any]]:
        if folder not in self._cascades:
            self._cascades[folder] = []
            for root in self.roots:
                for file in sorted((root.folder / folder).glob("_index*.*")):
                    try:
                        fields = split_front_matter(read_text(file)).fields or {}
                    except (OSError, BadFrontMatter):
                        continue  # it is reported where the file itself is read
                    if cascade := lower_names(fields).get("cascade"):
                        self._cascades[folder] += tables(cascade)
        return self._cascades[folder]

    def _is_target(self, cascade: Mapping[str, Any], path: PurePosixPath) -> bool:
        """Whether a cascade is for this page: all of them, or those that its target names."""
        stem = self._stem(path)
        page = path.parent if stem in ("index", "_index") else path.parent / stem
        kind = "page" if stem != "_index" else "section" if page.parts else "home"
        target = _target(cascade)
        return (
            _is_followed(cascade)
            and fnmatchcase(kind, str(target.get("kind") or "*"))
            and fnmatchcase("production", str(target.get("environment") or "*"))
            and _matches(f"/{self._path('/'.join(page.parts))}", str(target.get("path") or ""))
        )

    def why_left_out(self, entry: Entry) -> str:
        if self._stem(entry.path) == "_index" and is_section_list(entry):
            return "list page"
        build = mapping(entry.fields.get("build") or entry.fields.get("_build"))
        is_rendered = str(build.get("render")).lower() not in ("never", "link", "false")
        if entry.fields.get("headless") is True or not is_rendered:
            return "no page is rendered (headless or build.render)"
        language = self.language_of(entry.path, entry.language, {})
        if self._languages and language and language not in self._languages:
            return "language that the site does not have"
        return ""

    # -- what it says ----------------------------------------------------------------------------

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        stated = self._language_in_name(path) or language
        return (
            stated
            or (self._default if self._languages else "")
            or super().language_of(path, language, fields)
            or str(self._config.get("locale") or self._config.get("languagecode") or "")
        )

    def published(self, entry: Entry) -> When:
        when = super().published(entry)
        return when if when is not None else self.modified(entry)  # as Hugo does

    # -- where it is -----------------------------------------------------------------------------

    def own_url(self, entry: Entry) -> str:
        url = entry.fields.get("url")
        if not isinstance(url, str) or not url.strip() or "{{" in url:
            return ""
        url = self._expanded(url.strip(), entry)
        return url if url.startswith("/") else f"{self._prefix(entry)}/{url}"

    def _language_in_name(self, path: PurePosixPath) -> str:
        """The language that the name of a file ends with, as in `post.fr.md`; "" without one."""
        name = path.stem.rpartition(".")[2].lower()
        return name if name in self._languages else ""

    def _stem(self, path: PurePosixPath) -> str:
        """The name of a file without its suffix and its language."""
        return path.stem.rpartition(".")[0] if self._language_in_name(path) else path.stem

    def url_of(self, entry: Entry) -> str:
        folders = self._folder_of(entry).parts
        rule = self._rules.get(folders[0].lower() if folders else "/")
        # The rules are for pages, and not for `_index.md`.
        if isinstance(rule, str) and self._stem(entry.path) != "_index":
            path = self._expanded(rule, entry)
        else:
            name = str(entry.fields.get("slug") or "").strip("/") or self._file_name(entry)
            path = self._path("/".join((*folders, name)))
        return f"{self._prefix(entry)}/{path.strip('/')}/"

    def _prefix(self, entry: Entry) -> str:
        language = self.language_of(entry.path, entry.language, {})
        has_folder = language != self._default or self._in_subfolder
        return f"/{language}" if language in self._languages and has_folder else ""

    def _folder_of(self, entry: Entry) -> PurePosixPath:
        """The folder that a post is in; that of its own folder for `index.md` and `index.fr.md`."""
        is_index = self._stem(entry.path) in ("index", "_index")
        return entry.path.parent.parent if is_index else entry.path.parent

    def _file_name(self, entry: Entry) -> str:
        name = self._stem(entry.path)
        return entry.path.parent.name if name in ("index", "_index") else name

    def _expanded(self, template: str, entry: Entry) -> str:
        title = self._path(str(entry.fields.get("title") or "").replace("/", "-"))
        slug = self._path(str(entry.fields.get("slug") or ""))
        name = self._path(self._file_name(entry))
        folders = self._folder_of(entry).parts
        dates = self.date_tokens(entry)
        values = {
            **dates,
            "2006": dates.get("year", ""),
            "title": title,
            "slug": slug or title,
            **dict.fromkeys(("filename", "contentbasename"), name),
            **dict.fromkeys(("slugorfilename", "slugorcontentbasename"), slug or name),
            "section": self._path(folders[0] if folders else ""),
            "sections": self._path("/".join(folders)),
        }
        return _TOKEN.sub(lambda token: values.get(token[1], ""), template)

    def _path(self, text: str) -> str:
        """Hugo's MakePathSanitized: spaces become hyphens, most punctuation goes, lower case."""
        path: list[str] = []
        for character in unicodedata.normalize("NFC", text):
            if character.isspace() or character == "-":
                if not path or path[-1] != "-" or character == "-":
                    path.append("-")
            elif character in "./\\_#+~@" or unicodedata.category(character)[0] in "LNM":
                path.append(character)
        return "".join(path).strip("-").lower()


def read_configuration(root: Path) -> dict[str, Any]:
    """The configuration of a site, with the names in lower case.

    The root's file is laid over those in `config/_default`; a file there that is not called after
    the root is the key of its name.
    """
    config: dict[str, Any] = {}
    for file in sorted((root / "config/_default").glob("*.*")):
        if file.suffix.removeprefix(".") in _SUFFIXES:
            key, _, language = file.stem.lower().partition(".")
            values = lower_names(read_config(file))
            if key in _NAMES:
                config |= values
            elif key == "languages" and language:
                config.setdefault(key, {})[language] = values
            elif not language:
                config[key] = {**mapping(config.get(key)), **values}
    for file in _files(root):
        if file.is_file():
            return {**config, **lower_names(read_config(file))}
    return config


def is_hugo(folder: Path) -> bool:
    """Whether a folder is the root of a Hugo site."""
    names = [file.stem for file in _files(folder) if file.is_file()]
    if not names and not (folder / "config/_default").is_dir():
        return False
    if "hugo" in names or (folder / "content").is_dir():
        return True
    return not {"contentdir", "module", "languages"}.isdisjoint(read_configuration(folder))


def _files(root: Path) -> list[Path]:
    return [root / f"{name}.{suffix}" for name in _NAMES for suffix in _SUFFIXES]


# -- targets of a cascade --------------------------------------------------------------------------


def _target(cascade: Mapping[str, Any]) -> dict[str, Any]:
    target: dict[str, Any] = lower_names(mapping(cascade.get("target") or cascade.get("_target")))
    return target


def _is_followed(cascade: Mapping[str, Any]) -> bool:
    """Whether it is known here for which pages a cascade is."""
    target = _target(cascade)
    paths = str(target.get("path") or "").strip("{}")
    return target.keys() <= {"path", "kind", "environment"} and not set(paths) & set("{}[]\\")


def _matches(path: str, patterns: str) -> bool:
    """Whether a path matches one of several patterns, such as `{/notes,/notes/**}`; none matches
    everything. `*` and `?` stand for characters of one name, `**` for any characters."""
    if not patterns:
        return True
    alternatives = patterns.strip("{}").lower().split(",")
    return any(_matches_one(path, _GLOB.findall(f"/{text.strip('/')}")) for text in alternatives)


def _matches_one(path: str, pattern: Sequence[str]) -> bool:
    """Follows all readings of the pattern at once: as a regular expression, one with many stars
    would take very long."""
    reached = _past_stars(pattern, {0})
    for character in path:
        following: set[int] = set()
        for at in reached - {len(pattern)}:
            sign, in_name = pattern[at], character != "/"
            if sign == "**" or (sign == "*" and in_name):
                following.add(at)
            elif sign == character or (sign == "?" and in_name):
                following.add(at + 1)
        reached = _past_stars(pattern, following)
    return len(pattern) in reached


def _past_stars(pattern: Sequence[str], places: set[int]) -> set[int]:
    """The places and those behind them, as a star may stand for nothing."""
    for at, sign in enumerate(pattern):
        if at in places and sign in ("*", "**"):
            places.add(at + 1)
    return places
