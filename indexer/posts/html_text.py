"""Converts HTML to plain text: prose, and the code of its `<pre>` blocks.

selectolax parses like a browser: unclosed tags, stray `<` and unknown elements come out as a
visitor would see them. `parse` limits the work: parsing by the text, reading by the tree.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from analyzers.signs import NARROW, with_groups

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MAX_ID = 200
_MAX_HEADING = 300
_WITH_BUTTON = ", ".join(f"{tag}:has(button)" for tag in HEADINGS)
_DEFINING = ("dt", "td", "section", "div", "article")
_ANNOUNCED = 200
_SUFFIX = re.compile(r"\.__init__$|(?<=.)-[0-9a-f]+(?:-\d+)?$")
"""What pdoc and Scaladoc append to the name of a constructor, or of an overloaded method."""
_DEFINED = 6
"""The level of a definition: below all headings."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _names(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu "
    "nav ol option optgroup p pre search section summary table tbody td tfoot th thead tr ul"
)
UNSEEN = _names(
    "script style noscript template svg head title iframe object select textarea button audio "
    "video canvas annotation annotation-xml rp rt"
)
"""Elements without visible text. `<rt>` shows the pronunciation of the word before it."""
_CHIPS = "span[class*=label], span[class*=badge], span[class*=chip], span.classifier"
"""Elements that are displayed apart from the words beside them without white space."""
_AS_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|table)")
_INSIDE = "\ufdd0"  # a noncharacter, in place of a space inside a number
_NOTE = re.compile(r"[\[(]?\s*(?:\d{1,4}(?:\s*,\s*\d{1,4})*|[*†‡§¶#]+)\s*[\])]?")
"""A raised note: `1`, `[1]`, `1,2`, `*`."""
_RAISED = re.compile(r"(?:\d\s*[^\W\d_]{1,2}|\b[^\W\d_])$")
"""What a raised 2 or 3 belongs to: 20 km, x."""
_BEGIN, _END = "\x04", "\x05"  # of an element that is a line of code; never in cleaned text
_LINE = re.compile(r"(?:^|[\s_-])(?:line|row|block)(?:$|\s)")
_LINE_NUMBERS = re.compile(r"(?:^|[\s_-])(?:lnt?\b|gutter|line-?no|line-?num)", re.IGNORECASE)
"""Classes that highlighters give to printed line numbers, which consist of digits only."""
_UNSELECTABLE = re.compile(r"user-select\s*:\s*none")
_PRINTED = "[class*=line-num i], [class*=lineno i], [class*=gutter i]"
_SPECIAL = (
    "[class*=line i], [class*=ln i], [class*=gutter i], [class*=row], [class~=block], "
    "[data-line], [style*=display], [style*=user-select], code + code, td, a[id]"
)
"""Elements that may be a line of code, or a line number."""

_CONTROL = bytes.maketrans(bytes((*range(9), 11, 12, *range(14, 32), 127)), b" " * 30)
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_SIGNS = re.compile(r"[^\w\x00-\x7f]{3,}")
_MOST_MARKS = 30
"""The maximum number of marks on a letter, as in Unicode's Stream-Safe Text Format."""
_SURROGATE = re.compile("[\ud800-\udfff]")


# -- limits ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of HTML.

    Parsing time grows with the square of the attributes of one tag, of all options, and of the
    depth; unclosed formatting is repeated in each following element. `inside` limits the total
    length of the texts of all elements: each character counts once for every element around it.
    """

    characters: int
    elements: int
    nested: int
    attributes: int
    options: int
    inside: int


PAGE = Limits(20_000_000, 1_000_000, 2_000, 250, 5_000, 1_000_000_000)
"""For pages of the site's owner."""
VISITOR = Limits(200_000, 2_000, 100, 50, 100, 2_000_000)
"""For texts that anybody may write, such as comments."""


class TooMuchMarkup(ValueError):
    """HTML that would take too long to parse; the message gives the exceeded limit."""


_ATTRIBUTE = (
    r"[^\t\n\f\r />][^\t\n\f\r />=]*+(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    r"(?:\"[^\"]*+\"?|'[^']*+'?|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(
    rf"<(/?)([a-zA-Z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)"
    r"|<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?/][^>]*+",
    re.DOTALL,
)
"""A tag, a comment, or what a browser takes for one."""
_FEW = 2_000
_MANY = re.compile(rf"<[a-zA-Z][^\t\n\f\r />]*+(?:[\t\n\f\r /]*+{_ATTRIBUTE}){{50}}")
_ROOTS = re.compile(r"<(?:html|body)[\t\n\f\r />]", re.IGNORECASE)
_RAW = _names("script style textarea title xmp iframe noembed noframes")
"""Elements without markup inside."""
_FLAT = _names(
    "br img hr wbr input meta link area base col embed source track param p li dt dd option "
    "optgroup rb rp rt rtc td th tr tbody thead tfoot caption colgroup"
)
"""Elements without a required end tag: they do not nest."""
_FORMATTING = _names("a b big code em font i nobr s small strike strong tt u")
_ONE_AT_A_TIME = _names("a nobr button")
_JOINED = _names("html body")
"""All tags of one of these names form one element with the attributes of all."""


def _check_markup(html: str, limits: Limits = PAGE) -> None:
    """Check untrusted HTML in linear time before it is parsed, or raise TooMuchMarkup."""
    _allow(len(html), limits.characters, "characters of HTML")
    is_small = limits is PAGE and html.count("<") <= _FEW
    if is_small and not _MANY.search(html) and len(_ROOTS.findall(html)) <= 4:
        return  # however it is nested, it takes little time
    unclosed: Counter[str] = Counter()
    nested = formatting = elements = options = joined = at = 0
    while tag := _TAG.search(html, at):
        at = tag.end()
        slash, name, attributes = tag.groups()
        if name is None:
            continue
        name = name.lower()
        if slash:
            if unclosed[name]:
                unclosed[name] -= 1
                nested -= 1
                formatting -= name in _FORMATTING
            continue
        elements += 1 + formatting
        if len(attributes) > limits.attributes or name in _JOINED:
            count = len(_ATTRIBUTES.findall(attributes))
            joined += count if name in _JOINED else 0
            _allow(max(count, joined), limits.attributes, "attributes in a tag")
        is_foreign = unclosed["svg"] or unclosed["math"]
        if name in _FLAT:
            options += name in ("option", "optgroup")
        elif is_foreign and attributes.endswith("/"):
            pass  # such as `<use/>`
        elif name in _RAW and not is_foreign:
            end = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(html, at)
            at = end.end() if end else len(html)
        elif is_foreign or not unclosed[name] or name not in _ONE_AT_A_TIME:
            unclosed[name] += 1
            nested += 1
            formatting += name in _FORMATTING
        if elements > limits.elements or options > limits.options or nested > limits.nested:
            _allow(nested, limits.nested, "nested elements")
            _allow(options, limits.options, "options to select from")
            _allow(elements, limits.elements, "elements, counting repeated unclosed ones")


def parse(html: str, limits: Limits = PAGE) -> LexborHTMLParser:
    """Return the cleaned, parsed HTML; raise TooMuchMarkup if parsing or reading takes too long."""
    _check_markup(html, limits)
    parsed = LexborHTMLParser(clean(html))
    if parsed.root and (limits is not PAGE or html.count("<") * len(html) > limits.inside):
        depth = inside = 0
        for node, is_end in walk(parsed.root, lambda _: False):
            if node.tag == "-text":
                inside += depth * len(node.text_content or "")
            else:
                depth += -1 if is_end else 1
                _allow(depth, limits.nested, "nested elements")
        _allow(inside, limits.inside, "characters, counted once per enclosing element")
    return parsed


def _allow(count: int, most: int, what: str) -> None:
    if count > most:
        raise TooMuchMarkup(f"there are more than {most:,} {what}")


# -- text ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its line in the prose and the line where the code below it begins, both from 0;
    its level; its id or that of the section it begins."""

    text: str
    line: int
    code_line: int
    level: int
    id: str


@dataclass(frozen=True, slots=True)
class Readable:
    """Plain text: `prose` with one block a line, `code` with one `<pre>` after another.

    `links` has the URL of each link, as written, and its text. `announced` has the line of each
    colon before code, and the beginning of the code.
    """

    prose: str
    code: str
    headings: tuple[Heading, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    announced: tuple[tuple[int, str], ...] = ()


def clean(text: str) -> str:
    """Remove control characters, lone surrogates and invisible characters inside words (soft
    hyphens, zero-width spaces), and normalise to NFC: "é" is one letter."""
    try:
        # As bytes: a regular expression takes twenty times as long.
        text = text.encode().translate(_CONTROL).decode()
    except UnicodeEncodeError:
        return clean(_SURROGATE.sub("\ufffd", text))
    if text.isascii():
        return text
    for character in _INVISIBLE:
        text = text.replace(character, "")
    if _SIGNS.search(text[::16]):  # nearly never
        text = _SIGNS.sub(_with_few_marks, text)
    return unicodedata.normalize("NFC", text)


def _with_few_marks(signs: re.Match[str]) -> str:
    """Remove marks that nobody writes: Python takes quadratic time to sort them."""
    kept, marks = [], 0
    for sign in signs[0]:
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= _MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def one_line(text: str) -> str:
    """Clean a text, and replace each run of white space by one space, or inside a number (10 000)
    by a narrow one."""
    if text.isascii() and (line := " ".join(text.split())).isprintable():
        return line  # nearly always: nothing to clean
    line = with_groups(clean(text), _INSIDE)
    return " ".join(line.split()).replace(_INSIDE, NARROW)


def walk(
    root: LexborNode, is_leaf: Callable[[LexborNode], bool], *, backwards: bool = False
) -> Iterator[tuple[LexborNode, bool]]:
    """Yield every node in reading order, and again with True at the end of an element.

    The inside and the end of a leaf are left out. No recursion: pages are nested deeper than
    Python's limit.
    """
    opened: list[LexborNode] = []
    node: LexborNode | None = root
    while node is not None or opened:
        if node is None:
            node = opened.pop()
            yield node, True
        else:
            yield node, False
            if node.tag != "-text" and not is_leaf(node):
                opened.append(node)
                node = node.last_child if backwards else node.first_child
                continue
        if not opened:
            return
        node = node.prev if backwards else node.next


def readable(html: str, limits: Limits = PAGE) -> Readable:
    """Return the prose and the code of HTML, or raise TooMuchMarkup."""
    body = parse(html, limits).body
    return text_of(body) if body is not None else Readable("", "")


def text_of(root: LexborNode) -> Readable:
    """Return the prose and the code of a parsed element."""
    left_out = {node.mem_id for node in root.css("[aria-hidden=true]") if _is_twin(node)}
    left_out |= {node.mem_id for node in root.css("a, sup") if _is_note(node)}
    left_out |= {node.mem_id for node in root.css(_PRINTED) if _is_numbering(node)}
    labels = {node.mem_id for node in root.css("dt pre")}  # definitions of Nim
    for outer in root.css(_WITH_BUTTON):  # which may be all of it, as in accordions
        said = outer.text().strip()
        labels |= {node.mem_id for node in outer.css("button") if node.text().strip() == said}
    chips = {node.mem_id for node in root.css(_CHIPS)}
    styled = root.css("[style*=display]")
    blocks = {node.mem_id for node in styled if _AS_BLOCK.search(node.attributes["style"] or "")}
    lines: list[str] = []
    code: list[str] = []
    headings: list[Heading] = []
    links: list[tuple[str, str]] = []
    announced: list[tuple[int, str]] = []
    code_line = 0
    heading: LexborNode | None = None
    defined: list[tuple[str, str]] = []  # tags and ids of elements whose text has not begun
    parts: list[str] = []

    def is_leaf(node: LexborNode) -> bool:
        is_unread = node.tag in UNSEEN or node.tag == "pre"
        return (is_unread and node.mem_id not in labels) or node.mem_id in left_out

    for node, is_end in walk(root, is_leaf):
        tag, place = node.tag or "", node.mem_id
        if tag == "-text":
            parts.append(node.text_content or "")
        elif place in left_out:
            continue
        elif tag in BLOCKS or place in blocks or place == root.mem_id:
            if line := one_line("".join(parts)):
                if heading is not None:
                    text, level = line[:_MAX_HEADING], HEADINGS.index(heading.tag or "") + 1
                    headings.append(Heading(text, len(lines), code_line, level, _id_of(heading)))
                    heading = None
                elif ids := [id_ for of, id_ in defined if _defines(of, id_, line)]:
                    text = line[:_MAX_HEADING]
                    headings.append(Heading(text, len(lines), code_line, _DEFINED, ids[-1]))
                lines.append(line)
                defined = []
            parts = []
            if not is_end and (id_ := _defined_id(node)):
                defined.append((tag, id_))
            if tag in HEADINGS:
                heading = None if is_end else node
            elif tag == "pre" and place not in labels and (block := _code(node)):
                if lines and lines[-1].endswith((":", "：")):
                    announced.append((len(lines) - 1, clean(block)[:_ANNOUNCED]))
                code.append(block)
                code_line += block.count("\n") + 2
        elif tag in ("select", "button", "img", "input") or place in chips:
            parts.append(" ")
        elif tag in ("a", "del", "ins", "s", "sup"):
            parts.append(_edge(node))
            if not is_end and (href := node.attributes.get("href")):
                links.append((href, one_line(node.text())))
    texts = "\n".join(lines), clean("\n\n".join(code))
    return Readable(*texts, tuple(headings), tuple(links), tuple(announced))


def _defined_id(node: LexborNode) -> str:
    """Return the id of an element that may define something, as in references of code."""
    if node.tag not in _DEFINING:
        return ""
    own = (node.attributes.get("id") or "") if node.tag != "td" else ""
    inner = node.css_first("a[id], a[name]") if node.tag == "dt" else None
    return _usable(own or _name_of(inner) or _name_of(_anchor_before(node)))


def _defines(tag: str, id_: str, line: str) -> bool:
    """Whether an element with this id defines the name in its first line."""
    if tag in ("dt", "td"):
        return True
    name = re.split(r"[.:/#-]", _SUFFIX.sub("", id_.partition(",")[0]))[-1]
    is_short = len(line) < _MAX_HEADING and not line.endswith((".", "!", "?"))
    return is_short and len(name) > 1 and bool(re.search(rf"\b{re.escape(name)}\b", line))


def _id_of(heading: LexborNode) -> str:
    """Return the id of a heading, of an anchor in or before it, or of the section it begins;
    Javadoc writes the anchor before the list that it begins."""
    stated = heading.attributes.get("id") or _name_of(heading.css_first("[id], a[name]"))
    node: LexborNode | None = heading
    while not stated and node is not None:
        stated = _name_of(_anchor_before(node))
        before, node = node.prev, node.parent
        while before is not None and before.tag in ("-text", "-comment", "_comment", "a"):
            before = before.prev
        if before is not None or node is None or node.tag not in ("section", "div", "ul", "li"):
            break
        stated = stated or node.attributes.get("id") or ""
        if node.tag in ("section", "div"):
            break
    return _usable(stated)


def _anchor_before(node: LexborNode) -> LexborNode | None:
    """Return an anchor without text before an element, or at the beginning of the cell before a
    cell, as in Doxygen, FORD and pydoctor."""
    before = node.prev
    while before is not None and before.tag == "-text" and not (before.text_content or "").strip():
        before = before.prev
    if node.tag == "td" and before is not None and before.tag == "td":
        before = before.first_child
    is_anchor = before is not None and before.tag in ("a", "span") and not before.text().strip()
    return before if is_anchor else None


def _name_of(anchor: LexborNode | None) -> str:
    given = anchor.attributes if anchor is not None else {}
    return given.get("id") or given.get("name") or ""


def _usable(stated: str) -> str:
    id_ = clean(stated).strip()
    return id_ if len(id_) <= _MAX_ID and not re.search(r"\s", id_) else ""


def _edge(node: LexborNode) -> str:
    """Return the space around the text of an inline element that keeps words apart."""
    if node.tag == "sup":
        raised = node.text().strip()
        before = node.prev
        while before is not None and before.last_child is not None:  # as in <i>x</i>
            before = before.last_child
        said = before.text_content or "" if before is not None else ""
        is_power = raised in ("2", "3") and _RAISED.search(said) is not None
        return " " if _NOTE.fullmatch(raised) and not is_power else ""
    kinds = ("a",) if node.tag == "a" else ("del", "ins", "s")
    sides = (node.prev, node.next)
    return " " if any(side is not None and side.tag in kinds for side in sides) else ""


def _is_note(node: LexborNode) -> bool:
    """Whether it is the raised number of a footnote, which does not belong to the text."""
    link = node if node.tag == "a" else node.css_first("a")
    if link is None or (link.attributes.get("href") or "")[:1] != "#":
        return False
    if not _NOTE.fullmatch(node.text().strip()):
        return False
    if node.tag == "sup" or node.css_first("sup") is not None:
        return True
    before = node.prev
    text = before.text_content or "" if before is not None and before.tag == "-text" else ""
    return bool(text) and not text[-1].isspace()


def _is_twin(node: LexborNode) -> bool:
    """Whether a hidden element repeats what is beside it, as in typeset formulas; a closed tab
    contains blocks of text."""
    return all(inner.tag not in BLOCKS for inner in node.css("*"))


def _code(root: LexborNode) -> str:
    """Return the text of a `<pre>` without printed line numbers. Highlighters end a line with a
    line feed, or put it into an element of its own."""
    if _is_numbering(root):
        return ""
    special = root.css(_SPECIAL)
    numbers = {node.mem_id for node in special if _is_numbering(node)}
    lines = {node.mem_id for node in special if _is_line(node)}
    parts: list[str] = []
    for node, is_end in walk(root, lambda node: node.tag in UNSEEN or node.mem_id in numbers):
        tag, place = node.tag or "", node.mem_id
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "br":
            parts.append("" if is_end else "\n")
        elif place not in numbers and (place in lines or tag in _BLOCKS_OF_CODE):
            parts.append(_END if is_end else _BEGIN)
    text = re.sub(f"{_END}+(?=\n)", "", "".join(parts))
    text = re.sub(f"(^|\n)[{_BEGIN}{_END}]+", r"\1", text)
    text = re.sub(f"[{_BEGIN}{_END}]+", "\n", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


_BLOCKS_OF_CODE = BLOCKS - {"td", "th"}


def _is_line(node: LexborNode) -> bool:
    """Whether an element of a `<pre>` is one or more lines."""
    before, attributes = node.prev, node.attributes
    return node.tag not in ("td", "th") and (
        (node.tag == "code" and before is not None and before.tag == "code")
        or "data-line" in attributes
        or bool(_AS_BLOCK.search(attributes.get("style") or ""))
        or bool(_LINE.search(attributes.get("class") or ""))
    )


def _is_numbering(node: LexborNode) -> bool:
    """Whether it holds printed line numbers: digits in such a class, that cannot be selected
    (Hugo), or in the cell before another."""
    text = node.text()
    if not re.fullmatch(r"[\d\s]+", text):
        return False
    if node.tag == "a":  # a link to itself: rustdoc
        return node.attributes.get("href") == f"#{text.strip()}"
    around = [node]
    if node.tag == "pre":
        around += filter(None, (node.parent, node.parent and node.parent.parent))
    return any(
        _LINE_NUMBERS.search(inner.attributes.get("class") or "")
        or _UNSELECTABLE.search(inner.attributes.get("style") or "")
        or (inner.tag == "td" and inner.css_matches("td:first-child:not(:last-child)"))
        for inner in around
    )
