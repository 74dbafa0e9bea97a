"""Reads an RSS, Atom or JSON feed from a file or a URL; feedparser parses XML.

A feed has only the latest posts. For all posts of a blog, use another source.
"""

import html
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import feedparser  # type: ignore[import-untyped]
import orjson

from indexer.errors import SourceError
from indexer.posts.addresses import host_of, is_local, is_url, without_tracking
from indexer.posts.records import Origin, RawPost, Skipped, SourceItem, load_json
from indexer.sources.base import FOR_MEMBERS, Source, guard, image_of
from indexer.sources.fetch import Fetched, Fetcher
from indexer.sources.html.content import own_text
from indexer.sources.identity import labels, oid_at, plain, title_or_start
from indexer.sources.xml import BEFORE_XML

_TAIL = 2000
"""The bytes at the end that may hold the end tag; some servers append a comment to the feed."""
_SUMMARY = 600
"""The length below which a text without a content element is taken for a summary."""
_LOCKED = "There is no excerpt because this is a protected"
"""WordPress' summary of a post with a password; its content is the form for it."""
_EXPORT = re.compile(rb"kind#(?:settings|template)|com/blogger/2018|wordpress\.org/export")
_BARE = re.compile(r"[<>\"']|&(?!(?:amp|lt|gt|quot|#39);)")  # never in an escaped title
_TWICE = re.compile(
    r"\s*&lt;(?:p|div|h[1-6]|[uo]l|figure|img|a|span|strong|em)\b[^<]*&gt;\s*", re.I
)
"""A text without elements that begins and ends with an escaped one: it was escaped twice."""
_ENDS = (b"</rss>", b"</feed>", b"RDF>")


class Feed(Source):
    """Reads the entries of one feed, with their content, or else their summary."""

    kind = "feed"
    is_remote = True

    def read(self) -> Iterator[SourceItem]:
        """Yield every entry. Its oid is the path of its address, if no other entry has this address
        and most entries are on the same site; else its `id`."""
        with Fetcher(self._options.fetch) as fetcher:
            page = self._content(self.spec, fetcher)
        is_json = page.body.lstrip(BEFORE_XML).startswith(b"{")
        language, entries = self._json(page) if is_json else self._xml(page)
        language = self._options.language or language
        summaries = sum(_is_summary(entry) for entry in entries)
        if summaries > len(entries) / 2:
            self._options.warn(
                f"{self.spec}: {summaries:,} of {len(entries):,} entries have a summary only; "
                "the sitemap or the built site has the whole texts."
            )
        urls = Counter(map(_url, entries))
        hosts = Counter(host_of(url) for url in urls if url)
        site = hosts.most_common(1)[0][0] if hosts else ""
        own = {url for url, count in urls.items() if url and count == 1 and host_of(url) == site}
        for number, entry in enumerate(entries, start=1):
            origin = Origin(f"{self.spec} entry {number}")
            yield guard(partial(_post, entry, origin, language, own), origin, None)

    def _json(self, page: Fetched) -> tuple[str | None, list[dict[str, Any]]]:
        try:
            feed = load_json(page.body.removeprefix(b"\xef\xbb\xbf"))
            entries = [_entry(item) for item in feed["items"]]
            if not any(_BARE.search(entry["title"]) for entry in entries):
                for entry in entries:
                    entry["title"] = html.unescape(entry["title"])
            return feed.get("language"), entries
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise SourceError(f"{self.spec} is not a JSON Feed: {error}.", "Try again.") from error

    def _xml(self, page: Fetched) -> tuple[str | None, list[Any]]:
        if _EXPORT.search(page.body):  # has drafts and settings
            raise SourceError(f"{self.spec} is an export, not a feed.", "Leave out --source.")
        feed = _parsed(page, page.url if is_url(page.url) else "")
        link = feed.feed.get("link") or ""
        if not is_url(page.url) and is_url(link) and not is_local(link):
            feed = _parsed(page, link)  # links in a file are relative to the address of its site
        if not feed.get("version"):  # missing for an empty body
            fault = f": {feed.bozo_exception}" if feed.get("bozo") else ""
            reason = f"{self.spec} is not an RSS or Atom feed{fault}."
            raise SourceError(reason, "Name a feed's address.")
        if feed.bozo and not any(end in page.body[-_TAIL:] for end in _ENDS):
            # feedparser accepts an incomplete feed; the missing entries would look removed.
            raise SourceError(f"{self.spec} ends early: {feed.bozo_exception}.", "Try again.")
        is_ghost = str(feed.feed.get("generator")).startswith("Ghost")
        for entry in feed.entries:  # Ghost writes neither text nor summary of a post for members
            entry["locked"] = _LOCKED in _html(entry)[:100] or (is_ghost and not _html(entry))
        if str(feed.version).startswith("rss"):  # its plain content is itunes:summary
            for entry in feed.entries:
                contents = entry.get("content", ())
                entry["content"] = [it for it in contents if it.get("type") != "text/plain"]
        return feed.feed.get("language"), feed.entries


def _parsed(page: Fetched, address: str) -> Any:
    """Parse a feed; `address`, if any, is that which its links are relative to.

    It is read as a stream: feedparser would first try bytes as a file name.
    """
    stated = {"content-location": address, "content-type": page.content_type}
    headers = {name: value for name, value in stated.items() if value}
    return feedparser.parse(io.BytesIO(page.body.lstrip(BEFORE_XML)), response_headers=headers)


def _entry(item: dict[str, Any]) -> dict[str, Any]:
    """Convert an item of a JSON Feed (jsonfeed.org, version 1.1) to an entry of feedparser."""
    plain_text = {"value": item.get("content_text"), "type": "text/plain"}
    contents = [{"value": item.get("content_html")}, plain_text]
    url = item.get("url") or item.get("external_url")
    return {
        "id": str(item.get("id") or url or ""),
        "link": url,
        "title": str(item.get("title") or ""),
        "content": [content for content in contents if content["value"]][:1],
        "summary": item.get("summary"),
        "summary_detail": {"value": item.get("summary"), "type": "text/plain"},
        "published": item.get("date_published"),
        "updated": item.get("date_modified"),
        "tags": [{"term": tag} for tag in labels(item.get("tags"))],
        "language": item.get("language"),
        "image": item.get("image"),
    }


def _post(entry: Any, origin: Origin, language: str | None, pages: Collection[str]) -> SourceItem:
    said, url = _html(entry), _url(entry)
    oid = oid_at(url if url in pages else None, entry.get("id") or _link(entry))
    if entry.get("locked"):
        return Skipped(origin, oid, FOR_MEMBERS, "locked", declared=True)
    if entry.get("app_draft") == "yes":
        return Skipped(origin, oid, "draft", "draft", declared=True)
    own = next(iter(entry.get("content", ())), None) or entry.get("summary_detail") or {}
    updated = dict.get(entry, "updated")  # the entry's own `get` warns, and returns `published`
    return RawPost(
        origin=origin,
        oid=oid,
        title=title_or_start(_title(entry), said),
        text=own_text(said),
        url=url,
        pub_date=entry.get("published") or updated,
        modified=updated,
        language=own.get("language") or entry.get("language") or language,
        image=image_of(entry.get("image")),
        categories=[
            html.unescape(name)
            for tag in entry.get("tags", ())
            if (name := tag.get("label") or tag.get("term"))
        ],
    )


def _is_summary(entry: Any) -> bool:
    return not entry.get("content") and len(_html(entry)) < _SUMMARY


def _url(entry: Any) -> str | None:
    """Return the link. feedparser, as RSS says, takes a guid for one even if it is not a URL."""
    link: str = _link(entry) or ""
    is_link = link and (is_url(link) or link != entry.get("id"))
    return without_tracking(link) if is_link else None


def _link(entry: Any) -> str | None:
    """Return the link to the entry itself: feedparser takes the last one, which may be a
    translation's (`hreflang`)."""
    pages = [one for one in entry.get("links", ()) if one.get("rel") == "alternate"]
    by_language = {one.get("hreflang", "")[:2].lower(): one.get("href") for one in pages[::-1]}
    link: str | None = entry.get("link")
    if len(by_language) > 1:
        language = entry.get("title_detail", {}).get("language") or ""
        link = by_language.get(language[:2].lower()) or by_language.get("") or pages[0].get("href")
    return link


def _html(entry: Any) -> str:
    """Return the longest content: some feeds have a plain one, too."""
    contents = [*entry.get("content", ()), {}]
    longest = max(contents, key=lambda content: len(content.get("value") or ""))
    return _as_html(longest) or _as_html(entry.get("summary_detail") or {})


def _as_html(detail: Any) -> str:
    """Return a text of a feed as HTML; Atom's default type is plain text (RFC 4287, 3.1.1)."""
    value: str = detail.get("value") or ""
    if detail.get("type") != "text/plain":
        return html.unescape(value) if _TWICE.fullmatch(value) else value
    return html.escape(value, quote=False).replace("\n", "<br>\n")


def _title(entry: Any) -> str:
    detail = entry.get("title_detail") or {}
    title: str = entry.get("title") or ""
    return plain(title) if "html" in (detail.get("type") or "") else title
