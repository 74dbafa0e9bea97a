"""Markdown → HTML, without what site generators put between the words.

Liquid (`{% … %}`, `{{ … }}`), Hugo's shortcodes, MDX's imports and kramdown's attribute lists are
taken out, code in `{% highlight %}` becomes a code block. Inside fenced code nothing is touched:
there they are what the post is about.
"""

import re

from markdown_it import MarkdownIt

_RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

_HIGHLIGHT = "highlight"
_OWN_FENCE = "~~~~~~"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OPENS = re.compile(r"\{[%{]-?[<%]?\s*highlight\s+[\"']?([\w+#.-]+).*?[%}]\}")
_CLOSES = re.compile(r"\{[%{]-?[<%]?\s*(?:/\s*highlight|endhighlight)\s*[>%]?-?[%}]\}")
_TEMPLATE = re.compile(r"\{%.*?%\}|\{\{[<%]?.*?[>%]?\}\}|\{/\*.*?\*/\}")
_ATTRIBUTES = re.compile(r"\{:[^{}\n]*\}")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_MDX = re.compile(
    r"^(?:import\s.+from\s+['\"].*|import\s+['\"].*|export\s+(?:const|default|let)\s.*)$"
)


def rendered(text: str, *, mdx: bool = False) -> str:
    """The HTML of a post's Markdown."""
    html: str = _RENDERER.render("\n".join(_lines(text, mdx)))
    return html


def first_heading(text: str) -> tuple[str, str]:
    """The text of a leading `# heading`, and the Markdown behind it; ("", text) without one."""
    found = re.match(r"\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|$)", text)
    if found:
        return found[1], text[found.end() :]
    found = re.match(r"\s*(\S[^\n]*)\n=+[ \t]*(?:\n|$)", text)
    return (found[1], text[found.end() :]) if found else ("", text)


def _lines(text: str, mdx: bool) -> list[str]:
    lines = []
    fence = ""
    for line in text.split("\n"):
        if fence == _HIGHLIGHT:
            ends = _CLOSES.search(line)
            lines.append(_OWN_FENCE if ends else line)
            fence = "" if ends else fence
        elif fence:
            lines.append(line)
            fence = "" if _is_end(line, fence) else fence
        elif opened := _FENCE.match(line):
            lines.append(line)
            fence = opened[1]
        elif highlighted := _OPENS.search(line):
            lines += ["", f"{_OWN_FENCE}{highlighted[1]}"]
            fence = _HIGHLIGHT
        elif not (mdx and _MDX.match(line)):
            lines.append(_FOOTNOTE.sub("", _ATTRIBUTES.sub("", _TEMPLATE.sub("", line))))
    return lines


def _is_end(line: str, fence: str) -> bool:
    """A closing fence is of the same character, at least as long, and alone on its line."""
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0])
