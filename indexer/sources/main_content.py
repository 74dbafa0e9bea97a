"""The part of an HTML page that its author wrote, without the navigation around it.

Templates of today say it with `<main>` and `<article>`; for the others, the element whose
paragraphs hold the most text that is not links. Larger libraries for this (trafilatura,
readability-lxml) bring lxml and a dozen more packages; docs/sources.md tells how they compare.
"""

from collections import defaultdict

from selectolax.lexbor import LexborHTMLParser, LexborNode

_SAID = (
    "[itemprop=articleBody]",
    "article",
    "main",
    "[role=main]",
    "#content",
)
_AROUND = ", ".join(
    (
        *("nav", "aside", "footer", "form", "dialog", "[hidden]", "[aria-hidden=true]"),
        *("[role=navigation]", "[role=search]", "[role=complementary]", "[role=contentinfo]"),
        *(".headerlink", ".header-anchor", ".anchor-link", ".heading-anchor", ".permalink"),
        *(".toc", "#toc", ".table-of-contents", "#TOC", ".contents.topic", ".breadcrumb"),
        *(".breadcrumbs", ".pagination", ".pager", ".post-navigation", ".nav-links", ".sidebar"),
        *(".sphinxsidebar", ".related", ".related-posts", ".share", ".sharedaddy", ".social"),
        *("#comments", ".comments", "#disqus_thread", ".skip-link", ".screen-reader-text"),
        *(".post-meta", ".entry-meta", ".byline", ".footnote-backref", ".cookie-banner"),
    )
)
_TEXT = "p, pre, blockquote, dd, li, td"
_ENOUGH = 140
"""Characters; fewer in what a template calls the article, and it means something else."""


def main_content(page: LexborHTMLParser) -> LexborNode | None:
    """The element with the content; what stands around it is gone from the page afterwards."""
    body = page.body
    if body is None:
        return None
    for node in body.css(_AROUND):
        if node.parent is not None and not _holds_content(node):
            node.remove()
    for selector in _SAID:
        found = max(body.css(selector), key=_length, default=None)
        if found is not None and _length(found) >= _ENOUGH:
            return found
    for node in body.css("header"):
        if node.parent is not None:
            node.remove()
    return _densest(body) or body


def link_density(node: LexborNode) -> float:
    """The part of an element's text that is links, 0 to 1."""
    whole = _length(node)
    return min(1.0, sum(_length(link) for link in node.css("a")) / whole) if whole else 0.0


def _holds_content(node: LexborNode) -> bool:
    """A form around the whole page (ASP.NET), or an article that is called `related`."""
    return node.css_first("main, article, [role=main]") is not None


def _densest(body: LexborNode) -> LexborNode | None:
    """The parent whose paragraphs have the most text; a grandparent has half of it."""
    scores: dict[int, float] = defaultdict(float)
    nodes: dict[int, LexborNode] = {}
    for paragraph in body.css(_TEXT):
        length = _length(paragraph) * (1 - link_density(paragraph))
        if length < 25:
            continue
        share = length
        parent = paragraph.parent
        for _ in range(3):
            if parent is None or parent.tag in ("html", "-document"):
                break
            nodes[parent.mem_id] = parent
            scores[parent.mem_id] += share
            share /= 2
            parent = parent.parent
    best = max(scores, key=lambda key: scores[key], default=None)
    return None if best is None else nodes[best]


def _length(node: LexborNode) -> int:
    return len("".join(node.text().split()))
