"""HTML → plain text: prose, and the code of its `<pre>` blocks.

selectolax parses as a browser does, so unclosed tags, stray `<` and unknown elements come out as a
visitor would see them.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

_BREAK = "\x01"  # does not occur in cleaned text
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HEADING_MARK = re.compile("\x02(\\d+)\x03")
_MAX_ID = 200
_MAX_HEADING = 300


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCKS = _names(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu "
    "nav ol option optgroup p search section summary table tbody td tfoot th thead tr ul"
)
_UNSEEN = _names(
    "script style noscript template svg head title iframe object select textarea button audio "
    "video canvas annotation annotation-xml"
)
_LINE_NUMBERS = _names("lineno linenos linenodiv gutter lnt ln line-numbers-rows hljs-ln-numbers")
"""Classes that Pygments, Rouge, Chroma, Prism and highlight.js give to printed line numbers."""

_CONTROL = bytes.maketrans(bytes((*range(9), 11, 12, *range(14, 32), 127)), b" " * 30)
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")

MAX_DEPTH = 2_000
"""Nested elements; the time to parse grows with the square of their number."""
_NESTING = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title)\b.*?(?:</\1\b|\Z)"
    r"|<(?P<end>/?)(?!(?:br|img|hr|wbr|input|meta|link|area|base|col|embed|source|track|param|"
    r"p|li|dt|dd|option|optgroup|r[bpt]|rtc|t[dhr]|tbody|thead|tfoot|caption|colgroup)\b)"
    r"(?P<name>[a-z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^\"'>])*+)",
    re.IGNORECASE | re.DOTALL,
)
"""Comments and elements without markup inside, then tags that nest."""


class TooDeep(ValueError):
    """HTML that is nested so deep that parsing might take minutes."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its line in the prose and where the code below it begins, both counted from 0, its
    level, and the id that it states.

    The id is that of the element or of the section that it begins; "" if there is none.
    """

    text: str
    line: int
    code_line: int
    level: int
    id: str


@dataclass(frozen=True, slots=True)
class Readable:
    """Plain text: `prose` with one block a line, `code` with one `<pre>` after another.

    `links` has the URL of each link, as it is written, and its text.
    """

    prose: str
    code: str
    headings: tuple[Heading, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def clean(text: str) -> str:
    """The text without control characters, lone surrogates and soft hyphens, in NFC.

    Soft hyphens and zero-width spaces stand inside words, and would keep them from being found;
    composed letters (NFC) make "é" one letter however the author's editor wrote it.
    """
    try:
        # As bytes: a regular expression takes twenty times as long.
        text = text.encode().translate(_CONTROL).decode()
    except UnicodeEncodeError:
        return clean(_SURROGATE.sub("\ufffd", text))
    if text.isascii():
        return text
    for character in _INVISIBLE:
        text = text.replace(character, "")
    return unicodedata.normalize("NFC", text)


def one_line(text: str) -> str:
    """The cleaned text with each run of white space replaced by one space."""
    return " ".join(clean(text).split())


def check_depth(html: str) -> None:
    """Check foreign HTML before it is parsed.

    Elements that need no end tag are not counted: they do not nest. Nor are `<use/>` and the like
    in SVG and MathML. An end tag closes an element of its name, none if there is none.

    Raises:
        TooDeep: more than `MAX_DEPTH` nested elements.
    """
    if html.count("<") <= MAX_DEPTH:
        return
    unclosed: Counter[str] = Counter()
    depth = 0
    for tag in _NESTING.finditer(html):
        if tag["name"] is None:
            continue
        name = tag["name"].lower()
        if tag["attributes"].endswith("/") and (unclosed["svg"] or unclosed["math"]):
            continue
        if not tag["end"]:
            unclosed[name] += 1
            depth += 1
        elif unclosed[name]:
            unclosed[name] -= 1
            depth -= 1
        if depth > MAX_DEPTH:
            raise TooDeep(f"more than {MAX_DEPTH:,} elements are nested")


def readable(html: str) -> Readable:
    """The prose and the code of a piece of HTML.

    Raises:
        TooDeep: more than `MAX_DEPTH` nested elements.
    """
    check_depth(html)
    body = LexborHTMLParser(clean(html)).body
    if body is None:
        return Readable("", "")
    prose, code, marked, links = _walk(body)
    lines: list[str] = []
    headings = []
    begun = None
    for block in "".join(prose).split(_BREAK):
        line = " ".join(_HEADING_MARK.sub("", block).split())
        mark = _HEADING_MARK.search(block)
        if mark and int(mark[1]) < len(marked):
            begun = marked[int(mark[1])]
        if line and begun:
            node, code_line = begun
            level = _HEADINGS[node.tag or ""]
            text = clean(line)[:_MAX_HEADING]
            # The text of `<h2><div>` is in the next block, that of an empty heading in none.
            if line.split()[0] in node.text():
                headings.append(Heading(text, len(lines), code_line, level, _id_of(node)))
            begun = None
        if line:
            lines.append(line)
    return Readable(
        clean("\n".join(lines)), clean("\n\n".join(code)), tuple(headings), tuple(links)
    )


def _id_of(heading: LexborNode) -> str:
    """The id of a heading, of an anchor in it, or of the section that it begins."""
    anchor = heading.css_first("[id], a[name]")
    parent = heading.parent
    before = heading.prev
    while before is not None and before.tag in ("-text", "-comment", "_comment"):
        before = before.prev
    stated = heading.attributes.get("id")
    if not stated and anchor is not None:
        stated = anchor.attributes.get("id") or anchor.attributes.get("name")
    if not stated and before is None and parent is not None and parent.tag in ("section", "div"):
        stated = parent.attributes.get("id")
    id_ = clean(stated or "").strip()
    return id_ if len(id_) <= _MAX_ID and not re.search(r"\s", id_) else ""


def _walk(
    root: LexborNode,
) -> tuple[list[str], list[str], list[tuple[LexborNode, int]], list[tuple[str, str]]]:
    """Text and breaks in reading order, the text of each `<pre>`, the headings with the line of the
    code below them, and the links.

    A heading's number stands at its beginning.

    A loop with its own stack, in which None stands for the end of a block: recursion would end at
    Python's limit, and `traverse` does not tell where an element ends.
    """
    prose: list[str] = []
    code: list[str] = []
    headings: list[tuple[LexborNode, int]] = []
    links: list[tuple[str, str]] = []
    code_line = 0
    stack = [root.first_child]
    while stack:
        node = stack.pop()
        if node is None:
            prose.append(_BREAK)
        while node is not None:
            tag = node.tag
            if tag == "-text":
                prose.append(node.text_content or "")
            elif tag == "pre":
                prose.append(_BREAK)
                if block := _pre(node):
                    code.append(block)
                    code_line += block.count("\n") + 2
            elif tag in _BLOCKS:
                prose.append(_BREAK)
                if tag in _HEADINGS:
                    prose.append(f"\x02{len(headings)}\x03")
                    headings.append((node, code_line))
                stack.extend((node.next, None))
                node = node.first_child
                continue
            elif tag not in _UNSEEN and node.first_child is not None:
                if tag == "a" and (href := node.attributes.get("href")):
                    links.append((href, one_line(node.text())))
                if node.next is not None:
                    stack.append(node.next)
                node = node.first_child
                continue
            node = node.next
    return prose, code, headings, links


def _pre(node: LexborNode) -> str:
    """The text of a `<pre>`, without printed line numbers; its lines stay as they are."""
    if _numbers(node):
        return ""
    for inner in node.css("br"):
        inner.replace_with("\n")
    for inner in node.css("[class]"):
        if _numbers(inner):
            inner.remove()
    text = node.text()
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _numbers(node: LexborNode) -> bool:
    return not _LINE_NUMBERS.isdisjoint((node.attributes.get("class") or "").split())
