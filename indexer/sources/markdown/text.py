"""Markdown → HTML, without the template code of site generators.

Liquid and Nunjucks tags (`{% … %}`, `{{ … }}`, `{# … #}`), Hugo's shortcodes, attribute lists
(`{: … }`), the signs of admonitions, wiki links and emoji codes are removed, except from code.
Template code does not follow Markdown's structure (a tag may contain blank lines, or stand in a
link's address), so it is removed before parsing.
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

_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})[^`\n]*$")
_GONE = "\ue000"
_OWN_FENCE = "~~~~~~~~"
_INDENT = re.compile(r" {4}|\t")
_ITEM = re.compile(r"\s*(?:[-*+:]|\d{1,9}[.)])\s")

# In what follows an opening sign ends the search for a closing one, and what was matched is not
# tried again (`(?>…)`): both keep the time linear.
_TEMPLATE = re.compile(
    r"""
    (?P<kept> (?<!`)(`+)(?!`) (?:(?!\n[ \t]*\n).)+? (?<!`)\2(?!`)
      | <(pre|code|kbd|samp)\b (?:(?!<\3\b).)*? </\3> )
  | \{%-? \s* (?:raw|verbatim) \s* -?%\} (?P<raw> (?:(?!\{%-?\s*(?:raw|verb)).)*? )
    \{%-? \s* end(?:raw|verbatim) \s* -?%\}
  | \{%-? \s* comment \s* -?%\} (?:(?!\{%-?\s*comment).)*? \{%-? \s* endcomment \s* -?%\}
  | %% [^%]{0,5000} %%                                                   # Obsidian's comments
  | <? \{\{ (?> "[^"\n]*" | (?!\{\{)[^`] )*? \}\} (?: (?<=.\}\}) > )?
  | \{% (?> "[^"\n]*" | (?!\{%)[^`] )*? %\}
  | \{\# (?![\w-]+\}) (?=[\s\w-]) (?: (?!\{\#)[^`] )*? \#\}
  | ^[*+-][ \t]+\S[^\n]*\n \{:toc[^}\n]*\}
  | (?P<attributes> \{: [^{}\n]{0,500} \} | [ \t]*\{[.\#][^{}\n]{0,500}\}[ \t]*$ )
  | \{[a-z][\w:+-]{0,50}\} (?=`[^`\s])                                   # MyST: {func}`open`
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_TAG = r"\{{(?:%-?|\{{[<%])\s*{}(?:highlight|codeblock|code)(?![\w-])"
_CODE = re.compile(
    rf"^[ \t]*{_TAG.format('')}[ \t]*[\"']?([\w+#.-]*)[^\n]*?[%>]?-?[%}}]\}}"
    rf"((?:(?!{_TAG.format('')}).)*?){_TAG.format('(?:/|end)')}\s*[%>]?-?[%}}]\}}",
    re.MULTILINE | re.DOTALL,
)
_RAW_TAG = re.compile(r"\{%-?\s*(?:end)?(?:raw|verbatim)\s*-?%\}")
_ESCAPED_SHORTCODE = re.compile(r"\{\{([<%])/\*(.{0,500}?)\*/([>%])\}\}")
_CONTAINER = re.compile(
    r"^[ \t]*:{3,}[ \t]*(?:[\w.-]+)?(?:\[(.*)\]|[ \t]+([^{\n]*?))?[ \t]*(?:\{[^}\n]*\})?[ \t]*$",
    re.MULTILINE,
)
_TOOL_LINE = re.compile(
    r"^[ \t]*(?:\[\[?_?TOC_?\]\]?|-{1,2}8<-{1,2}.*|\([^()\s]{1,200}\)=)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A table of contents, an included file, and a label of MyST."""
_TAB = re.compile(r'^([ \t]*)===[+!]?[ \t]*(?="[^"]*"[ \t]*$)', re.MULTILINE)
"""A content tab of Material for MkDocs, which is written as an admonition."""
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*([.#\w][^{}\n]{0,500})\}[ \t]*$")
_ALERT = re.compile(r"\[(?:!\w+|[ xX])\][+-]?[ \t]*")  # `> [!NOTE]` and `- [x] task`
_EMOJI = re.compile(r"(?<![\w:]):(?:[a-z][a-z0-9_+-]*|[+-]1):(?![\w:`])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]:?")
_WIKI_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
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
    parts = ("\n".join(lines) for lines in _parts(_CODE.sub(_fenced, text).split("\n")))
    env: dict[str, object] = {}
    tokens = _MARKDOWN.parse("\n".join(parts), env)
    for before, token in pairwise(tokens):
        for child in token.children or ():
            if child.type == "text":
                child.content = _without_signs(child.content)
        if before.type == "heading_open" and token.children:
            _set_id(before, token.children[-1])
    heading = _leading_heading(tokens)
    if heading is not None:
        name = _plain(tokens[heading + 1])
        if name and title in ("", name):
            title = name
            del tokens[heading : heading + 3]
    html_: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env)
    return title, html_.replace(_GONE, "")


def plain_title(title: str) -> str:
    """A title from front matter without template code, entities, inline tags and emoji codes."""
    title = html.unescape(_without_template(title).replace(_GONE, ""))
    if "<" in title and len(title) < 2_000:
        title = _INLINE_TAGS.sub(lambda tag: tag[2] or " ", title)
    return " ".join(_EMOJI.sub(" ", title).split())


def has_template(text: str) -> bool:
    """Whether a title or an address contains template code."""
    return "{{" in text or "{%" in text


# -- before parsing --------------------------------------------------------------------------------


def _fenced(code: re.Match[str]) -> str:
    """`{% highlight %}` and its like as a fence."""
    return f"\n{_OWN_FENCE}{code[1]}\n{code[2].strip(chr(10))}\n{_OWN_FENCE}\n"


def _parts(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines outside and inside blocks of code; template code is gone outside."""
    part: list[str] = []
    fence, is_code, before = "", False, ""  # `before`: the last line that is not blank
    for number, line in enumerate(lines):
        bare = line.strip(" \t>")
        if fence:
            part.append(line)
            if bare.startswith(fence) and not bare.strip(fence[0]):
                yield _shown_code(part)
                fence, part, before = "", [], ""
            continue
        opens = _FENCE.match(line)
        indented = bool(_INDENT.match(line))
        if indented and not is_code:
            is_blank_before = not number or not lines[number - 1].strip()
            indented = is_blank_before and not (_INDENT.match(before) or _ITEM.match(before))
        indented = indented or (is_code and not bare)
        if indented != is_code or opens:
            yield part if is_code else _prose(part)
            part, is_code = [], indented
        if opens and not indented:
            fence = opens[1]
        part.append(line)
        before = line if bare else before
    # A fence in a list ends with its item, at the latest.
    is_code = is_code or (bool(fence) and not part[0].startswith((" ", "\t")))
    yield _shown_code(part) if is_code else _prose(part)


def _shown_code(lines: list[str]) -> list[str]:
    """Code as the generator shows it: without `raw` tags, escaped shortcodes as shortcodes."""
    text = "\n".join(lines)
    return [_ESCAPED_SHORTCODE.sub(r"{{\1\2\3}}", _RAW_TAG.sub("", text))]


def _without_template(text: str) -> str:
    """The text with a sign where there was template code.

    Without one, a blank line might end a block of HTML, and what follows would be code.
    """
    if "{" not in text and "%%" not in text:
        return text
    return _TEMPLATE.sub(_without_one, text)


def _without_one(found: re.Match[str]) -> str:
    if found["attributes"]:
        line = found.string[max(0, found.start() - 500) : found.start()].rpartition("\n")[2]
        return found[0] if line.lstrip().startswith("#") else _GONE  # it may name a heading
    return _RAW_TAG.sub("", found["kept"] or "") or found["raw"] or _GONE


def _prose(lines: list[str]) -> list[str]:
    """Prose without template code, the syntax of containers (`:::note Title`) and tabs."""
    text = _TOOL_LINE.sub("", _without_template("\n".join(lines)))
    if ":::" in text:
        text = _CONTAINER.sub(lambda found: (found[1] or found[2] or "") + "\n", text)
    return [_TAB.sub(r"\1!!! tab ", text) if "===" in text else text]


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


def _without_signs(text: str) -> str:
    """Text without the signs of tasks and alerts, undefined footnotes, wiki links and emoji codes;
    of `[[folder/page|words]]` the words remain, else the name of the page."""
    text = _ALERT.sub("", text, count=1) if _ALERT.match(text) else text
    if "[[" in text:
        text = _WIKI_LINK.sub(
            lambda link: "" if link[1] else (link[3] or link[2].strip("/#").rpartition("/")[2]),
            text,
        )
    return _EMOJI.sub("", _FOOTNOTE.sub("", text))


def _leading_heading(tokens: Sequence[Token]) -> int | None:
    """The index of a heading of level 1 that only comments and empty paragraphs precede."""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            return at if token.tag == "h1" else None
        is_empty = token.type == "inline" and not _plain(token)
        if not (is_empty or token.type in ("paragraph_open", "paragraph_close", "html_block")):
            return None
    return None


def _plain(inline: Token) -> str:
    """The text of an inline token, without markup."""
    types = ("text", "code_inline", "softbreak")
    text = "".join(
        " " if child.type == "softbreak" else child.content
        for child in inline.children or ()
        if child.type in types
    )
    return " ".join(text.replace(_GONE, "").split())


def _set_id(heading: Token, last: Token) -> None:
    """Move the attribute list at the end of a heading, such as `{#id}`, to its element."""
    found = _ATTRIBUTES.search(last.content) if last.type == "text" else None
    if found:
        last.content = last.content[: found.start()]
        if stated := re.search(r"#([\w.:-]+)", found[1]):
            heading.attrSet("id", stated[1])
