"""An RSS or Atom feed, from a file or a URL, parsed by feedparser.

A feed has the latest posts only. To be complete, a blog needs one of the other sources.
"""

import html
import io
from collections.abc import Iterator
from typing import Any

import feedparser  # type: ignore[import-untyped]

from indexer.errors import SourceError
from indexer.fetch import Fetcher
from indexer.records import Origin, RawPost, SourceItem
from indexer.sources.base import Source, is_url
from indexer.sources.identity import fitting, plain, title_or_start

_TAIL = 2000
"""Bytes at the end; some servers append a comment to the feed."""
_SUMMARY = 600
"""Characters; a text without a content element that is shorter is taken for a summary."""
_ENDS = (b"</rss>", b"</feed>", b"RDF>")


class Feed(Source):
    """The entries of one feed, with their content, or else their summary."""

    kind = "feed"
    is_remote = True

    def read(self) -> Iterator[SourceItem]:
        """Every entry; `id` is its oid, or its link where it has none."""
        with Fetcher(self._options.fetch) as fetcher:
            page = self._content(self.spec, fetcher)
        # As a stream: feedparser would try bytes as the name of a file first.
        headers = {"content-location": page.url} if is_url(page.url) else {}
        if page.content_type:
            headers["content-type"] = page.content_type
        feed = feedparser.parse(io.BytesIO(page.body), response_headers=headers)
        self._check(feed, page.body)
        total = len(feed.entries)
        summaries = sum(
            not entry.get("content") and len(_html(entry)) < _SUMMARY for entry in feed.entries
        )
        if summaries > total / 2:
            self._options.warn(
                f"{self.spec}: {summaries:,} of {total:,} entries have a summary only; "
                "the sitemap or the built site has the whole texts."
            )
        language = self._options.language or feed.feed.get("language")
        entries = list(enumerate(feed.entries, start=1))
        yield from self._each(
            entries,
            lambda entry: _post(entry[1], self._origin(entry[0]), language),
            lambda entry: (self._origin(entry[0]), None),
        )

    def _origin(self, number: int) -> Origin:
        return Origin(f"{self.spec} entry {number}")

    def _check(self, feed: Any, body: bytes) -> None:
        if not feed.get("version"):  # absent for an empty body
            fault = f": {feed.bozo_exception}" if feed.get("bozo") else ""
            raise SourceError(
                f"{self.spec} is not an RSS or Atom feed{fault}.", "Name a feed's address."
            )
        if feed.bozo and not any(end in body[-_TAIL:] for end in _ENDS):
            # feedparser accepts a part of a feed; the missing entries would look removed.
            raise SourceError(f"{self.spec} ends early: {feed.bozo_exception}.", "Try again.")


def _post(entry: Any, origin: Origin, language: str | None) -> RawPost:
    text = _html(entry)
    own = next(iter(entry.get("content", ())), None) or entry.get("summary_detail") or {}
    updated = dict.get(entry, "updated")  # the entry's own `get` warns, and gives `published`
    return RawPost(
        origin=origin,
        oid=fitting(oid) if (oid := entry.get("id") or entry.get("link")) else None,
        title=title_or_start(_title(entry), text),
        text=text,
        url=_url(entry),
        pub_date=entry.get("published") or updated,
        modified=updated,
        language=own.get("language") or language,
        categories=[term for tag in entry.get("tags", ()) if (term := tag.get("term"))],
    )


def _url(entry: Any) -> str | None:
    """The link. feedparser takes a guid for one, as RSS says, even if it is not a URL."""
    link: str = entry.get("link") or ""
    return link if link and (is_url(link) or link != entry.get("id")) else None


def _html(entry: Any) -> str:
    """The longest content: some feeds have a plain one too."""
    contents = [*entry.get("content", ()), {}]
    longest = max(contents, key=lambda content: len(content.get("value") or ""))
    return _as_html(longest) or _as_html(entry.get("summary_detail") or {})


def _as_html(detail: Any) -> str:
    """A text of a feed as HTML; the default type of Atom is plain text (RFC 4287, 3.1.1)."""
    value: str = detail.get("value") or ""
    if detail.get("type") == "text/plain":
        return html.escape(value, quote=False).replace("\n", "<br>\n")
    return value


def _title(entry: Any) -> str:
    detail = entry.get("title_detail") or {}
    title: str = entry.get("title") or ""
    return plain(title) if "html" in (detail.get("type") or "") else title
