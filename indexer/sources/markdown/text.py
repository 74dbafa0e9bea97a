"""Markdown → HTML, without the template code of site generators.

Liquid and Nunjucks tags (`{% … %}`, `{{ … }}`, `{# … #}`), Hugo shortcodes, kramdown attribute
lists (`{: … }`), heading attributes, admonition markers, wiki links and emoji codes are removed,
except from code.

Template code does not follow Markdown's structure (a tag may contain blank lines, or stand in a
link's address), so it is replaced with markers before parsing. In markdown-it's tokens the markers
are resolved: inline and indented code gets the original text back, everything else loses it.
Fenced code is never touched.
"""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

_MAX_TAG = 5_000
"""Characters between the delimiters of template code; more, and they do not belong together."""

_MARKER = re.compile("\ue000(\\d+)\ue001")
_OPENER = re.compile(r"\{\{[<%]?(?!`)|\{%(?!`)|\{#(?![\w-]+\})(?=[\s\w-])")
_CLOSER_OF = {"{{<": ">}}", "{{%": "%}}", "{{": "}}", "{%": "%}", "{#": "#}"}
_PAIRED = re.compile(r"\{%[-~]?\s*(raw|verbatim|comment)\b")
_END_OF = {
    name: re.compile(rf"\{{%[-~]?\s*end{name}\s*[-~]?%\}}")
    for name in ("raw", "verbatim", "comment")
}
_ATTRIBUTES = re.compile(
    r"^[*+-][ \t]+\S.*\n\{:toc[^}\n]*\}"  # kramdown's placeholder for a table of contents
    r"|[ \t]*\{:[^{}\n]{0,500}\}"
    r"|[ \t]*\{[.#][^{}\n]{0,500}\}[ \t]*$",
    re.MULTILINE,
)
_RAW_TAG = re.compile(r"\{%[-~]?\s*(?:end)?(?:raw|verbatim)\s*[-~]?%\}")
_ESCAPED_SHORTCODE = re.compile(r"\{\{([<%])/\*(.{0,500}?)\*/([>%])\}\}")

_FENCE = re.compile(r"((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)(`{3,}|~{3,})([^`\n]*)$")
_CODE_OPENS = re.compile(
    r"[ \t]*\{[%{]-?[<%]?\s*(?:highlight|codeblock|code)(?![\w-])"
    r"[ \t]*[\"']?([\w+#.-]*)[^\n]*?[%}]\}"
)
_CODE_CLOSES = re.compile(
    r"\{[%{]-?[<%]?\s*(?:/\s*|end)(?:highlight|codeblock|code)\s*[>%]?-?[%}]\}"
)
_OWN_FENCE = "~~~~~~~~"

_TAB = re.compile(r'^([ \t]*)===[+!]?[ \t]*(?="[^"]*"[ \t]*$)')
"""A content tab of Material for MkDocs, which is written as an admonition."""
_CONTAINER = re.compile(
    r"[ \t]*:{3,}[ \t]*(?:[\w.-]+)?(?:\[(.*)\]|[ \t]+([^{\n]*?))?[ \t]*(?:\{[^}\n]*\})?[ \t]*$"
)
_ID = re.compile(r"\{:?\s*(?:[^{}]*\s)?#([\w.:-]+)")
_HIDDEN = re.compile(r"%%[^%]{0,5000}%%")
"""A comment of Obsidian."""
_ROLE = re.compile(r"(?<!`)\{[a-z][\w:+-]{0,50}\}(?=`[^`\s])")
"""A role of MyST, such as {func}`open`."""
_TOOL_LINE = re.compile(
    r"[ \t]*(?:\[\[?_?TOC_?\]\]?|-{1,2}8<-{1,2}.*|\([^()\s]{1,200}\)=)[ \t]*$", re.IGNORECASE
)
_ALERT = re.compile(r"\[(?:!\w+|[ xX])\][+-]?[ \t]*")  # `> [!NOTE]` and `- [x] task`
_EMOJI = re.compile(r"(?<![\w:]):(?:[a-z][a-z0-9_+-]*|[+-]1):(?![\w:`])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]:?")
_WIKI_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_MARKDOWN_IN_HTML = re.compile(
    r"^[ \t]*(<[a-z][\w-]*\b[^<>]{0,500}?\smarkdown(?:=[\"']?(?:1|block|span)[\"']?)?"
    r"(?:\s[^<>]{0,500})?>)",
    re.MULTILINE | re.IGNORECASE,
)
_SPAN_FIRST = re.compile(
    r"^[ \t]*(?=<(?:a|b|br|code|em|i|img|kbd|small|span|strong)\b)", re.MULTILINE | re.IGNORECASE
)
_CODE_ELEMENT = re.compile(r"<(/?)(?:pre|code|kbd|samp)\b", re.IGNORECASE)
_INLINE_TAGS = re.compile(
    r"<(em|strong|i|b|code|span|sup|sub|small|abbr|cite|del|ins|kbd|mark|q|s|u)\b[^<>]*>([^<>]*)</\1>"
    r"|<(?:br|wbr)\s*/?>",
    re.IGNORECASE,
)


def rendered(text: str, *, title: str = "") -> tuple[str, str]:
    """The title and the HTML of a post's Markdown.

    Without a `title` the text of a leading heading of level 1 is the title ("" if there is none).
    A leading heading that is the title is left out of the HTML: it would count twice.
    """
    marked, saved = _marked(text)
    env: dict[str, object] = {}
    tokens = _MARKDOWN.parse(marked, env)
    heading = _leading_heading(tokens)
    if heading is not None:
        name = _plain(tokens[heading + 1])
        if name and title in ("", name):
            title = name
            del tokens[heading : heading + 3]
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            _set_id(token, following, saved)
    for token in tokens:
        _resolve(token, saved)
    html_: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env)
    return title, html_


def without_template(page: str) -> str:
    """A page of HTML without template code, except in `<pre>` and `<code>`."""
    if "{" not in page:
        return page
    saved: list[str] = []
    marked = "".join(_with_markers(page.replace("\ue000", "").replace("\ue001", ""), saved))
    return _html_resolved(marked, saved)


def plain_title(title: str) -> str:
    """A title from front matter without template code, entities, inline tags and emoji codes."""
    if "{" in title:
        parts = re.split(r"(`[^`]*`)", title)  # inline code keeps its braces
        parts[::2] = [_MARKER.sub("", _marked(part)[0]) for part in parts[::2]]
        title = "".join(parts)
    title = html.unescape(title)
    if "<" in title and len(title) < 2_000:
        title = _INLINE_TAGS.sub(lambda tag: tag[2] or " ", title)
    return " ".join(_EMOJI.sub(" ", title).split())


def has_template(text: str) -> bool:
    """Whether a title or an address contains template code."""
    return "{{" in text or "{%" in text


# -- before parsing --------------------------------------------------------------------------------


def _marked(text: str) -> tuple[str, list[str]]:
    """The Markdown with markers for template code, and the code that each marker stands for."""
    saved: list[str] = []
    lines = text.replace("\ue000", "").replace("\ue001", "").split("\n")
    parts = [
        _in_fence(part) if is_code else _in_prose(part, saved) for is_code, part in _segments(lines)
    ]
    return "\n".join(parts), saved


def _segments(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Runs of lines outside and inside code blocks; `{% highlight %}` becomes a fence."""
    closings = [at for at, line in enumerate(lines) if "{" in line and _CODE_CLOSES.search(line)]
    closings.reverse()
    unended: set[str] = set()
    prose: list[str] = []
    at = 0
    while at < len(lines):
        if (match := _FENCE.match(lines[at])) and match[2] not in unended:
            end = _end_of_fence(lines, at, match)
            if not end:
                unended.add(match[2])  # searching again and again would take quadratic time
            else:
                yield False, prose
                yield True, list(lines[at:end])
                prose, at = [], end
                continue
        if match := _CODE_OPENS.match(lines[at]):
            while closings and closings[-1] < at:
                closings.pop()
            if closings:
                end = closings.pop()
                rest = lines[at][match.end() :]
                inside = [rest, *lines[at + 1 : end], lines[end]] if end > at else [rest]
                inside[-1] = inside[-1][: _CODE_CLOSES.search(inside[-1]).start()]  # type: ignore[union-attr]  # the line matched
                yield False, prose
                yield True, ["", f"{_OWN_FENCE}{match[1]}", *inside, _OWN_FENCE]
                prose, at = [], end + 1
                continue
        prose.append(lines[at])
        at += 1
    yield False, prose


def _end_of_fence(lines: Sequence[str], at: int, fence: re.Match[str]) -> int:
    """The line after the closing fence; 0 for what is not a fence.

    A closing fence has the same character, is at least as long, and stands alone on its line. A
    fence without one ends with the text, unless it is indented: then it is indented code.
    """
    sign = fence[2]
    for number in range(at + 1, len(lines)):
        bare = lines[number].strip(" \t>")
        if len(bare) >= len(sign) and bare.startswith(sign) and not bare.strip(sign[0]):
            return number + 1
    return 0 if len(fence[1]) > 3 else len(lines)


def _in_fence(lines: list[str]) -> str:
    """Code as the generator shows it: without `raw` tags, escaped shortcodes as shortcodes."""
    text = "\n".join(lines)
    return _ESCAPED_SHORTCODE.sub(r"{{\1\2\3}}", _RAW_TAG.sub("", text)) if "{" in text else text


def _in_prose(lines: list[str], saved: list[str]) -> str:
    text = "\n".join(map(_without_directive, lines))
    text = _ROLE.sub("", _HIDDEN.sub("", text)) if "%%" in text or "}`" in text else text
    if _MARKDOWN_IN_HTML.search(text):
        # A blank line ends the block of HTML, and a line that begins with an empty marker begins
        # none: kramdown takes it for a paragraph.
        text = _SPAN_FIRST.sub(lambda _: _marker("", saved), text)
        text = _MARKDOWN_IN_HTML.sub(r"\n\1\n\n", text)
    if "{" in text:
        text = "".join(_with_markers(text, saved))
        text = _ATTRIBUTES.sub(lambda match: _marker(match[0], saved), text)
    return text


def _marker(code: str, saved: list[str]) -> str:
    saved.append(_MARKER.sub(lambda marker: saved[int(marker[1])], code))
    return f"\ue000{len(saved) - 1}\ue001"


def _with_markers(text: str, saved: list[str]) -> Iterator[str]:
    """The text in pieces, with markers in place of template code; linear in its length."""
    closers: dict[str, int] = {}  # the position of the next closing delimiter of each kind
    unended: set[str] = set()
    at = 0
    for opener in _OPENER.finditer(text):
        start = opener.start()
        if start < at:
            continue
        closer = _CLOSER_OF[opener[0]]
        if closers.get(closer, -1) < opener.end():
            position = text.find(closer, opener.end())
            closers[closer] = position if position >= 0 else len(text)
        end = closers[closer] + len(closer)
        if end > min(len(text), start + _MAX_TAG):
            continue
        content = ""
        paired = _PAIRED.match(text, start, end)
        if paired and paired[1] not in unended:
            closing = _END_OF[paired[1]].search(text, end)
            if closing is None:
                unended.add(paired[1])
            else:  # the content of `raw` tags is text, not template code
                content = "" if paired[1] == "comment" else text[end : closing.start()]
                end = closing.end()
        if text[start - 1 : start] == "<" and text[end : end + 1] == ">":  # `<{{ url }}>`
            start, end = start - 1, end + 1
        yield text[at:start]
        yield content or _marker(text[start:end], saved)
        at = end
    yield text[at:]


def _without_directive(line: str) -> str:
    """A line without the syntax of containers (`:::note Title`), tabs and includes."""
    if ":::" in line and (container := _CONTAINER.match(line)):
        return (container[1] or container[2] or "") + "\n"
    if _TOOL_LINE.match(line):
        return ""
    return _TAB.sub(r"\1!!! tab ", line) if "===" in line else line


# -- after parsing ---------------------------------------------------------------------------------


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    markdown.use(footnote_plugin).use(deflist_plugin).use(admon_plugin)
    # The addresses of links are no words; to check and encode them takes an eighth of the time.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    for name in ("footnote_ref", "footnote_anchor", "footnote_block_open", "footnote_block_close"):
        markdown.add_render_rule(name, lambda *_: "")
    return markdown


_MARKDOWN = _markdown()


def _leading_heading(tokens: Sequence[Token]) -> int | None:
    """The index of a heading of level 1 that only comments and template code precede."""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            return at if token.tag == "h1" else None
        is_empty = token.type == "inline" and not _plain(token)
        if not (is_empty or token.type in ("paragraph_open", "paragraph_close", "html_block")):
            return None
    return None


def _plain(inline: Token) -> str:
    """The text of an inline token, without markup and template code."""
    types = ("text", "code_inline", "softbreak")
    text = "".join(
        " " if child.type == "softbreak" else child.content
        for child in inline.children or ()
        if child.type in types
    )
    return " ".join(_EMOJI.sub(" ", _without_wiki_links(_MARKER.sub("", text))).split())


def _without_wiki_links(text: str) -> str:
    """`[[folder/page|words]]` as its words, else as the name of the page; embeds are dropped."""
    if "[[" not in text:
        return text
    return _WIKI_LINK.sub(
        lambda link: "" if link[1] else (link[3] or link[2].strip("/#").rpartition("/")[2]),
        text,
    )


def _set_id(heading: Token, inline: Token, saved: list[str]) -> None:
    """Give a heading the id of the attribute list in it, such as `{#id}`."""
    for marker in _MARKER.finditer(inline.content):
        if stated := _ID.match(saved[int(marker[1])].strip()):
            heading.attrSet("id", stated[1])


def _resolve(token: Token, saved: list[str]) -> None:
    """Resolve the markers of a block token: restored in code, dropped elsewhere."""
    if token.type in ("fence", "code_block"):
        token.content = _restored(token.content, saved)
    elif token.type == "html_block":
        token.content = _html_resolved(token.content, saved)
    depth = 0
    is_first = True
    for child in token.children or ():
        if child.type == "html_inline":
            if tag := _CODE_ELEMENT.match(child.content):
                depth = max(0, depth - 1 if tag[1] else depth + 1)
            child.content = _MARKER.sub("", child.content)
        elif child.type == "code_inline" or (child.type == "text" and depth):
            child.content = _restored(child.content, saved)
        elif child.type == "text":
            content = _MARKER.sub("", child.content)
            if is_first:
                content = _ALERT.sub("", content, count=1) if _ALERT.match(content) else content
                is_first = False
            child.content = _EMOJI.sub("", _FOOTNOTE.sub("", _without_wiki_links(content)))
        elif child.type == "image":
            _resolve(child, saved)


def _html_resolved(content: str, saved: list[str]) -> str:
    """A block of HTML: markers restored inside `<pre>` and `<code>`, dropped elsewhere."""
    depth = at = 0
    pieces = []
    for tag in _CODE_ELEMENT.finditer(content):
        piece = content[at : tag.start()]
        pieces.append(_restored(piece, saved, escape=True) if depth else _MARKER.sub("", piece))
        depth = max(0, depth - 1 if tag[1] else depth + 1)
        at = tag.start()
    piece = content[at:]
    return "".join(
        [*pieces, _restored(piece, saved, escape=True) if depth else _MARKER.sub("", piece)]
    )


def _restored(content: str, saved: list[str], *, escape: bool = False) -> str:
    if "\ue000" not in content:
        return content
    restored = _MARKER.sub(lambda marker: saved[int(marker[1])], content)
    return restored if not escape else restored.replace("{{<", "{{&lt;")
