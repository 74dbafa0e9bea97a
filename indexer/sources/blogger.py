"""An export of Blogger: `blog-….xml` (Settings → Back up content), or `feed.atom` of Takeout.

Both are Atom. The former says with a category of the scheme `kind` what an entry is, the latter
with `blogger:type` and `blogger:status`. Only what says that it is a live post or page is one:
entries are also drafts, settings, among them the e-mail addresses of the authors, and templates.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from indexer.dates import NoDate, moment
from indexer.records import Origin, RawComment, RawPost, Skipped, SourceItem
from indexer.sources.base import Source
from indexer.sources.files import File
from indexer.sources.identity import plain, title_or_start
from indexer.sources.xml import elements, local_name, text_of

_KIND = "http://schemas.google.com/g/2005#kind"
_MAX_DEPTH = 100
"""Of comments on comments."""


class Blogger(Source):
    """The published posts and pages of an export, with their comments, which come behind them."""

    kind = "blogger"

    def read(self) -> Iterator[SourceItem]:
        """Every post; its oid is the id of its entry, as in the feeds of the blog."""
        posts: list[Element] = []
        replies: dict[str, tuple[str, RawComment]] = {}  # id → what it is a comment on
        for entry in elements(File(self.spec), depth=1):
            if local_name(entry) != "entry":
                continue
            kind, reason = _kind(entry), self._why_left_out(entry)
            if reason or kind not in ("post", "page", "comment"):
                yield Skipped(self._origin(entry), None, f"{kind}: {reason}" if reason else kind)
            elif kind == "comment":
                replies[text_of(entry, "id")] = (_parent(entry), _comment(entry))
            else:
                posts.append(entry)
        comments: dict[str, list[RawComment]] = {}
        for parent, comment in replies.values():
            for _ in range(_MAX_DEPTH):
                if parent not in replies:
                    break
                parent = replies[parent][0]
            comments.setdefault(parent, []).append(comment)
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
        control = next((child for child in entry if local_name(child) == "control"), entry)
        if text_of(control, "draft") == "yes":
            status = "draft"
        if text_of(entry, "trashed") or any(
            child.get("name") == "blogger.contentRemoved" for child in entry
        ):
            status = "removed"
        if status not in ("live", "draft" if self._options.drafts else "live"):
            return status or "of no status"
        try:
            when = moment(text_of(entry, "published"))
        except NoDate:  # is a reject later, and says so
            return ""
        is_future = when is not None and when > self._options.moment() and not self._options.future
        return "dated in the future" if is_future else ""


def _kind(entry: Element) -> str:
    """What an entry is: `post`, `page`, `comment`, `settings`, `template` or something new."""
    stated = [child.get("term", "") for child in entry if child.get("scheme") == _KIND]
    return text_of(entry, "type").lower() or "".join(stated).rpartition("#")[2] or "of no kind"


def _parent(entry: Element) -> str:
    """The id of what a comment is on."""
    replied = [child.get("ref", "") for child in entry if local_name(child) == "in-reply-to"]
    return text_of(entry, "parent") or next(iter(replied), "")


def _comment(entry: Element) -> RawComment:
    author = next((child for child in entry if local_name(child) == "author"), entry)
    return RawComment(
        oid=text_of(entry, "id").rpartition("-")[2] or None,
        comment=text_of(entry, "content"),
        author=text_of(author, "name") or None,
        pub_date=text_of(entry, "published"),
    )


def _post(entry: Element, origin: Origin, comments: list[RawComment]) -> RawPost:
    text = text_of(entry, "content")
    links = [child.get("href") for child in entry if child.get("rel") == "alternate"]
    return RawPost(
        origin=origin,
        oid=text_of(entry, "id") or None,
        title=title_or_start(_title(entry), text),
        text=text,
        url=text_of(entry, "filename") or next(iter(links), None),
        pub_date=text_of(entry, "published"),
        modified=text_of(entry, "updated"),
        categories=[
            child.get("term", "")
            for child in entry
            if local_name(child) == "category" and child.get("scheme") != _KIND
        ],
        comments=tuple(comments),
    )


def _title(entry: Element) -> str:
    title = text_of(entry, "title")
    is_html = any(child.get("type") == "html" for child in entry if local_name(child) == "title")
    return plain(title) if is_html else title
