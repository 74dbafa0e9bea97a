"""Tells pages that lead to other pages of their site (lists of posts, archives) from posts."""

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from indexer.posts.dates import DATE_IN_TEXT
from indexer.posts.html_text import HEADINGS
from indexer.sources.html.content import Lengths, ancestors, text_length, top_nodes

LISTS = frozenset(
    ("tag", "tags", "category", "categories", "author", "authors", "label", "labels", "archive")
) | {"archives", "series", "topics", "page", "drafts", "genindex", "py-modindex"}
"""Names of folders of lists, and of pages that list all tags and the like."""
_LIST_FOLDER = re.compile(rf"(?:^|.*-)(?:{'|'.join(sorted(LISTS))})")
"""Such as `tags` and `theme-tags`."""
_PART_OF_LIST = re.compile(r"(?:^|/)(?:page|index)[-/]?\d+$")
_PERIOD = re.compile(r"(?:^|/)(?:19|20)\d\d(?:/\d{1,2}){0,2}$")
"""An archive of a year, a month or a day, if it leads to pages below it."""
_BULLETS = " \n\t*•–-"
_FEW = 60
"""Characters of its own; a post that is nothing but links has a sentence before them."""
_SHORT = 300
"""Characters of its own that introduce a list whose path does not say that it is one."""
_SHORT_NAMED = 1_000
"""The same where the path, or a feed of its own, says it."""
_LISTED = 3
"""Links to pages of lists on a page that is called as a list of lists is."""
_MAX_LINKS = 5_000
"""Links that are looked at; each costs a way up through the elements that it is in."""
_LINKED_SHARE = 0.4
"""The part of an item's text that its link is, if the item is an entry of a list."""


def is_list(
    oid: str,
    main: LexborNode,
    own: Lengths,
    target_of: Callable[..., str],
    *,
    is_front: bool,
    is_article: bool,
    is_fed: bool,
) -> bool:
    """Whether the page is there to lead to other pages of its site.

    The entries of a list are links to other pages of the site, with what is said of each; a post
    has a text of its own beside such links, and links to other sites are part of that.

    Args:
        own: the lengths of the page without its navigation.
        target_of: the oid of the page of the site that an address leads to, or ""; where the path
            does not say that it is a list, that must be certain.
        is_front: whether it is the front page, or that of a language.
        is_article: whether the page calls itself so, or the site's feed lists it; some themes say
            so of lists, too.
        is_fed: whether the page has a feed of its own.
    """
    path = oid.lower()
    *folders, name = path.split("/")
    is_below = any(map(_LIST_FOLDER.fullmatch, folders))
    is_named = is_fed or name in LISTS or bool(_PART_OF_LIST.search(path))
    if not is_named and _PERIOD.search(path):
        hrefs = [link.attributes.get("href") or "" for link in main.css("a[href]")[:_MAX_LINKS]]
        targets = (target_of(href, is_certain=False).lower() for href in hrefs)
        is_named = any(target.startswith(f"{path}/") for target in targets)
    is_hinted = is_named or is_below

    may_be_post = not is_hinted and not is_front

    def to_page(href: str) -> str:
        page = target_of(href, is_certain=may_be_post)
        is_label = may_be_post and not LISTS.isdisjoint(page.lower().split("/")[:-1])
        return "" if is_label else page  # a post has tags, a list of posts leads to posts

    entries = _entries(main, oid, to_page, is_lenient=is_below or name in LISTS)
    count, text = len(entries), sum(text_length(node) for entry in entries for node in entry)
    own_text = max(0, own.text - text)
    if folders[-1:] == ["page"] and name.isdigit():
        return True  # the second page of a list
    if name in LISTS and not is_article and own.unlinked < _SHORT_NAMED:
        hrefs = [link.attributes.get("href") or "" for link in main.css("a[href]")[:_MAX_LINKS]]
        others = {target_of(href, is_certain=False).lower() for href in hrefs} - {path}
        if sum(not LISTS.isdisjoint(other.split("/")[:-1]) for other in others) >= _LISTED:
            return True  # of all tags, whatever each stands in
    if is_front and count and own_text < text:
        return True  # a front page with the last post
    if is_article:
        if not is_hinted:
            return count >= 5 and own_text < _FEW
        return count >= (1 if is_named else 3) and own_text < _SHORT
    lengths = [text_length(node) for node in top_nodes(main.css("article"))]
    is_several = len(lengths) >= (2 if is_named else 3) and max(lengths) <= sum(lengths) / 2
    if is_several and sum(lengths) > own.text / 2:  # fewer are cards below a post
        return True
    if is_hinted:
        most = _SHORT_NAMED if is_named and not is_fed else _SHORT
        return own_text < max(most, text) if count else min(own_text, own.unlinked) < _FEW
    return count >= 3 and own_text < max(_SHORT, text / 4)


def _entries(
    main: LexborNode, oid: str, target_of: Callable[[str], str], *, is_lenient: bool
) -> list[list[LexborNode]]:
    """The nodes of each entry: an item, article or heading that is a link to another page.

    Args:
        is_lenient: an item is an entry if it begins with a link, however much follows.
    """
    beside = {node.mem_id for node in main.css("nav a, aside a, footer a, form a")}
    links = [
        (link, target)
        for link in main.css("a[href]")[:_MAX_LINKS]
        if link.mem_id not in beside and (target := target_of(link.attributes.get("href") or ""))
    ]
    # A list with a link to the page itself is a menu.
    menus = {_outer_list(link, main) for link, target in links if target == oid} - {0}
    blocks: dict[int, list[LexborNode]] = {}
    around = _Around(main)
    for link, target in links:
        is_other = target != oid and _outer_list(link, main) not in menus
        if is_other and (block := around.block(link, is_lenient=is_lenient)):
            blocks.setdefault(block[0].mem_id, block)
    covered = {node.mem_id for block in blocks.values() for node in block}
    return [
        block
        for block in blocks.values()
        if covered.isdisjoint(node.mem_id for node in ancestors(block[0], main))
    ]


def _outer_list(link: LexborNode, main: LexborNode) -> int:
    """The outermost list that a link is in; 0 if it is in none."""
    lists = [node.mem_id for node in ancestors(link, main) if node.tag in ("ul", "ol")]
    return lists[-1] if lists else 0


class _Around:
    """What is around links; each element is looked at once, however many links it has."""

    def __init__(self, main: LexborNode) -> None:
        self._main = main
        self._texts: dict[int, tuple[int, str]] = {}
        self._several: dict[tuple[int, str], bool] = {}

    def block(self, link: LexborNode, *, is_lenient: bool) -> list[LexborNode]:
        """The nodes of the entry that a link is the title of; none if it is a link in a text."""
        heading = link.css_first("h1, h2, h3, h4, h5, h6")
        length, start = self._text(link)
        is_card = not length or link.css_first("img, div") is not None
        for node in (link, *ancestors(link, self._main)):
            if node.tag in HEADINGS:
                heading = node
            if node.tag in ("li", "tr", "dd", "dt", "p", "article"):
                whole, beginning = self._text(node)
                is_title = length >= _LINKED_SHARE * whole or is_card or bool(heading)
                is_title = is_title or node.css_first("time") is not None
                if is_lenient and node.tag == "li":
                    is_title = is_title or beginning.startswith(start)
                return [node] if is_title else []
        if heading is not None:
            return self._section(heading)
        title = link.parent
        if title is not None and title.tag == "div" and length and self._text(title)[0] == length:
            card = title.parent  # the title stands in an element of its own
            first = card.css_first("a[href]") if card is not None else None
            is_card = first is not None and first.mem_id == link.mem_id
            is_card = is_card and card is not None and card.mem_id != self._main.mem_id
            return [card if is_card and card is not None else title]
        box = None if link.css_first("img") else link.parent
        if box is not None and box.mem_id != self._main.mem_id:
            titles = box.css("h2, h3, h4") if self._text(box)[0] < _SHORT_NAMED else []
            if not length or any(self._text(title) == (length, start) for title in titles):
                return [box]  # the link lies over all of it
        return [link] if is_card else []

    def _section(self, heading: LexborNode) -> list[LexborNode]:
        """The highest element without another such heading; else the heading, and what follows."""
        node, level = heading, heading.tag or ""
        for outer in ancestors(heading, self._main):
            place = outer.mem_id, level
            if place not in self._several:
                self._several[place] = len(outer.css(level)) > 1
            if self._several[place]:
                break
            node = outer
        section = [node]
        while node is heading and (following := section[-1].next) is not None:
            if following.tag in HEADINGS:
                break
            section.append(following)
        return section

    def _text(self, node: LexborNode) -> tuple[int, str]:
        """The length of the text of a node, and how it begins."""
        if node.mem_id not in self._texts:
            text = node.text()
            beginning = DATE_IN_TEXT.sub("", text.strip(_BULLETS)[:_SHORT], count=1)
            self._texts[node.mem_id] = len("".join(text.split())), beginning.lstrip(_BULLETS)
        return self._texts[node.mem_id]
