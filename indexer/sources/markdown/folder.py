"""A folder of Markdown posts, or one post.

A post's address is what its front matter says, else what a template of the user makes of its path
and its date, else its path. What a site generator would make of it is not known here.
"""

import errno
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from indexer.dates import NoDate, moment
from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.html_text import TooMuchMarkup, readable
from indexer.normalise import MAX_HTML
from indexer.records import Origin, RawPost, Reject, Skipped, SourceItem, When
from indexer.sources.base import UNREAD, Source, SourceOptions, image_of
from indexer.sources.files import (
    ABOUT_THE_FOLDER,
    MARKDOWN,
    OTHER_MARKUP,
    OutsideFolder,
    files_in,
    is_utf8,
    read_inside,
    remedy_of,
)
from indexer.sources.generators import Site, site_of, sites_in
from indexer.sources.identity import (
    LANGUAGES,
    day,
    day_in_path,
    fitting,
    labels,
    title_of_name,
    title_or_start,
)
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter
from indexer.sources.markdown.hidden import (
    check_settings,
    is_draft,
    is_excluded,
    why_hidden,
    why_not_now,
)
from indexer.sources.markdown.text import has_template, plain_title, rendered

_OID = re.compile(rb"""\boid["']?[ \t]*[:=]""", re.IGNORECASE)
_DATED = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?:T[\d-]+Z?)?[-_ ](?=.)")
_ERROR_PAGE = re.compile(
    r"/?(?:(?:docs|pages|[a-z]{2,3}(?:[-_][a-z]{2,4})?)/)*(?:404|(?:page-?)?not[-_]?found)"
    r"(?:/index|/)?(?:\.\w+)?",
    re.IGNORECASE,
)
_WITH_POSTS = ("_posts", "_drafts", "_index.")
_OWN_TEXT = 600
"""Characters; a list of posts is introduced with fewer."""
_TITLES = ("title", "pagetitle", "page_title", "headline", "heading", "name", "linktitle", "label")
_PUBLISHED = (
    *("date", "pubdate", "pub_date", "publishdate", "published", "pubdatetime", "published_at"),
    *("publishedat", "published_date", "publisheddate", "date_published", "created", "created_at"),
)
_MODIFIED = (
    *("modified", "updated", "lastmod", "last_modified_at", "updated_at", "updatedat"),
    *("updateddate", "updated_date", "moddatetime", "last_modified", "last_update", "revised"),
)
_SWITCHES = ("true", "false", "yes", "no", "on", "off")
_IMAGES = (
    *("image", "images", "cover", "thumbnail", "featured_image", "cover_image", "hero", "banner"),
)
_SUMMARIES = ("summary", "description", "excerpt", "abstract", "lead", "subtitle")
_TEMPLATE_FIELDS = ("year", "month", "day", "slug", "path", "section", "categories")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its path below the content, its front matter with names in lower case, its text."""

    path: PurePosixPath
    fields: Mapping[str, Any]
    text: str

    @property
    def raw_name(self) -> str:
        """The name of the file, or of its folder for `index.md`, with a date before it."""
        is_index = self.path.stem in ("index", "_index", "README")
        return self.path.parent.name if is_index else self.path.stem

    @property
    def name(self) -> str:
        """The same without the date."""
        return _DATED.sub("", self.raw_name)

    @property
    def folder(self) -> PurePosixPath:
        """The folder that the post is in; that of its own folder for `index.md`."""
        return self.path.parent.parent if self.raw_name != self.path.stem else self.path.parent


class MarkdownFolder(Source):
    """Every post below a folder, or one post; its path below the site's content is its oid."""

    kind = "markdown"
    is_folder = True

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        for template in options.url_templates.values():
            _check_template(template)
        super().__init__(spec, options, fetched)
        self._site: Site | None = None
        self._base = Path()  # of the paths of posts
        self._excluded: tuple[str, ...] = ()
        self._zone: tzinfo = UTC
        self._now = options.moment()

    def read(self) -> Iterator[SourceItem]:
        """Every post, in the order of the paths."""
        place = Path(self.spec)
        self._base = (place if place.is_dir() else place.parent).resolve()
        self._site = site = site_of(place)
        if site and (
            self._base.is_relative_to(site.content) or site.content.is_relative_to(self._base)
        ):
            self._base = site.content
        self._zone = site.zone if site else UTC
        files = files_in(place, (*MARKDOWN, *OTHER_MARKUP), self._is_built)
        self._excluded = check_settings(site, files)
        for other in [] if site else sites_in(place):
            check_settings(other, ())
        if place.is_dir() and not self._options.template_for(""):
            build = f"{site.how_to_build}: " if site else "build the site, then "
            self._options.warn(
                f"{place}: addresses are the paths of the files where front matter does not say "
                f"them; {build}index that, or say the addresses with --url-template."
            )
        yield from self._each(files, self._item, lambda file: (Origin(str(file)), None))

    def _is_built(self, folder: Path) -> bool:
        site = self._site
        return site is not None and folder.resolve() == site.folder / site.generator.output

    def _item(self, file: Path) -> SourceItem:
        origin, place = Origin(str(file)), Path(self.spec)
        if not is_utf8(str(file)):
            return Reject(origin, None, "the file's name is not UTF-8", "Rename the file.")
        real = place.resolve() / file.relative_to(place)
        is_inside = real.is_relative_to(self._base)
        path = PurePosixPath((real.relative_to(self._base) if is_inside else file).as_posix())
        if self._options.excludes(path.as_posix()):
            return Skipped(origin, None, "excluded by blogsearch.toml")
        if path.suffix.lower() not in MARKDOWN:
            return Skipped(origin, None, UNREAD)
        if file != place and (reason := self._why_no_post(path, is_inside=is_inside)):
            return Skipped(origin, None, reason)
        folder = place if place.is_dir() else place.parent
        oid = _oid(path)
        try:
            content = read_inside(file, [folder.resolve(), self._base], MAX_HTML)
        except OSError as error:
            # A file that cannot be read may have an oid of its own. A link that cannot be followed
            # may stay for ever, and must not keep posts from being removed.
            is_link = isinstance(error, OutsideFolder | FileNotFoundError)
            known = oid if is_link or error.errno == errno.ELOOP else None
            return Reject(origin, known, error.strerror or str(error), remedy_of(error))
        try:
            head = split_front_matter(content.decode("utf-8-sig"))
        except BadFrontMatter as error:
            origin = Origin(str(file), error.line)
            remedy = "It may be a draft: correct that, or build the site and index its folder."
            return Reject(origin, _oid_in(content, oid), str(error), remedy)
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start:,}"
            return Reject(origin, _oid_in(content, oid), reason, "Save the file as UTF-8.")
        entry = Entry(path, _merged(head.fields or {}), head.text)
        if reason := self._why_left_out(entry, has_head=head.fields is not None):
            return Skipped(origin, None, reason)
        post = self._post(entry, origin, oid)
        is_empty = not post.text and (not post.pub_date or not post.title)
        return Skipped(origin, None, "neither text nor date") if is_empty else post

    # -- what is a post --------------------------------------------------------------------------

    def _why_no_post(self, path: PurePosixPath, *, is_inside: bool) -> str:
        """Why a file is not a post, by its path alone; "" if it may be one."""
        if not is_inside and self._site:
            return f"outside {self._site.content.name}, the site's content"
        if is_excluded(path, self._excluded):
            return "excluded by the site's configuration"
        if any(part[0] == "_" and not part.startswith(_WITH_POSTS) for part in path.parts):
            return "excluded by its underscore"
        is_hugo = self._site is not None and self._site.generator.name == "Hugo"
        pages = [folder / "index.md" for folder in path.parents] if is_hugo else []
        if any(path != page and (self._base / page).is_file() for page in pages):
            return "resource of a page bundle"
        return ""

    def _why_left_out(self, entry: Entry, *, has_head: bool) -> str:
        """Why a file's content is not a post now; "" if it is one."""
        is_at_top = len(entry.path.parts) == 1
        if is_at_top and not has_head and entry.path.stem.lower() in ABOUT_THE_FOLDER:
            return "about the folder, not content"
        paths = (entry.path.as_posix(), _own_path(entry.fields))
        if any(map(_ERROR_PAGE.fullmatch, paths)) and not self._published(entry):
            return "error page"
        if (is_draft(entry.fields) or "_drafts" in entry.path.parts) and not self._options.drafts:
            return "draft"
        if asking := why_hidden(entry.fields):
            return f"asks not to be found ({asking})"
        ends = _first_date(entry.fields, ("expirydate", "unpublishdate", "expires"))
        starts = (_first_date(entry.fields, ("publishdate",)), self._published(entry))
        if reason := why_not_now(starts, ends, self._now, self._zone, future=self._options.future):
            return reason
        own_text = re.sub(r"\{\{[^{}]*\}\}|<[^<>]*>|\s+", "", entry.text)
        is_index = entry.path.name.startswith("_index.")
        return "list page" if is_index and (is_at_top or len(own_text) < _OWN_TEXT) else ""

    # -- what it says ----------------------------------------------------------------------------

    def _post(self, entry: Entry, origin: Origin, oid: str) -> RawPost:
        first, fields = self._options.fields, entry.fields
        title, text = rendered(entry.text, title=_title(fields, first.get("title", ())))
        if not _has_words(text):
            summary = _first_of(fields, (*first.get("summary", ()), *_SUMMARIES))
            summary = plain_title(summary) if isinstance(summary, str) else ""
            text = f"<p>{html.escape(summary, quote=False)}</p>" if summary else ""
        categories = _terms(fields, (*first.get("categories", ()), "categories", "category"))
        image = image_of(_first_of(fields, _IMAGES))
        when = self._published(entry)
        modified = _first_date(fields, _MODIFIED)
        return RawPost(
            origin=origin,
            oid=fields.get("oid") or oid,
            title=title or _title_from_name(entry, text),
            text=text,
            url=self._address(self._path(entry, categories)),
            # What is not a date is refused later, with the reason.
            pub_date=self._moment(when) or when,
            modified=self._moment(modified) or modified,
            categories=categories,
            keywords=_terms(fields, (*first.get("tags", ()), "tags", "tag", "keywords")),
            language=self._language(entry),
            image=self._address(image) if image and image.startswith("/") else image,
        )

    def _published(self, entry: Entry) -> When:
        """When the post was published: its front matter, else the date in its path."""
        names = (*self._options.fields.get("date", ()), *_PUBLISHED)
        when: When = _first_date(entry.fields, names)
        if self._moment(when):
            return when
        for name in (entry.path.name, entry.path.parent.name):
            if (named := _DATED.match(name)) and (date := day(*named.groups())):
                return date
        return day_in_path(entry.path.as_posix()) or day_in_path(_own_path(entry.fields)) or when

    def _moment(self, when: When) -> datetime | None:
        try:
            return moment(when, self._zone)
        except NoDate:
            return None

    def _language(self, entry: Entry) -> str:
        """As the front matter says it, the folder (`de/news`), or the name (`news.fr.md`)."""
        names = (*self._options.fields.get("language", ()), "language", "lang", "locale")
        stated = _first_of(entry.fields, names)
        if isinstance(stated, str):
            return stated
        for name in (entry.path.stem.rpartition(".")[2], entry.path.parts[0]):
            code = name.replace("_", "-").lower()
            if code in LANGUAGES and name not in (entry.path.stem, entry.path.name):
                return code
        return (self._site.language if self._site else "") if not self._options.language else ""

    # -- where it is -----------------------------------------------------------------------------

    def _path(self, entry: Entry, categories: Iterable[str]) -> str:
        """The path of a post on the site."""
        slug = entry.fields.get("slug")
        slug = slug.strip("/").rpartition("/")[2] if isinstance(slug, str) else ""
        section = entry.path.parts[0] if len(entry.path.parts) > 1 else ""
        template = self._options.template_for(section)
        if own := _own_path(entry.fields):
            return own
        if not template:
            folder, name = entry.folder, slug or entry.raw_name
            folder = folder.parent if slug and slug == folder.name else folder
            return f"/{(folder / name).as_posix().strip('./')}/"
        date = self._moment(self._published(entry))
        values = {
            name: date.strftime(spec) if date else ""
            for name, spec in (("year", "%Y"), ("month", "%m"), ("day", "%d"))
        }
        return template.format(
            **values,
            slug=slug or entry.name,
            path=entry.path.with_suffix("").as_posix().removesuffix("/index"),
            section=next(iter(entry.folder.parts), ""),
            categories="/".join(map(_slugified, categories)),
        )

    def _address(self, path: str) -> str:
        """A path behind the site's address, or alone where that is not known."""
        address = self._options.site or (self._site.address if self._site else "")
        path = re.sub(r"/{2,}", "/", f"/{path}").removesuffix("index.html")
        path = quote(path.encode("utf-8", "ignore"), safe="/%?=&#:+,;@~!'()*$")  # JSON: "\ud800"
        return f"{address.rstrip('/')}{path}"


def _oid(path: PurePosixPath) -> str:
    bare = path.with_suffix("")
    return fitting((bare.parent if bare.name == "index" and bare.parent.name else bare).as_posix())


def _oid_in(broken: bytes, oid: str) -> str | None:
    """The oid of a post that cannot be read; None if it may state one of its own."""
    return None if _OID.search(broken.replace(b"\0", b"")) else oid  # UTF-16 has zeros


def _check_template(template: str) -> None:
    """Raise a SourceError for a URL template with an unknown field."""
    try:
        template.format(**dict.fromkeys(_TEMPLATE_FIELDS, ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in _TEMPLATE_FIELDS)
        raise SourceError(f"{template!r} is not a URL template.", f"It may have {known}.") from None


def _merged(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with names in lower case, over those of the tables of themes and of Zola."""
    lower = {
        name.lower(): value
        for name, value in fields.items()
        if value not in ("~", "null", "", None)
    }
    inner: dict[str, Any] = {}
    for name in ("params", "extra", "taxonomies"):
        if isinstance(table := lower.get(name), Mapping):
            inner |= {str(key).lower(): value for key, value in table.items()}
    return {**inner, **lower}


def _first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there."""
    return next((fields[name] for name in names if name in fields), None)


def _first_date(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there and meant as a date.

    `published: true` says in Jekyll and on dev.to that a post is public. Docusaurus and Material
    for MkDocs have tables of dates.
    """
    for name in names:
        value = fields.get(name)
        if isinstance(value, Mapping):
            value = value.get("date") or value.get("created")
        if value and str(value).lower() not in _SWITCHES:
            return value
    return None


def _own_path(fields: Mapping[str, Any]) -> str:
    """The path that front matter itself gives; "" if it gives none, or one of a generator."""
    for name in ("permalink", "url", "path"):
        url = fields.get(name)
        if isinstance(url, str) and url.strip() and not re.search(r"^https?:|\{[{%]|/:|^:", url):
            return url.strip()
    return ""


def _title(fields: Mapping[str, Any], first: Iterable[str]) -> str:
    """The first title without template code; "" if there is none."""
    for name in (*first, *_TITLES):
        value = fields.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            bare = re.sub(r"`[^`]*`", "", str(value))
            if str(value).strip() and not has_template(bare):
                return plain_title(str(value))
    return ""


def _title_from_name(entry: Entry, text: str) -> str:
    """The name of the file in words, or the first words of a post that has only a number."""
    if re.search(r"[^\W\d_]{2}", entry.name):
        return title_of_name(entry.name)
    return str(title_or_start(None, text) or entry.name)


def _terms(fields: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Labels as a list of strings: a list, a string, or objects with a name."""
    return [label for label in labels(_first_of(fields, names)) if not has_template(label)]


def _slugified(text: str) -> str:
    """Lower case, words joined by hyphens; letters of every script stay."""
    return re.sub(r"[^\w]+", "-", text.lower().replace("'", "")).strip("-")


def _has_words(text: str) -> bool:
    """Whether a reader would see anything; a post that is too deep is refused later."""
    try:
        words = readable(text) if len(text) <= 2_000 else None
    except TooMuchMarkup:
        return True
    return words is None or bool(words.prose or words.code)
