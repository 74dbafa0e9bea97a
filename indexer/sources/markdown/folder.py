"""A folder of Markdown posts, or one post.

A post's address is what its front matter says, else what a template of the user makes of its path
and its date, else its path. What a site generator would make of it is not known here.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from analyzers.languages import LANGUAGES
from indexer.dates import NoDate, is_day, moment
from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.normalise import MAX_HTML
from indexer.records import Origin, RawPost, Reject, Skipped, SourceItem, When
from indexer.sources.base import UNREAD, Source, SourceOptions, image_of
from indexer.sources.files import (
    ABOUT_THE_FOLDER,
    MARKDOWN,
    OTHER_MARKUP,
    files_in,
    is_utf8,
    read_inside,
)
from indexer.sources.generators import site_of, sites_in
from indexer.sources.identity import (
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
    key,
    why_hidden,
)
from indexer.sources.markdown.text import has_template, plain_title, rendered

_OID = re.compile(rb"""\boid["']?[ \t]*[:=]""", re.IGNORECASE)
_DATED = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})[-_ ](?=.)")
_ERROR_PAGE = re.compile(
    r"/?(?:(?:docs|pages|[a-z]{2,3}(?:[-_][a-z]{2,4})?)/)*(?:404|(?:page-?)?not[-_]?found)"
    r"(?:/index|/)?(?:\.\w+)?",
    re.IGNORECASE,
)
_WITH_POSTS = ("_posts", "_drafts", "_index.")
_OWN_TEXT = 600
"""Characters; a list of posts is introduced with fewer."""
_TITLES = ("title", "pagetitle", "headline", "heading", "name", "linktitle", "label")
_PUBLISHED = (
    *("date", "pubdate", "publishdate", "published", "pubdatetime", "publishedat"),
    *("publisheddate", "datepublished", "created", "createdat"),
)
_MODIFIED = (
    *("modified", "updated", "lastmod", "lastmodifiedat", "updatedat", "updateddate"),
    *("moddatetime", "lastmodified", "lastupdate", "revised"),
)
_SWITCHES = ("true", "false", "yes", "no", "on", "off")
_IMAGES = ("image", "images", "cover", "thumbnail", "featuredimage", "coverimage", "hero", "banner")
_SUMMARIES = ("summary", "description", "excerpt", "abstract", "lead", "subtitle")
_CODES = frozenset(language.code for language in LANGUAGES.values())
_LANGUAGE = re.compile(r"([a-z]{2})(?:-(?:[a-z]{2}|han[st]))?")
_TEMPLATE_FIELDS = ("year", "month", "day", "slug", "path", "section", "categories")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its path below the content, its front matter by `key`, its text."""

    path: PurePosixPath
    fields: Mapping[str, Any]
    text: str

    def first(self, names: Iterable[str]) -> Any:
        """The first of these fields that is there."""
        return next((self.fields[name] for name in names if name in self.fields), None)

    def date(self, names: Iterable[str]) -> Any:
        """The first of these fields that is there and meant as a date.

        `published: true` says in Jekyll and on dev.to that a post is public. Docusaurus and
        Material for MkDocs have tables of dates.
        """
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, Mapping):
                value = value.get("date") or value.get("created")
            if value and str(value).lower() not in _SWITCHES:
                return value
        return None

    @property
    def raw_name(self) -> str:
        """The name of the file, or of its folder for `index.md`, with a date before it."""
        is_index = self.path.stem in ("index", "_index", "README")
        return self.path.parent.name if is_index else self.path.stem

    @property
    def folder(self) -> PurePosixPath:
        """The folder that the post is in; that of its own folder for `index.md`."""
        return self.path.parent.parent if self.raw_name != self.path.stem else self.path.parent

    @property
    def own_path(self) -> str:
        """The path that front matter itself gives; "" if it gives none, or one of a generator."""
        for name in ("permalink", "url", "path"):
            url = self.fields.get(name)
            if isinstance(url, str) and not re.search(r"^\s*$|^https?:|\{[{%]|/:|^:", url):
                return url.strip()
        return ""


class MarkdownFolder(Source):
    """Every post below a folder, or one post; its path below the site's content is its oid."""

    kind = "markdown"
    is_folder = True

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        for template in options.url_templates.values():
            _check_template(template)
        super().__init__(spec, options, fetched)
        place = Path(spec)
        self._site = site_of(place)
        self._base = (place if place.is_dir() else place.parent).resolve()  # of the posts' paths
        if self._site:
            content = self._site.content
            if self._base.is_relative_to(content) or content.is_relative_to(self._base):
                self._base = content
        self._zone = self._site.zone if self._site else UTC
        self._excluded: tuple[str, ...] = ()

    def read(self) -> Iterator[SourceItem]:
        """Every post, in the order of the paths."""
        place, site = Path(self.spec), self._site
        files = files_in(place, (*MARKDOWN, *OTHER_MARKUP))
        self._excluded = check_settings(site, files)
        for other in [] if site else sites_in(place):
            check_settings(other, ())
        if place.is_dir() and not self._options.template_for(""):
            build = f"`{site.command}`" if site else "the generator"
            self._options.warn(
                f"{place}: addresses are the paths of the files where front matter does not say "
                f"them: index what {build} builds, or say the addresses with --url-template."
            )
        yield from self._each(files, self._item, self._name)

    def _name(self, file: Path) -> tuple[Origin, str | None]:
        """A file that cannot be read may have an oid of its own. A link that cannot be followed
        may stay for ever, and must not keep posts from being removed."""
        is_post = file.is_file() and not file.is_symlink()
        return Origin(str(file)), None if is_post else _oid(self._path(file))

    def _path(self, file: Path) -> PurePosixPath:
        """The path below the site's content; an absolute one for a file outside of it."""
        place = Path(self.spec)
        real = place.resolve() / file.relative_to(place)
        is_inside = real.is_relative_to(self._base)
        return PurePosixPath(real.relative_to(self._base) if is_inside else real)

    def _item(self, file: Path) -> SourceItem:
        origin, path, place = Origin(str(file)), self._path(file), Path(self.spec)
        if not is_utf8(str(file)):
            return Reject(origin, None, "the file's name is not UTF-8", "Rename the file.")
        if reason := self._why_no_post(path, is_named=file == place):
            return Skipped(origin, None, reason)
        folder, oid = place if place.is_dir() else place.parent, _oid(path)
        content = read_inside(file, [folder.resolve(), self._base], MAX_HTML)
        known = None if _OID.search(content.replace(b"\0", b"")) else oid  # UTF-16 has zeros
        try:
            fields, text = split_front_matter(content.decode("utf-8-sig"))
        except BadFrontMatter as error:
            remedy = "It may be a draft: correct that, or build the site and index its folder."
            return Reject(Origin(str(file), error.line), known, str(error), remedy)
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start:,}"
            return Reject(origin, known, reason, "Save the file as UTF-8.")
        entry = Entry(path, _merged(fields or {}), text)
        if reason := self._why_left_out(entry, has_head=fields is not None):
            return Skipped(origin, None, reason)
        post = self._post(entry, origin, oid)
        is_empty = not post.text and (not post.pub_date or not post.title)
        return Skipped(origin, None, "neither text nor date") if is_empty else post

    def _why_no_post(self, path: PurePosixPath, *, is_named: bool) -> str:
        """Why a file is not a post, by its path alone; "" if it may be one."""
        if self._options.excludes(path.as_posix()):
            return "excluded by blogsearch.toml"
        if path.suffix.lower() not in MARKDOWN:
            return UNREAD
        if is_named:
            return ""
        if path.is_absolute() and self._site:
            return f"outside {self._site.content.name}, the site's content"
        if is_excluded(path, self._excluded):
            return "excluded by the site's configuration"
        if any(part[0] == "_" and not part.startswith(_WITH_POSTS) for part in path.parts):
            return "excluded by its underscore"
        return ""

    def _why_left_out(self, entry: Entry, *, has_head: bool) -> str:
        """Why a file's content is not a post now; "" if it is one."""
        is_at_top = len(entry.path.parts) == 1
        if is_at_top and not has_head and entry.path.stem.lower() in ABOUT_THE_FOLDER:
            return "about the folder, not content"
        published = self._published(entry)
        paths = (entry.path.as_posix(), entry.own_path)
        if any(map(_ERROR_PAGE.fullmatch, paths)) and not published:
            return "error page"
        if (is_draft(entry.fields) or "_drafts" in entry.path.parts) and not self._options.drafts:
            return "draft"
        if asking := why_hidden(entry.fields):
            return f"asks not to be found ({asking})"
        now, starts = self._options.moment(), (entry.date(("publishdate",)), published)
        begins = [begin for when in starts if (begin := _begins(when, self._zone))]
        if begins and max(begins) > now and not self._options.future:
            return "dated in the future"
        ends = entry.date(("expirydate", "unpublishdate", "expires"))
        if (end := _begins(ends, self._zone)) and end <= now:
            return "expired"
        is_list = is_at_top or len(entry.text) < _OWN_TEXT
        return "list page" if is_list and entry.path.name.startswith("_index.") else ""

    def _post(self, entry: Entry, origin: Origin, oid: str) -> RawPost:
        title, text = rendered(entry.text, title=_title(entry))
        if not re.sub(r"<[^<>]*>|\s+", "", text):
            summary = entry.first(_SUMMARIES)
            summary = plain_title(summary) if isinstance(summary, str) else ""
            text = f"<p>{html.escape(summary, quote=False)}</p>" if summary else ""
        categories = _terms(entry, ("categories", "category"))
        image = image_of(entry.first(_IMAGES))
        return RawPost(
            origin=origin,
            oid=entry.fields.get("oid") or oid,
            title=title or _title_from_name(entry, text),
            text=text,
            url=self._address(self._place(entry, categories)),
            pub_date=self._moment(self._published(entry)),
            modified=self._moment(entry.date(_MODIFIED)),
            categories=categories,
            keywords=_terms(entry, ("tags", "tag", "keywords")),
            language=self._language(entry),
            popularity=entry.fields.get("popularity"),
            image=self._address(image) if image and image.startswith("/") else image,
        )

    def _published(self, entry: Entry) -> When:
        """When the post was published: its front matter, else the date in its path."""
        when: When = entry.date(_PUBLISHED)
        if isinstance(self._moment(when), datetime):
            return when
        for name in (entry.path.name, entry.path.parent.name):
            if (named := _DATED.match(name)) and (date := day(*named.groups())):
                return date
        return day_in_path(entry.path.as_posix()) or day_in_path(entry.own_path) or when

    def _moment(self, when: When) -> When:
        """The moment; what is not a date stays, and is refused later, with the reason."""
        try:
            return moment(when, self._zone)
        except NoDate:
            return when

    def _language(self, entry: Entry) -> str:
        """As the front matter says it, the folder (`de/news`), or the name (`news.fr.md`)."""
        stated = entry.first(("language", "lang", "locale"))
        if isinstance(stated, str):
            return stated
        for name in (entry.path.stem.rpartition(".")[2], entry.path.parts[0]):
            code = name.replace("_", "-").lower()
            found = _LANGUAGE.fullmatch(code)
            if found and found[1] in _CODES and name not in (entry.path.stem, entry.path.name):
                return code
        return self._site.language if self._site and not self._options.language else ""

    def _place(self, entry: Entry, categories: Iterable[str]) -> str:
        """The path of a post on the site."""
        slug = entry.fields.get("slug")
        slug = slug.strip("/").rpartition("/")[2] if isinstance(slug, str) else ""
        section = entry.path.parts[0] if len(entry.path.parts) > 1 else ""
        if own := entry.own_path:
            return own
        if not (template := self._options.template_for(section)):
            folder, name = entry.folder, slug or entry.raw_name
            folder = folder.parent if slug and slug == folder.name else folder
            return f"/{(folder / name).as_posix().strip('./')}/"
        date = self._moment(self._published(entry))
        published = f"{date:%Y-%m-%d}" if isinstance(date, datetime) else "--"
        return template.format(
            **dict(zip(("year", "month", "day"), published.split("-"), strict=True)),
            slug=slug or _DATED.sub("", entry.raw_name),
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


def _check_template(template: str) -> None:
    """Raise a SourceError for a URL template with an unknown field."""
    try:
        template.format(**dict.fromkeys(_TEMPLATE_FIELDS, ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in _TEMPLATE_FIELDS)
        raise SourceError(f"{template!r} is not a URL template.", f"It may have {known}.") from None


def _begins(when: When, zone: tzinfo) -> datetime | None:
    """The moment from which on a date is not in the future: a day begins in the site's zone."""
    try:
        parsed = moment(when, zone)
    except NoDate:
        return None
    return parsed.replace(tzinfo=zone) if parsed and is_day(when) else parsed


def _merged(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by `key`, over those of the tables of themes and of Zola."""
    own = {key(name): value for name, value in fields.items()}
    own = {name: value for name, value in own.items() if value not in ("~", "null", "", None)}
    tables = [own.get(name) for name in ("params", "extra", "taxonomies")]
    inner = [table for table in tables if isinstance(table, Mapping)]
    return {key(name): value for table in inner for name, value in table.items()} | own


def _title(entry: Entry) -> str:
    """The first title without template code; "" if there is none."""
    stated = (entry.fields.get(name) for name in _TITLES)
    titles = (str(value) for value in stated if isinstance(value, str | int | float))
    plain = (title for title in titles if not has_template(re.sub(r"`[^`]*`", "", title)))
    return next(filter(None, map(plain_title, plain)), "")


def _title_from_name(entry: Entry, text: str) -> str:
    """The name of the file in words, or the first words of a post that has only a number."""
    name = _DATED.sub("", entry.raw_name)
    is_words = re.search(r"[^\W\d_]{2}", name)
    return title_of_name(name) if is_words else str(title_or_start(None, text) or name)


def _terms(entry: Entry, names: Iterable[str]) -> list[str]:
    return [label for label in labels(entry.first(names)) if not has_template(label)]


def _slugified(text: str) -> str:
    """Lower case, words joined by hyphens; letters of every script stay."""
    return re.sub(r"[^\w]+", "-", text.lower().replace("'", "")).strip("-")
