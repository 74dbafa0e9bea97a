"""Hugo: gohugo.io/content-management/urls, /front-matter, /configuration, /build-options."""

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
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
from indexer.sources.markdown.site import Entry, Root, Site, date_tokens, is_section_list

_NAMES = ("hugo", "config")
_SUFFIXES = ("toml", "yaml", "yml", "json")
_TOKEN = re.compile(r":([a-z_]+|\d{4})")
_NOT_KEYWORDS = frozenset(("categories", "tags", "authors", "author"))
_NOT_FOLLOWED = ("ignorefiles", "uglyurls", "disablepathtolower")


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
        super().__init__(root, self._roots(root, config), address=address, zone=zone)
        self._config = config
        self.languages = tuple(self._languages)
        permalinks = mapping(config.get("permalinks"))
        self._rules = {**permalinks, **mapping(permalinks.get("page"))}
        self._cascades: dict[PurePosixPath, list[dict[str, Any]]] = {}
        self._bundles: dict[PurePosixPath, bool] = {}
        self.publishes_future = config.get("buildfuture") is True
        self.publishes_drafts = config.get("builddrafts") is True
        self.publishes_expired = config.get("buildexpired") is True
        taxonomies = map(str, mapping(config.get("taxonomies")).values())
        self.more_tags = [name for name in map(str.lower, taxonomies) if name not in _NOT_KEYWORDS]
        names = [name for name in _NOT_FOLLOWED if config.get(name)]
        names += ["content adapters"] if any(root.glob("content/**/_content.gotmpl")) else []
        names += [rule for rule in map(str, self._rules.values()) if "[" in rule]
        if names:
            self.notes.append(
                f"{root}: not followed: {', '.join(names)}. Build the site, and index the folder "
                "that it builds (public)."
            )

    def _roots(self, root: Path, config: dict[str, Any]) -> list[Root]:
        """The folders of content: mounts, or one for each language, or `content`."""
        roots = []
        for mount in tables(mapping(config.get("module")).get("mounts")):
            target = PurePosixPath(str(mount.get("target", "")).strip("/"))
            if target.parts[:1] == ("content",):
                folder = (root / str(mount.get("source", ""))).resolve()
                language = str(mount.get("lang") or "").lower()
                roots.append(Root(folder, PurePosixPath(*target.parts[1:]), language))
        own = {name: language.get("contentdir") for name, language in self._languages.items()}
        if not roots and not all(own.values()):
            roots.append(Root((root / str(config.get("contentdir") or "content")).resolve()))
        roots += [
            Root((root / str(folder)).resolve(), language=name)
            for name, folder in own.items()
            if folder
        ]
        if not roots:
            roots = [Root((root / str(config.get("contentdir") or "content")).resolve())]
        return list({place.folder: place for place in roots if place.folder.exists()}.values()) or [
            roots[0]
        ]

    # -- which files -----------------------------------------------------------------------------

    def skips_folder(self, path: PurePosixPath) -> bool:
        return False

    def why_not_content(self, path: PurePosixPath) -> str:
        is_page = self.stem(path) in ("index", "_index")
        if not is_page and any(map(self._is_bundle, path.parents)):
            return "resource of a page bundle"
        return ""

    def _is_bundle(self, folder: PurePosixPath) -> bool:
        """Whether a folder is a leaf bundle: then only its `index.md` is a page."""
        if folder not in self._bundles:
            self._bundles[folder] = any(
                self.stem(PurePosixPath(file.name)) == "index"
                and file.suffix in (".md", ".markdown", ".html")
                for place in self._places_of(folder)
                for file in place.glob("index.*")
            )
        return self._bundles[folder]

    def _places_of(self, folder: PurePosixPath) -> list[Path]:
        """Where the files of a folder of the site are; several roots may have some."""
        return [
            root.folder / folder.relative_to(root.target)
            for root in self.roots
            if folder.is_relative_to(root.target)
        ]

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        cascades = tables(self._config.get("cascade"))
        for folder in reversed(path.parents):
            if folder not in self._cascades:
                self._cascades[folder] = self._cascades_of(folder)
            cascades += self._cascades[folder]
        merged: dict[str, Any] = {}
        for cascade in cascades:
            merged |= _cascaded(cascade, path)
        merged |= own
        return {**lower_names(mapping(merged.get("params"))), **merged}

    def _cascades_of(self, folder: PurePosixPath) -> list[dict[str, Any]]:
        for place in self._places_of(folder):
            for file in sorted(place.glob("_index*.*")):
                try:
                    fields = split_front_matter(read_text(file)).fields or {}
                except (OSError, BadFrontMatter):
                    continue  # it is reported where the file itself is read
                if cascades := tables(lower_names(fields).get("cascade")):
                    return cascades
        return []

    def why_left_out(self, entry: Entry) -> str:
        if self.stem(entry.path) == "_index" and is_section_list(entry):
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
        stated = self.language_in_name(path) or language
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

    def url_of(self, entry: Entry) -> str:
        folders = self._folder_of(entry).parts
        rule = self._rules.get(folders[0].lower() if folders else "/")
        # The rules are for pages, and not for `_index.md`.
        if isinstance(rule, str) and self.stem(entry.path) != "_index":
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
        is_index = self.stem(entry.path) in ("index", "_index")
        return entry.path.parent.parent if is_index else entry.path.parent

    def _file_name(self, entry: Entry) -> str:
        name = self.stem(entry.path)
        return entry.path.parent.name if name in ("index", "_index") else name

    def _expanded(self, template: str, entry: Entry) -> str:
        title = self._path(str(entry.fields.get("title") or "").replace("/", "-"))
        slug = self._path(str(entry.fields.get("slug") or ""))
        name = self._path(self._file_name(entry))
        folders = self._folder_of(entry).parts
        dates = date_tokens(self.local_date(entry))
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


def _cascaded(cascade: dict[str, Any], path: PurePosixPath) -> dict[str, Any]:
    """What a cascade sets for a page; nothing if the page is not its target."""
    target = mapping(cascade.get("target") or cascade.get("_target"))
    pattern = str(target.get("path") or "")
    if not _globbed("page", str(target.get("kind") or "page")) or (
        pattern and not _globbed(f"/{path.with_suffix('').as_posix()}", pattern.lower())
    ):
        return {}
    values = {name: value for name, value in cascade.items() if name.strip("_") != "target"}
    return {**mapping(values.pop("params", None)), **values}


def _globbed(text: str, pattern: str) -> bool:
    """Whether a text matches a glob with `{a,b}`."""
    choice = re.fullmatch(r"(.*?)\{([^{}]*)\}(.*)", pattern)
    patterns = [pattern]
    if choice:
        patterns = [choice[1] + part + choice[3] for part in choice[2].split(",")]
    return any(fnmatch.fnmatchcase(text.lower(), pattern) for pattern in patterns)
