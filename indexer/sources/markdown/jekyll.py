"""Jekyll: jekyllrb.com/docs/permalinks, /docs/collections, /docs/configuration."""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.dates import is_day
from indexer.records import When
from indexer.sources.markdown.config import mapping, read_config, tables, zone_named
from indexer.sources.markdown.site import (
    DATED,
    PAGES,
    Entry,
    Root,
    Site,
    first_date,
    is_error_page,
    slug_of,
)

CONFIGURATION = ("_config.yml", "_config.yaml", "_config.toml")
_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_EXCLUDED = (
    *("Gemfile", "Gemfile.lock", "node_modules", "vendor/bundle/", "vendor/cache/"),
    *("vendor/gems/", "vendor/ruby/"),
)
_TOKEN = re.compile(r":([a-z_]+)")


class Jekyll(Site):
    """A site with `_config.yml`, or a folder with `_posts`."""

    generator = "Jekyll"

    def __init__(self, root: Path) -> None:
        config: dict[str, Any] = {}
        for name in CONFIGURATION:
            config = config or read_config(root / name)
        source = root / str(config.get("source") or "")
        address = f"{config.get('url') or ''}{config.get('baseurl') or ''}"
        zone = zone_named(config.get("timezone"))
        super().__init__(root, [Root(source.resolve())], address=address, zone=zone)
        style = config.get("permalink")
        self._style = style if isinstance(style, str) else "date"
        collections = config.get("collections")
        if isinstance(collections, list):
            collections = dict.fromkeys(map(str, collections))
        self._collections = {name: mapping(value) for name, value in mapping(collections).items()}
        self._defaults = _defaults(config.get("defaults"))
        self._exclude = [*_EXCLUDED, *_strings(config.get("exclude"))]
        self._include = _strings(config.get("include"))
        plugins = str(config.get("plugins") or config.get("gems") or "")
        self._takes_headless = "optional-front-matter" in plugins
        self.publishes_future = config.get("future") is True
        self.publishes_drafts = config.get("show_drafts") is True

    # -- which files -----------------------------------------------------------------------------

    def skips_folder(self, path: PurePosixPath) -> bool:
        if self._is_excluded(path):
            return True
        is_known = path.name in ("_posts", "_drafts") or path.name in self._include
        is_collection = len(path.parts) == 1 and path.name[1:] in self._collections
        return path.name[0] in "_#~" and not (is_known or is_collection)

    def why_not_content(self, path: PurePosixPath) -> str:
        if self._is_excluded(path) or path.name[0] in "_#~":
            return "excluded by the configuration"
        collection = self._collection(path)
        if collection not in ("", "posts") and not self._collections[collection].get("output"):
            return "collection without pages of its own"
        if is_error_page(path):
            return "error page"
        if collection == "posts" and "_drafts" not in path.parts and not DATED.match(path.name):
            return "file in _posts without a date in its name"
        return "HTML page, not Markdown" if path.suffix in PAGES and not collection else ""

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        kind = self._collection(path) or "pages"
        if kind == "posts" and "_drafts" in path.parts:
            kind = "drafts"
        fields: dict[str, Any] = {}
        for scope, type_, values in self._defaults:
            if type_ in ("", kind, kind.rstrip("s")) and _is_in_scope(path, scope):
                fields |= values
        fields |= own
        for plural, singular in (("categories", "category"), ("tags", "tag")):
            if labels := _labels(fields, plural, singular):
                fields[plural] = labels
        return fields

    def why_left_out(self, entry: Entry) -> str:
        if entry.own is None and not self._takes_headless:
            return "no front matter"
        if entry.fields.get("redirect_to"):
            return "redirect"
        if (
            not entry.text.strip()
            and "layout" in (entry.own or ())
            and not self._collection(entry.path)
        ):
            return "list page"
        return ""

    # -- what it says ----------------------------------------------------------------------------

    def parsed(self, when: When) -> datetime | None:
        """Jekyll shows every date in the zone of the site, whatever zone it was written in."""
        parsed = super().parsed(when)
        return parsed.astimezone(self.zone) if parsed and not is_day(when) else parsed

    def published(self, entry: Entry) -> When:
        if self._collection(entry.path):
            return super().published(entry)
        when: When = first_date(entry.fields, ("date",))
        return when

    # -- where it is -----------------------------------------------------------------------------

    def own_url(self, entry: Entry) -> str:
        permalink = entry.fields.get("permalink")
        if not isinstance(permalink, str) or not permalink.strip():
            return ""
        return self._expanded(_STYLES.get(permalink, permalink), entry)

    def url_of(self, entry: Entry) -> str:
        if collection := self._collection(entry.path):
            style = self._collections.get(collection, {}).get("permalink")
            if not isinstance(style, str):
                is_post = collection == "posts"
                style = self._style if is_post else f"/:collection/:path{self._suffix()}"
            return self._expanded(_STYLES.get(style, style), entry)
        if entry.path.stem == "index":
            return f"{entry.path.parent.as_posix().removeprefix('.')}/"
        return f"{entry.path.with_suffix('')}{self._suffix().replace(':output_ext', '.html')}"

    def _suffix(self) -> str:
        """What follows the path of a page or of a document in a collection."""
        if self._style in ("date", "ordinal", "none"):
            return ":output_ext"
        if self._style == "pretty":
            return "/"
        return next((end for end in ("/", ":output_ext") if self._style.endswith(end)), "")

    def _expanded(self, template: str, entry: Entry) -> str:
        collection = self._collection(entry.path)
        stem, folders = entry.path.stem, entry.path.parts
        name = DATED.sub("", stem) if collection == "posts" else stem
        slug = slug_of(entry) or name
        categories = _labels(entry.fields, "categories", "category")
        if "_posts" in folders:
            categories = [*folders[: folders.index("_posts")], *categories]
        values = {
            **self.date_tokens(entry),
            "title": _slug(slug, cased=True),
            "slug": _slug(slug),
            "name": _slug(name),
            "basename": name,
            "collection": collection,
            "path": "/".join((*folders[1:-1], stem)),
            "categories": "/".join(dict.fromkeys(map(str.lower, categories))),
            "slugified_categories": "/".join(dict.fromkeys(map(_slug, categories))),
            "output_ext": ".html",
        }
        return _TOKEN.sub(lambda token: values.get(token[1], ""), template)

    def _collection(self, path: PurePosixPath) -> str:
        """The collection that a file belongs to; "" for a page."""
        *folders, _ = path.parts
        if not {"_posts", "_drafts"}.isdisjoint(folders):
            return "posts"
        first = folders[0] if folders else ""
        return first[1:] if first[:1] == "_" and first[1:] in self._collections else ""

    def _is_excluded(self, path: PurePosixPath) -> bool:
        name = path.as_posix()
        return any(
            name == bare or name.startswith(f"{bare}/") or fnmatch.fnmatchcase(name, bare)
            for bare in (pattern.strip("/") for pattern in self._exclude)
        )


def _strings(value: Any) -> list[str]:
    return list(map(str, value)) if isinstance(value, list) else []


def _defaults(value: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Path, type and values of each default; the more particular come later, and win."""
    defaults = []
    for default in tables(value):
        scope = mapping(default.get("scope"))
        values = {
            str(name).lower(): inner for name, inner in mapping(default.get("values")).items()
        }
        path = str(scope.get("path") or "").strip("/")
        defaults.append((path, str(scope.get("type") or ""), values))
    return sorted(defaults, key=lambda default: (len(default[0]), bool(default[1])))


def _is_in_scope(path: PurePosixPath, scope: str) -> bool:
    names: Iterable[str] = map(str, (path, *path.parents))
    return not scope or any(fnmatch.fnmatchcase(name, scope) for name in names)


def _labels(fields: Mapping[str, Any], plural: str, singular: str) -> list[str]:
    """A string in the plural field is split at its spaces (jekyllrb.com/docs/posts)."""
    value = fields.get(plural)
    if value is None:
        value = fields.get(singular)
        value = [value] if isinstance(value, str) else value
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    return [label.strip() for label in _strings(value)]


def _slug(text: str, *, cased: bool = False) -> str:
    """Jekyll's slugify in its mode "pretty": these marks stay, others become hyphens."""
    slug = re.sub(r"[^\w._~!$&'()+,;=@]+", "-", text).strip("-")
    return slug if cased else slug.lower()
