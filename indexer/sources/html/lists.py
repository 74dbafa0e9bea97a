"""Tells pages that lead to other pages of their site (lists of posts, archives) from posts."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from indexer.sources.html.content import Lengths, ancestors, text_length, top_articles

LISTS = frozenset(
    ("tag", "tags", "category", "categories", "author", "authors", "label", "labels", "archive")
) | {"archives", "series", "topics", "page", "drafts"}
"""Names of folders of lists, and of pages that list all tags and the like."""
_LIST_FOLDER = re.compile(rf"(?:^|.*-)(?:{'|'.join(sorted(LISTS))})")
"""Such as `tags` and `theme-tags`."""
_NUMBERED = re.compile(r"(?:^|/)(?:page|index)[-/]?\d+$")
PAGE_OF_LIST = re.compile(r"(?:^|/)page/\d+$")
_PERIOD = re.compile(r"(?:^|/)(?:19|20)\d\d(?:/\d{1,2}){0,2}$")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BULLETS = " \n\t*•–-"
_BESIDE = "nav a, aside a, footer a, form a"
_TITLE = 20
"""Characters of its own; a list that is described as a posting has no more than its name."""
_FEW = 60
"""Characters of its own; a post that is nothing but links has a sentence before them."""
_SHORT = 300
"""Characters of its own that introduce a list whose path does not say that it is one."""
_SHORT_NAMED = 1_000
"""The same where the path, or a feed of its own, says it."""
_MAX_LINKS = 5_000
"""Links that are looked at; each costs a way up through the elements that it is in."""
_LINKED_SHARE = 0.4
"""The part of an item's text that its link is, if the item is an entry of a list."""


@dataclass(frozen=True, slots=True)
class Entries:
    """How many entries a page has, the characters of their text, and those of all other text."""

    count: int
    text: int
    own_text: int


def is_list(
    oid: str,
    main: LexborNode,
    own: Lengths,
    target_of: Callable[[str], str],
    *,
    is_article: bool,
    is_posting: bool,
    is_fed: bool,
) -> bool:
    """Whether the page is there to lead to other pages of its site.

    The entries of a list are links to other pages of the site, with what is said of each; a post
    has a text of its own beside such links, and links to other sites are part of that.

    Args:
        own: the lengths of the page without its navigation.
        target_of: the oid of the page of the site that an address leads to, or "".
        is_article: whether the page calls itself an article; some themes say so of lists, too.
        is_posting: whether it is described as a posting, or the site's feed lists it.
        is_fed: whether the page has a feed of its own.
    """
    path = oid.lower()
    *folders, name = path.split("/")
    is_below = any(map(_LIST_FOLDER.fullmatch, folders))
    entries = _entries(main, own, oid, target_of, is_lenient=is_below or name in LISTS)
    if path == "index" and entries.count and entries.own_text < entries.text:
        return True  # a front page with the last post
    if is_posting and name not in LISTS:
        return entries.count >= 5 and entries.own_text < _TITLE
    if _PERIOD.search(path):
        targets = (target_of(link.attributes.get("href") or "") for link in main.css("a[href]"))
        if any(target.startswith(f"{oid}/") for target in targets):
            return True
    is_named = name in LISTS or bool(_NUMBERED.search(path) or _PERIOD.search(path))
    lengths = sorted(map(text_length, top_articles(main.css("article"))))
    if (
        not is_article
        and len(lengths) >= (2 if is_named else 3)
        and lengths[-1] <= sum(lengths) / 2
    ):
        return True
    is_empty = not entries.count and min(entries.own_text, own.unlinked) < _FEW
    if is_empty and not is_article and (is_named or is_fed or is_below):
        return True
    if is_named or is_fed:
        is_short = entries.own_text < (_SHORT if is_article else _SHORT_NAMED)
        return entries.count >= 1 and (is_short or entries.own_text < entries.text)
    if is_below:
        is_short = entries.own_text < _SHORT
        least = 3 if is_article else 1
        return entries.count >= least and (is_short or entries.own_text < entries.text)
    if is_article:
        return entries.count >= 5 and entries.own_text < _FEW
    return entries.count >= 3 and entries.own_text < max(_SHORT, entries.text / 4)


def _entries(
    main: LexborNode,
    own: Lengths,
    oid: str,
    target_of: Callable[[str], str],
    *,
    is_lenient: bool,
) -> Entries:
    """The entries of a list: items, articles and headings that are links to other pages.

    Args:
        is_lenient: an item is an entry if it begins with a link, however much follows.
    """
    beside = {node.mem_id for node in main.css(_BESIDE)}
    beside -= {node.mem_id for node in main.css("aside article a")}  # a featured post
    links = [
        (link, target)
        for link in main.css("a[href]")[:_MAX_LINKS]
        if link.mem_id not in beside and (target := target_of(link.attributes.get("href") or ""))
    ]
    menus = {_outer_list(link, main) for link, target in links if target == oid} - {0}
    blocks: dict[int, list[LexborNode]] = {}
    for link, target in links:
        if target != oid and (not menus or _outer_list(link, main) not in menus):
            block = _block(link, main, is_lenient=is_lenient)
            if block:
                blocks.setdefault(block[0].mem_id, block)
    covered = {node.mem_id for block in blocks.values() for node in block}
    outer = [
        block
        for block in blocks.values()
        if covered.isdisjoint(node.mem_id for node in ancestors(block[0], main))
    ]
    text = sum(text_length(node) for block in outer for node in block)
    return Entries(len(outer), text, max(0, own.text - text))


def _outer_list(link: LexborNode, main: LexborNode) -> int:
    """The outermost list that a link is in; 0 if it is in none.

    A list with a link to the page itself is a menu, whatever element it is in.
    """
    lists = [node.mem_id for node in ancestors(link, main) if node.tag in ("ul", "ol")]
    return lists[-1] if lists else 0


def _block(link: LexborNode, main: LexborNode, *, is_lenient: bool) -> list[LexborNode]:
    """The nodes of the entry that a link is the title of; none if it is a link in a text."""
    heading = next((node for node in link.css("h1, h2, h3, h4, h5, h6")), None)
    is_cover = not text_length(link) and link.css_first("img") is None
    for node in (link, *ancestors(link, main)):
        if node.tag in _HEADINGS:
            heading = node
        if node.tag in ("li", "tr", "dd", "dt", "p"):
            is_title = is_cover or heading is not None or node.css_first("time") is not None
            if is_lenient and node.tag == "li":
                is_title = is_title or node.text().strip(_BULLETS).startswith(
                    link.text().strip(_BULLETS)
                )
            return [node] if is_title or _is_most(link, node) else []
        if node.tag == "article":
            is_title = node.css_first("time") is not None and _is_most(link, node)
            return [node] if heading is not None or is_cover or is_title else []
    if heading is not None:
        return _section(heading, main)
    if not is_cover and link.css_first("img, div") is not None:
        return [link]  # a card
    if not is_cover or link.parent is None:
        return []
    is_alone = link.parent.mem_id != main.mem_id and len(link.parent.css("a[href]")) == 1
    return [link.parent if is_alone else link]


def _is_most(link: LexborNode, node: LexborNode) -> bool:
    return text_length(link) >= _LINKED_SHARE * text_length(node)


def _section(heading: LexborNode, main: LexborNode) -> list[LexborNode]:
    """The highest element without another such heading; else the heading, and what follows."""
    node, level = heading, heading.tag or ""
    while (
        node.parent is not None
        and node.parent.mem_id != main.mem_id
        and len(node.parent.css(level)) == 1
    ):
        node = node.parent
    if node.mem_id != heading.mem_id:
        return [node]
    section = [heading]
    following = heading.next
    while following is not None and following.tag not in _HEADINGS:
        section.append(following)
        following = following.next
    return section
