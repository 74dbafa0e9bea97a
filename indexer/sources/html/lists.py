"""Distinguishes lists of pages (lists of posts, archives) from posts."""

import re
from bisect import bisect
from collections.abc import Callable, Container, Iterable, Mapping

from selectolax.lexbor import LexborNode

from indexer.posts.html_text import HEADINGS
from indexer.sources.html.content import ANY_HEADING, Lengths, ancestors, top_nodes

_NAMES = """
all-posts all-tags all_posts all_tags archive archives author authors categories category drafts
genindex label labels page py-modindex series tag tags topics
"""
LISTS = frozenset(_NAMES.split())
"""Names of folders of lists, and of pages that list all tags, all authors and the like."""
_IN_LISTS = re.compile(
    rf"(?:^|[/-])(?:{'|'.join(sorted(LISTS - {'archive', 'archives'}))})/"
    r"|(?:^|/)archives?/(?:[^/]+/)*(?:(?:19|20)\d\d(?:[-_/]?\d\d?){0,2}|cat(?:egory)?_[^/]+)$"
    r"|(?:^|/)(?:tag_[^/]+|(?:page|index)[-/]?\d+)$"
)
"""Pages in folders such as `tags` and `theme-tags`, and such as `tag_rope`. Of `archives` only
periods and categories are lists: old blogs have posts there, too (`archives/000123`)."""
_PERIOD = re.compile(r"(?:^|/)(?:19|20)\d\d(?:/\d{1,2}){0,2}$")
"""The archive of a year, month or day, if it leads to pages below it."""
_FEW = 60
"""The minimum own text of a post of links, and the maximum text of an entry before its title."""
_SHORT = 300
"""The maximum length of the introduction of a list."""
_DATE = 20
"""The maximum length of what stands before the link of an entry, such as a date."""
_MAX_LINKS = 5_000
"""The maximum number of links examined; each costs a walk up through its ancestors."""
TITLES = ":is(h2, h3, h4, h5) a[href], a[href]:has(h2, h3, h4, h5)"
"""Links in the headings of entries."""
_ITEMS = ("li", "tr", "dd", "dt", "p", "article")
_LINKED_SHARE = 0.4
"""The share of an item's text that its link must have, if the item is an entry of a list."""
Link = tuple[LexborNode, str]
"""A link, or an element that contains one, and the oid of the page that it leads to."""
Span = tuple[int, int, str]
"""The start and the end of an entry, and the oid of the page that it leads to."""


def is_of_lists(oid: str) -> bool:
    """Whether a page is called like a list, or lies in a folder of lists."""
    path = oid.lower()
    return path.rpartition("/")[2] in LISTS or _IN_LISTS.search(path) is not None


def is_list(
    oid: str,
    main: LexborNode,
    lengths: Mapping[int, Lengths],
    target_of: Callable[[str], str],
    pages: Container[str],
    *,
    is_front: bool,
    is_fed: bool,
) -> bool:
    """Whether the page is a list of other pages of its site.

    The entries of a list are links to other pages of the site, with what is said about each. A post
    has text of its own beside such links; links to other sites are part of that text.

    Args:
        lengths: the lengths of the page's elements, without its navigation.
        target_of: returns the oid of the page of the site at an address, or "".
        pages: the oids of all pages, if known: unless its path suggests a list, only links to these
            count.
        is_front: whether it is the front page, or that of a language.
        is_fed: whether the page has a feed of its own.
    """
    path, own = oid.lower(), lengths[main.mem_id]
    if re.search(r"(?:^|/)page/\d+$", path):
        return True  # the second page of a list
    nodes = main.css("a[href]:not(nav *)")[:_MAX_LINKS]
    links = [(node, to) for node in nodes if (to := target_of(node.attributes["href"] or ""))]
    links = [link for link in links if not oid.startswith(f"{link[1]}/")]  # without breadcrumbs
    is_period = _PERIOD.search(path) and any(to.lower().startswith(f"{path}/") for _, to in links)
    is_paged = any(f"{oid}/page{mark}" in pages for mark in ("2", "-2", "/2", "3", "-3", "/3"))
    is_hinted = is_fed or is_paged or is_period or is_of_lists(path)
    if pages and not is_hinted and not is_front:
        links = [link for link in links if link[1] in pages and link[1] != "index"]
    posts: list[Link] = []
    labels: list[Link] = []
    for link in links:
        (labels if is_of_lists(link[1]) else posts).append(link)
    whole = [main, *ancestors(main)][-1]
    titles = whole.css("h1 a[href]") if is_hinted or is_front else []
    if _IN_LISTS.search(path):  # further below it is a card, or a heading of a post in a series
        titles += [n for n in main.css(TITLES)[:1] if lengths[n.mem_id].start <= _FEW]
    named = {target_of(node.attributes["href"] or "") for node in titles} - {"", "index", oid}
    if any(to in pages and not oid.startswith(f"{to}/") for to in named):
        return True  # perhaps of one post, all of it
    spans = _entries(main, posts, oid, lengths, is_lenient=is_hinted)
    if is_hinted or is_front:  # perhaps beside all tags, or a list of them
        spans = _outer(spans + _entries(main, labels, oid, lengths, is_lenient=True))
    count = len({target for _, _, target in spans})  # a menu may stand above and below a post
    text = sum(end - start for start, end, _ in spans)
    own_text = own.text - text
    tops = top_nodes(main.css("article"))
    headed = [node for node in tops if node.css_first("h1")]
    if len(headed) == 1 < len(tops) and not (is_hinted or is_front):
        return False  # a post beside cards
    articles = [lengths[node.mem_id].text for node in tops]
    if len(articles) >= (2 if is_hinted or is_front else 3) and sum(articles) >= own.text / 2:
        return True  # fewer are cards below a post
    if is_front and count and own_text < text:
        return True  # a front page with the last post
    if is_hinted:
        is_sure = count or is_fed or path in LISTS
        most = max(_SHORT, text) if is_sure else _FEW
        return min(own_text, own.unlinked) < most  # entries may be on other sites
    return count >= 3 and own_text < max(_SHORT, text / 4)


def _entries(
    main: LexborNode,
    links: list[Link],
    oid: str,
    lengths: Mapping[int, Lengths],
    *,
    is_lenient: bool,
) -> list[Span]:
    """Return the entries in the text of a list.

    An entry is the largest element that begins with the title of just one other page; a title is a
    link in a heading, or a link that is a large part of an item.
    """
    starts = sorted(lengths[node.mem_id].start for node in main.css(ANY_HEADING))
    starts.append(lengths[main.mem_id].end)
    terms = [lengths[node.mem_id].start for node in main.css("dt")]
    # A list with a link to the page itself is a menu.
    menus = {_outer_list(link, main) for link, target in links if target == oid} - {0}
    times = main.css("time, [class$=date]:not(:has(a))")
    dated = {outer.mem_id for time in times for outer in ancestors(time, main)}
    titles: list[Link] = []
    for link, target in links:
        around = [link, *ancestors(link, main)]
        heading = link.css_first(ANY_HEADING) or next(
            (n for n in around if n.tag in HEADINGS), None
        )
        item = next((node for node in around if node.tag in _ITEMS), None)
        is_title = True
        if item and not heading and item.mem_id not in dated:
            is_title = _is_title(link, item, lengths, is_lenient=is_lenient)
        if is_title and _outer_list(link, main) not in menus:
            titles.append((heading or item or link, target))
    several = _several(titles, main)
    spans: set[Span] = set()
    for block, target in titles:
        begins = lengths[block.mem_id].start
        for node in ancestors(block, main):
            if node.mem_id in several or begins - lengths[node.mem_id].start > _FEW:
                break
            block = node
        start, end = lengths[block.mem_id].start, lengths[block.mem_id].end
        if block.tag in HEADINGS:  # it ends at the next heading
            end = starts[bisect(starts, start, hi=len(starts) - 1)]
        elif block.tag == "dd":  # it begins with its date
            at = bisect(terms, start)
            start = terms[at - 1] if at else start
        spans.add((start, end, target))
    return _outer(spans)


def _outer(spans: Iterable[Span]) -> list[Span]:
    """Return the spans that are not inside another one, without what they share."""
    ends = 0
    outer = []
    for start, end, target in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > ends:
            outer.append((max(start, ends), end, target))
            ends = end
    return outer


def _several(titles: list[Link], main: LexborNode) -> set[int]:
    """Return the elements with titles of several pages."""
    first: dict[int, str] = {}
    several = {main.mem_id}
    for title, target in titles:
        for node in (title, *ancestors(title, main)):
            if first.setdefault(node.mem_id, target) != target:
                several.add(node.mem_id)
    return several


def _is_title(
    link: LexborNode, item: LexborNode, lengths: Mapping[int, Lengths], *, is_lenient: bool
) -> bool:
    """Whether a link is the title of an item, and not a word in its text."""
    if not link.text().strip():
        return True  # a picture
    own, whole = lengths[link.mem_id], lengths[item.mem_id]
    is_first = is_lenient and item.tag == "li" and own.start - whole.start < _DATE
    return is_first or own.text >= _LINKED_SHARE * whole.text


def _outer_list(link: LexborNode, main: LexborNode) -> int:
    """Return the outermost list around a link; 0 if there is none."""
    lists = [node.mem_id for node in ancestors(link, main) if node.tag in ("ul", "ol")]
    return lists[-1] if lists else 0
