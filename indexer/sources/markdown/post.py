"""One Markdown file, parted into head and text → a post, or none yet."""

import re
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

from indexer.dates import NoDate, moment
from indexer.records import Origin, RawPost, When
from indexer.sources.base import SourceOptions
from indexer.sources.markdown.front_matter import Parted
from indexer.sources.markdown.generators import Site
from indexer.sources.markdown.permalinks import DATED, Placed, url_of
from indexer.sources.markdown.text import first_heading, rendered

PAGES = (".html", ".htm")
"""What has HTML behind its front matter."""

_PUBLISHED = (
    "date",
    "pub_date",
    "pubDate",
    "publishDate",
    "pubDatetime",
    "published_at",
    "created",
)
_MODIFIED = (
    "modified",
    "updated",
    "lastmod",
    "last_modified_at",
    "updated_at",
    "updatedDate",
    "modDatetime",
)


class MarkdownPost:
    """One parted file."""

    def __init__(self, parts: Parted, path: PurePosixPath, suffix: str) -> None:
        self._fields = parts.fields or {}
        extra = self._fields.get("extra")
        self._extra = extra if isinstance(extra, dict) else {}
        self._text = parts.text
        self._path = path
        self._suffix = suffix

    def is_out(self, options: SourceOptions, now: datetime) -> bool:
        """Whether it is to be found: no section's own page, no draft, not future, not expired."""
        fields = self._fields
        if self._path.stem == "_index" or fields.get("permalink") is False:
            return False
        if not self._text.strip() and fields.get("layout") and "_posts" not in self._path.parts:
            return False  # a page that its layout fills: the archive, the list of tags
        is_draft = (
            _yes(fields.get("draft"))
            or _no(fields.get("published"))
            or fields.get("status") == "draft"
        )
        if is_draft and not options.drafts:
            return False
        starts, ends = (
            _moment(fields.get("publishDate") or self._published()),
            _moment(fields.get("expiryDate")),
        )
        return (options.future or starts is None or starts <= now) and (ends is None or ends > now)

    def raw(self, origin: Origin, oid: str, site: Site, options: SourceOptions) -> RawPost:
        """The post as its head and its text have it."""
        title, text = self._fields.get("title"), self._text
        if title is None or title == "":
            title, text = first_heading(text)
        is_page = self._suffix in PAGES
        when = self._published()
        categories = self._terms("categories", "category", site)
        placed = Placed(
            self._path, self._fields, _local(when), _url_categories(categories, self._path)
        )
        return RawPost(
            origin=origin,
            oid=self._fields.get("oid") or oid,
            title=title or _from_name(self._path),
            text=text if is_page else rendered(text, mdx=self._suffix == ".mdx"),
            url=url_of(site, placed, options.url_template, options.site),
            pub_date=when,
            modified=self._first(_MODIFIED),
            categories=categories,
            keywords=self._terms("tags", "keywords", site) or self._terms("keywords", "tag", site),
        )

    def _published(self) -> When:
        dated = DATED.match(self._path.name) or DATED.match(self._path.parent.name)
        found: When = self._first(_PUBLISHED)
        return _padded(dated[1]) if found is None and dated else found

    def _first(self, names: tuple[str, ...]) -> Any:
        return next((self._fields[name] for name in names if self._fields.get(name)), None)

    def _terms(self, name: str, other: str, site: Site) -> Any:
        taxonomies = self._fields.get("taxonomies")
        inner = taxonomies if isinstance(taxonomies, dict) else {}
        found = (
            self._fields.get(name)
            or self._fields.get(other)
            or inner.get(name)
            or self._extra.get(name)
        )
        if isinstance(found, str) and site.generator == "jekyll" and "," not in found:
            return found.split()  # jekyllrb.com/docs/posts: a string is split at its spaces
        return found or []


def _url_categories(categories: Any, path: PurePosixPath) -> list[str]:
    """Jekyll counts the folders above `_posts` as categories too."""
    above = list(path.parts[: path.parts.index("_posts")]) if "_posts" in path.parts else []
    named = categories.split(",") if isinstance(categories, str) else categories
    return (
        above + [each for each in named if isinstance(each, str)]
        if isinstance(named, list)
        else above
    )


def _from_name(path: PurePosixPath) -> str:
    name = path.parent.name if path.stem == "index" else path.stem
    words = re.sub(r"[-_]+", " ", DATED.sub("", name)).strip()
    return words[:1].upper() + words[1:]


def _local(when: When) -> datetime | None:
    """The moment in the zone it was written in; None for what is no date, to be refused later."""
    if isinstance(when, datetime):
        return when
    found = _moment(when)
    zone = re.search(r"([+-]\d\d):?(\d\d)$", when) if isinstance(when, str) else None
    if found is None or zone is None or isinstance(when, date):
        return found
    try:
        return found.astimezone(datetime.strptime(zone[0].replace(":", ""), "%z").tzinfo)
    except ValueError:
        return found


def _moment(when: When) -> datetime | None:
    try:
        return moment(when)
    except NoDate:
        return None


def _padded(day: str) -> str:
    year, month, dom = day.split("-")
    return f"{year}-{month:0>2}-{dom:0>2}"


def _yes(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.lower() in ("true", "yes", "on"))


def _no(value: Any) -> bool:
    return value is False or (isinstance(value, str) and value.lower() in ("false", "no", "off"))
