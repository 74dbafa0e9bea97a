"""Hexo: hexo.io/docs/configuration, /docs/permalinks, /docs/front-matter, /docs/writing."""

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.records import When
from indexer.sources.markdown.front_matter import FrontMatter, split_front_matter
from indexer.sources.markdown.site import (
    PAGES,
    Entry,
    Root,
    Site,
    date_tokens,
    is_error_page,
    read_config,
    strings,
    zone_named,
)

_TOKEN = re.compile(r":(\w+)")
_SEGMENTS = {
    "year": r"(?P<year>\d{4})",
    "month": r"(?P<month>\d{2})",
    "day": r"(?P<day>\d{2})",
    "i_month": r"(?P<month>\d{1,2})",
    "i_day": r"(?P<day>\d{1,2})",
    "title": r"(?P<title>.+)",
}
_HEADLESS = re.compile(r"\"?[\w-]+\"?[ \t]*:(?:[ \t]|\n)")
_CLOSING = re.compile(r"\n(---|;;;)[ \t]*(?:\n|$)")


class Hexo(Site):
    """A site with `_config.yml` and a folder `source` (or the `source_dir` it names)."""

    generator: ClassVar[str] = "hexo"

    def __init__(self, root: Path) -> None:
        config = _configuration(root)
        source = (root / str(config.get("source_dir") or "source")).resolve()
        address = str(config.get("url") or "")
        super().__init__(root, [Root(source)], address=address, zone=zone_named(config["timezone"]))
        self._permalink = str(config.get("permalink") or ":year/:month/:day/:title/")
        pattern = str(config.get("new_post_name") or ":title.md").removesuffix(".md")
        self._name = _pattern_of(pattern)
        self._skipped = strings(config.get("skip_render")) + strings(config.get("exclude"))
        self._included = strings(config.get("include"))
        self._category = str(config.get("default_category") or "uncategorized")
        mapped = config.get("category_map")
        self._mapped = mapped if isinstance(mapped, dict) else {}
        pretty = config.get("pretty_urls")
        self._html = not isinstance(pretty, dict) or pretty.get("trailing_html") is not False
        self._language = next(iter(strings(config.get("language"))), "")
        self.publishes_future = config.get("future") is not False
        self.publishes_drafts = config.get("render_drafts") is True

    def skips_folder(self, path: PurePosixPath) -> bool:
        return (
            path.name[0] == "_" and path.as_posix() not in ("_posts", "_drafts")
        ) and path.as_posix() not in self._included

    def why_not_content(self, path: PurePosixPath) -> str:
        name = path.as_posix()
        if any(fnmatch.fnmatchcase(name, each) for each in self._skipped):
            return "excluded by the configuration"
        if path.name[0] == "_" and name not in self._included:
            return "excluded by its underscore"
        if is_error_page(path):
            return "error page"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def split(self, content: str) -> FrontMatter:
        """The same; the first `---` may be missing."""
        content = content.removeprefix("\ufeff").replace("\r\n", "\n")
        if _HEADLESS.match(content) and (closing := _CLOSING.search(content)):
            content = f"{closing[1]}\n{content}"
        return split_front_matter(content)

    def why_left_out(self, entry: Entry) -> str:
        layout = entry.own & {"layout", "type"}
        if not self._is_post(entry.path) and layout and not entry.text.strip():
            return "list page"
        return ""

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        return super().language_of(path, language, fields) or self._language

    def published(self, entry: Entry) -> When:
        found = super().published(entry)
        named = self._name.fullmatch(self._path_in_posts(entry.path))
        if found is None and named and {"year", "month", "day"} <= named.groupdict().keys():
            return f"{named['year']}-{named['month']:0>2}-{named['day']:0>2}"
        return found

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("permalink")
        if not isinstance(said, str) or not said.strip():
            return ""
        return said.strip() if self._html else said.strip().removesuffix(".html")

    def url_of(self, entry: Entry) -> str:
        if self._is_post(entry.path):
            path = _TOKEN.sub(lambda found: self._token(found[1], entry), self._permalink)
        elif entry.path.stem == "index":
            path = f"{entry.path.parent.as_posix().removeprefix('.')}/"
        else:
            path = f"{entry.path.with_suffix('')}.html"
        return path if self._html else path.removesuffix(".html")

    def _token(self, name: str, entry: Entry) -> str:
        path = self._path_in_posts(entry.path)
        named = self._name.fullmatch(path)
        slug = (named.groupdict().get("title") if named else "") or _slug(path)
        said = entry.fields.get("categories") or entry.fields.get("category") or []
        chain = said if isinstance(said, list) else [said]
        if chain and isinstance(chain[-1], list):  # several categories, each with those above it
            chain = chain[-1]
        slugs = [_slug(str(self._mapped.get(str(each), each))) for each in chain if each]
        values = {
            **date_tokens(self.local_date(entry)),
            "title": slug,
            "name": slug.rpartition("/")[2],
            "post_title": _slug(str(entry.fields.get("title") or "")).lower(),
            "category": "/".join(slugs) or self._category,
        }
        own = entry.fields.get(name)
        return values.get(name) or (str(own) if isinstance(own, str | int) else "")

    def _is_post(self, path: PurePosixPath) -> bool:
        return path.parts[0] in ("_posts", "_drafts")

    def _path_in_posts(self, path: PurePosixPath) -> str:
        bare = path.with_suffix("")
        return PurePosixPath(*bare.parts[1:]).as_posix() if self._is_post(path) else bare.as_posix()


def is_hexo(folder: Path) -> bool:
    """Whether a folder is the root of a Hexo site; Jekyll's configuration has the same name."""
    config = _configuration(folder)
    if "source_dir" in config or "new_post_name" in config:
        return True
    package = read_config(folder / "package.json") if (folder / "package.json").is_file() else {}
    return "hexo" in package or "hexo" in (package.get("dependencies") or {})


def _configuration(root: Path) -> dict[str, Any]:
    return {"timezone": "", **read_config(root / "_config.yml")}


def _pattern_of(name: str) -> re.Pattern[str]:
    """The names of posts as a regular expression, such as `:year-:month-:day-:title`."""
    parts = _TOKEN.split(name)
    segments = (
        _SEGMENTS.get(part, r".+?") if at % 2 else re.escape(part) for at, part in enumerate(parts)
    )
    try:
        return re.compile("".join(segments))
    except re.error:  # the same part of a date twice
        return re.compile("(?P<title>.+)")


def _slug(text: str) -> str:
    """Hexo's slugize: no diacritics, marks and spaces become hyphens, the case stays."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    return re.sub(r"""[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'<>,.?/]+""", "-", plain).strip("-")
