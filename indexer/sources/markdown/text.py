"""Markdown → HTML, without template code.

Liquid and Nunjucks tags (`{% … %}`, `{{ … }}`, `{# … #}`), Hugo's shortcodes, comments, attribute
lists (`{: … }`) and the signs of containers (`:::`) are removed, except from code. Template code
does not follow Markdown's structure (a tag may contain blank lines, or stand in a link's address),
so it is removed before parsing.
"""

import html
import re

from markdown_it import MarkdownIt
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from indexer.sources.identity import plain

_GONE = "\ue000"
"""Stands where there was template code: a blank line might end a block of HTML."""

# In what follows an opening sign ends the search for a closing one, and what was matched is not
# tried again (`(?>…)`): both keep the time linear.
_TEMPLATE = re.compile(
    r"""
    (?P<code> ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)? (?P<fence>`{3,}|~{3,}) [^`\n]*\n
        (?> (?! [ \t>]*(?P=fence)[`~]*[ \t]*$) [^\n]*(?:\n|\Z) )* [^\n]*
      | (?<!`)(?P<ticks>`{1,30}+)(?!`) (?:(?!\n[ \t]*\n).)+? (?<!`)(?P=ticks)(?!`)
      | <(?P<tag>pre|code|kbd|samp)\b (?:(?!<(?P=tag)\b).)*? </(?P=tag)> )
  | \{%-? \s* comment \s* -?%\} (?:(?!\{%-?\s*comment).)*? \{%-? \s* endcomment \s* -?%\}
  | %% [^%]{0,5000} %%                                                   # Obsidian's comments
  | \{\{ (?> "[^"\n]*" | (?!\{\{)[^`] )*? \}\}
  | \{% (?> "[^"\n]*" | (?!\{%)[^`] )*? %\}
  | \{\# (?![\w-]+\}) (?=[\s\w-]) (?: (?!\{\#)[^`] )*? \#\}
  | ^(?:\[\[?_?TOC_?\]\]?|[*+-][ \t]+\S[^\n]*\n\{:toc[^}\n]*\})          # a table of contents
  | \{: [^{}\n]{0,500} \}
  | ^[ \t]*:{3,}[ \t]*[\w.-]*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CODE_TAG = re.compile(
    r"^[ \t]*\{[{%][-<%]?\s*/?(?:end)?(?:highlight|codeblock)\b[^\n]*?[%}]\}", re.MULTILINE
)
"""`{% highlight ruby %}` and its end, which become fences."""
_ATTRIBUTES = re.compile(
    r"<(h[1-6])>((?:(?!<h[1-6]>)[^\n{}])*+)\{:?[ \t]*([.#][^{}<>\n]{0,500})\}</h[1-6]>"
)
_ID = re.compile(r"#([\w.:-]+)")
_LEADING_HEADING = re.compile(
    r"(?>\s|<p>\s*</p>|<!--(?>.*?-->))*+<h1[^<>]*>([^\n]*)</h1>", re.DOTALL
)
_INLINE_TAG = re.compile(r"</?(?:em|strong|i|b|code|span|sup|sub|small|kbd|br|wbr)\b[^<>]*>", re.I)


def rendered(text: str, *, title: str = "") -> tuple[str, str]:
    """The title and the HTML of a post's Markdown.

    Without a `title` the text of a leading heading of level 1 is the title ("" if there is none).
    A leading heading that is the title is left out of the HTML: it would count twice.
    """
    rendered = _MARKDOWN.render(_without_template(_CODE_TAG.sub("~~~~~~~~", text)))
    rendered = _ATTRIBUTES.sub(_with_id, rendered.replace(_GONE, ""))
    heading = _LEADING_HEADING.match(rendered)
    name = plain(heading[1]) if heading else ""
    if heading and name and title in ("", name):
        return name, rendered[heading.end() :]
    return title, rendered


def plain_title(title: str) -> str:
    """A title from front matter without template code, entities and inline tags."""
    title = html.unescape(_without_template(title).replace(_GONE, ""))
    return " ".join(_INLINE_TAG.sub("", title).split())


def _without_template(text: str) -> str:
    return _TEMPLATE.sub(lambda found: found["code"] or _GONE, text)


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


def _with_id(heading: re.Match[str]) -> str:
    """A heading with the id of the attribute list at its end, such as `{#id}`."""
    stated = _ID.search(heading[3])
    id_ = f' id="{stated[1]}"' if stated else ""
    return f"<{heading[1]}{id_}>{heading[2].rstrip()}</{heading[1]}>"
