"""A folder of Markdown posts, or one post."""

import errno
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.fetch import Fetched
from indexer.normalise import MAX_HTML
from indexer.records import Origin, Reject, Skipped, SourceItem
from indexer.sources.base import Source, SourceOptions
from indexer.sources.files import OutsideFolder, is_utf8, read_inside, remedy_of
from indexer.sources.identity import fitting
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter
from indexer.sources.markdown.generators import site_of
from indexer.sources.markdown.post import raw_post
from indexer.sources.markdown.site import (
    MARKDOWN,
    Entry,
    Root,
    Site,
    check_template,
    first_date,
    first_of,
    walk,
)

SUFFIXES = MARKDOWN
_OID = re.compile(rb"""\boid["']?[ \t]*[:=]""", re.IGNORECASE)


class MarkdownFolder(Source):
    """Every post below a folder, or one post; its path below the site's content is its oid."""

    kind = "markdown"
    is_folder = True

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        for template in options.url_templates.values():
            check_template(template)
        super().__init__(spec, options, fetched)
        self._place = Path(spec)

    def read(self) -> Iterator[SourceItem]:
        """Every post, in the order of the paths."""
        site = site_of(self._place)
        place = self._place.resolve()
        if not site.has(place):
            # Not in the site's content, such as a folder beside Hugo's `content`.
            folder = place if place.is_dir() else place.parent
            site = Site(folder, [Root(folder)], address=site.address, zone=site.zone)
        for note in site.notes if place.is_dir() and not self._options.template_for("") else ():
            self._options.warn(note)
        now = self._options.moment()
        yield from self._each(
            list(walk(site, place)),
            lambda file: self._item(*file, site, now),
            lambda file: (Origin(self._shown(file[0])), None),  # it may state an oid of its own
        )

    def _item(self, file: Path, root: Root, reason: str, site: Site, now: datetime) -> SourceItem:
        if reason:
            return self._skip(file, reason)
        path = root.path_of(file)
        if self._options.excludes(path.as_posix()):
            return self._skip(file, "excluded by blogsearch.toml")
        name = self._shown(file)
        if not is_utf8(path.as_posix()):
            return Reject(Origin(name), None, "the file's name is not UTF-8", "Rename the file.")
        oid = _oid(path, root.language if len(site.roots) > 1 else "")
        is_place = file == self._place.resolve()
        folders = [file.resolve().parent] if is_place else [root.folder for root in site.roots]
        try:
            content = read_inside(file, folders, MAX_HTML)
        except OSError as error:
            # A file that cannot be read may have an oid of its own. A link that cannot be followed
            # may stay for ever, and must not keep posts from being removed.
            is_link = isinstance(error, OutsideFolder | FileNotFoundError)
            known = oid if is_link or error.errno == errno.ELOOP else None
            return Reject(Origin(name), known, error.strerror or str(error), remedy_of(error))
        try:
            head = split_front_matter(content.decode("utf-8-sig"))
        except BadFrontMatter as error:
            remedy = "Correct the front matter, and index the post again."
            return Reject(Origin(name, error.line), _oid_in(content, oid), str(error), remedy)
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start:,}"
            own_oid = _oid_in(content, oid)
            return Reject(Origin(name), own_oid, reason, "Save the file as UTF-8.")
        own = {name.lower(): value for name, value in (head.fields or {}).items()}
        fields = site.fields_of(path, own)
        stated = first_of(fields, self._options.fields.get("language", ()))
        language = str(stated or site.language_of(path, root.language, fields))
        names = None if head.fields is None else frozenset(own)
        entry = Entry(path, fields, head.text, language, names)
        if reason := site.why_left_out(entry) or self._why_not_yet(entry, site, now):
            return self._skip(file, reason)
        post = raw_post(entry, Origin(name), oid, site, self._options)
        if not post.title and not post.text:
            return self._skip(file, "neither title nor text")
        return post

    def _why_not_yet(self, entry: Entry, site: Site, now: datetime) -> str:
        """Why a post is not to be found now; "" if it is."""
        fields = entry.fields
        is_draft = (
            _is(fields.get("draft"), "true", "yes", "on")
            or _is(fields.get("published"), "false", "no", "off")
            or _is(fields.get("status"), "draft")
            or "_drafts" in entry.path.parts
        )
        if is_draft and not (self._options.drafts or site.publishes_drafts):
            return "draft"
        starts = site.begins(first_date(fields, ("publishdate",))) or site.begins(
            site.published(entry)
        )
        if starts and starts > now and not (self._options.future or site.publishes_future):
            return "dated in the future"
        ends = site.begins(first_date(fields, ("expirydate", "unpublishdate")))
        if ends and ends <= now and not site.publishes_expired:
            return "expired"
        return ""

    def _skip(self, file: Path, reason: str) -> Skipped:
        return Skipped(Origin(self._shown(file)), None, reason)

    def _shown(self, file: Path) -> str:
        """The file as the user would name it."""
        place = self._place.resolve()
        return (
            str(self._place / file.relative_to(place)) if file.is_relative_to(place) else str(file)
        )


def _oid_in(broken: bytes, oid: str) -> str | None:
    """The oid of a post that cannot be read; None if it may state one of its own."""
    return None if _OID.search(broken.replace(b"\0", b"")) else oid  # UTF-16 has zeros


def _is(value: Any, *names: str) -> bool:
    return str(value).lower() in names


def _oid(path: PurePosixPath, language: str) -> str:
    bare = path.with_suffix("")
    bare = bare.parent if bare.name == "index" and bare.parent.name else bare
    return fitting((PurePosixPath(language) / bare).as_posix())
