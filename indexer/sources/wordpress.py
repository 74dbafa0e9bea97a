"""A WordPress export (WXR): published posts and pages, with their approved comments.

Read as a stream: an export of twenty years is larger than the memory of a small server.
Field names: WordPress' own `wp-admin/includes/export.php`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timezone
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.records import Origin, RawComment, RawPost, Skipped, SourceItem, When
from indexer.sources.base import Source, SourceOptions, unexpected
from indexer.sources.files import File, Stream
from indexer.sources.identity import title_or_start
from indexer.sources.xml import local_name

_CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
_NO_DATE = "0000-00-00 00:00:00"
_NOT_XML = bytes((*range(9), 11, 12, *range(14, 32)))


class WordPress(Source):
    """An export as Tools → Export makes it; also .gz."""

    kind = "wordpress"

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        super().__init__(spec, options, fetched)
        self._file = File(spec)

    def read(self) -> Iterator[SourceItem]:
        """Every post and page; its WordPress ID is its oid."""
        with self._file.opened() as stream:
            try:
                language = self._options.language
                for element in _items(stream):
                    if element.tag == "language":
                        language = language or element.text or ""
                    else:
                        self.progress = self._file.progress
                        yield self._item(element, language)
            except ParseError as error:
                line, column = error.position
                reason = f"{self._file.name}:{line}:{column}: invalid XML: {error.msg}."
                raise SourceError(
                    reason, "Export it again; nothing after it can be read."
                ) from error
            except DefusedXmlException as error:
                reason = f"{self._file.name} declares entities, which an export never does."
                raise SourceError(reason, "Remove the declarations.") from error
            except (ValueError, LookupError) as error:  # of the parser, for some encodings
                reason = f"{self._file.name} cannot be decoded: {error}."
                raise SourceError(reason, "Save it as UTF-8.") from error

    def _item(self, item: Element, language: str) -> SourceItem:
        oid = _text(item, "post_id")
        origin = Origin(f"{self._file.name} post {oid}")
        try:
            reason = self._why_left_out(item)
            return Skipped(origin, None, reason) if reason else _post(item, origin, oid, language)
        except Exception as error:  # noqa: BLE001 - one odd post must not end the run
            return unexpected(error, origin, oid or None)

    def _why_left_out(self, item: Element) -> str:
        """Why an item is not a published post; "" if it is one."""
        statuses = {"publish"}
        if self._options.drafts:
            statuses |= {"draft", "pending"}
        if self._options.future:
            statuses.add("future")
        kind, status = _text(item, "post_type"), _text(item, "status")
        if kind not in ("post", "page"):
            return f"of the type {kind}" if kind != "attachment" else "attachment"
        if status not in statuses:
            return status if status != "future" else "dated in the future"
        return "protected by a password" if _text(item, "post_password") else ""


class _WithoutControls:
    """The stream without the control characters that WordPress lets through and XML does not."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        while chunk := self._stream.read(size):
            if valid := chunk.translate(None, _NOT_XML):
                return valid
        return b""


def _items(stream: Stream) -> Iterator[Element]:
    """The posts of the export, and before them the element with the language of the site."""
    events = iterparse(_WithoutControls(stream), events=("start", "end"))
    path: list[Element] = []
    is_export = False
    for event, element in events:
        is_export = is_export or "wordpress.org/export" in element.tag
        if event == "start":
            path.append(element)
            continue
        path.pop()
        if len(path) == 2:
            if element.tag in ("item", "language"):
                yield element
            path[-1].clear()  # or the whole export would stay in memory
    if not is_export:
        raise SourceError("This is not a WordPress export.", "For a feed use --source feed.")


def _post(item: Element, origin: Origin, oid: str, language: str) -> RawPost:
    html = paragraphs(item.findtext(_CONTENT) or "")
    return RawPost(
        origin=origin,
        oid=oid or None,
        title=title_or_start(item.findtext("title"), html),
        text=html,
        url=item.findtext("link") or None,
        pub_date=_moment(item, "post_date"),
        modified=_moment(item, "post_modified"),
        categories=_terms(item, "category"),
        keywords=_terms(item, "post_tag"),
        comments=tuple(_comments(item)),
        language=language,
    )


def _comments(item: Element) -> Iterator[RawComment]:
    for comment in item:
        if (
            local_name(comment) == "comment"
            and _text(comment, "comment_approved") == "1"
            and _text(comment, "comment_type") in ("", "comment")
        ):
            yield RawComment(
                oid=_text(comment, "comment_id") or None,
                comment=paragraphs(_text(comment, "comment_content")),
                author=_text(comment, "comment_author"),
                pub_date=_moment(comment, "comment_date"),
            )


def _terms(item: Element, domain: str) -> list[str]:
    terms = (term.text for term in item.iterfind("category") if term.get("domain") == domain)
    return [text for text in terms if text and text != "Uncategorized"]


def _moment(parent: Element, name: str) -> When:
    """A date of the export, which has it in UTC and in the time zone of the site."""
    local, in_utc = _date(parent, name), _date(parent, f"{name}_gmt")
    if not (local and in_utc):
        return in_utc or local
    try:
        moment = datetime.fromisoformat(in_utc).replace(tzinfo=UTC)
        offset = datetime.fromisoformat(local).replace(tzinfo=UTC) - moment
        return moment.astimezone(timezone(offset))
    except (ValueError, OverflowError):  # e.g. an offset of a day
        return in_utc


def _date(parent: Element, name: str) -> str | None:
    text = _text(parent, name)
    return None if text in ("", _NO_DATE) else text


def _text(parent: Element, name: str) -> str:
    """The text of the child of this name, whichever version of the export's namespace it is in."""
    return next((child.text or "" for child in parent if local_name(child) == name), "")


_CODE_TAG = re.compile(r"<(/?)pre\b[^>]*>|\[(/?)(code|sourcecode)\b[^\]]*\]", re.IGNORECASE)
_SHORTCODE = re.compile(
    r"\[/?(?:caption|wp_caption|gallery|embed|audio|video|playlist|youtube|vimeo|more|contact-form|"
    r"contact-form-7|vc_\w+|et_pb_\w+|su_\w+)\b[^\]]*\]",
    re.IGNORECASE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


def paragraphs(text: str) -> str:
    """HTML in which blank lines are paragraphs, as WordPress shows it (`wpautop`).

    `<pre>` stays as it is, and `[code]` becomes `<pre>`. Only what a search can tell is done: the
    borders of paragraphs, code, and no `[gallery ids="1,2"]` among the words. One pass over the
    tags, because searching the end of each would take quadratic time.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = []
    at = 0
    opened: re.Match[str] | None = None
    for tag in _CODE_TAG.finditer(text):
        is_end = bool(tag[1] or tag[2])
        if opened is None and not is_end:
            parts.append(_prose(text[at : tag.start()]))
            opened, at = tag, tag.end()
        elif opened is not None and is_end and (opened[3] or "").lower() == (tag[3] or "").lower():
            code = text[at : tag.start()]
            parts.append(f"<pre>{_escaped(code) if opened[3] else code}</pre>")
            opened, at = None, tag.end()
    # What is never closed is not code.
    parts.append(_prose(text[at:] if opened is None else text[opened.start() :]))
    return "".join(parts)


def _prose(text: str) -> str:
    return _BLANK_LINE.sub("\n<p>", _SHORTCODE.sub("", text)).replace("\n", "<br>\n")


def _escaped(code: str) -> str:
    """Code between shortcodes is written as it is; only what would be a tag is touched."""
    return code.strip("\n").replace("<", "&lt;")
