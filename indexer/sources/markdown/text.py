"""Renders Markdown as HTML, without template code.

Liquid and Nunjucks tags (`{% … %}`, `{{ … }}`, `{# … #}`), Hugo's shortcodes, comments, attribute
lists (`{: … }`) and signs such as `:::`, `[!NOTE]`, `==` and `[[` are removed, except from code.
Template code does not follow Markdown's structure (a tag may contain blank lines, or stand in a
link's address), so it is removed before parsing.
"""

import html
import re

from markdown_it import MarkdownIt
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.subscript import sub_plugin
from mdit_py_plugins.superscript import superscript_plugin

from indexer.sources.identity import plain

_GONE = "\ue000"
"""Replaces template code: a blank line might end a block of HTML."""

# Below, an opening sign ends the search for a closing one, and a match is not tried again
# (`(?>…)`): both keep the time linear.
_CODE = r"""
    (?P<code> ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)? (?P<fence>`{3,}|~{3,}) [^`\n]*\n
        (?> (?! [ \t>]*(?P=fence)[`~]*[ \t]*$) [^\n]*(?:\n|\Z) )* [^\n]*
      | (?<!`)(?P<ticks>`{1,30}+)(?!`) (?:(?!\n[ \t]*\n).)+? (?<!`)(?P=ticks)(?!`)
      | <(?P<tag>pre|code|kbd|samp)\b (?:(?!<(?P=tag)\b).)*? </(?P=tag)> )"""
_LOCKS = ("encrypt", "password", "protect", "private", "secret")
_LOCK = rf"(?:{'|'.join(_LOCKS)})"
_OPENS = r"\{(?:%-?|\{[<%])\s*"
_LOCKED = re.compile(
    _CODE
    + rf"""
  | {_OPENS}(?P<lock>(?>[\w-]*?{_LOCK}[\w-]*)) (?:(?!{_OPENS}[\w-]*{_LOCK}).)*?
        {_OPENS}(?:end|/\s*)(?P=lock)\s*(?:[>%]\}}|-?%)\}}
  | ^[ \t]*(?P<colons>:{{3,}})[ \t]*encrypt\b (?:(?!^[ \t]*:{{3,}}[ \t]*encrypt\b).)*?
        (?:^[ \t]*(?P=colons):*[ \t]*$ | (?=^[ \t]*:{{3,}}[ \t]*encrypt\b) | \Z)  # or without end
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Code, or a text that only those read who have a password, without another one in it."""
_DEEPEST = 10
"""How many such texts may stand inside each other."""
_TEMPLATE = re.compile(
    _CODE
    + r"""
  | \{%-?\s*(?:raw|verbatim)\s*-?%\} (?P<raw>(?:(?!\{%-?\s*(?:raw|verbatim)).)*?)
        \{%-?\s*end(?:raw|verbatim)\s*-?%\}
  | \{(?:%-?|\{[<%])\s*comment\s*(?:[>%]\}|-?%)\} (?:(?!\{(?:%-?|\{[<%])\s*comment).)*?
        \{(?:%-?|\{[<%])\s*(?:end|/\s*)comment\s*(?:[>%]\}|-?%)\}          # Liquid's, Hugo's
  | \{::comment\} (?:(?!\{::comment).)*? \{:/(?:comment)?\} | \{/\* (?:(?!\{/\*).)*? \*/\}
  | %% [^%]{0,5000} %%                                                   # Obsidian's comments
  | \{\{ (?> "[^"\n]*" | (?!\{\{)[^`] )*? \}\}
  | \{% (?> "[^"\n]*" | (?!\{%)[^`] )*? %\}
  | \{\# (?![\w-]+\}) (?=[\s\w-]) (?: (?!\{\#)[^`] )*? \#\}
  | ^(?:\[\[?_?TOC_?\]\]?|[*+-][ \t]+\S[^\n]*\n\{:toc[^}\n]*\})          # a table of contents
  | \{: [^{}\n]{0,500} \}
  | ^[ \t]*(?: :{3,}[ \t]*[\w.-]* | ::[\w-]*(?:(?=[\[{])|(?:[ \t][\w-]+)?(?=[ \t]*$)) )
        (?:\[(?P<named>[^\[\]\n]*)\])? (?:\{[^{}\n]*\})?
        (?:[ \t]*\n[ \t]*---\n(?:(?![ \t]*---)[^\n]*\n){1,30}?[ \t]*---[ \t]*$)?
  | (?<![\w:]):[a-z][\w-]*\{[^{}\n]*\} | ^%\[[^\[\]\n]*\]                  # Nuxt's, Hashnode's
  | \{[a-z][a-z:-]*\}(?=`[^`\n]) | ^\([\w:.-]+\)=[ \t]*$                  # MyST's roles and labels
  | (?:(?<=\))|^)\{[ \t]*(?:[\#.][\w-]|[\w-]+=)[^{}\n]*\}                  # Quarto's attributes
  | \{(?P<mark>[!*])[^{}\n]*(?P=mark)\} | ^[ \t]*-+8<-+[^\n]*                # included files
  | ^import[ \t][^\n]*?["'][\w@./\\-]+["'];?[ \t]*$
  | \[/?[a-z][\w-]*(?:[ \t]+[\w-]+=(?:"[^"\n]*"|'[^'\n]*'))+[ \t]*/?\](?![(\[:])  # Grav's
  | \[/[a-z][\w-]*\](?![(\[:]) | ^[ ]{0,3}</?(?![A-Z]+\d?\b)[A-Z][\w.]*(?:\s[^<>]*)?>[ \t]*$
  | (?P<tab>^[ \t]*) ===[!+]*[ \t]+(?=")
  | (?P<quote>^[ \t]*>[ \t>]*) \[![\w-]+(?:\|[^\]\n]*)?\][+-]?[ \t]* (?P<callout>[^\n]*)
  | (?P<item>^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+) \[[ xX/>?!-]\](?=[ \t])   # something to do
  | !\[\[ [^\[\]\n]{0,500} \]\]
  | \[\[ (?:[^\[\]|\n]{0,500}\|)? (?P<wiki>[^\s\[\]|\n][^\[\]|\n]{0,500}) (?<!\s)\]\](?!\(|\[(?!\^))
  | \{(?:--[^{}]{0,5000}--|>>[^{}]{0,5000}<<)\}                           # CriticMarkup
  | \{(?:\+\+|==) (?P<added>[^{}]{0,5000}?) (?:\+\+|==)\}
  | (?<![A-Za-z0-9_=])== (?P<marked>[^\s=](?:[^=\n]{0,1000}[^\s=])?) ==(?![A-Za-z0-9_=])
  | (?<![\w+])\+\+ (?P<keys>[\w"][\w"+-]{0,100}?) \+\+(?![\w+])
  | :(?:fontawesome|material|octicons|simple)-[\w-]+:
  | ^\*\[[^\[\]\n]+\]:[^\n]*                                              # an abbreviation
  | (?<=[^\w\s*\\])(?=\*{1,3}[^\W\0-\u2fff]) | (?<=[^\W\0-\u2fff]\*\*)(?=[^\w\s*])  # bold 検索。
  | (?:^[ \t]*|(?<=\S)[ \t]+)\^[\w-]+[ \t]*$                              # ids
  | ^[ \t]*(?:id|collapsed|heading|background-color|(?:created|updated)-at
        |(?:logseq|ls|hl)[.-][\w.-]+)::[^\n]*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_SIGNED = ("code", "raw", "quote", "item", "wiki", "added", "marked", "keys")
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


def render(text: str, *, title: str = "") -> tuple[str, str]:
    """Return the title and the HTML of a post's Markdown.

    Without a `title`, the text of a leading heading of level 1 is the title ("" if there is none).
    A leading heading equal to the title is removed from the HTML: it would count twice.
    """
    rendered = _MARKDOWN.render(_without_template(_CODE_TAG.sub("~~~~~~~~", text)))
    rendered = _ATTRIBUTES.sub(_with_id, rendered.replace(_GONE, ""))
    heading = _LEADING_HEADING.match(rendered)
    name = plain(heading[1]) if heading else ""
    if heading and name and title in ("", name):
        return name, rendered[heading.end() :]
    return title, rendered


def plain_title(title: str) -> str:
    """Return a title from front matter without template code, entities and inline tags."""
    title = html.unescape(_without_template(title).replace(_GONE, ""))
    return " ".join(_INLINE_TAG.sub("", title).split())


def _without_template(text: str) -> str:
    for _ in range(_DEEPEST if any(word in text for word in _LOCKS) else 0):
        former, text = text, _LOCKED.sub(lambda found: found["code"] or _GONE, text)
        if text == former:
            break
    return _TEMPLATE.sub(_show, text)


def _show(found: re.Match[str]) -> str:
    """Return the visible part of code, or of a sign with its text; nothing of template code."""
    if found["tab"] is not None:
        return f"{found['tab']}!!! tab "
    if found["callout"]:
        return f"{found['quote']}{found['callout']}\n{found['quote']}\n"
    if found["named"]:
        return f"{found['named']}\n\n"
    return next(filter(None, map(found.group, _SIGNED)), _GONE)


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    markdown.use(footnote_plugin).use(deflist_plugin).use(admon_plugin)
    markdown.use(sub_plugin).use(superscript_plugin).use(attrs_plugin, spans=True)
    # The addresses of links are not searched; checking and encoding them takes 1/8 of the time.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    for name in ("footnote_ref", "footnote_anchor", "footnote_block_open", "footnote_block_close"):
        markdown.add_render_rule(name, lambda *_: "")
    return markdown


_MARKDOWN = _markdown()


def _with_id(heading: re.Match[str]) -> str:
    """Give a heading the id of the attribute list at its end, such as `{#id}`."""
    stated = _ID.search(heading[3])
    id_ = f' id="{stated[1]}"' if stated else ""
    return f"<{heading[1]}{id_}>{heading[2].rstrip()}</{heading[1]}>"
