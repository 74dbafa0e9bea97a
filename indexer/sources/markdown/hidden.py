"""What asks not to be found: the front matter of a post, and settings of the site for many."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.dates import NoDate, is_day, moment
from indexer.errors import SourceError
from indexer.records import When
from indexer.sources.generators import Site, text_of
from indexer.sources.markdown.front_matter import BadFrontMatter, load, split_front_matter

_NO = ("false", "no", "off", "0", "never", "link", "exclude", "noindex")
_NOTHING = ("", "none", "~", "null", *_NO)
_DATES = ("publishdate", "expirydate", "unpublishdate")
_SHOWN = (*_NO, "true", "yes", "none")
_HIDE_IF_YES = frozenset(
    (
        *("headless", "unlisted", "hidden", "private", "password", "redirectto", "redirecturl"),
        *("noindex", "nosearch", "robotsnoindex", "searchhidden", "excludesearch", "searchexclude"),
        *("booksearchexclude", "excludefromsearch", "hidefromsearch", "hiddenfromsearch"),
        *("search.exclude", "search.noindex", "sitemap.exclude", "sitemap.disable"),
        *("sitemapexclude", "robots.noindex", "eleventyexcludefromcollections"),
    )
)
_HIDE_IF_NO = frozenset(
    (
        *("search", "searchable", "sitemap", "insearchindex", "pagefind", "permalink", "render"),
        *("search.index", "robots.index", "build.list", "build.render"),
    )
)
_DRAFT_IF_NO = frozenset(("published", "publish", "public"))
_DRAFT_STATUS = (
    "draft",
    "private",
    "hidden",
    "pending",
    "review",
    "unlisted",
    "unpublished",
    "wip",
)
_ROBOTS = re.compile(r"\bno(?:ne|index)\b")
_OF_THEMES = re.compile(r"^(?:params|extra|seo|meta)\.")
_FOR_OTHERS = re.compile(r"^(?:cascade|defaults\.values)\.(.+)")
_LISTS = frozenset(
    (
        *("ignorefiles", "disablelanguages", "ignoredcontent", "excludedocs", "draftdocs"),
        *("website.drafts", "project.render", "module.mounts.excludefiles"),
        *("module.mounts.includefiles", "module.mounts.files"),
    )
)
"""Settings of Hugo, Zola, MkDocs and Quarto by which pages are hidden."""
_IN_PROGRAMS = {
    "Docusaurus": re.compile(r"^\s*(exclude)\s*:\s*\[", re.MULTILINE),
    "VitePress": re.compile(r"^\s*(srcExclude)\s*:", re.MULTILINE),
    "Pelican": re.compile(r"^(\w+_EXCLUDES|DEFAULT_METADATA)\s*=", re.MULTILINE),
}
"""The same in configurations that are programs."""
_OF_FOLDERS = ("_metadata.yml", "_metadata.yaml", "{}.json", "{}.11tydata.json")
"""Files with front matter for all posts of their folder (Quarto, Eleventy)."""


def is_draft(fields: Mapping[str, Any]) -> bool:
    """Whether front matter says that its post is not published."""
    return any(_drafts(name, value) for name, value in _flattened(fields))


def why_hidden(fields: Mapping[str, Any]) -> str:
    """The field by which a page asks not to be found, such as `search: false`; "" if none does."""
    for name, value in _flattened(fields):
        if _hides(name, value):
            said = str(value).lower()
            return f"{name}: {said}" if said in _SHOWN else name  # not a password
    return ""


def why_not_now(
    starts: Iterable[When], ends: When, now: datetime, zone: tzinfo, *, future: bool
) -> str:
    """Why it is too early or too late for a post; "" if it is not."""
    begins = [begin for when in starts if (begin := _begins(when, zone))]
    if begins and max(begins) > now and not future:
        return "dated in the future"
    end = _begins(ends, zone)
    return "expired" if end and end <= now else ""


def check_settings(site: Site | None, files: Iterable[Path]) -> tuple[str, ...]:
    """The globs of files and folders that `exclude` of Jekyll and Hexo leaves out.

    Args:
        files: those of the source.

    Raises:
        SourceError: settings hide pages in another way, which is not followed; or they cannot be
            read, and may do so.
    """
    excluded: tuple[str, ...] = ()
    for file in site.files if site else ():
        config = _config(file)
        given = {"cascade": config} if file.stem == "cascade" else config
        _refuse(file, _hiding_setting(given), site)
        program = _IN_PROGRAMS.get(site.generator.name) if site else None
        if found := program and program.search(text_of(file)):
            _refuse(file, found[1], site)
        patterns = config.get("exclude")
        if isinstance(patterns, list):
            excluded += tuple(str(pattern).strip("/") for pattern in patterns)
    files = list(files)
    for file in files:
        if file.stem.startswith("_index"):
            fields = _front_matter(file)
            is_section = site is not None and site.generator.name == "Zola" and is_draft(fields)
            _refuse(file, "draft" if is_section else _hiding_setting(fields), site)
    for folder in {file.parent for file in files}:
        for name in _OF_FOLDERS:
            file = folder / name.format(folder.name)
            if file.is_file():
                _refuse(file, _hiding_setting(_config(file), is_for_others=True), site)
    return excluded


def is_excluded(path: PurePosixPath, patterns: Iterable[str]) -> bool:
    """Whether a file or one of its folders is among the globs of `check_settings`."""
    parts = [str(part) for part in (path, *path.parents)]
    return any(fnmatchcase(part, pattern) for pattern in patterns for part in parts)


def _hiding_setting(config: Mapping[str, Any], *, is_for_others: bool = False) -> str:
    """The setting by which posts are hidden, such as `cascade.draft`; "" if there is none."""
    for name, value in _flattened(config):
        given = name if is_for_others else (found := _FOR_OTHERS.match(name)) and found[1]
        is_disabled = name.startswith("languages.") and name.endswith(".disabled")
        if value and (name in _LISTS or (is_disabled and str(value).lower() not in _NO)):
            return name
        if given and (_drafts(given, value) or _hides(given, value) or given in _DATES):
            return name
    return ""


def _refuse(file: Path, setting: str, site: Site | None) -> None:
    if setting:
        build = f"{site.how_to_build}: index that." if site else "Build the site, and index that."
        raise SourceError(f"{file} hides pages by `{setting}`, which is not followed.", build)


def _drafts(name: str, value: Any) -> bool:
    """Whether a field says that a post is a draft; `draft` does if in doubt."""
    said = str(value).lower().strip()
    return (
        (name == "draft" and said not in _NOTHING)
        or (name in _DRAFT_IF_NO and said in _NO)
        or (name in ("status", "visibility") and said in _DRAFT_STATUS)
    )


def _hides(name: str, value: Any) -> bool:
    """Whether a field asks that its page is not found."""
    name, said = _OF_THEMES.sub("", name), str(value).lower().strip()
    return bool(
        (name in _HIDE_IF_YES and said not in _NOTHING)
        or (name in _HIDE_IF_NO and said in _NO)
        or (name == "robots" and _ROBOTS.search(said))
        or (name in ("head", "meta") and "robots" in said and "noindex" in said)
    )


def _flattened(fields: Any, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Names and values, `sitemap.exclude` for one in a table or in a list of tables.

    The names are in lower case, without `_`, `-` and spaces.
    """
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        full = before + re.sub(r"[_\-\s]", "", str(name).lower())
        yield full, value
        for inner in (value if isinstance(value, list) else [value]) if depth < 4 else ():
            yield from _flattened(inner, f"{full}.", depth + 1)


def _begins(when: When, zone: tzinfo) -> datetime | None:
    """The moment from which on a date is not in the future: a day begins in the site's zone."""
    try:
        parsed = moment(when, zone)
    except NoDate:
        return None
    return parsed.replace(tzinfo=zone) if parsed and is_day(when) else parsed


def _front_matter(file: Path) -> Mapping[str, Any]:
    try:
        return split_front_matter(text_of(file)).fields or {}
    except BadFrontMatter as error:
        raise _unreadable(file, error) from None


def _config(file: Path) -> Mapping[str, Any]:
    """A configuration in YAML, TOML or JSON; empty for one of another kind.

    Raises:
        SourceError: it cannot be read.
    """
    languages = {".toml": "TOML", ".json": "JSON", ".yml": "YAML", ".yaml": "YAML"}
    try:
        language = languages.get(file.suffix)
        config = load(text_of(file), language) if language else {}
    except BadFrontMatter as error:
        raise _unreadable(file, error) from None
    return config if isinstance(config, Mapping) else {}


def _unreadable(file: Path, error: BadFrontMatter) -> SourceError:
    reason = f"{file}:{error.line} cannot be read: {error}."
    return SourceError(reason, "Correct it: it may hide other pages.")
