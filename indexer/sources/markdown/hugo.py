"""Hugo: gohugo.io/content-management/urls, /front-matter, /configuration, /build-options."""

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.records import When
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter
from indexer.sources.markdown.site import (
    Entry,
    Root,
    Site,
    date_tokens,
    first_date,
    is_section_list,
    lower_names,
    read_config,
    read_text,
    strings,
    zone_named,
)

_NAMES = ("hugo", "config")
_SUFFIXES = ("toml", "yaml", "yml", "json")
_TOKEN = re.compile(r":(?:(sections)\[([\d:-]*|last)\]|([a-z_]+|\d{4}))")
_PEOPLE = frozenset(("authors", "author"))
_LANGUAGE = re.compile(r"\.([a-z]{2,3}(?:-[a-z0-9]+)*)$", re.IGNORECASE)


class Hugo(Site):
    """A site with `hugo.toml`, `config.toml` or a folder `config/_default`."""

    generator = "Hugo"

    def __init__(self, root: Path) -> None:
        config = read_configuration(root)
        self._languages = {
            name: each
            for name, each in _mapping(config.get("languages")).items()
            if isinstance(each, dict) and each.get("disabled") is not True
        }
        self._default = str(config.get("defaultcontentlanguage") or "en").lower()
        self._in_subfolder = config.get("defaultcontentlanguageinsubdir") is True
        zone = zone_named(config.get("timezone"))
        address = str(config.get("baseurl") or "")
        super().__init__(root, self._roots(root, config), address=address, zone=zone)
        self._config = config
        self._keeps_case = config.get("disablepathtolower") is True
        self._ugly = config.get("uglyurls")
        self._cascades: dict[PurePosixPath, list[dict[str, Any]]] = {}
        self._bundles: dict[Path, bool] = {}
        self.publishes_future = config.get("buildfuture") is True
        self.publishes_drafts = config.get("builddrafts") is True
        self.publishes_expired = config.get("buildexpired") is True
        taxonomies = config.get("taxonomies")
        if isinstance(taxonomies, dict):
            names = [str(each).lower() for each in taxonomies.values()]
            self.more_tags = [
                each for each in names if each not in {"categories", "tags", *_PEOPLE}
            ]
        if config.get("ignorefiles"):
            self.notes.append(
                f"{root}: the patterns of ignoreFiles are not followed; blogsearch.toml takes "
                "globs in `exclude`."
            )
        if any(root.glob("content/**/_content.gotmpl")):
            self.notes.append("Pages made by content adapters (_content.gotmpl) are not read.")

    def _roots(self, root: Path, config: dict[str, Any]) -> list[Root]:
        """The folders of content: mounts, or one for each language, or `content`."""
        mounts = _mapping(config.get("module")).get("mounts")
        roots = []
        for mount in _list(mounts):
            target = PurePosixPath(str(mount.get("target", "")).strip("/"))
            if target.parts[:1] == ("content",):
                matrix = _mapping(_mapping(mount.get("sites")).get("matrix"))
                languages = strings(matrix.get("languages")) or [""]
                language = str(mount.get("lang") or languages[0]).lower()
                folder = (root / str(mount.get("source", ""))).resolve()
                roots.append(Root(folder, PurePosixPath(*target.parts[1:]), language))
        for name, each in self._languages.items():
            if not roots or each.get("contentdir"):
                folder = (root / str(each.get("contentdir") or "")).resolve()
                if each.get("contentdir"):
                    roots.append(Root(folder, language=name))
        content = (root / str(config.get("contentdir") or "content")).resolve()
        with_own = [each for each in self._languages.values() if each.get("contentdir")]
        if not roots or (not mounts and len(with_own) < len(self._languages)):
            roots.insert(0, Root(content))
        found = list({each.folder: each for each in roots if each.folder.exists()}.values())
        return found or [Root(content)]

    # -- which files -----------------------------------------------------------------------------

    def skips_folder(self, path: PurePosixPath) -> bool:
        return False

    def why_not_content(self, path: PurePosixPath) -> str:
        if self._stem(path) not in ("index", "_index") and self._is_in_bundle(path):
            return "resource of a page bundle"
        return ""

    def _is_in_bundle(self, path: PurePosixPath) -> bool:
        """Whether a folder above is a leaf bundle: then only its `index.md` is a page."""
        for root in self.roots:
            for folder in path.parents:
                if folder.is_relative_to(root.target):
                    place = root.folder / folder.relative_to(root.target)
                    if place not in self._bundles:
                        self._bundles[place] = any(
                            _LANGUAGE.sub("", each.stem) == "index"
                            and each.suffix in (".md", ".markdown", ".html")
                            for each in place.glob("index.*")
                        )
                    if self._bundles[place]:
                        return True
        return False

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        above = list(reversed(path.parents))
        for cascade in [*_list(self._config.get("cascade")), *self._cascading(above)]:
            merged |= _cascaded(cascade, path)
        merged |= own
        params = merged.get("params")
        return {**lower_names(params), **merged} if isinstance(params, dict) else merged

    def _cascading(self, folders: list[PurePosixPath]) -> list[dict[str, Any]]:
        found = []
        for folder in folders:
            if folder not in self._cascades:
                self._cascades[folder] = self._cascade_of(folder)
            found += self._cascades[folder]
        return found

    def _cascade_of(self, folder: PurePosixPath) -> list[dict[str, Any]]:
        for root in self.roots:
            if not folder.is_relative_to(root.target):
                continue
            for file in sorted((root.folder / folder.relative_to(root.target)).glob("_index*.*")):
                try:
                    fields = split_front_matter(read_text(file)).fields or {}
                except (OSError, BadFrontMatter):
                    continue  # it is reported where the file itself is read
                cascade = next(
                    (each for name, each in fields.items() if name.lower() == "cascade"), None
                )
                if cascade:
                    return [lower_names(each) for each in _list(cascade)]
        return []

    def why_left_out(self, entry: Entry) -> str:
        if self._stem(entry.path) == "_index" and is_section_list(entry):
            return "list page"
        build = entry.fields.get("build") or entry.fields.get("_build")
        render = _mapping(build).get("render")
        if entry.fields.get("headless") is True or str(render).lower() in (
            "never",
            "link",
            "false",
        ):
            return "no page is rendered (headless or build.render)"
        language = self.language_of(entry.path, entry.language, {})
        if self._languages and language and language not in self._languages:
            return "language that the site does not have"
        return ""

    # -- what it says ----------------------------------------------------------------------------

    def _language_in_name(self, path: PurePosixPath) -> str:
        found = _LANGUAGE.search(path.stem)
        name = found[1].lower() if found else ""
        return name if name in self._languages else ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        found = self._language_in_name(path) or language
        if not found and self._languages:
            found = self._default
        return (
            found
            or super().language_of(path, language, fields)
            or str(self._config.get("locale") or self._config.get("languagecode") or "")
        )

    def published(self, entry: Entry) -> When:
        names = [each.lower() for each in strings(self._front_matter_dates("date"))]
        found = first_date(entry.fields, [each for each in names if each[:1] != ":"])
        if found is None:
            found = super().published(entry)
        return found if found is not None else self.modified(entry)  # as Hugo does

    def _front_matter_dates(self, name: str) -> Any:
        return _mapping(self._config.get("frontmatter")).get(name)

    # -- where it is -----------------------------------------------------------------------------

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("url")
        if not isinstance(said, str) or not said.strip() or "{{" in said:
            return ""
        said = self._expanded(said.strip(), entry)
        return said if said.startswith("/") else f"{self._prefix(entry)}/{said}"

    def url_of(self, entry: Entry) -> str:
        section = self._folder_of(entry).parts[0] if self._folder_of(entry).parts else ""
        permalinks = self._config.get("permalinks")
        rules = {**_mapping(permalinks), **_mapping(_mapping(permalinks).get("page"))}
        rule = rules.get(section.lower()) or (rules.get("/") if not section else None)
        rule = None if self._stem(entry.path) == "_index" else rule  # these are rules of pages
        if isinstance(rule, str):
            path = self._expanded(rule, entry)
        else:
            slug = entry.fields.get("slug")
            name = str(slug).strip("/") if slug not in (None, "") else self._file_name(entry)
            path = self._path((self._folder_of(entry) / name).as_posix().removeprefix("."))
        path = f"{self._prefix(entry)}/{path.strip('/')}"
        ugly = self._ugly
        if isinstance(ugly, dict):
            ugly = ugly.get(section.lower())
        return f"{path}.html" if ugly is True else f"{path}/"

    def _prefix(self, entry: Entry) -> str:
        language = self.language_of(entry.path, entry.language, {})
        if language not in self._languages or self._languages[language].get("baseurl"):
            return ""
        return f"/{language}" if language != self._default or self._in_subfolder else ""

    def _stem(self, path: PurePosixPath) -> str:
        """The name of a file without its suffix and its language."""
        return _LANGUAGE.sub("", path.stem) if self._language_in_name(path) else path.stem

    def _folder_of(self, entry: Entry) -> PurePosixPath:
        """The folder that a post is in; that of its own folder for `index.md` and `index.fr.md`."""
        is_index = self._stem(entry.path) in ("index", "_index")
        return entry.path.parent.parent if is_index else entry.path.parent

    def _file_name(self, entry: Entry) -> str:
        name = self._stem(entry.path)
        return entry.path.parent.name if name in ("index", "_index") else name

    def _expanded(self, template: str, entry: Entry) -> str:
        title = str(entry.fields.get("title") or "")
        slug = entry.fields.get("slug")
        said = str(slug) if slug not in (None, "") else ""
        name = self._file_name(entry)
        folders = self._folder_of(entry).parts
        dates = date_tokens(self.local_date(entry))
        values = {
            **dates,
            "title": self._path(title.replace("/", "-")),
            "slug": self._path(said or title.replace("/", "-")),
            "filename": self._path(name),
            "contentbasename": self._path(name),
            "slugorfilename": self._path(said or name),
            "slugorcontentbasename": self._path(said or name),
            "section": self._path(folders[0] if folders else ""),
            "sections": self._path("/".join(folders)),
        }
        dates |= {"2006": dates.get("year", "")}

        def value(found: re.Match[str]) -> str:
            if found[1]:
                return self._path("/".join(_sliced(folders, found[2])))
            return values.get(found[3], dates.get(found[3], ""))

        return _TOKEN.sub(value, template)

    def _path(self, text: str) -> str:
        """Hugo's MakePathSanitized: spaces become hyphens, most punctuation goes, lower case."""
        kept: list[str] = []
        for character in unicodedata.normalize("NFC", text):
            if character.isspace() or character == "-":
                if not kept or kept[-1] != "-" or character == "-":
                    kept.append("-")
            elif character in "./\\_#+~@" or unicodedata.category(character)[0] in "LNM":
                kept.append(character)
        found = "".join(kept).strip("-")
        return found if self._keeps_case else found.lower()


def read_configuration(root: Path) -> dict[str, Any]:
    """The configuration of a site, with the names in lower case.

    `config/production` and the root's file are laid over `config/_default`; a file in these
    folders that is not called after the root is the key of its name.
    """
    config: dict[str, Any] = {}
    for folder in ("_default", "production"):
        for file in sorted((root / "config" / folder).glob("*.*")):
            if file.suffix.removeprefix(".") in _SUFFIXES:
                key, _, language = file.stem.lower().partition(".")
                found = lower_names(read_config(file))
                if key in _NAMES:
                    config |= found
                elif key == "languages" and language:
                    config.setdefault(key, {})[language] = found
                elif not language:
                    inner = config.get(key)
                    config[key] = {**inner, **found} if isinstance(inner, dict) else found
    for name in _NAMES:
        for suffix in _SUFFIXES:
            if (file := root / f"{name}.{suffix}").is_file():
                config |= lower_names(read_config(file))
                return config
    return config


def is_hugo(folder: Path) -> bool:
    """Whether a folder is the root of a Hugo site."""
    files = [folder / f"{name}.{suffix}" for name in _NAMES for suffix in _SUFFIXES]
    if not any(file.is_file() for file in files) and not (folder / "config/_default").is_dir():
        return False
    if any((folder / f"hugo.{suffix}").is_file() for suffix in _SUFFIXES):
        return True
    if (folder / "content").is_dir():
        return True
    config = read_configuration(folder)
    return "contentdir" in config or "module" in config or "languages" in config


def _cascaded(cascade: dict[str, Any], path: PurePosixPath) -> dict[str, Any]:
    """What a cascade sets for a page; nothing if the page is not its target."""
    target = _mapping(cascade.get("target") or cascade.get("_target"))
    kind = str(target.get("kind") or "page")
    if not _globbed("page", kind):
        return {}
    pattern = str(target.get("path") or "")
    if pattern and not _globbed(f"/{path.with_suffix('').as_posix()}", pattern.lower()):
        return {}
    values = {name: each for name, each in cascade.items() if name not in ("target", "_target")}
    params = values.pop("params", None)
    return {**(params if isinstance(params, dict) else {}), **values}


def _globbed(text: str, pattern: str) -> bool:
    """Whether a text matches a glob with `{a,b}`."""
    found = re.fullmatch(r"(.*?)\{([^{}]*)\}(.*)", pattern)
    patterns = [found[1] + each + found[3] for each in found[2].split(",")] if found else [pattern]
    return any(fnmatch.fnmatchcase(text.lower(), each) for each in patterns)


def _sliced(parts: tuple[str, ...], spec: str) -> tuple[str, ...]:
    if spec == "last":
        return parts[-1:]
    first, colon, last = spec.partition(":")
    if not colon:
        return parts[int(first) : int(first) + 1] if first.isdigit() else ()
    return parts[int(first or 0) : int(last) + 1 if last.isdigit() else None]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, dict)]
