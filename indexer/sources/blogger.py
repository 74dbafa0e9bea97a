"""An export of Blogger: `blog-….xml` (Settings → Back up content), or `feed.atom` of Takeout.

Both are Atom. The former says with a category of the scheme `kind` what an entry is, the latter
with `blogger:type` and `blogger:status`. Only what says that it is a live post or page is one:
entries are also drafts, settings, among them the e-mail addresses of the authors, and templates.
"""

from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from xml.etree.ElementTree import Element

from indexer.dates import NoDate, moment
from indexer.records import Origin, RawComment, RawPost, Skipped, SourceItem
from indexer.sources.base import Source
from indexer.sources.files import File
from indexer.sources.identity import title_or_start
from indexer.sources.xml import elements, local_name, text_of

_KIND = "http://schemas.google.com/g/2005#kind"


class Blogger(Source):
    """The published posts and pages of an export, with their comments, which come behind them."""

    kind = "blogger"

    def read(self) -> Iterator[SourceItem]:
        """Every post; its oid is the id of its entry, as in the feeds of the blog."""
        posts: list[Element] = []
        comments: dict[str, list[RawComment]] = {}
        for entry in elements(File(self.spec), depth=1):
            if local_name(entry) != "entry":
                continue
            kind, reason = _kind(entry), self._why_left_out(entry)
            if reason or kind not in ("post", "page", "comment"):
                yield Skipped(self._origin(entry), None, f"{kind}: {reason}" if reason else kind)
            elif kind == "comment":
                replied = [child.get("ref", "") for child in _named(entry, "in-reply-to")]
                post = text_of(entry, "parent") or "".join(replied)
                comments.setdefault(post, []).append(_comment(entry))
            else:
                posts.append(entry)
        yield from self._each(
            posts,
            lambda entry: _post(entry, self._origin(entry), comments.get(text_of(entry, "id"), [])),
            lambda entry: (self._origin(entry), text_of(entry, "id") or None),
        )

    def _origin(self, entry: Element) -> Origin:
        return Origin(f"{self.spec} {text_of(entry, 'id')}")

    def _why_left_out(self, entry: Element) -> str:
        """Why a post or a comment is not public; "" if it is."""
        status = text_of(entry, "status").lower() if text_of(entry, "type") else "live"
        if any(text_of(control, "draft") == "yes" for control in _named(entry, "control")):
            status = "draft"
        properties = [child.get("name") for child in _named(entry, "extendedProperty")]
        if text_of(entry, "trashed") or "blogger.contentRemoved" in properties:
            status = "removed"
        if status not in ("live", "draft" if self._options.drafts else "live"):
            return status or "of no status"
        with suppress(NoDate):  # which is a reject later
            when = moment(text_of(entry, "published"))
            if when and when > self._options.moment() and not self._options.future:
                return "dated in the future"
        return ""


def _named(entry: Element, name: str) -> list[Element]:
    return [child for child in entry if local_name(child) == name]


def _kind(entry: Element) -> str:
    """What an entry is: `post`, `page`, `comment`, `settings`, `template` or something new."""
    stated = [child.get("term", "") for child in entry if child.get("scheme") == _KIND]
    return text_of(entry, "type").lower() or "".join(stated).rpartition("#")[2] or "of no kind"


def _comment(entry: Element) -> RawComment:
    authors = [text_of(author, "name") for author in _named(entry, "author")]
    return RawComment(
        oid=text_of(entry, "id").rpartition("-")[2] or None,
        comment=text_of(entry, "content"),
        author="".join(authors) or None,
        pub_date=text_of(entry, "published"),
    )


def _post(entry: Element, origin: Origin, comments: list[RawComment]) -> RawPost:
    text = text_of(entry, "content")
    links = [child.get("href") for child in entry if child.get("rel") == "alternate"]
    labels = [label for label in _named(entry, "category") if label.get("scheme") != _KIND]
    return RawPost(
        origin=origin,
        oid=text_of(entry, "id") or None,
        title=title_or_start(unescape(text_of(entry, "title")), text),
        text=text,
        url=text_of(entry, "filename") or next(iter(links), None),
        pub_date=text_of(entry, "published"),
        modified=text_of(entry, "updated"),
        categories=[label.get("term", "") for label in labels],
        comments=tuple(comments),
    )
