"""Reads exports of Blogger, Ghost and Movable Type, and unpacked ones of Substack and Medium."""

import csv
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import orjson

from indexer.errors import SourceError
from indexer.posts.dates import NoDate, moment
from indexer.posts.records import Origin, RawComment, RawPost, Skipped, SourceItem, When, load_json
from indexer.sources.base import Source, guard, image_of
from indexer.sources.files import Stream, decode, files_in, read_inside
from indexer.sources.html.content import own_text
from indexer.sources.html.page import read_page
from indexer.sources.identity import fit, labels, oid_at, plain, title_or_start
from indexer.sources.markdown.folder import fill
from indexer.sources.markdown.text import render
from indexer.sources.robots import NOINDEX_ELEMENT
from indexer.sources.xml import elements, local_name, text_of

_MAX_BYTES = 200_000_000
SUBSTACK = "posts.csv"
"""The file that identifies Substack's export."""
_COLUMNS = ("post_id", "is_published", "audience")


class Ghost(Source):
    """Reads the published posts and pages of a JSON export; the slug is the oid and the address."""

    kind = "ghost"

    def read(self) -> Iterator[SourceItem]:
        """Yield every post, in the order of the export."""
        try:
            # Ghost writes this word before paths on the site.
            text = self._file.content(_MAX_BYTES).replace(b"__GHOST_URL__", b"")
            whole = load_json(text)
            whole = whole["db"][0] if "db" in whole else whole
            data = whole.get("data", whole)
            posts = [(Origin(f"{self.spec} {post.get('slug')}"), post) for post in data["posts"]]
            tags = _tags(data)
            settings = {one.get("key"): one.get("value") for one in data.get("settings") or ()}
        except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError) as error:
            reason = f"{self.spec} is not an export of Ghost: {error!s:.100}."
            raise SourceError(reason, "Export it again.") from error
        if str(settings.get("is_private")).lower() == "true":
            self._options.warn(
                f"{self.spec}: the site is private, but a public search will show its posts."
            )
        for origin, post in posts:
            make = partial(self._item, origin, post, tags, settings.get("locale"))
            yield guard(make, origin, None)

    def _item(
        self, origin: Origin, post: dict[str, Any], tags: dict[Any, list[str]], language: Any
    ) -> SourceItem:
        slug, status = post.get("slug"), post.get("status")
        if status != "published" and not (self._options.drafts and status == "draft"):
            return Skipped(origin, slug, str(status), "draft", declared=True)
        if post.get("visibility", "public") != "public":
            return Skipped(origin, slug, "for members only", "locked", declared=True)
        in_head = post.get("codeinjection_head") or ""
        if NOINDEX_ELEMENT.search(in_head):
            return Skipped(origin, slug, "noindex", "noindex", declared=True)
        text = post.get("html")
        text = post.get("plaintext") or "" if text is None else _GATED.sub(_for_guests, text)
        return RawPost(
            origin=origin,
            oid=slug,
            title=title_or_start(post.get("title"), text),
            text=text,
            url=f"/{slug}/",
            pub_date=post.get("published_at"),
            modified=post.get("updated_at"),
            keywords=tags.get(post.get("id"), []),
            language=post.get("locale") or language,
            translation_key=_HREFLANG.findall(in_head),
            image=image_of(post.get("feature_image")),
        )


_HREFLANG = re.compile(
    r"""<link\s(?=[^<>]*\bhreflang=)(?![^<>]*\bx-default)[^<>]*?\bhref=["']?([^"'\s<>]+)"""
)
_GATED = re.compile(
    r"<!--\s*kg-gated-block:begin\s([^\n>]*)-->(.*?)(?:<!--\s*kg-gated-block:end\s*-->|\Z)",
    re.DOTALL,
)


def _for_guests(card: re.Match[str]) -> str:
    """Return what a visitor who is no member sees of a card."""
    return card[2] if re.search(r"\bnonMember:\s*true\b", card[1]) else ""


def _tags(data: dict[str, Any]) -> dict[Any, list[str]]:
    """Return the names of each post's tags, without internal ones, which begin with `#`."""
    names = {tag["id"]: str(tag["name"]) for tag in data.get("tags") or ()}
    tags: dict[Any, list[str]] = {}
    for link in data.get("posts_tags") or ():
        name = names.get(link["tag_id"], "#")
        if not name.startswith("#"):
            tags.setdefault(link["post_id"], []).append(name)
    return tags


class Substack(Source):
    """Reads the published posts of a folder with `posts.csv`; the address is `/p/` and the slug."""

    kind = "substack"
    is_folder = True

    def read(self) -> Iterator[SourceItem]:
        """Yield every post, in the order of the table."""
        try:
            table = csv.DictReader(self._read(SUBSTACK).split("\n"), restval="")
            rows = list(table)
        except (OSError, csv.Error) as error:
            reason = f"{self.spec}/{SUBSTACK} cannot be read: {error}."
            raise SourceError(reason, "Name the folder of the unpacked export.") from error
        if lacks := [name for name in _COLUMNS if name not in (table.fieldnames or ())]:
            reason = f"{self.spec}/{SUBSTACK} has no column {', '.join(lacks)}."
            raise SourceError(reason, "Export it again; the first line names the columns.")
        yield from self._each(rows, self._item, lambda row: (self._origin(row), row["post_id"]))

    def _read(self, name: str) -> str:
        return decode(read_inside(Path(self.spec, name), Path(self.spec), _MAX_BYTES))

    def _origin(self, row: dict[str, str]) -> Origin:
        return Origin(f"{self.spec}/posts/{row.get('post_id')}.html")

    def _item(self, row: dict[str, str]) -> SourceItem:
        name, origin = row["post_id"], self._origin(row)
        if row["is_published"].lower() != "true" and not self._options.drafts:
            return Skipped(origin, name, "draft", "draft", declared=True)
        if row["audience"] != "everyone":
            return Skipped(origin, name, "for subscribers only", "locked", declared=True)
        html = self._read(f"posts/{name}.html") or row.get("subtitle") or ""
        return RawPost(
            origin=origin,
            oid=name,
            title=title_or_start(row.get("title"), html),
            text=own_text(html),
            url=f"/p/{name.partition('.')[2] or name}",
            pub_date=row.get("post_date"),
        )


class Medium(Source):
    """Reads the posts of a folder with `posts`, but not `profile`, `ips`, `sessions` and others."""

    kind = "medium"
    is_folder = True

    def read(self) -> Iterator[SourceItem]:
        """Yield every post, in the order of the file names."""
        files = files_in(Path(self.spec) / "posts", (".html",))
        yield from self._each(files, self._item, lambda file: (Origin(str(file)), file.stem))

    def _item(self, file: Path) -> SourceItem:
        origin = Origin(str(file))
        if file.name.startswith("draft_") and not self._options.drafts:
            return Skipped(origin, None, "draft")
        text = decode(read_inside(file, Path(self.spec), _MAX_BYTES))
        return read_page(text, "", origin, fit(file.stem), self._options)


_BLOGGER_KIND = "http://schemas.google.com/g/2005#kind"


class Blogger(Source):
    """Reads the published posts and pages of `blog-….xml` (Settings → Back up content) or of
    Takeout's `feed.atom`, with their comments, which stand after them.

    Both are Atom. The first gives the kind of an entry by a category of the scheme `kind`, the
    second by `blogger:type` and `blogger:status`. Only an entry marked as a live post or page is
    one: others are drafts, templates, and settings, such as the e-mail addresses of the authors.
    """

    kind = "blogger"

    def read(self) -> Iterator[SourceItem]:
        """Yield every post; its oid is the path of its address, as in the feeds of the blog."""
        posts: list[Element] = []
        comments: dict[str, list[RawComment]] = {}
        for entry in elements(self._file, depth=1):
            if local_name(entry) != "entry":
                continue
            kind, reason = _kind_of(entry), self._why_left_out(entry)
            if reason or kind not in ("post", "page", "comment"):
                yield Skipped(self._origin(entry), None, f"{kind}: {reason}" if reason else kind)
            elif kind == "comment":
                replied = [child.get("ref", "") for child in _children(entry, "in-reply-to")]
                post = text_of(entry, "parent") or "".join(replied)
                comments.setdefault(post, []).append(_comment(entry))
            else:
                posts.append(entry)
        for entry in posts:
            origin, id_ = self._origin(entry), text_of(entry, "id")
            make = partial(_post, entry, origin, comments.get(id_, []))
            yield guard(make, origin, oid_at(_url(entry), id_))

    def _origin(self, entry: Element) -> Origin:
        return Origin(f"{self.spec} {text_of(entry, 'id')}")

    def _why_left_out(self, entry: Element) -> str:
        """Return why a post or a comment is not public; "" if it is."""
        status = text_of(entry, "status").lower() if text_of(entry, "type") else "live"
        if any(text_of(control, "draft") == "yes" for control in _children(entry, "control")):
            status = "draft"
        properties = [child.get("name") for child in _children(entry, "extendedProperty")]
        if text_of(entry, "trashed") or "blogger.contentRemoved" in properties:
            status = "removed"
        if status not in ("live", "draft" if self._options.drafts else "live"):
            return status or "no status"
        with suppress(NoDate):  # it will be a Reject
            when = moment(text_of(entry, "published"))
            if when and when > self._options.moment() and not self._options.future:
                return "dated in the future"
        return ""


def _children(entry: Element, name: str) -> list[Element]:
    return [child for child in entry if local_name(child) == name]


def _kind_of(entry: Element) -> str:
    """Return the kind: `post`, `page`, `comment`, `settings`, `template` or something new."""
    stated = [child.get("term", "") for child in entry if child.get("scheme") == _BLOGGER_KIND]
    return text_of(entry, "type").lower() or "".join(stated).rpartition("#")[2] or "no kind"


def _comment(entry: Element) -> RawComment:
    authors = [text_of(author, "name") for author in _children(entry, "author")]
    return RawComment(
        oid=text_of(entry, "id").rpartition("-")[2] or None,
        comment=text_of(entry, "content"),
        author="".join(authors) or None,
        pub_date=text_of(entry, "published"),
    )


def _url(entry: Element) -> str | None:
    links = [child.get("href") for child in entry if child.get("rel") == "alternate"]
    return text_of(entry, "filename") or next(iter(links), None)


def _post(entry: Element, origin: Origin, comments: list[RawComment]) -> RawPost:
    text = text_of(entry, "content")
    labels = [one for one in _children(entry, "category") if one.get("scheme") != _BLOGGER_KIND]
    return RawPost(
        origin=origin,
        oid=oid_at(url := _url(entry), text_of(entry, "id")),
        title=title_or_start(unescape(text_of(entry, "title")), text),
        text=text,
        url=url,
        pub_date=text_of(entry, "published"),
        modified=text_of(entry, "updated"),
        categories=[label.get("term", "") for label in labels],
        comments=tuple(comments),
    )


_MT_HEAD = re.compile(rb"(?:AUTHOR|TITLE|BASENAME|STATUS|DATE|UNIQUE URL):[ \t]*")
_MT_SECTION = re.compile(
    r"^-----\n(?=(?:BODY|EXTENDED BODY|EXCERPT|KEYWORDS|COMMENT|PING):[ \t]*\n|\s*(?:-{8}\s*)?\Z)",
    re.MULTILINE,
)
"""The end of a section; a line of hyphens may also be part of a text."""
_MT_FIELD = re.compile(r"([A-Z][A-Z ]*):[ \t]*(.*)\n")
_MT_DATES = ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S")
_MT_ADDRESSES = "/{year}/{month}/{slug}.html"


class MovableType(Source):
    """Reads the published posts of a Movable Type export, also by Typepad and Hatena Blog."""

    kind = "movabletype"

    def read(self) -> Iterator[SourceItem]:
        """Yield every post with its comments; its oid is the path of its address."""
        if not self._options.url_template:
            self._options.warn(f"{self.spec}: posts without an address get {_MT_ADDRESSES}.")
        with self._file.opened() as stream:
            for number, text in enumerate(_mt_entries(stream), start=1):
                origin = Origin(f"{self.spec} entry {number}")
                yield guard(partial(self._item, text, origin), origin, None)

    def _item(self, text: str, origin: Origin) -> SourceItem:
        head, *sections = _MT_SECTION.split(text.replace("\r\n", "\n"))
        values = defaultdict[str, list[str]](list)
        parts = (section.partition(":")[::2] for section in sections)
        for name, value in (*_MT_FIELD.findall(f"{head}\n"), *parts):
            values[name].append(value.strip())
        first = {name: stated[0] for name, stated in values.items()}
        when, status = _mt_date(first.get("DATE", "")), first.get("STATUS", "publish").lower()
        url = first.get("UNIQUE URL") or self._address(first.get("BASENAME", ""), when)
        oid = oid_at(url, first.get("BASENAME"))
        options = self._options
        if status not in ("publish", "draft" * options.drafts, "future" * options.future):
            return Skipped(origin, oid, status, "draft", declared=True)
        bodies = filter(None, values["BODY"] + values["EXTENDED BODY"])
        html = _mt_html("\n\n".join(bodies), first.get("CONVERT BREAKS", ""))
        tags = next(csv.reader([first.get("TAGS", "")]), [])
        comments = {comment.oid: comment for comment in map(_mt_comment, values["COMMENT"])}
        return RawPost(
            origin=origin,
            oid=oid,
            title=title_or_start(plain(first.get("TITLE", "")), html),
            text=html,
            url=url,
            pub_date=when,
            categories=labels(values["PRIMARY CATEGORY"] + values["CATEGORY"]),
            keywords=labels([*tags, *",".join(values["KEYWORDS"]).split(",")]),
            comments=tuple(comments.values()),
            image=image_of(first.get("IMAGE")),
        )

    def _address(self, slug: str, when: When) -> str | None:
        """Return the address of a post that states none; only Typepad states it."""
        template = self._options.url_template
        if "/" in slug and not template:
            return f"/entry/{slug}"  # Hatena's
        if not slug or not isinstance(when, datetime):
            return None
        return fill(template or _MT_ADDRESSES, when, slug, path=slug)


def _mt_entries(stream: Stream) -> Iterator[str]:
    """Yield the entries, each up to eight hyphens, which a table drawn in a text may have, too."""
    lines: list[bytes] = []
    ends = False
    for line in stream:
        if ends and _MT_HEAD.match(line):
            yield decode(b"".join(lines))
            lines = []
        ends = line.strip() == b"--------" or (ends and not line.strip())
        lines.append(line)
    if b"".join(lines).strip():
        yield decode(b"".join(lines))


def _mt_html(text: str, converts: str) -> str:
    """Return a text as the blog shows it: Markdown, HTML, or HTML with line breaks as lines."""
    if converts.startswith("markdown"):
        return render(text)[1]
    if converts in ("0", "richtext", "blockeditor") or (not converts and "<p" in text):
        return text
    parts = re.split(r"(<pre\b.*?</pre>)", text, flags=re.DOTALL | re.IGNORECASE)
    parts[::2] = (re.sub(r"\n\s*\n", "<p>", part).replace("\n", "<br>\n") for part in parts[::2])
    return "".join(parts)


def _mt_date(stated: str) -> When:
    """Return a date with the month first and no zone as a datetime; return others unchanged."""
    for form in _MT_DATES:
        with suppress(ValueError):
            return datetime.strptime(stated, form).replace(tzinfo=UTC)
    return stated


def _mt_comment(section: str) -> RawComment:
    """Return the comment in a section of fields and text. It has no id."""
    end, fields = 0, {}
    while field := _MT_FIELD.match(section, end):
        fields[field[1]], end = field[2], field.end()
    return RawComment(
        oid=hashlib.sha256(section.encode()).hexdigest()[:12],
        comment=_mt_html(section[end:], ""),
        author=plain(fields.get("AUTHOR", "")) or None,
        pub_date=_mt_date(fields.get("DATE", "")),
    )
