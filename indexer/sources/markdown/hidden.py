"""What asks not to be found: the front matter of a post, and settings of the site for many."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from indexer.errors import SourceError
from indexer.sources.generators import Site, text_of
from indexer.sources.markdown.front_matter import load_yaml

_NO = "false|no|off|0|never|link|exclude|noindex"
_NOTHING = f"(?!(?:|none|~|null|{_NO})$)"
_DRAFT = re.compile(
    rf"draft={_NOTHING}.*|publish(?:ed)?=(?:{_NO})|public=(?:{_NO})"
    r"|(?:status|visibility)=(?:draft|private|hidden|pending|review|unlisted|unpublished|wip)",
    re.DOTALL,
)
_ASKS = re.compile(
    rf"""(?:(?:params|extra|seo|meta)\.)? (?:
      (?: headless|unlisted|hidden|private|password|redirectto|redirecturl|noindex|nosearch
        | robotsnoindex|searchhidden|(?:book)?searchexclude|excludesearch|sitemapexclude
        | (?:exclude|hide|hidden)fromsearch|eleventyexcludefromcollections
        | (?:search|sitemap|robots)\.(?:exclude|noindex|disable) )={_NOTHING}.*
      | (?: search|searchable|sitemap|insearchindex|pagefind|permalink|render
        | (?:search|robots)\.index|build\.(?:list|render) )=(?:{_NO})
      | robots=.*\bno(?:ne|index)\b.*
      | (?:head|meta)=.*robots.*noindex.* )""",
    re.VERBOSE | re.DOTALL,
)
_FOR_MANY = re.compile(
    r"^[ \t]*(?:\[+cascade|[\"']?(?:cascade|defaults)[\"']?[ \t]*[:=]).*(?:\n(?![\w\"']+:|\[).*)*",
    re.MULTILINE,
)
"""What a configuration says about many posts (Hugo, Jekyll)."""
_FIELD = re.compile(r"[\"']?([A-Za-z][\w-]*)[\"']?[ \t]*[:=][ \t]*[\"']?([^\s\"',{}\[\]]*)")
_LISTS = re.compile(
    r"^(?![ \t]*(?:#|//)).*?\b(ignore_?files|disable_?languages|ignored_content|exclude_?files"
    r"|include_?files|exclude_docs|draft_docs|drafts|render|srcExclude|\w+_EXCLUDES|DEFAULT_METADATA"
    r"|disabled)[\"']?[ \t]*[:=](?![ \t]*(?:\[\s*\]|false))",
    re.IGNORECASE | re.MULTILINE,
)
"""Settings by which Hugo, Zola, MkDocs, Quarto, VitePress and Pelican leave pages out."""
_HEAD = re.compile(r"(---|\+\+\+)\s.*?^\1", re.DOTALL | re.MULTILINE)
_OF_FOLDERS = ("_metadata.yml", "_metadata.yaml", "{}.json", "{}.11tydata.json")
"""Files with front matter for all posts of their folder (Quarto, Eleventy)."""


def is_draft(fields: Mapping[str, Any]) -> bool:
    """Whether front matter says that its post is not published; `draft` does if in doubt."""
    return any(map(_DRAFT.fullmatch, _flattened(fields)))


def why_hidden(fields: Mapping[str, Any]) -> str:
    """The field by which a page asks not to be found, such as `search`; "" if none does."""
    return next(filter(_ASKS.fullmatch, _flattened(fields)), "").partition("=")[0]


def check_settings(site: Site | None, files: Iterable[Path]) -> tuple[str, ...]:
    """The globs of files and folders that `exclude` of Jekyll and Hexo leaves out.

    Args:
        files: those of the source.

    Raises:
        SourceError: settings hide pages in another way, which is not followed.
    """
    generator, excluded = (site.generator, _excluded(site)) if site else ("", ())
    for file in site.config if site else ():
        text = text_of(file)
        lists = _LISTS.search(text)
        if generator == "Docusaurus":
            lists = re.search(r"^\s*(exclude)\s*:", text, re.MULTILINE)
        for_many = text if file.stem == "cascade" else "\n".join(_FOR_MANY.findall(text))
        _refuse(file, lists[1] if lists else _hiding(for_many), site)
    for file in files:
        head = _HEAD.match(text_of(file)) if file.stem.startswith("_index") else None
        if head:
            is_draft = generator == "Zola" and re.search(r"^draft *= *true", head[0], re.MULTILINE)
            for_many = "\n".join(_FOR_MANY.findall(head[0]))
            _refuse(file, "draft" if is_draft else _hiding(for_many), site)
    for folder in {file.parent for file in files}:
        for file in (folder / name.format(folder.name) for name in _OF_FOLDERS):
            _refuse(file, _hiding(text_of(file)), site)
    return excluded


def is_excluded(path: PurePosixPath, patterns: Iterable[str]) -> bool:
    """Whether a file or one of its folders is among the globs of `check_settings`."""
    parts = [str(part) for part in (path, *path.parents)]
    return any(fnmatchcase(part, pattern) for pattern in patterns for part in parts)


def _excluded(site: Site) -> tuple[str, ...]:
    patterns: list[str] = []
    for file in site.config:
        if file.name.startswith("_config."):
            try:
                config = load_yaml(text_of(file))
            except (yaml.YAMLError, ValueError):
                reason = f"{file} is not valid YAML."
                raise SourceError(reason, "Correct it: it may hide pages.") from None
            given = config.get("exclude") or () if isinstance(config, dict) else ()
            patterns += [given] if isinstance(given, str) else given
    return tuple(str(pattern).strip("/") for pattern in patterns)


def _hiding(text: str) -> str:
    """The first field in a configuration that would hide its posts; "" if there is none."""
    for name, value in _FIELD.findall(text):
        for before in ("", "build.", "robots.", "search.", "sitemap."):
            field = f"{before}{key(name)}={value.lower()}"
            if _DRAFT.fullmatch(field) or _ASKS.fullmatch(field):
                return str(name)
    return ""


def _refuse(file: Path, setting: str, site: Site | None) -> None:
    if setting:
        build = f"Build the site (`{site.command}`)" if site else "Build the site"
        reason = f"{file} hides pages by `{setting}`, which is not followed."
        raise SourceError(reason, f"{build}, and index what it built.")


def _flattened(fields: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """Fields as `name=value`, in lower case: `sitemap.exclude=true` for one in a table, or in a
    list of tables."""
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        full = before + key(name)
        yield f"{full}={str(value).lower().strip()}"
        for inner in (value if isinstance(value, list) else [value]) if depth < 3 else ():
            yield from _flattened(inner, f"{full}.", depth + 1)


def key(name: Any) -> str:
    """The name of a field without capitals, `_`, `-` and spaces."""
    return re.sub(r"[_\-\s]", "", str(name).lower())
