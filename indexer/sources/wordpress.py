"""A WordPress export (WXR): published posts and pages, with their approved comments.

Read as a stream: an export of twenty years is larger than the memory of a small server.
Field names: WordPress' own `wp-admin/includes/export.php`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timezone
from xml.etree.ElementTree import Element

from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.records import Origin, RawComment, RawPost, Skipped, SourceItem, When
from indexer.sources.base import Source, SourceOptions, unexpected
from indexer.sources.files import File
from indexer.sources.identity import fitting, plain, title_or_start
from indexer.sources.xml import elements, local_name, text_of

_CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
_NO_DATE = "0000-00-00 00:00:00"
_BLOCK = re.compile(r'<!-- wp:block \{"ref":(\d+)[^>]*-->')
"""Where a post shows a block that several posts share, which is an item of its own."""


class WordPress(Source):
    """An export as Tools → Export makes it; also .gz."""

    kind = "wordpress"

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        super().__init__(spec, options, fetched)
        self._file = File(spec)

    def read(self) -> Iterator[SourceItem]:
        """Every post and page; its oid is its WordPress ID, or else its guid or link.

        Posts with shared blocks come last, when all blocks are known.
        """
        language = self._options.language
        blocks: dict[str, str] = {}
        waiting: list[RawPost] = []
        for element in elements(self._file, depth=2):
            if element.tag == "language":
                language = language or element.text or ""
            if element.tag != "item":
                continue
            if not any("wordpress.org/export" in child.tag for child in element):
                raise SourceError("This is not a WordPress export.", "Use --source feed.")
            item = self._item(element, language)
            if text_of(element, "post_type") == "wp_block" and _is_public(element):
                blocks[text_of(element, "post_id")] = paragraphs(element.findtext(_CONTENT) or "")
            if isinstance(item, RawPost) and _BLOCK.search(item.text):
                waiting.append(item)
            else:
                yield item
        for post in waiting:
            text = _BLOCK.sub(lambda block: blocks.get(block[1], ""), post.text)
            yield replace(post, text=text)

    def _item(self, item: Element, language: str) -> SourceItem:
        oid = text_of(item, "post_id") or text_of(item, "guid") or text_of(item, "link")
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
        kind, status = text_of(item, "post_type"), text_of(item, "status")
        if kind not in ("post", "page"):
            return f"of the type {kind or 'unknown'}" if kind != "attachment" else "attachment"
        if status not in statuses:
            return status if status != "future" else "dated in the future"
        return "protected by a password" if text_of(item, "post_password") else ""


def _is_public(item: Element) -> bool:
    return text_of(item, "status") == "publish" and not text_of(item, "post_password")


def _post(item: Element, origin: Origin, oid: str, language: str) -> RawPost:
    html = paragraphs(item.findtext(_CONTENT) or "")
    return RawPost(
        origin=origin,
        oid=fitting(oid) or None,
        title=title_or_start(plain(item.findtext("title") or ""), html),
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
            and text_of(comment, "comment_approved") == "1"
            and text_of(comment, "comment_type") in ("", "comment")
        ):
            yield RawComment(
                oid=text_of(comment, "comment_id") or None,
                comment=paragraphs(text_of(comment, "comment_content")),
                author=plain(text_of(comment, "comment_author")),
                pub_date=_moment(comment, "comment_date"),
            )


def _terms(item: Element, domain: str) -> list[str]:
    terms = [
        plain(term.text or "")
        for term in item.iterfind("category")
        if term.get("domain") == domain and term.get("nicename") != "uncategorized"
    ]
    return [term for term in terms if term]


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
    text = text_of(parent, name)
    return None if text in ("", _NO_DATE) else text


_CODE_NAMES = (
    "code|sourcecode|source|crayon|cc|actionscript3?|bash|shell|coldfusion|cpp|c|csharp|css|diff|"
    "erlang|fsharp|go|groovy|haskell|html|java|javafx|javascript|js|json|jscript|latex|matlab|"
    "objc|perl|php|plain|powershell|python|py|r|rails|ruby|scala|sql|swift|typescript|vb|xml|yaml"
)
"""Shortcodes of plugins that show code; most are named after its language."""
_CODE = re.compile(rf"<(pre|code)\b[^<>]*>|\[({_CODE_NAMES})(?=[\s\]])[^\[\]]*\]", re.IGNORECASE)
_TAG = re.compile(
    r"\[(\[/?[a-z][^\[\]]*\])\]|\[(/?)([a-z][\w-]*)((?:[\s/=][^\[\]]*)?)\]", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"""\s[\w-]+(?:=[\w"'&]|\s*=\s*["'])""")
_ALONE = re.compile(
    r"^[ \t]*(?:<p>[ \t]*)?\[[a-z][a-z0-9_-]+\][ \t]*(?:</p>[ \t]*)?$", re.MULTILINE
)
_BARE = frozenset(
    ("gallery", "toc", "more", "nextpage", "audio", "video", "playlist", "embed", "caption")
)
"""Shortcodes that stand in a sentence without attributes or an end."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


def paragraphs(text: str) -> str:
    """HTML in which blank lines are paragraphs, as WordPress shows it (`wpautop`).

    `[php]…[/php]` becomes `<pre>`, and code stays as it is. Of other shortcodes, which only the
    plugins of the site understand, the tags vanish and what is between them stays.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    prose, code, at = [], [""], 0
    missing: set[str] = set()  # ends that do not come any more; so the time is linear
    for tag in _CODE.finditer(text):
        end_tag = f"</{tag[1]}>" if tag[1] else f"[/{tag[2]}]"
        if tag.start() < at or end_tag in missing:
            continue
        if (end := text.find(end_tag, tag.end())) < 0:
            missing.add(end_tag)
            continue
        prose.append(text[at : tag.start()])
        inside, at = text[tag.end() : end], end + len(end_tag)
        if tag[2]:  # code is written as it is there; only what would be a tag changes
            inside = inside.strip("\n").replace("<", "&lt;")
        code.append(f"<pre>{inside}</pre>" if tag[2] else f"{tag[0]}{inside}{end_tag}")
    prose.append(text[at:])
    names = {(tag[2], tag[3].lower()) for tag in _TAG.finditer("\n".join(prose)) if tag[3]}
    pairs = {name for slash, name in names if slash and ("", name) in names}
    return "".join(before + _prose(part, pairs) for before, part in zip(code, prose, strict=True))


def _prose(text: str, pairs: set[str]) -> str:
    def shown(tag: re.Match[str]) -> str:
        """A shortcode by its form is not shown; `[sic]`, `[1]` and `[[gallery]]` are text."""
        if tag[1]:
            return tag[1]
        name, rest = tag[3].lower(), tag[4]
        is_known = name in pairs or name in _BARE or "_" in name or name.startswith("contact-form")
        return "" if is_known or rest.endswith("/") or _ATTRIBUTE.search(rest) else tag[0]

    bare = _TAG.sub(shown, _ALONE.sub("", text))
    return _BLANK_LINE.sub("\n<p>", bare).replace("\n", "<br>\n")
