"""Reads a folder of Markdown posts, or one post.

A post's address comes from its front matter, else from its path and date by the user's template,
else from its path. The address that a site generator would give it is not known here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from analyzers.languages import LANGUAGES
from indexer.posts.dates import NoDate, moment
from indexer.posts.normalise import MAX_HTML
from indexer.posts.records import Origin, RawPost, Reject, Skipped, SourceItem, When, load_json
from indexer.sources.base import UNREAD, Source, SourceOptions, image_of
from indexer.sources.fetch import Fetched
from indexer.sources.files import ABOUT_THE_FOLDER, MARKDOWN, OTHER_MARKUP, files_in, read_inside
from indexer.sources.generators import check_settings, excluded_globs, site_of, sites_in, text_of
from indexer.sources.identity import day, day_in_path, fit, labels, title_of_name, title_or_start
from indexer.sources.markdown.front_matter import (
    BadFrontMatter,
    key,
    split_front_matter,
    why_draft,
    why_hidden,
)
from indexer.sources.markdown.text import plain_title, render

_DATED = re.compile(r"^(\d{4})[-_](\d{1,2})[-_](\d{1,2})(?:[-_ .]+|$)")
_ERROR_PAGE = re.compile(
    r"(?:.*/)?(?:404|(?:page-?)?not[-_]?found)(?:/index|/)?(?:\.\w+)?", re.IGNORECASE
)
_DRAFT = re.compile(r"(?:^|/)_?drafts/(?!index\.)|\.draft\.\w+$", re.IGNORECASE)
"""A folder of drafts, and how Nuxt Content 2 names a draft."""
_WITH_POSTS = ("_posts", "_drafts", "_index.")
_HEAD = 4_000  # characters with the front matter
_OWN_TEXT = 600
"""The length below which a page may be the introduction of a list of posts."""
_TITLES = ("title", "pagetitle", "headline", "heading", "name", "linktitle", "label")
_PUBLISHED = (
    *("date", "pubdate", "publishdate", "published", "pubdatetime", "publishedat"),
    *("publisheddate", "datepublished", "created", "createdat"),
)
_MODIFIED = (
    *("modified", "updated", "lastmod", "lastmodifiedat", "updatedat", "updateddate"),
    *("moddatetime", "lastmodified", "lastupdate", "lastupdated", "revised"),
    *("dateupdated", "datemodified"),
)
_OPTS_IN = re.compile(
    r"(?:---[ \t]*\n(?:(?!---).*\n)*?|(?:[\w.-]+::.*\n)*?)"
    r"(dg-publish|publish|share|public)::?[ \t]*[\"']?(?i:true)[\"']?[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
"""What publishes a note of an Obsidian vault, for Digital Garden, Obsidian Publish and Quartz, and
Enveloppe, or a page of a Logseq graph. Notes without it are private."""
_EXPLICIT = re.compile(r"^(?![ \t]*//).*\bExplicitPublish\(", re.MULTILINE)
"""The plugin by which Quartz publishes only such notes, also outside a vault."""
_ALL_PUBLIC = re.compile(r"^[^;\n]*:publishing/all-pages-public\?[ \t]+true", re.MULTILINE)
_TEMPLATES = {
    ".obsidian/templates.json": "folder",
    ".obsidian/plugins/templater-obsidian/data.json": "templates_folder",
}
"""Where Obsidian states the folder of templates for notes."""
_SWITCHES = ("true", "false", "yes", "no", "on", "off")
_IMAGES = ("image", "images", "cover", "thumbnail", "featuredimage", "coverimage", "hero", "banner")
_DOCSIFY = re.compile(r"\$docsify\b|/docsify(?:\.min)?\.js|/docsify@|/docsify/")
_HISTORY = re.compile(r"""routerMode["']?\s*:\s*["']history""")
_CODES = frozenset(language.code for language in LANGUAGES.values())
_LANGUAGE = re.compile(r"([a-z]{2})(?:-(?:[a-z]{2}|han[st]))?")
_TRANSLATION_KEYS = ("translationkey", "translationid", "pageid")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its path below the content, its front matter by `key`, its text."""

    path: PurePosixPath
    fields: Mapping[str, Any]
    text: str

    def first(self, names: Iterable[str]) -> Any:
        """Return the first of these fields that exists."""
        return next((self.fields[name] for name in names if name in self.fields), None)

    def date(self, names: Iterable[str]) -> When:
        """Return the first of these fields that exists and is meant as a date.

        On Jekyll and dev.to, `published: true` means that a post is public.
        """
        values = (self.fields.get(name) for name in names)
        dates = (value for value in values if isinstance(value, str | date))
        return next((day for day in dates if str(day).lower() not in _SWITCHES), None)

    def published(self) -> When:
        """Return the date of publication: from the front matter, else from the path."""
        if _moment(when := self.date(_PUBLISHED)):
            return when
        named = _DATED.match(self.name)
        paths = (self.path.as_posix(), self.own_path)
        return (named and day(*named.groups())) or next(filter(None, map(day_in_path, paths)), when)

    @property
    def name(self) -> str:
        """The name of the file, or of its folder for `index.md`, including a leading date."""
        is_index = self.path.stem in ("index", "_index", "README")
        return self.path.parent.name if is_index else self.path.stem

    @property
    def folder(self) -> PurePosixPath:
        """The folder of the post; for `index.md`, the parent of its own folder."""
        return self.path.parent.parent if self.name != self.path.stem else self.path.parent

    @property
    def own_path(self) -> str:
        """The path in the front matter; "" if there is none, or one for a generator."""
        for name in ("permalink", "url", "path"):
            url = self.fields.get(name)
            if isinstance(url, str) and not re.search(r"^\s*$|^https?:|\{[{%]|/:|^:", url):
                return url.strip()
        return ""


class MarkdownFolder(Source):
    """Reads every post below a folder, or one post; its path below the content is its oid."""

    kind = "markdown"
    is_folder = True

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        super().__init__(spec, options, fetched)
        place = Path(spec)
        self._site = site_of(place)
        self._top = place if place.is_dir() else place.parent
        self._excluded: tuple[str, ...] = ()
        self._collections = tuple(self._site.collections() if self._site else ())
        self._bundles: Set[PurePosixPath] = frozenset()
        self._opts_in = ""
        self._docsify = docsify_of(place)

    def read(self) -> Iterator[SourceItem]:
        """Yield every post, in the order of the paths."""
        place, site, warn = Path(self.spec), self._site, self._options.warn
        top, content = self._top.resolve(), site.content if site else Path()
        within = top.relative_to(content) if top.is_relative_to(content) else Path()
        if place.is_dir() and top != content and content.is_relative_to(top):
            place = self._top = place / content.relative_to(top)
            warn(f"{place}: only the content folder is read.")
        files = files_in(place, (*MARKDOWN, *OTHER_MARKUP))
        self._excluded = (*excluded_globs(site), *_templates_of(place))
        above = (self._top, *self._top.resolve().parents)
        configs = (text_of(file) for file in (site.config if site else ()))
        if any(map(_has_private_notes, above)) or any(map(_EXPLICIT.search, configs)):
            found = (_OPTS_IN.match(text_of(file, _HEAD)) for file in files)
            self._opts_in = next((match[1] for match in found if match), "")
        check_settings(site, self._top, files)
        for other in [] if site else sites_in(place):
            check_settings(other, other.folder, ())
        if self._docsify and not self._options.url_template:
            warn(
                f"{place}: docsify shows it at {self._docsify}; use --url-template for other "
                "addresses."
            )
        elif place.is_dir() and not self._options.url_template:
            build = f"`{site.generator.command}`" if site else "the generator"
            warn(
                f"{place}: addresses are file paths unless the front matter states them. Index the "
                f"site that {build} builds, or use --url-template."
            )
        entries = [(file, PurePosixPath(within, file.relative_to(self._top))) for file in files]
        if site and site.generator.name in ("Hugo", "Zola"):
            indexes = (path for _, path in entries if path.name.startswith("index."))
            self._bundles = {path.parent for path in indexes if path.parent.parts}
        yield from self._each(
            entries, self._item, lambda entry: (Origin(str(entry[0])), _oid(entry[1]))
        )

    def _item(self, found: tuple[Path, PurePosixPath]) -> SourceItem:
        file, path = found
        origin, oid = Origin(str(file)), _oid(path)
        if reason := self._why_no_post(path, is_named=file == Path(self.spec)):
            return Skipped(origin, None, reason)
        content = read_inside(file, self._top, MAX_HTML)
        try:
            fields, text = split_front_matter(content.decode("utf-8-sig"))
        except (BadFrontMatter, UnicodeDecodeError) as error:
            remedy = "It may be a draft. Correct the file, or build the site and index its folder."
            return Reject(Origin(str(file), getattr(error, "line", None)), oid, str(error), remedy)
        entry = Entry(path, _merge(fields or {}), text)
        if reason := self._why_left_out(entry, has_head=fields is not None):
            return Skipped(origin, None, reason)
        post = self._post(entry, origin, oid)
        is_empty = not re.sub(r"<[^<>]*>|\s+", "", str(post.text)) and not post.pub_date
        return Skipped(origin, None, "neither text nor date") if is_empty else post

    def _why_no_post(self, path: PurePosixPath, *, is_named: bool) -> str:
        """Return why a file's path shows that it is no post; "" if it may be one."""
        if self._options.excludes(path.as_posix()):
            return "excluded by blogsearch.toml"
        if path.suffix.lower() not in MARKDOWN:
            return UNREAD
        if is_named:
            return ""
        if any(fnmatchcase(path.as_posix(), pattern) for pattern in self._excluded):
            return "excluded by the site's configuration"
        hidden = {part for part in path.parts if part[0] == "_"} - {*self._collections}
        if not all(part.startswith(_WITH_POSTS) for part in hidden):
            return "excluded by its underscore"
        if not path.name.startswith("index.") and not self._bundles.isdisjoint(path.parents):
            return "a file of a page, not a page"
        return ""

    def _why_left_out(self, entry: Entry, *, has_head: bool) -> str:
        """Return why a file's content is not a post now; "" if it is one."""
        is_at_top = len(entry.path.parts) == 1
        is_home = self._docsify and entry.path.name == "README.md"
        is_about = is_at_top and not is_home and entry.path.stem.lower() in ABOUT_THE_FOLDER
        if is_about and not has_head:
            return "about the folder, not content"
        published = _moment(entry.published())
        paths = (entry.path.as_posix(), entry.own_path)
        if any(map(_ERROR_PAGE.fullmatch, paths)) and not published:
            return "error page"
        is_draft = why_draft(entry.fields) or _DRAFT.search(entry.path.as_posix())
        if is_draft and not self._options.drafts:
            return "draft"
        if self._opts_in and str(entry.fields.get(key(self._opts_in))).lower() != "true":
            return f"not published (other notes have `{self._opts_in}: true`)"
        if asking := why_hidden(entry.fields):
            return f"asks to be left out ({asking})"
        now = self._options.moment()
        begins = filter(None, (published, _moment(entry.date(("publishdate",)))))
        if max(begins, default=now) > now and not self._options.future:
            return "dated in the future"
        ends = _moment(entry.date(("expirydate", "unpublishdate", "expires")))
        if ends and ends <= now:
            return "expired"
        is_list = is_at_top or len(entry.text) < _OWN_TEXT
        return "list page" if is_list and entry.path.name.startswith("_index.") else ""

    def _post(self, entry: Entry, origin: Origin, oid: str) -> RawPost:
        titles = (entry.fields.get(name) for name in _TITLES)
        stated = (plain_title(title) for title in titles if isinstance(title, str))
        title, text = render(entry.text, title=next(filter(None, stated), ""))
        image = image_of(entry.first(_IMAGES))
        return RawPost(
            origin=origin,
            oid=oid,
            title=title or _title_from_name(entry, text),
            text=text,
            url=self._address(self._place(entry)),
            pub_date=entry.published(),
            modified=entry.date(_MODIFIED),
            categories=self._labels(entry, "categories", "category"),
            keywords=self._labels(entry, "tags", "tag", "keywords"),
            language=self._language(entry),
            translation_key=str(entry.first(_TRANSLATION_KEYS) or _in_language(entry.path)[1]),
            popularity=entry.fields.get("popularity"),
            image=self._address(image) if image and image.startswith("/") else image,
        )

    def _labels(self, entry: Entry, *names: str) -> list[str]:
        """Return labels; Jekyll reads two in `categories: jekyll update`, one in `category: …`."""
        stated = entry.fields.get(names[0])
        is_jekyll = self._site is not None and self._site.generator.name == "Jekyll"
        is_parted = is_jekyll and isinstance(stated, str) and "," not in stated
        return labels(str(stated).split() if is_parted else entry.first(names))

    def _language(self, entry: Entry) -> str:
        """Return the language in the front matter, else in the path, else in the configuration."""
        stated = entry.first(("language", "lang", "locale"))
        if isinstance(stated, str):
            return stated
        if language := _in_language(entry.path)[0]:
            return language
        return self._site.language if self._site and not self._options.language else ""

    def _place(self, entry: Entry) -> str:
        """Return the path of a post on the site."""
        if own := entry.own_path:
            return own
        slug = entry.fields.get("slug")
        slug = slug.strip("/").rpartition("/")[2] if isinstance(slug, str) else ""
        return fill(
            self._options.url_template or self._docsify or "/{path}/",
            _moment(entry.published()),
            slug or _DATED.sub("", entry.name) or entry.name,
            path=(entry.folder / (slug or entry.name)).as_posix().strip("./"),
            section=next(iter(entry.folder.parts), ""),
        )

    def _address(self, path: str) -> str:
        """Return a path after the site's address, or alone if that is unknown."""
        address = self._options.site or (self._site.address if self._site else "")
        path = re.sub(r"/{2,}", "/", f"/{path}").removesuffix("index.html")
        path = quote(path.encode("utf-8", "ignore"), safe="/%?=&#:+,;@~!'()*$")  # JSON: "\ud800"
        return f"{address.rstrip('/')}{path}"


def _in_language(path: PurePosixPath) -> tuple[str, str]:
    """Return the language in a path (`de/news.md`, `news.de.md`), and the path without it."""
    bare = path.with_suffix("").as_posix()
    folder, _, rest = bare.partition("/")
    name, _, ending = bare.rpartition(".")
    for part, other in ((folder, rest), (ending, name)):
        code = part.replace("_", "-").lower()
        if other and (found := _LANGUAGE.fullmatch(code)) and found[1] in _CODES:
            return code, other
    return "", bare


def docsify_of(folder: Path) -> str:
    """Return the template of docsify's addresses for the files of a folder with this home page; ""
    if docsify does not show them. It builds no pages: the browser reads the files."""
    page = text_of(folder / "index.html", 100_000)
    if not _DOCSIFY.search(page):
        return ""
    return "/{path}" if _HISTORY.search(page) else "/#/{path}"


def _has_private_notes(folder: Path) -> bool:
    """Whether a folder is an Obsidian vault, or a Logseq graph that does not publish all pages."""
    graph = folder / "logseq/config.edn"
    is_graph = graph.is_file() and not _ALL_PUBLIC.search(text_of(graph))
    return is_graph or (folder / ".obsidian").is_dir()


def _templates_of(vault: Path) -> Iterator[str]:
    """Yield a glob of each folder of an Obsidian vault with templates for notes."""
    for name, setting in _TEMPLATES.items():
        with suppress(ValueError, AttributeError):
            if folder := str(load_json(text_of(vault / name)).get(setting) or "").strip("/"):
                yield f"{folder}/*"


def _oid(path: PurePosixPath) -> str:
    bare = path.with_suffix("")
    return fit((bare.parent if bare.name == "index" and bare.parent.name else bare).as_posix())


def fill(template: str, when: datetime | None, slug: str, path: str, section: str = "") -> str:
    """Return a post's address by a template; the fields of its date are empty if it has none."""
    year, month, day = f"{when:%Y-%m-%d}".split("-") if when else ("", "", "")
    return template.format(year=year, month=month, day=day, slug=slug, path=path, section=section)


def _moment(when: When) -> datetime | None:
    """Return the moment; None for an invalid date, which is rejected later with the reason."""
    try:
        return moment(when)
    except NoDate:
        return None


def _merge(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the fields by `key` over those in the tables of themes and of Zola."""
    own = {key(name): value for name, value in fields.items()}
    own = {name: value for name, value in own.items() if value not in ("~", "null", "", None)}
    tables = [own.get(name) for name in ("params", "extra", "taxonomies")]
    inner = [table for table in tables if isinstance(table, Mapping)]
    return {key(name): value for table in inner for name, value in table.items()} | own


def _title_from_name(entry: Entry, text: str) -> str:
    """Return the file's name in words, or the first words of a post whose name is a number."""
    name = _DATED.sub("", entry.name)
    is_words = re.search(r"[^\W\d_]{2}", name)
    return title_of_name(name) if is_words else str(title_or_start(None, text) or entry.name)
