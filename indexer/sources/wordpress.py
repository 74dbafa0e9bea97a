"""Reads a WordPress export (WXR): published posts and pages, with their approved comments.

It is read as a stream: an export of twenty years is larger than the memory of a small server. Field
names: WordPress' own `wp-admin/includes/export.php`.
"""

import re
import string
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any
from xml.etree.ElementTree import Element

import orjson

from indexer.errors import SourceError
from indexer.posts.records import Origin, PageKind, RawComment, RawPost, Skipped, SourceItem, When
from indexer.sources.base import FOR_MEMBERS, Source, guard, image_of
from indexer.sources.html.content import own_text
from indexer.sources.identity import oid_at, plain, title_or_start
from indexer.sources.xml import elements, local_name, text_of

_CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
_NO_DATE = "0000-00-00 00:00:00"
_NOINDEX = re.compile(
    r"[^=]*noindex[^=]*=(?:1|on|yes|true)"  # Yoast, Jetpack, The SEO Framework, AIOSEO 3
    r'|(?:[^=]*robots[^=]*|slim_seo)=.*(?<!\w)noindex\b(?!";(?:[bi]:0|s:\d+:"(?:|0|no|off)")).*'
    r"|_seopress_robots_index=yes",
    re.IGNORECASE | re.DOTALL,
)
"""Post meta by which plugins keep a post from search engines, as `key=value`; lists are PHP's."""
_LOCKS = re.compile(
    r"_jetpack_newsletter_access=(?!everybody).+|_members_access_role=.+|groups-(?:groups_)?read.*=.+"
    r"|rcp_(?:access|subscription|user)_level=(?!(?:0|none|all|a:.*\"all\";.*)?$).+"
    r"|rcUserLevel=(?!none$).+|_wpmem_block=[12]|memberful_acl=a:.*a:[1-9].*|patreon-level=0*[1-9].*"
    r'|um_content_restriction=.*access_settings";\w(?::1)?:"?1.*accessible";\w(?::1)?:"?2.*'
    r'|_um_accessible=2|_issuem_leaky_paywall_visibility=.*_type";s:.:"only.*|s2member_ccaps_req=.+'
    r"|_llms_is_restricted=yes",
    re.IGNORECASE | re.DOTALL,
)
"""Post meta by which membership plugins keep a whole post from visitors.

Run: Restrict Content 3.2, Members 2.2, Groups 4.1, Memberful 1.80, WP-Members 3.0. Only read:
Patreon 1.9, Ultimate Member 2.13, Leaky Paywall 5.0, s2Member 260508, LifterLMS 7.7.
"""
_RULES = ("memberpressrule", "cc_restriction", "wc_membership_plan")
_SIGNS = re.compile(r"(?<!\[)\[(?:pmpro|swpm|mepr)[_-]|<!--\s+wp:pmpro/\w+-page\b")
"""Rules, or pages for members, of plugins that store elsewhere which posts they keep from visitors.

MemberPress, Content Control, WooCommerce Memberships; Paid Memberships Pro, Simple Membership.
"""

LOCKED = "protected by a password"
_KINDS: dict[str, PageKind] = dict.fromkeys((LOCKED, FOR_MEMBERS, "private"), "locked")
_KINDS["noindex"] = "noindex"
_KINDS |= dict.fromkeys(("draft", "pending", "dated in the future", "trash"), "draft")


class WordPress(Source):
    """Reads an export by Tools → Export, also .gz. It is read twice."""

    kind = "wordpress"
    has_comments = True

    def read(self) -> Iterator[SourceItem]:
        """Yield every post and page; its oid is the path of its address."""
        language, file = self._options.language, self._file.copied()
        patterns: dict[str, str] = {}
        images: dict[str, str] = {}
        for element in elements(file, depth=2):
            kind, oid = text_of(element, "post_type"), text_of(element, "post_id")
            if kind == "wp_block":
                is_public = text_of(element, "status") == "publish"
                if is_public and not text_of(element, "post_password"):
                    patterns[oid] = element.findtext(_CONTENT) or ""
            elif text_of(element, "status") != "trash" and (
                kind in _RULES
                or (kind == "page" and _SIGNS.search(element.findtext(_CONTENT) or ""))
            ):
                raise SourceError(
                    f"{self._file.name} does not say which posts are for members: their plugin "
                    f"keeps this elsewhere ({text_of(element, 'title') or kind}).",
                    "Index the site itself: name its home page.",
                )
            elif kind == "attachment":
                images[oid] = text_of(element, "attachment_url")
        for element in elements(file, depth=2):
            if element.tag == "language":
                language = language or element.text or ""
            if element.tag != "item":
                continue
            if not any("wordpress.org/export" in child.tag for child in element):
                raise SourceError("This is not a WordPress export.", "Use --source feed.")
            yield self._item(element, language, patterns, images)

    def _item(
        self, item: Element, language: str, patterns: dict[str, str], images: dict[str, str]
    ) -> SourceItem:
        stated, meta = text_of(item, "post_id") or text_of(item, "guid"), _meta(item)
        oid = oid_at(text_of(item, "link"), stated)
        origin = Origin(f"{self._file.name} post {stated or oid}")
        if reason := self._why_left_out(item, meta):
            return Skipped(origin, oid, reason, _KINDS.get(reason, "not a post"), declared=True)

        def post() -> SourceItem:
            blocks = _Blocks(patterns, _footnotes(meta.get("footnotes", "")))
            html = paragraphs(blocks.shown(item.findtext(_CONTENT) or ""))
            said = [child for child in item if local_name(child) == "comment"]
            return RawPost(
                origin=origin,
                oid=oid,
                title=title_or_start(plain(item.findtext("title") or ""), html),
                text=own_text(html),
                url=item.findtext("link") or None,
                pub_date=_moment(item, "post_date"),
                modified=_moment(item, "post_modified"),
                categories=_terms(item, "category"),
                keywords=_terms(item, "post_tag"),
                comments=tuple(map(_comment, filter(_is_shown, said))),
                withdrawn=tuple(text_of(it, "comment_id") for it in said if not _is_approved(it)),
                language=next(_slugs(item, "language"), language),  # Polylang's
                translation_key=next(_slugs(item, "post_translations"), None),
                image=image_of(images.get(meta.get("_thumbnail_id", ""))),
            )

        return guard(post, origin, oid)

    def _why_left_out(self, item: Element, meta: Mapping[str, str]) -> str:
        """Return why an item is not a published post; "" if it is one."""
        drafts = ("draft", "pending") if self._options.drafts else ()
        future = ("future",) if self._options.future else ()
        kind, status = text_of(item, "post_type"), text_of(item, "status")
        if kind not in ("post", "page"):
            return f"type {kind or 'unknown'}"
        if status not in ("publish", *drafts, *future):
            return status if status != "future" else "dated in the future"
        if text_of(item, "post_password"):
            return LOCKED
        fields = [f"{name}={value}" for name, value in meta.items()]
        locks = [field for field in fields if _LOCKS.fullmatch(field)]
        if _PAYWALL.search(item.findtext(_CONTENT) or ""):  # then they lock what follows it
            locks = [field for field in locks if not field.startswith(_OF_PAYWALLS)]
        if locks:
            return FOR_MEMBERS
        return "noindex" if any(map(_NOINDEX.fullmatch, fields)) else ""


def _meta(item: Element) -> dict[str, str]:
    """Return the meta fields that plugins and WordPress store with a post."""
    fields = [child for child in item if local_name(child) == "postmeta"]
    return {text_of(field, "meta_key"): text_of(field, "meta_value") for field in fields}


# -- blocks ----------------------------------------------------------------------------------------

_DELIMITER = re.compile(
    r"<!--\s+(/)?wp:([a-z][\w/-]*)\s+(?:(\{(?:(?!<!--|-->).)*\})\s+)?(/)?-->", re.DOTALL
)
"""`<!-- wp:paragraph {"align":"left"} -->`."""
_PAYWALL = re.compile(r"<!--\s+wp:(?:jetpack/paywall|memberful/paywall-divider)\b")
_OF_PAYWALLS = ("_jetpack_newsletter_access=", "memberful_acl=")
"""What follows such a block is for members, if a field of its plugin says that the post is."""
_MEMBERS_BLOCK = re.compile(r"premium-content/.+|pmpro/membership|groups/groups-member")
"""Blocks of Jetpack, Paid Memberships Pro and Groups that visitors do not see."""
_GOVERNS = re.compile(r'"\w*(?:visib|condition|control|restrict)\w*":', re.IGNORECASE)
_ASKS = re.compile(
    r'logged[_-]?in|"user_?role"|"user_?roles?":(?!\[\])|"(?:specific|enrolled)"|"hideBlock":true'
    r'|"(?:um_is_restrict|visibilityBlockEnabled)":true',
    re.IGNORECASE,
)
_OFF = re.compile(
    r'"\w*controls":\{"enabled":false|"(?:invert_restrictions|\w*visibility_hide)":(?:"1"|true)',
    re.IGNORECASE,
)
_ONE_OFF = re.compile(r'\{[^{}]*"enabled?":false[^{}]*\}')
"""Attributes by which a plugin shows any block to some users only, and those that undo it, for a
block or for one of its conditions."""
_PARTS = (
    r"restrict(?:ed|ion)?|members?|membership|memberful|ismember|private|protect(?:ed|or)?|premium"
    r"|paid|is_(?:free|expired|active)|subscribers?|\w*logged[_-]?in|login|registered|access|roles?"
    r"|patrons?|vip|\w*locker|s2if|passster|hidepost|hide-content|groups_can|content_control"
    r"|show_content|mepr-(?:active|show)"
)
_SHORTCODE = re.compile(r"(?<!\[)\[([\w-]{1,60})((?![\w-])[^\[\]]*\])")
_MEMBERS_NAME = re.compile(
    r"(?!(?:[\w-]*[_-])?(?:not?|non|team|staff)[_-])(?![\w-]*_not\b)"
    rf"(?:[\w-]*[_-])?(?:{_PARTS})(?:[_-][\w-]*)?",
    re.IGNORECASE,
)
"""Names of shortcodes around a text for members: `[is_paid]`, `[um_loggedin]`."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""Unlike `str.lower`, it keeps the length of a text."""
_FOR_OTHERS = re.compile(r"(?:=[\"']?(?:logged_)?out|\blevel=[\"']?0)[\"'\s\]]", re.IGNORECASE)
_RICH_TEXT = re.compile(r"(<(p|h[1-6]|a|li|figcaption)\b[^<>]*>).*(</\2>)", re.DOTALL)
_HIDDEN = {"metadata": {"blockVisibility": False}}
_MOST_PATTERNS = 200
"""The maximum number of patterns in one post, with those inside other patterns."""


class _Blocks:
    """Renders the blocks of a post, which an export has as stored, as WordPress shows them."""

    def __init__(self, patterns: Mapping[str, str], footnotes: str) -> None:
        self._patterns, self._footnotes = patterns, footnotes
        self._left = _MOST_PATTERNS

    def shown(
        self, text: str, own: Mapping[str, Any] | None = None, inside: tuple[str, ...] = ()
    ) -> str:
        """Return a text without hidden blocks, with its footnotes and the patterns it refers to.

        `own` has the texts that the post puts into a pattern, by the names of the pattern's blocks;
        `inside` are the patterns around this one.
        """
        text = _without_members(_PAYWALL.split(text, 1)[0])
        out: list[str] = []
        open_: list[tuple[int, dict[str, Any]]] = []
        at = 0
        for found in _DELIMITER.finditer(text):
            closes, name, stated, is_void = found.groups()
            out.append(text[at : found.start()])
            at = found.end()
            if not closes:
                attributes = _HIDDEN if _is_for_members(name, stated or "") else _object(stated)
                open_.append((len(out), attributes))
                if is_void and name == "footnotes":
                    out.append(self._footnotes)
                elif is_void and name == "block":
                    out.append(self._pattern(attributes, inside))
            if open_ and (closes or is_void):
                self._close(out, *open_.pop(), own or {})
        out.append(text[at:])
        for start, attributes in reversed(open_):  # without an end, they last to the end
            self._close(out, start, attributes, own or {})
        return "".join(out)

    def _close(
        self, out: list[str], start: int, attributes: Mapping[str, Any], own: Mapping[str, Any]
    ) -> None:
        """Replace a block, `out` from `start` on, by its visible text."""
        meta = attributes.get("metadata")
        meta = meta if isinstance(meta, dict) else {}
        if meta.get("blockVisibility") is False:
            del out[start:]
        elif isinstance(said := own.get(str(meta.get("name"))), dict) and "bindings" in meta:
            said = said.get("values", said)
            whole = "".join(out[start:])
            for text in filter(None, map(said.get, ("content", "text", "caption"))):
                whole = _with_text(whole, str(text))
            out[start:] = [whole]

    def _pattern(self, attributes: Mapping[str, Any], inside: tuple[str, ...]) -> str:
        ref = str(attributes.get("ref"))
        self._left -= 1
        if ref in inside or self._left < 0:
            return ""
        own = attributes.get("content", attributes.get("overrides"))
        own = own if isinstance(own, dict) else {}
        return self.shown(self._patterns.get(ref, ""), own, (*inside, ref))


def _without_members(text: str) -> str:
    """Remove the texts in shortcodes for members. An end is looked for once, so that text without
    ends takes linear time."""
    kept, at, lower = "", 0, text.translate(_LOWER)
    last: dict[str, int] = {}
    for found in _SHORTCODE.finditer(text):
        name, rest = found[1].lower(), found[2]
        if found.start() < at or not _MEMBERS_NAME.fullmatch(name) or _FOR_OTHERS.search(rest):
            continue
        end = f"[/{name}]"
        if end not in last:
            last[end] = lower.rfind(end)
        if last[end] >= found.end():
            kept += text[at : found.start()]
            at = lower.index(end, found.end()) + len(end)
    return kept + text[at:]


def _is_for_members(name: str, attributes: str) -> bool:
    in_force = _ONE_OFF.sub("", attributes[1:-1])
    asks = _GOVERNS.search(in_force) and _ASKS.search(in_force)
    return bool(asks or _MEMBERS_BLOCK.fullmatch(name)) and not _OFF.search(attributes)


def _with_text(block: str, text: str) -> str:
    """Replace the text of the first element of a block that has one."""
    return _RICH_TEXT.sub(lambda element: f"{element[1]}{text}{element[3]}", block, 1)


def _object(stated: str | None) -> dict[str, Any]:
    """Return the attributes of a block; none if they are invalid, as in WordPress."""
    try:
        attributes = orjson.loads(stated or "{}")
    except orjson.JSONDecodeError:
        return {}
    return attributes if isinstance(attributes, dict) else {}


def _footnotes(stated: str) -> str:
    """Return the footnotes of a post, which are stored beside it, as a list."""
    try:
        notes = [note["content"] for note in orjson.loads(stated or "[]")]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""
    return f"<ol>{''.join(f'<li>{note}</li>' for note in notes)}</ol>" if notes else ""


def _is_approved(comment: Element) -> bool:
    """Whether a comment is approved; others are pending, spam or in the trash."""
    return text_of(comment, "comment_approved") == "1"


def _is_shown(comment: Element) -> bool:
    """Whether a comment is shown; pings of other sites are not."""
    return _is_approved(comment) and text_of(comment, "comment_type") in ("", "comment")


def _comment(comment: Element) -> RawComment:
    return RawComment(
        oid=text_of(comment, "comment_id") or None,
        comment=paragraphs(text_of(comment, "comment_content")),
        author=plain(text_of(comment, "comment_author")),
        pub_date=_moment(comment, "comment_date"),
    )


def _terms(item: Element, domain: str) -> list[str]:
    terms = [term for term in item.iterfind("category") if term.get("domain") == domain]
    names = [plain(term.text or "") for term in terms if term.get("nicename") != "uncategorized"]
    return [name for name in names if name]


def _slugs(item: Element, domain: str) -> Iterator[str]:
    return (str(it.get("nicename")) for it in item.iterfind(f"category[@domain='{domain}']"))


def _moment(parent: Element, name: str) -> When:
    return with_zone(*(text_of(parent, spelling) for spelling in (name, f"{name}_gmt")))


def with_zone(local: str | None, in_utc: str | None) -> When:
    """Return a date of WordPress, which has it in the time zone of the site and in UTC."""
    local, in_utc = ((date or "").replace(_NO_DATE, "") for date in (local, in_utc))
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
"""Shortcodes of plugins that show code; most have the name of its language."""
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
_TITLED = re.compile(
    r"""(?i)(?!.*(?:button|btn|link|icon|image|tooltip)).*\stitle=(?:"([^"]+)"|'([^']+)')""",
    re.DOTALL,
)
"""A shortcode with a title that is shown above its text, such as that of a tab or an accordion."""
_ALONE = re.compile(
    r"^[ \t]*(?:<p>[ \t]*)?\[[a-z][a-z0-9_-]+\][ \t]*(?:</p>[ \t]*)?$", re.MULTILINE
)
_BARE = ("gallery", "toc", "more", "nextpage", "audio", "video", "playlist", "embed", "caption")
"""Shortcodes that may stand in a sentence without attributes or an end."""


def paragraphs(text: str) -> str:
    """Turn blank lines into paragraphs, as WordPress does (`wpautop`).

    `[php]…[/php]` becomes `<pre>`; code is not changed. Of other shortcodes, which only the site's
    plugins understand, the tags are removed and the text between them stays.
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
        """Hide what has the form of a shortcode; `[sic]`, `[1]` and `[[gallery]]` are text."""
        if tag[1]:
            return tag[1]
        name, rest = tag[3].lower(), tag[4]
        if name in pairs and not tag[2] and (titled := _TITLED.match(name + rest)):
            return f"<p>{titled[1] or titled[2]}</p>"
        is_known = name in pairs or name in _BARE or "_" in name or name.startswith("contact-form")
        return "" if is_known or rest.endswith("/") or _ATTRIBUTE.search(rest) else tag[0]

    prose = re.sub(r"\n[ \t]*\n\s*", "\n<p>", _TAG.sub(shown, _ALONE.sub("", prose)))
    first, *rest = prose.replace("\n", "<br>\n").split(_PLACE)
    return first + "".join(code + after for code, after in zip(codes, rest, strict=True))
