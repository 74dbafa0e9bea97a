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

_MENU = 600
"""Characters; a longer list of links may be what the page is about."""
_MOST = 0.7


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
    _drop_link_lists(body)
    return _densest(body) or body


def link_density(node: LexborNode) -> float:
    """The part of an element's text that is links, 0 to 1."""
    whole = _length(node)
    return min(1.0, sum(_length(link) for link in node.css("a")) / whole) if whole else 0.0


def _holds_content(node: LexborNode) -> bool:
    """A form around the whole page (ASP.NET), or an article that is called `related`."""
    return node.css_first("main, article, [role=main]") is not None


def _drop_link_lists(body: LexborNode) -> None:
    """Menus and "next, previous, up" of templates that do not call them navigation."""
    for node in body.css("header, div, ul, table, p"):
        if node.parent is None or len(node.css("a")) < 2 or _holds_content(node):
            continue
        if _length(node) < _MENU and link_density(node) > 0.5:
            node.remove()


def _densest(body: LexborNode) -> LexborNode | None:
    """The smallest element that holds most of the text, as far as it is not links.

    Found from the paragraphs: the parent with the most text in them, and from there upwards,
    because a long page often has a container for each of its sections.
    """
    scores: dict[int, float] = defaultdict(float)
    nodes: dict[int, LexborNode] = {}
    for paragraph in body.css(_TEXT):
        parent = paragraph.parent
        if parent is not None:
            nodes[parent.mem_id] = parent
            scores[parent.mem_id] += _unlinked(paragraph)
    if not scores:
        return None
    found: LexborNode | None = nodes[max(scores, key=lambda key: scores[key])]
    wanted = _MOST * _unlinked(body)
    while found is not None and found.tag != "body" and _unlinked(found) < wanted:
        found = found.parent
    return found


def _unlinked(node: LexborNode) -> float:
    return _length(node) * (1 - link_density(node))


def _length(node: LexborNode) -> int:
    return len("".join(node.text().split()))
