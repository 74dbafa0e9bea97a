"""Markdown → HTML, without the template code of site generators.

Liquid and Nunjucks tags (`{% … %}`, `{{ … }}`, `{# … #}`), Hugo's shortcodes, attribute lists
(`{: … }`), the signs of admonitions and wiki links are removed, except from code. Template code
does not follow Markdown's structure (a tag may contain blank lines, or stand in a link's address),
so it is removed before parsing.
"""

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

_GONE = "\ue000"
"""Stands where there was template code: a blank line might end a block of HTML."""

# In what follows an opening sign ends the search for a closing one, and what was matched is not
# tried again (`(?>…)`): both keep the time linear.
_TEMPLATE = re.compile(
    r"""
    (?P<kept> ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)? (?P<fence>`{3,}|~{3,}) [^`\n]*\n
        (?> (?! [ \t>]*(?P=fence)[`~]*[ \t]*$) [^\n]*(?:\n|\Z) )* [^\n]*
      | (?<!`)(?P<ticks>`+)(?!`) (?:(?!\n[ \t]*\n).)+? (?<!`)(?P=ticks)(?!`)
      | <(?P<tag>pre|code|kbd|samp)\b (?:(?!<(?P=tag)\b).)*? </(?P=tag)> )
  | \{%-? \s* (?:raw|verbatim) \s* -?%\} (?P<raw> (?:(?!\{%-?\s*(?:raw|verb)).)*? )
    \{%-? \s* end(?:raw|verbatim) \s* -?%\}
  | \{%-? \s* comment \s* -?%\} (?:(?!\{%-?\s*comment).)*? \{%-? \s* endcomment \s* -?%\}
  | %% [^%]{0,5000} %%                                                   # Obsidian's comments
  | <? \{\{ (?> "[^"\n]*" | (?!\{\{)[^`] )*? \}\} (?: (?<=.\}\}) > )?
  | \{% (?> "[^"\n]*" | (?!\{%)[^`] )*? %\}
  | \{\# (?![\w-]+\}) (?=[\s\w-]) (?: (?!\{\#)[^`] )*? \#\}
  | ^(?:\[\[?_?TOC_?\]\]?|[*+-][ \t]+\S[^\n]*\n\{:toc[^}\n]*\})          # a table of contents
  | ^[ \t]*:{3,}[ \t]*[\w.-]* | ^[ \t]*===[+!]?(?=[ \t]*"[^"\n]*"[ \t]*$)  # containers and tabs
  | (?P<attributes> \{: [^{}\n]{0,500} \} | [ \t]*\{[.\#][^{}\n]{0,500}\}[ \t]*$ )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_TAG = r"\{{(?:%-?|\{{[<%])\s*{}(?:highlight|codeblock|code)(?![\w-])"
_CODE = re.compile(
    rf"^[ \t]*{_TAG.format('')}[ \t]*[\"']?([\w+#.-]*)[^\n]*?[%>]?-?[%}}]\}}"
    rf"((?:(?!{_TAG.format('')}).)*?){_TAG.format('(?:/|end)')}\s*[%>]?-?[%}}]\}}",
    re.MULTILINE | re.DOTALL,
)
"""`{% highlight ruby %}` and its like, which become fences."""
_RAW_TAG = re.compile(r"\{%-?\s*(?:end)?(?:raw|verbatim)\s*-?%\}")
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*([.#\w][^{}\n]{0,500})\}[ \t]*$")
_SIGNS = re.compile(r"^\[(?:!\w+|[ xX])\][+-]?[ \t]*")  # `> [!NOTE]` and `- [x] task`
_WIKI_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_INLINE_TAG = re.compile(r"</?(?:em|strong|i|b|code|span|sup|sub|small|kbd|br|wbr)\b[^<>]*>", re.I)


def rendered(text: str, *, title: str = "") -> tuple[str, str]:
    """The title and the HTML of a post's Markdown.

    Without a `title` the text of a leading heading of level 1 is the title ("" if there is none).
    A leading heading that is the title is left out of the HTML: it would count twice.
    """
    env: dict[str, object] = {}
    fenced = _CODE.sub(lambda code: f"\n~~~~~~~~{code[1]}\n{code[2].strip()}\n~~~~~~~~\n", text)
    tokens = _MARKDOWN.parse(_without_template(fenced), env)
    for before, token in pairwise(tokens):
        for child in token.children or ():
            if child.type == "text":
                child.content = _WIKI_LINK.sub(_words, _SIGNS.sub("", child.content))
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
    """A title from front matter without template code, entities and inline tags."""
    title = html.unescape(_without_template(title).replace(_GONE, ""))
    return " ".join(_INLINE_TAG.sub("", title).split())


def has_template(text: str) -> bool:
    """Whether a title or an address contains template code."""
    return "{{" in text or "{%" in text


def _without_template(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        if found["attributes"]:
            line = found.string[max(0, found.start() - 500) : found.start()].rpartition("\n")[2]
            return found[0] if line.lstrip().startswith("#") else _GONE  # it may name a heading
        if found[0].lstrip().startswith(":"):
            return ""
        if found[0].lstrip().startswith("==="):
            return found[0].partition("=")[0] + "!!! tab"  # an admonition
        return _RAW_TAG.sub("", found["kept"] or "") or found["raw"] or _GONE

    return _TEMPLATE.sub(shown, text)


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


def _words(link: re.Match[str]) -> str:
    """Of `[[folder/page|words]]` the words, or the name of the page; nothing of `![[image]]`."""
    return "" if link[1] else (link[3] or link[2].strip("/#").rpartition("/")[2])


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
    children = inline.children or ()
    words = (
        " " if child.type == "softbreak" else child.content
        for child in children
        if child.type in ("text", "code_inline", "softbreak")
    )
    return " ".join("".join(words).replace(_GONE, "").split())


def _set_id(heading: Token, last: Token) -> None:
    """Move the attribute list at the end of a heading, such as `{#id}`, to its element."""
    found = _ATTRIBUTES.search(last.content) if last.type == "text" else None
    if found:
        last.content = last.content[: found.start()]
        if stated := re.search(r"#([\w.:-]+)", found[1]):
            heading.attrSet("id", stated[1])
