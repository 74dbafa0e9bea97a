"""A WordPress export (WXR): published posts and pages, with their approved comments.

Read as a stream: an export of twenty years is larger than the memory of a small server.
Field names: WordPress' own `wp-admin/includes/export.php`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from xml.etree.ElementTree import Element

from indexer.errors import SourceError
from indexer.fetch import Fetched
from indexer.records import Origin, RawComment, RawPost, Skipped, SourceItem, When
from indexer.sources.base import Source, SourceOptions, guarded
from indexer.sources.files import File
from indexer.sources.identity import fitting, plain, title_or_start
from indexer.sources.xml import elements, local_name, text_of

_CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
_NO_DATE = "0000-00-00 00:00:00"
_BLOCK = re.compile(r'<!-- wp:block \{"ref":(\d+)[^<>]*-->')
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
        if reason := self._why_left_out(item):
            return Skipped(origin, None, reason)
        return guarded(lambda: _post(item, origin, oid, language), origin, oid or None)

    def _why_left_out(self, item: Element) -> str:
        """Why an item is not a published post; "" if it is one."""
        drafts = ("draft", "pending") if self._options.drafts else ()
        future = ("future",) if self._options.future else ()
        kind, status = text_of(item, "post_type"), text_of(item, "status")
        if kind not in ("post", "page"):
            return f"of the type {kind or 'unknown'}"
        if status not in ("publish", *drafts, *future):
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
    """A date of the export, which has it in the time zone of the site and in UTC."""
    local, in_utc = (
        text_of(parent, spelling).replace(_NO_DATE, "") for spelling in (name, f"{name}_gmt")
    )
    try:
        offset = datetime.fromisoformat(local) - datetime.fromisoformat(in_utc)
        return datetime.fromisoformat(local).replace(tzinfo=timezone(offset))
    except (ValueError, OverflowError):  # one is missing, or the offset is more than a day
        return in_utc or local or None


_CODE_NAMES = (
    "code|sourcecode|source|crayon|cc|actionscript3?|bash|shell|coldfusion|cpp|c|csharp|css|diff|"
    "erlang|fsharp|go|groovy|haskell|html|java|javafx|javascript|js|json|jscript|latex|matlab|"
    "objc|perl|php|plain|powershell|python|py|r|rails|ruby|scala|sql|swift|typescript|vb|xml|yaml"
)
"""Shortcodes of plugins that show code; most are named after its language."""
_CODE = re.compile(
    r"<(pre|code)\b[^<>]*>(?:(?!<\1\b).)*?</\1>"
    rf"|\[({_CODE_NAMES})(?=[\s\]])[^\[\]]*\]((?:(?!\[\2\b).)*?)\[/\2\]",
    re.IGNORECASE | re.DOTALL,
)
_PLACE = "\ue000"
_TAG = re.compile(
    r"\[(\[/?[a-z][^\[\]]*\])\]|\[(/?)([a-z][\w-]*)((?:[\s/=][^\[\]]*)?)\]", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"""\s[\w-]+(?:=[\w"'&]|\s*=\s*["'])""")
_ALONE = re.compile(
    r"^[ \t]*(?:<p>[ \t]*)?\[[a-z][a-z0-9_-]+\][ \t]*(?:</p>[ \t]*)?$", re.MULTILINE
)
_BARE = ("gallery", "toc", "more", "nextpage", "audio", "video", "playlist", "embed", "caption")
"""Shortcodes that stand in a sentence without attributes or an end."""


def paragraphs(text: str) -> str:
    """HTML in which blank lines are paragraphs, as WordPress shows it (`wpautop`).

    `[php]…[/php]` becomes `<pre>`, and code stays as it is. Of other shortcodes, which only the
    plugins of the site understand, the tags vanish and what is between them stays.
    """
    codes: list[str] = []

    def placed(code: re.Match[str]) -> str:
        inside = (code[3] or "").strip("\n").replace("<", "&lt;")
        codes.append(f"<pre>{inside}</pre>" if code[2] else code[0])
        return _PLACE

    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(_PLACE, "")
    prose = _CODE.sub(placed, text)
    names = {(tag[2], tag[3].lower()) for tag in _TAG.finditer(prose) if tag[3]}
    pairs = {name for slash, name in names if slash and ("", name) in names}

    def shown(tag: re.Match[str]) -> str:
        """A shortcode by its form is not shown; `[sic]`, `[1]` and `[[gallery]]` are text."""
        if tag[1]:
            return tag[1]
        name, rest = tag[3].lower(), tag[4]
        is_known = name in pairs or name in _BARE or "_" in name or name.startswith("contact-form")
        return "" if is_known or rest.endswith("/") or _ATTRIBUTE.search(rest) else tag[0]

    prose = re.sub(r"\n[ \t]*\n\s*", "\n<p>", _TAG.sub(shown, _ALONE.sub("", prose)))
    first, *rest = prose.replace("\n", "<br>\n").split(_PLACE)
    return first + "".join(code + after for code, after in zip(codes, rest, strict=True))
