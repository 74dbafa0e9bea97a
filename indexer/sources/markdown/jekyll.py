"""Jekyll: jekyllrb.com/docs/permalinks, /docs/collections, /docs/configuration."""

import fnmatch
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.dates import is_day
from indexer.records import When
from indexer.sources.markdown.site import (
    DATED,
    PAGES,
    Entry,
    Root,
    Site,
    date_tokens,
    first_date,
    is_error_page,
    read_config,
    said_slug,
    zone_named,
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
        self._collections = _collections(config.get("collections"))
        self._collections_dir = PurePosixPath(str(config.get("collections_dir") or ""))
        self._defaults = _defaults(config.get("defaults"))
        exclude = config.get("exclude")
        self._exclude = [*_EXCLUDED, *(map(str, exclude) if isinstance(exclude, list) else ())]
        include = config.get("include")
        self._include = list(map(str, include)) if isinstance(include, list) else []
        plugins = str(config.get("plugins") or config.get("gems") or "")
        self._takes_headless = "optional-front-matter" in plugins
        self.publishes_future = config.get("future") is True
        self.publishes_drafts = config.get("show_drafts") is True

    def skips_folder(self, path: PurePosixPath) -> bool:
        if self._matches(path, self._exclude):
            return True
        if path.name[0] not in "_#~":
            return False
        known = path.name in ("_posts", "_drafts") or path.name in self._include
        below = path.parent == self._collections_dir and path.name[1:] in self._collections
        return not (known or below)

    def why_not_content(self, path: PurePosixPath) -> str:
        if self._matches(path, self._exclude) or path.name[0] in "_#~":
            return "excluded by the configuration"
        collection = self._collection(path)
        if collection and not self._is_output(collection):
            return "collection without pages of its own"
        if is_error_page(path):
            return "error page"
        is_post = collection == "posts"
        if is_post and "_drafts" not in path.parts and not DATED.match(path.name):
            return "file in _posts without a date in its name"
        if path.suffix in PAGES and not is_post and not collection:
            return "HTML page, not Markdown"
        return ""

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        kind = self._collection(path) or "pages"
        if kind == "posts" and "_drafts" in path.parts:
            kind = "drafts"
        for scope, type_, values in self._defaults:
            if _in_scope(path, scope) and type_ in ("", kind, kind.rstrip("s")):
                merged |= values
        fields = {**merged, **own}
        for plural, singular in (("categories", "category"), ("tags", "tag")):
            if labels := _listed(fields, plural, singular):
                fields[plural] = labels
        return fields

    def why_left_out(self, entry: Entry) -> str:
        if not entry.has_head and not self._takes_headless:
            return "no front matter"
        if entry.fields.get("redirect_to"):
            return "redirect"
        if not entry.text.strip() and "layout" in entry.own and not self._collection(entry.path):
            return "list page"
        return ""

    def parsed(self, when: When) -> datetime | None:
        """Jekyll shows every date in the zone of the site, whatever zone it was written in."""
        found = super().parsed(when)
        return found.astimezone(self.zone) if found and not is_day(when) else found

    def published(self, entry: Entry) -> When:
        return (
            super().published(entry)
            if self._collection(entry.path)
            else first_date(entry.fields, ("date",))
        )

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("permalink")
        if not isinstance(said, str) or not said.strip():
            return ""
        return self._expanded(_STYLES.get(said, said), entry)

    def url_of(self, entry: Entry) -> str:
        collection = self._collection(entry.path)
        style = _STYLES.get(self._style, self._style)
        if collection:
            said = self._collections.get(collection, {}).get("permalink")
            if isinstance(said, str):
                style = _STYLES.get(said, said)
            elif collection != "posts":
                style = "/:collection/:path" + self._suffix()
            return self._expanded(style, entry)
        if entry.path.stem == "index":
            return f"{entry.path.parent.as_posix().removeprefix('.')}/"
        return entry.path.with_suffix("").as_posix() + self._suffix().replace(
            ":output_ext", ".html"
        )

    def _suffix(self) -> str:
        """What follows the path of a page or of a document in a collection."""
        if self._style in ("date", "ordinal", "none"):
            return ":output_ext"
        if self._style == "pretty":
            return "/"
        return next((end for end in ("/", ":output_ext") if self._style.endswith(end)), "")

    def _expanded(self, template: str, entry: Entry) -> str:
        collection = self._collection(entry.path) or ""
        base = entry.path.stem if collection != "posts" else DATED.sub("", entry.path.stem)
        slug = said_slug(entry) or base
        categories = [
            *(
                entry.path.parts[: entry.path.parts.index("_posts")]
                if collection == "posts" and "_posts" in entry.path.parts
                else ()
            ),
            *_listed(entry.fields, "categories", "category"),
        ]
        values = {
            **date_tokens(self.local_date(entry)),
            "title": _slug(slug, cased=True),
            "slug": _slug(slug),
            "name": _slug(base),
            "basename": base,
            "collection": collection,
            "path": self._path_in_collection(entry.path),
            "categories": "/".join(dict.fromkeys(each.lower() for each in categories)),
            "slugified_categories": "/".join(dict.fromkeys(map(_slug, categories))),
            "output_ext": ".html",
        }
        return _TOKEN.sub(lambda found: values.get(found[1], ""), template)

    def _collection(self, path: PurePosixPath) -> str:
        """The collection that a file belongs to; "" for a page."""
        if not {"_posts", "_drafts"}.isdisjoint(path.parts[:-1]):
            return "posts"
        try:
            first = path.relative_to(self._collections_dir).parts[0]
        except (ValueError, IndexError):
            return ""
        return first[1:] if first[0] == "_" and first[1:] in self._collections else ""

    def _is_output(self, collection: str) -> bool:
        return collection == "posts" or bool(self._collections[collection].get("output"))

    def _path_in_collection(self, path: PurePosixPath) -> str:
        folder = f"_{self._collection(path)}"
        parts = path.with_suffix("").parts
        return "/".join(parts[parts.index(folder) + 1 :] if folder in parts else parts)

    def _matches(self, path: PurePosixPath, patterns: list[str]) -> bool:
        for pattern in patterns:
            bare = pattern.strip("/")
            if path.as_posix() == bare or path.as_posix().startswith(f"{bare}/"):
                return True
            if fnmatch.fnmatchcase(path.as_posix(), bare):
                return True
        return False


def _collections(value: Any) -> dict[str, dict[str, Any]]:
    if isinstance(value, list):
        return {str(name): {} for name in value}
    if not isinstance(value, dict):
        return {}
    return {str(name): each if isinstance(each, dict) else {} for name, each in value.items()}


def _defaults(value: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Path, type and values of each default; the more particular come later, and win."""
    found = []
    for each in value if isinstance(value, list) else ():
        values = each.get("values") if isinstance(each, dict) else None
        scope = each.get("scope") if isinstance(values, dict) else None
        if isinstance(scope, dict) and isinstance(values, dict):
            lowered = {str(name).lower(): inner for name, inner in values.items()}
            path = str(scope.get("path") or "").strip("/")
            found.append((path, str(scope.get("type") or ""), lowered))
    return sorted(found, key=lambda each: (len(each[0]), bool(each[1])))


def _in_scope(path: PurePosixPath, scope: str) -> bool:
    name = path.as_posix()
    if "*" in scope:
        return any(fnmatch.fnmatchcase(each, scope) for each in (name, *map(str, path.parents)))
    return not scope or name == scope or name.startswith(f"{scope}/")


def _listed(fields: Mapping[str, Any], plural: str, singular: str) -> list[str]:
    """A string in the plural field is split at its spaces (jekyllrb.com/docs/posts)."""
    value = fields.get(plural)
    if value is None:
        value = fields.get(singular)
        value = [value] if isinstance(value, str) else value
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    return [str(each).strip() for each in value] if isinstance(value, list) else []


def _slug(text: str, *, cased: bool = False) -> str:
    """Jekyll's slugify in its mode "pretty": these marks stay, others become hyphens."""
    found = re.sub(r"[^\w._~!$&'()+,;=@]+", "-", text).strip("-")
    return found if cased else found.lower()
