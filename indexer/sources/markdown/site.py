"""A folder of Markdown posts: which files it has, and how a generator treats them.

`Site` is a folder without a known generator; each generator is a subclass that overrides what its
configuration decides.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from indexer.dates import NoDate, is_day, moment
from indexer.errors import SourceError
from indexer.records import When
from indexer.sources.base import UNREAD
from indexer.sources.files import IGNORED_FOLDERS, files_in
from indexer.sources.identity import day, day_in_path

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
PAGES = (".html", ".htm")
"""Files that may have HTML behind their front matter."""
OTHER_MARKUP = (
    *(".org", ".adoc", ".asciidoc", ".rst", ".pandoc", ".pdc", ".textile", ".ipynb", ".mdoc"),
    *(".qmd", ".rmd", ".lhs", ".lr", ".mdx"),
)
"""Formats of posts that are not read."""

DATED = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?:T[\d-]+Z?)?[-_ ](?=.)")
ABOUT_THE_FOLDER = frozenset(
    ("readme", "license", "changelog", "contributing", "code_of_conduct", "security", "authors")
)
LANGUAGES = frozenset(
    (
        *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "en-gb", "en-us", "eo", "es", "et"),
        *("eu", "fa", "fi", "fr", "gl", "he", "hi", "hr", "hu", "id", "is", "it", "ja", "ko", "lt"),
        *("lv", "nb", "nl", "nn", "no", "pl", "pt", "pt-br", "ro", "ru", "sk", "sl", "sr", "sv"),
        *("ta", "th", "tr", "uk", "vi", "zh", "zh-cn", "zh-hans", "zh-hant", "zh-tw"),
    )
)
_PUBLISHED = (
    *("date", "pubdate", "pub_date", "publishdate", "published", "pubdatetime", "published_at"),
    *("publishedat", "published_date", "publisheddate", "date_published", "created", "created_at"),
)
_MODIFIED = (
    *("modified", "updated", "lastmod", "last_modified_at", "updated_at", "updatedat"),
    *("updateddate", "updated_date", "moddatetime", "last_modified", "last_update", "revised"),
)
_LABELS = frozenset(("author", "authors", "_authors", "tags", "_tags", "categories"))
_OWN_TEXT = 600
"""Characters; a list of posts is introduced with fewer."""
_SWITCHES = ("true", "false", "yes", "no", "on", "off")
URL_FIELDS = ("year", "month", "day", "slug", "path", "section", "categories")
"""What a URL template may contain in braces."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder with content, and its language ("" for the site's)."""

    folder: Path
    language: str = ""

    def path_of(self, file: Path) -> PurePosixPath:
        """The path of a file below the folder."""
        return PurePosixPath(file.relative_to(self.folder).as_posix())


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its path below the site's content, its front matter, and its text.

    The names in `fields` are lower case. `own` are those that the file has, without defaults of
    the site: None for a file without front matter.
    """

    path: PurePosixPath
    fields: Mapping[str, Any]
    text: str
    language: str
    own: frozenset[str] | None

    @property
    def is_index(self) -> bool:
        """Whether the file stands for its folder."""
        return self.path.stem in ("index", "_index", "README")

    @property
    def name(self) -> str:
        """The name of the file, or of its folder for `index.md`; without a date before it."""
        return DATED.sub("", self.raw_name)

    @property
    def raw_name(self) -> str:
        """The same with the date."""
        return self.path.parent.name if self.is_index else self.path.stem

    @property
    def folder(self) -> PurePosixPath:
        """The folder that the post is in; that of its own folder for `index.md`."""
        return self.path.parent.parent if self.is_index else self.path.parent


class Site:
    """A folder of posts without a generator that is known.

    `address` is the front page's URL, "" if unknown. `zone` applies to dates without a zone.
    `output` is the folder of the built site, if it is known; `notes` says what is not followed.
    `more_tags` are taxonomies beside tags, whose terms are keywords too.
    """

    generator: str = "none"

    def __init__(
        self, root: Path, roots: Sequence[Root], *, address: str = "", zone: tzinfo = UTC
    ) -> None:
        self.root = root
        self.roots = tuple(roots)
        self.address = address if address.startswith(("http://", "https://", "/")) else ""
        self.zone = zone
        self.output = ""
        self.notes: list[str] = []
        if self.generator == "none":
            self.notes.append(
                f"{root}: no site generator is recognised, so the addresses are the paths of the "
                "files; index the built site, or say them with --url-template."
            )
        self.more_tags: Sequence[str] = ()
        self.publishes_future = False
        self.publishes_drafts = False
        self.publishes_expired = False

    # -- which files -----------------------------------------------------------------------------

    def has(self, place: Path) -> bool:
        """Whether a place is in the site's content, or the content is in it.

        A folder that `walk` would leave out, such as Jekyll's `_site`, is not content, and neither
        is what is below it.
        """
        folder = place.parent if place.is_file() else place
        return any(
            root.folder.is_relative_to(place)
            or (
                place.is_relative_to(root.folder)
                and not any(
                    self.leaves_out(root, inside)
                    for inside in (folder, *folder.parents)
                    if inside != root.folder and inside.is_relative_to(root.folder)
                )
            )
            for root in self.roots
        )

    def leaves_out(self, root: Root, folder: Path) -> bool:
        """Whether a folder below a root is hidden, one of a tool, or has no posts."""
        return (
            folder.name[0] == "."
            or folder.name in IGNORED_FOLDERS
            or self.skips_folder(root.path_of(folder))
        )

    def skips_folder(self, path: PurePosixPath) -> bool:
        """Whether a folder below a root has no posts; `path` as in `Entry.path`."""
        return path.as_posix() == self.output or path.name == "_site"

    def why_not_content(self, path: PurePosixPath) -> str:
        """Why a file is not a post, by its path alone; "" if it may be one."""
        if is_error_page(path):
            return "error page"
        return "" if path.suffix.lower() in MARKDOWN else "HTML page without a generator"

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        """The front matter with the site's defaults."""
        return dict(own)

    def why_left_out(self, entry: Entry) -> str:
        """Why a file's content is not a post; "" if it is one. Drafts and dates come later."""
        is_at_top = len(entry.path.parts) == 1 and self.root.resolve() == self.roots[0].folder
        if is_at_top and entry.own is None and entry.path.stem.lower() in ABOUT_THE_FOLDER:
            return "about the folder, not content"
        if entry.path.stem == "_index" and is_section_list(entry):
            return "list page"
        for name in ("permalink", "render"):
            if entry.fields.get(name) is False:
                return f"no page is rendered ({name}: false)"
        if entry.fields.get("unlisted") is True:
            return "unlisted"
        if entry.fields.get("redirect_to"):
            return "redirect"
        is_label = not _LABELS.isdisjoint(part.lower() for part in entry.path.parts[:-1])
        if is_label and len(entry.text) < _OWN_TEXT and self.published(entry) is None:
            return "about an author or a tag"
        return ""

    # -- what it says ----------------------------------------------------------------------------

    def language_of(self, path: PurePosixPath, language: str, fields: Mapping[str, Any]) -> str:
        """The language of a post, "" if unknown."""
        stated = fields.get("language") or fields.get("lang") or fields.get("locale")
        if isinstance(stated, str):
            return stated
        # A folder named after a language, as in `en/news`: told from others by the code alone.
        first = path.parts[0].replace("_", "-").lower() if len(path.parts) > 1 else ""
        return language or (first if first in LANGUAGES else "")

    def published(self, entry: Entry) -> When:
        """When the post was published: its front matter, else the date in its path."""
        when: When = first_date(entry.fields, _PUBLISHED)
        in_path = self._date_in_path(entry)
        return in_path if in_path and self.parsed(when) is None else when

    def modified(self, entry: Entry) -> When:
        """When the post was last changed, as its front matter says."""
        when: When = first_date(entry.fields, _MODIFIED)
        return when

    def parsed(self, when: When) -> datetime | None:
        """The moment, in the zone in which the site shows it; None for what is not a date."""
        try:
            return moment(when, self.zone)
        except NoDate:
            return None

    def begins(self, when: When) -> datetime | None:
        """The moment from which on a date is not in the future: a day begins in the site's zone."""
        parsed = self.parsed(when)
        return parsed.replace(tzinfo=self.zone) if parsed and is_day(when) else parsed

    def _date_in_path(self, entry: Entry) -> str:
        for name in (entry.path.name, entry.path.parent.name):
            if (named := DATED.match(name)) and (date := day(*named.groups())):
                return date
        return day_in_path(entry.path.as_posix()) or day_in_path(Site.own_url(self, entry))

    # -- where it is -----------------------------------------------------------------------------

    def own_url(self, entry: Entry) -> str:
        """The address that the front matter itself gives; "" if it gives none."""
        for name in ("permalink", "url", "path"):
            url = entry.fields.get(name)
            if isinstance(url, str) and url.strip() and not re.match(r"https?:|.*\{[{%]", url):
                return url.strip()
        return ""

    def url_of(self, entry: Entry) -> str:
        """The path on the site by the generator's rules, when the front matter does not say it."""
        slug = slug_of(entry) or entry.raw_name
        folder = entry.folder
        if slug == folder.name:
            folder = folder.parent
        return f"/{(folder / slug).as_posix().strip('./')}/"

    def date_tokens(self, entry: Entry) -> dict[str, str]:
        """The parts of the publication date that a permalink may name; nothing without a date."""
        when = self.parsed(self.published(entry))
        if when is None:
            return {}
        tokens = {name: when.strftime(spec) for name, spec in TOKENS.items()}
        return tokens | {"i_month": str(when.month), "i_day": str(when.day)}


def walk(site: Site, place: Path) -> Iterator[tuple[Path, Root, str]]:
    """Every file below `place` that looks like content, in the order of the paths.

    Yields the file, its root, and why it is not a post by its path alone ("" if it may be one).

    Raises:
        SourceError: a folder cannot be read; its posts would look removed.
    """
    for root in site.roots:
        start = place if place.is_relative_to(root.folder) else root.folder
        if not (start.is_relative_to(place) or place.is_relative_to(root.folder)):
            continue
        for file in _files_of(site, root, start):
            if file.name.lower().endswith(OTHER_MARKUP):
                yield file, root, UNREAD
            elif file == place:
                yield file, root, ""
            else:
                yield file, root, site.why_not_content(root.path_of(file))


def _files_of(site: Site, root: Root, start: Path) -> list[Path]:
    nested = {other.folder for other in site.roots if other is not root}

    def skips(folder: Path) -> bool:
        return folder in nested or site.skips_folder(root.path_of(folder))

    return files_in(start, MARKDOWN + PAGES + OTHER_MARKUP, skips)


# -- shared by generators --------------------------------------------------------------------------

TOKENS: Mapping[str, str] = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "week": "%V",
    "y_day": "%j",
    "yearday": "%j",
    "short_year": "%y",
    "short_month": "%b",
    "short_day": "%a",
    "monthname": "%B",
    "long_month": "%B",
    "long_day": "%A",
    "weekdayname": "%A",
    "weekday": "%w",
}
"""Names of parts of a date in permalinks, for `strftime`."""


def check_template(template: str) -> None:
    """Check a URL template.

    Raises:
        SourceError: it names an unknown field.
    """
    try:
        template.format(**dict.fromkeys(URL_FIELDS, ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in URL_FIELDS)
        raise SourceError(f"{template!r} is not a URL template.", f"It may have {known}.") from None


def from_template(template: str, site: Site, entry: Entry, categories: Iterable[str]) -> str:
    """The path that a URL template of the user gives."""
    dates = site.date_tokens(entry)
    folders = entry.folder.parts
    values = {
        **{name: dates.get(name, "") for name in ("year", "month", "day")},
        "slug": slug_of(entry) or entry.name,
        "path": entry.path.with_suffix("").as_posix().removesuffix("/index"),
        "section": folders[0] if folders else "",
        "categories": "/".join(map(slugified, categories)),
    }
    return template.format(**values)


def site_url(address: str, path: str) -> str:
    """A path behind the site's address, or alone where that is not known."""
    path = "/" + re.sub(r"/{2,}", "/", path).lstrip("/")
    path = path.removesuffix("index.html")
    path = quote(path.encode("utf-8", "ignore"), safe="/%?=&#:+,;@~!'()*$")  # JSON: "\ud800"
    return f"{address.rstrip('/')}{path}"


def slugified(text: str) -> str:
    """Lower case, words joined by hyphens; letters of every script stay."""
    text = unicodedata.normalize("NFC", text).lower().replace("'", "")
    return re.sub(r"[^\w]+", "-", text).strip("-")


def slug_of(entry: Entry) -> str:
    """The last part of the `slug` in the front matter; "" without one."""
    slug = entry.fields.get("slug")
    return slug.strip("/").rpartition("/")[2] if isinstance(slug, str) else ""


def is_section_list(entry: Entry) -> bool:
    """Whether an `_index.md` only introduces a list; the front page does, whatever its text."""
    text = re.sub(r"\{\{[^{}]*\}\}|<[^<>]*>|\s+", "", entry.text)
    return not entry.path.parent.name or len(text) < _OWN_TEXT


def is_error_page(path: PurePosixPath) -> bool:
    """Whether it is the site's page for what does not exist, or that of a language."""
    folders = [part.lower() for part in path.parts[:-1]]
    return path.stem == "404" and all(
        folder in LANGUAGES or folder in ("docs", "pages") for folder in folders
    )


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there and not empty."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def first_date(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there and meant as a date.

    A boolean is not, nor what YAML 1.1 takes for one in `published`, which says in Jekyll and on
    dev.to whether a post is public. Docusaurus and Material for MkDocs have tables of dates.
    """
    for name in names:
        value = fields.get(name)
        if isinstance(value, Mapping):
            value = value.get("date") or value.get("created")
        is_switch = name == "published" and str(value).lower() in _SWITCHES
        if not isinstance(value, bool) and value not in (None, "") and not is_switch:
            return value
    return None
