"""The part of an HTML page that its author wrote, without the navigation and comments around it.

Templates of today mark it with `<main>` and `<article>`; for others it is the element whose
paragraphs hold the most text that is not links. docs/sources.md compares this with trafilatura.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MARKED = ("[itemprop=articleBody]", "article", "main", "[role=main]", "#content")
_COMMENTS = """
#comments, .comments, .comments-area, .comment-list, .commentlist, #respond, #disqus_thread,
.giscus, .utterances, .webmentions, #webmentions, .u-comment, #comment-section, .comment-section,
[itemtype$="schema.org/Comment"], article.comment, li.comment, div.comment, [itemprop=comment]
"""
_AROUND = """
nav, aside, footer, form, dialog, [hidden], [aria-hidden=true],
[role=navigation], [role=search], [role=complementary], [role=contentinfo],
.headerlink, .header-anchor, .anchor-link, .heading-anchor, .permalink,
.toc, #toc, .table-of-contents, #TOC, .contents.topic, #markdown-toc,
[class*=table-of-contents i], [id*=table-of-contents i], [id=TableOfContents],
[class*=reading-time i], [class*=readtime i], [class*=read-time i], .article-time--reading,
a[rel~=prev], a[rel~=next], [class*=prev-next i], [class*=nextprev i],
[class*=pagination i], [class*=post-nav i], [class*=prevnext i], .pagenavigation,
[class*=codeblocktitle i], figure.highlight > figcaption, button, span.lang,
[class*=skip-link i], [class*=skiplink i], [class*=skip-nav i], [class*=cookie i],
[class*=breadcrumb i], [id*=breadcrumb i], [aria-label*=breadcrumb i],
[itemtype$="schema.org/BreadcrumbList"], .pager, .post-navigation, .nav-links, .sidebar,
.sphinxsidebar, .related, .related-posts, .share, .sharedaddy, .social,
.skip-link, .screen-reader-text, .post-meta, .entry-meta, .byline,
.footnote-backref, .cookie-banner, .sourceline, .commentline,
[role=banner], [itemtype$="schema.org/WPHeader"], header:has(nav):not(:has(h1))
"""
_IN_HEADINGS = ", ".join(f"h{level} a[href*='#']:not([id]):not([name])" for level in range(1, 7))
_TEXT = "p, pre, blockquote, dd, li, td"
_MIN_MARKED = 140
"""Characters; an element with fewer that a template calls the article means something else."""

_MAX_MENU = 600
"""Characters; a longer list of links may be what the page is about."""
_MAX_CARD = 600
"""Characters of an article that only announces another page."""
_MIN_SHARE = 0.7
"""The share of the page's text that the densest element must hold."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Characters of text without white space, those of them inside links, and the links."""

    text: int
    linked: int
    links: int

    @property
    def unlinked(self) -> int:
        return self.text - self.linked

    @property
    def link_share(self) -> float:
        return self.linked / self.text if self.text else 0.0


_NONE = Lengths(0, 0, 0)
_NOT_OWN = frozenset(
    ("script", "style", "template", "header", "nav", "aside", "footer", "form", "dialog")
)


def remove_comments(page: LexborHTMLParser) -> None:
    """Remove the visitors' comments, also those that a theme wraps in `<article>`."""
    for node in page.css(_COMMENTS):
        # Not an element around the whole post that is only called so.
        if node.parent is not None and node.css_first("h1, main") is None:
            node.remove()


def remove_cards(page: LexborHTMLParser) -> None:
    """Remove short articles with a link, such as "Related", beside or inside the main article."""
    articles = page.css("article")
    lengths = {node.mem_id: text_length(node) for node in articles}
    longest = max(articles, key=lambda node: lengths[node.mem_id], default=None)
    if longest is None:
        return
    shorter = [node for node in articles if node.mem_id != longest.mem_id]
    if lengths[longest.mem_id] > sum(lengths[node.mem_id] for node in top_articles(shorter)):
        for node in shorter:
            if node.parent is not None and lengths[node.mem_id] < _MAX_CARD and _is_card(node):
                node.remove()


def _is_card(article: LexborNode) -> bool:
    """Whether a short article announces another page: its heading, or much of it, is a link."""
    headings = article.css("h1 a, h2 a, h3 a, h4 a, a h1, a h2, a h3, a h4")
    links = article.css("a[href]")
    is_covered = any(not text_length(node) and node.css_first("img") is None for node in links)
    return bool(headings) or is_covered or link_share(article) > 0.25


def is_beside_content(node: LexborNode) -> bool:
    """Whether a node is in a menu, or in an article inside another."""
    tags = [ancestor.tag for ancestor in ancestors(node)]
    return "nav" in tags or "aside" in tags or tags.count("article") > 1


def main_content(page: LexborHTMLParser, selector: str = "") -> LexborNode | None:
    """The element with the content; what is around it is removed from the page.

    Args:
        selector: the CSS selector of this element, if the user has named one.
    """
    body = page.body
    if body is None:
        return None
    if selector and (chosen := page.css_first(selector)) is not None:
        return chosen
    remove_comments(page)
    for node in body.css(_AROUND):
        if node.parent is not None and not _holds_content(node):
            node.remove()
    for node in body.css(_IN_HEADINGS):
        if not any(map(str.isalnum, node.text())) and node.css_first("img") is None:
            node.remove()  # "#", "¶" or a link sign, which leads to the heading itself
    lengths = _measure(body)
    for selector in _MARKED:
        nodes = body.css(selector)
        if not nodes:
            continue
        longest = max(nodes, key=lambda node: lengths[node.mem_id].text)
        length = lengths[longest.mem_id].text
        # Sections of one page may be articles, too: none of them is the content.
        all_articles = sum(lengths[node.mem_id].text for node in top_articles(nodes))
        if length >= _MIN_MARKED and (selector != "article" or length > 0.6 * all_articles):
            _remove_path(longest, lengths)
            return longest
    for selector in ("main", "[role=main]", "article"):
        nodes = body.css(selector)
        if len(nodes) == 1 and lengths[nodes[0].mem_id].text:
            return nodes[0]  # a short post
    _remove_link_lists(body, lengths)
    return _densest(body, _measure(body)) or body


def top_articles(nodes: list[LexborNode]) -> list[LexborNode]:
    """Those of the nodes that are not inside another of them; they are in document order."""
    known = {node.mem_id for node in nodes}
    return [
        node for node in nodes if not any(ancestor.mem_id in known for ancestor in ancestors(node))
    ]


def ancestors(node: LexborNode, below: LexborNode | None = None) -> Iterator[LexborNode]:
    """The elements that a node is in, from the inside, up to one that is not among them."""
    parent = node.parent
    while parent is not None and (below is None or parent.mem_id != below.mem_id):
        yield parent
        parent = parent.parent


def text_length(node: LexborNode) -> int:
    """Characters of text without white space."""
    return len("".join(node.text().split()))


def link_share(node: LexborNode) -> float:
    """The part of an element's text that is links, 0 to 1."""
    return _measure(node)[node.mem_id].link_share


def own_lengths(node: LexborNode | None) -> Lengths:
    """The lengths of an element without the scripts, navigation, footers and forms in it."""
    return _measure(node, _NOT_OWN)[node.mem_id] if node else _NONE


def _holds_content(node: LexborNode) -> bool:
    """A form around the whole page (ASP.NET), or an article that is called `related`."""
    return node.css_first("main, article, [role=main]") is not None


def _measure(root: LexborNode, skipped: frozenset[str] = frozenset()) -> dict[int, Lengths]:
    """The lengths of every element, in one pass: asking each for its text would be quadratic."""
    lengths: dict[int, Lengths] = defaultdict(lambda: _NONE)
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    open_sums: list[list[int]] = [[0, 0, 0]]
    while stack:
        node, is_end = stack.pop()
        if is_end:
            text, linked, links = open_sums.pop()
            linked, links = (text, links + 1) if node.tag == "a" else (linked, links)
            lengths[node.mem_id] = Lengths(text, linked, links)
            open_sums[-1][0] += text
            open_sums[-1][1] += linked
            open_sums[-1][2] += links
            continue
        if node.tag == "-text":
            open_sums[-1][0] += len("".join((node.text_content or "").split()))
            continue
        if node.tag in skipped:
            continue
        open_sums.append([0, 0, 0])
        stack.append((node, True))
        children = []
        child = node.first_child
        while child is not None:
            children.append((child, False))
            child = child.next
        stack += reversed(children)
    return lengths


def _remove_path(main: LexborNode, lengths: dict[int, Lengths]) -> None:
    """The path to the page above its heading, in a theme that does not call it breadcrumbs."""
    nodes = main.css("h1, ol, ul")
    before = list(takewhile(lambda node: node.tag != "h1", nodes))
    if len(before) < len(nodes):
        for node in before:
            length = lengths[node.mem_id]
            if node.parent is not None and length.text < _MAX_MENU and length.link_share > 0.7:
                node.remove()


def _remove_link_lists(body: LexborNode, lengths: dict[int, Lengths]) -> None:
    """Menus and "next, previous, up" of templates that do not mark them as navigation."""
    for node in body.css("header, div, ul, table, p"):
        length = lengths[node.mem_id]
        if (
            node.parent is not None
            and 0 < length.text < _MAX_MENU
            and length.link_share > 0.5
            and len(node.css("a")) > 1
            and not _holds_content(node)
        ):
            node.remove()


def _densest(body: LexborNode, lengths: dict[int, Lengths]) -> LexborNode | None:
    """The smallest element that holds most of the text outside links.

    Found from the parent whose paragraphs hold the most text, and from there upwards, because a
    long page often has a container for each of its sections.
    """
    scores: dict[int, int] = defaultdict(int)
    nodes: dict[int, LexborNode] = {}
    for paragraph in body.css(_TEXT):
        parent = paragraph.parent
        if parent is not None:
            nodes[parent.mem_id] = parent
            scores[parent.mem_id] += lengths[paragraph.mem_id].unlinked
    if not scores:
        return None
    element: LexborNode | None = nodes[max(scores, key=lambda key: scores[key])]
    enough = _MIN_SHARE * lengths[body.mem_id].unlinked
    while (
        element is not None and element.tag != "body" and lengths[element.mem_id].unlinked < enough
    ):
        element = element.parent
    return element
