"""The text of an HTML page that its visitor sees, without what the pages of the site repeat.

What decides is what an element holds: links to other places, a date and nothing else, fields to
fill in, or what other pages have, too. Classes, ids and roles only add to that evidence. What is
left out is counted, for `blogsearch try`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.html_text import BLOCKS, UNSEEN, one_line

Node = LexborNode
Repeated = Mapping[str, float]
"""The share of the pages of the site that has a text, for those that at least three have."""

_NAVIGATION = re.compile(
    r"nav|menu|breadcrumb|pag(?:er|inat)|prev|next|\btoc|toc\b|table-?of-?contents|sidebar|related"
    r"|shar(?:e|ing)|social|skip|crumbs"
)
_AUTHOR = re.compile(r"author|\bbio\b|h-card|vcard|byline|about-me")
_METADATA = re.compile(
    r"(?<![a-z])(?:meta|metadata|date|dateline|published|posted|byline|submitted|updated|timestamp"
    r"|reading-?time)(?![a-z])"
)
_REQUEST = re.compile(r"cookie|consent|newsletter|subscri|sign-?up|feedback|helpful|promo|banner")
_UNHEARD = "[class*=sr-only], [class*=screen-reader], [class*=visually]"
"""What such elements are often called: one half of the evidence against them."""

_IGNORED = "[data-pagefind-ignore], [data-search-exclude]"
_AROUND_LABELS = ("span", "div", "footer", "ul", "li", "small")
_WHOLES = "h1, main, article"
_BOXES = ("div", "nav", "aside", "section", "header", "details")
_SAID = (
    "form, textarea, time, [datetime], iframe, article, #disqus_thread, "
    "li[class*=comment i], div[class*=comment i] div[class*=comment i]"
)
_BLOCKS_OF_COMMENTS = ("div", "section", "ol", "ul", "li", "aside", "footer", "article")
_PARTS = (
    "div, p, section, ul, ol, li, nav, aside, header, footer, table, dl, form, address, blockquote,"
    " details, article, h1, h2, h3, h4, h5, h6"
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_DATED = "time, [itemprop=datePublished], [itemprop=dateModified], .published, .dt-published"
_KEPT = f"p, h1, pre, img, {_DATED}"
_LINES = "p, div, abbr, span, time, ul, li, dl, header, footer, section, small, a"
_UPDATED = re.compile(
    r"\bupdat|\bmodif|\brevis|\bedited|\bchanged|aktualis|geändert|bearbeit"
    r"|mis à jour|actuali|bijgewerkt|обновл|измен|更新|修改|最后|編集",
    re.IGNORECASE,
)
_MONTH = r"[^\W\d_]{3,12}\.?"
TEXT_DATE = re.compile(
    rf"\b(?:\d{{4}}[-./年]\s?\d{{1,2}}[-./月]\s?\d{{1,2}}日?(?!\d)|\d{{1,2}}[-./]\d{{1,2}}[-./]\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de )?{_MONTH},? (?:de )?\d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}})"
    r"(?:,? (?:at )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?)?",
    re.IGNORECASE,
)
_READING_TIME = re.compile(
    r"(?:\d+|one)[\s-]min(?:ute)?s?\b.{0,3}\bread|(?:tags?|category|categories)\s*:?", re.IGNORECASE
)
_SHORT = 200
"""Characters; a line about a post has fewer."""
_NOTE = 600
"""Characters; a menu, a card or a note about the author has fewer."""
_TEXTS = 600
"""Characters; a longer text that pages repeat is made of shorter ones."""
_MOST = 0.5
"""The share of the pages that makes a text the site's wherever it stands."""
_MANY = 0.1
"""The share that makes it the site's at the end of a text."""
_WHOLE = 0.9
"""The share of the text of `main` that an article must have to be all of it."""


class Lengths(NamedTuple):
    """Characters without white space: those before an element, in it, and in its links; and how
    many links it has."""

    start: int
    text: int
    linked: int
    links: int

    @property
    def unlinked(self) -> int:
        return self.text - self.linked

    @property
    def link_share(self) -> float:
        return self.linked / self.text if self.text else 0.0


_NONE = Lengths(0, 0, 0, 0)
_NOT_OWN = UNSEEN | {"header", "nav", "aside", "footer", "form", "dialog"}


def measure(root: Node, skipped: frozenset[str] = UNSEEN) -> dict[int, Lengths]:
    """The lengths of every element, in one pass: asking each for its text would be quadratic."""
    lengths: dict[int, Lengths] = defaultdict(lambda: _NONE)
    stack: list[Node | None] = [root]
    opened: list[tuple[Node, int, int, int]] = []
    text = linked = links = 0
    while stack:
        node = stack.pop()
        if node is None:
            node, *before = opened.pop()
            if node.tag == "a":
                linked, links = before[1] + text - before[0], links + 1
            lengths[node.mem_id] = Lengths(
                before[0], text - before[0], linked - before[1], links - before[2]
            )
            continue
        tag = node.tag or ""
        if tag == "-text":
            text += len("".join((node.text_content or "").split()))
            continue
        if tag in skipped:
            continue
        if tag == "pre":  # a highlighter makes hundreds of elements of it
            length = text_length(node)
            lengths[node.mem_id] = Lengths(text, length, 0, 0)
            text += length
            continue
        opened.append((node, text, linked, links))
        stack.append(None)
        child = node.last_child
        while child is not None:
            stack.append(child)
            child = child.prev
    return lengths


def own_lengths(node: Node | None) -> Lengths:
    """The lengths of an element without the scripts, navigation, footers and forms in it."""
    return measure(node, _NOT_OWN)[node.mem_id] if node else _NONE


def text_length(node: Node) -> int:
    """Characters of text without white space."""
    return len("".join(node.text().split()))


def ancestors(node: Node, below: Node | None = None) -> Iterator[Node]:
    """The elements that a node is in, from the inside, up to one that is not among them."""
    parent = node.parent
    while parent is not None and (below is None or parent.mem_id != below.mem_id):
        yield parent
        parent = parent.parent


def top_articles(nodes: list[Node]) -> list[Node]:
    """Those of the nodes that are not inside another of them; they are in document order."""
    known = {node.mem_id for node in nodes}
    return [node for node in nodes if known.isdisjoint(outer.mem_id for outer in ancestors(node))]


def texts_of(page: LexborHTMLParser) -> set[str]:
    """The texts of the blocks of a page, by which those are found that pages repeat."""
    body = _with_text_only(page)
    if body is None:
        return set()
    lengths = measure(body)
    blocks = (node for node in body.css(_PARTS) if 0 < lengths[node.mem_id].text <= _TEXTS)
    return {one_line(node.text()) for node in blocks}


def _with_text_only(page: LexborHTMLParser) -> Node | None:
    """The body without what is never shown."""
    page.strip_tags(["script", "style", "noscript", "template"])
    return page.body


def dates_in(body: Node) -> Iterator[str]:
    """The dates that a page shows: marked as such, or in a line about it."""
    for node in body.css(_DATED):
        yield from values_of(node)
    for node in body.css("div, p, li, h2, h3, h4, small, footer span"):
        if len(text := node.text(deep=False).strip()) < 60 and (date := TEXT_DATE.search(text)):
            yield date[0]


def _outside_links(node: Node) -> str:
    """The text of an element without that of its links."""
    text = one_line(node.text())
    for link in node.css("a"):
        text = text.replace(one_line(link.text()), "", 1)
    return text


def values_of(node: Node) -> Iterator[str]:
    """What an element with a date says: its attributes, then its text."""
    given = node.attributes
    yield from filter(None, (given.get(name) for name in ("datetime", "content", "title")))
    yield one_line(node.text())


def names_of(node: Node) -> str:
    """What an element is called: its role, classes, ids and label."""
    given = node.attributes
    names = ("role", "class", "id", "aria-label", "itemtype", "itemprop")
    return " ".join(filter(None, map(given.get, names))).lower()


def remove_comments(body: Node) -> int:
    """Remove what visitors have said; return its characters.

    It is called so, and has a form, or the time of each, or is made of what is called so, too.
    """
    removed = 0
    for node in body.css(
        "[class*=comment i], [id*=comment i], [itemtype*=Comment], [class*=mention]"
    ):
        is_said = "schema.org/comment" in names_of(node) or node.css_matches(_SAID)
        is_block = node.tag in _BLOCKS_OF_COMMENTS and node.parent is not None
        if is_said and is_block and not node.css_matches("h1, main"):
            removed += text_length(node)
            node.remove()
    return removed


class Content:
    """The content of a parsed page, which is modified.

    Args:
        page: the page, from which comments and cards of other pages are removed at once.
        repeated: what the pages of the site repeat.
        excluded: CSS selectors of elements that the user has excluded.

    Attributes:
        root: the element with the content; None if the page has no body.
        left_out: characters that are left out, by what they were taken for.
        dates: dates of the post as the page shows them, the likeliest first.
        updated: dates of a change.
    """

    def __init__(
        self, page: LexborHTMLParser, repeated: Repeated, excluded: tuple[str, ...] = ()
    ) -> None:
        self.root: Node | None = page.body
        self.left_out: Counter[str] = Counter()
        self.dates: list[str] = []
        self.updated: list[str] = []
        self._page = page
        self._is_marked = False
        self._title_at = 0
        self._repeated = repeated
        self._lengths: dict[int, Lengths] = {}
        body = _with_text_only(page)
        if body is None:
            return
        self._lengths = measure(body)
        for selector in excluded:
            for node in page.css(selector):
                self._remove(node, "excluded by blogsearch.toml")
        self._remove_ignored(body)
        self._remove_cards(body)

    # -- the element -----------------------------------------------------------------------------

    def find(self, selector: str = "") -> None:
        """Find the element with the content, and remove what is around the text in it.

        Args:
            selector: the CSS selector of this element, if the user has named one.
        """
        body = self._page.body
        if body is None:
            return
        if selector and (chosen := self._page.css_first(selector)) is not None:
            self.root = chosen
            return
        for node in body.css(
            "nav, div, section, ul, ol, p, dl, form, dialog, header, aside, a[rel]"
        ):
            if reason := self._why_beside(node):
                self._remove_around(node, reason)
        marked = self._marked(body)
        self._is_marked = marked is not None
        self.root = marked or body
        for node in body.css("body > header, body > footer") if marked is None else ():
            if self._lengths[node.mem_id].text < _NOTE and not node.css_matches("h1"):
                self._remove(node, "around the content")
        self._remove_tools(self.root)
        self._note_dates_above(body)
        whole = self._lengths[body.mem_id].text
        self.left_out["around the content"] += whole - self._lengths[self.root.mem_id].text

    def _marked(self, body: Node) -> Node | None:
        """The element that the template marks as the content, if there is just one."""
        if body.css_matches("[data-pagefind-body]"):
            return body.css_first("[data-pagefind-body]")
        main: Node | None = None
        for selector in ("main", "[role=main]"):
            nodes = [node for node in body.css(selector) if self._lengths[node.mem_id].text]
            longest = max(nodes, key=lambda node: self._lengths[node.mem_id].text, default=None)
            main = main or longest
        outer = main or body
        own: dict[int, Lengths] = {}
        for selector in ("[itemprop=articleBody]", "article", "#content"):
            nodes = top_articles(outer.css(selector))
            if len(nodes) == 1:
                own = own or measure(outer, _NOT_OWN)
                length = own[nodes[0].mem_id].unlinked
                if length and length >= _WHOLE * own[outer.mem_id].unlinked:
                    return nodes[0]
        return main

    def _note_dates_above(self, body: Node) -> None:
        """Keep the dates that stand before the content, as some themes have them."""
        start = self._lengths[self.root.mem_id].start if self.root else 0
        for node in body.css(f"{_DATED}, [class]"):
            size = self._lengths[node.mem_id]
            if not 0 < size.text < _SHORT or size.start + size.text > start:
                continue
            is_beside = any(
                outer.tag in ("nav", "aside", "footer")
                or (outer.tag == "article" and self._end(outer) <= start)
                for outer in ancestors(node)
            )
            if not is_beside and self._why_line(node, is_end=False) == "date":
                self._note_dates(node)

    def _end(self, node: Node) -> int:
        size = self._lengths[node.mem_id]
        return size.start + size.text

    def _remove_ignored(self, body: Node) -> None:
        """What the page asks to leave out of a search: an element, or what a heading begins."""
        for node in body.css(_IGNORED):
            if node.tag in _HEADINGS:
                following = node.next
                while following is not None and (
                    following.tag not in _HEADINGS or (following.tag or "") > node.tag
                ):
                    gone, following = following, following.next
                    gone.remove()
            self._remove(node, "asks to be left out")

    def _remove_cards(self, body: Node) -> None:
        """Short articles with a link, such as "Related", beside or inside the main article."""
        articles = body.css("article")
        size = {node.mem_id: self._lengths[node.mem_id].text for node in articles}
        longest = max(articles, key=lambda node: size[node.mem_id], default=None)
        if longest is None:
            return
        others = [node for node in articles if node.mem_id != longest.mem_id]
        if size[longest.mem_id] > sum(size[node.mem_id] for node in top_articles(others)):
            for node in others:
                if size[node.mem_id] < _NOTE and self._is_card(node):
                    self._remove_around(node, "other pages")

    def _is_card(self, article: Node) -> bool:
        """Whether a short article announces another page: its heading, or much of it, is a link."""
        links = article.css("a[href]")
        is_covered = any(not text_length(node) and not node.css_matches("img") for node in links)
        is_titled = article.css_matches("h1 a, h2 a, h3 a, h4 a, a h1, a h2, a h3, a h4")
        return is_covered or is_titled or self._lengths[article.mem_id].link_share > 0.25

    # -- what is beside the text -----------------------------------------------------------------

    def _why_beside(self, node: Node) -> str:
        """What an element is, if it is not a part of the text: it leads elsewhere, or asks."""
        size = self._lengths[node.mem_id]
        is_away = size.link_share > _MOST
        if not size.text or (size.text >= _NOTE and not is_away) or node.css_matches(_WHOLES):
            return ""
        if node.tag == "a":
            is_turn = {"prev", "next"} & set((node.attributes.get("rel") or "").split())
            return "navigation" if is_turn else ""
        if node.tag in ("form", "dialog"):
            is_asking = node.css_matches("input, textarea, select, button")
            return "forms" if is_asking and size.text < _SHORT else ""
        names = f"{node.tag} {names_of(node)}"
        if size.text < _NOTE and _REQUEST.search(names) and node.css_matches("button, input, form"):
            return "requests"
        most = _SHORT if node.tag == "nav" else 30
        leads_away = size.links and (is_away or size.unlinked < most)
        if leads_away and _NAVIGATION.search(names):
            return "navigation"
        if not is_away:
            return ""
        links = [link.attributes.get("href") or "" for link in node.css("a[href]")]
        is_inside = len(links) > 1 and all(link[:1] == "#" for link in links)
        return "table of contents" if size.link_share > 0.8 and is_inside else ""

    def _remove_around(self, node: Node, reason: str) -> None:
        """Remove an element, and what holds nothing else but a few words that introduce it."""
        size = self._lengths[node.mem_id]
        root = self.root.mem_id if self.root else 0
        for outer in ancestors(node):
            rest = self._lengths[outer.mem_id].text - size.text
            if outer.tag not in _BOXES or outer.mem_id == root or rest >= 30:
                break
            if outer.css_matches("h1, pre, p, img"):
                break
            node = outer
        self._remove(node, reason)

    def _remove(self, node: Node, reason: str) -> None:
        if node.parent is None:
            return
        size = self._lengths[node.mem_id]
        self.left_out[reason] += size.text
        for outer in ancestors(node):
            old = self._lengths[outer.mem_id]
            self._lengths[outer.mem_id] = Lengths(
                old.start, old.text - size.text, old.linked - size.linked, old.links - size.links
            )
        node.remove()

    @property
    def html(self) -> str:
        """The content as HTML; "" if there is none."""
        return (self.root.html if self.root else "") or ""

    @property
    def lone_date(self) -> list[str]:
        """The only date that stands alone outside the content, as in a sidebar."""
        dates = set()
        for node in (
            self._page.css("div, p, h2, h3, h4, h2 span, div > span") if not self.dates else ()
        ):
            text = node.text(deep=False).strip()
            if TEXT_DATE.fullmatch(text):
                tags = {outer.tag for outer in ancestors(node)}
                dates |= set() if tags & {"footer", "nav", "pre", "main"} else {text}
        return list(dates) if len(dates) == 1 else []

    # -- inside the content ----------------------------------------------------------------------

    def tidy(self, title: str, labels: list[Node]) -> None:
        """Remove the title, the lines about the post, and what other pages repeat.

        Args:
            labels: links to the pages of the tags of the post.
        """
        root = self.root
        if root is None:
            return
        self._lengths = measure(root)
        headings = root.css("h1")
        self._title_at = self._lengths[headings[0].mem_id].start if len(headings) == 1 else 0
        known = {node.mem_id for node in labels}
        for node in labels:
            if node.parent is None or node.parent.tag == "p":
                continue
            for outer in ancestors(node, root):  # with "Posted in" before them
                is_more = self._lengths[outer.mem_id].unlinked > 25 or outer.css_matches(_KEPT)
                if outer.tag not in _AROUND_LABELS or is_more:
                    break
                if not known.issuperset(link.mem_id for link in outer.css("a")):
                    break
                node = outer
            self._remove(node, "labels")
        self._remove_lines(root, title)
        for heading in root.css("h1, h2"):
            if one_line(heading.text()) == title:
                self._remove(heading, "title")
        if self._repeated:
            for node in root.css(_PARTS):
                if self._is_repeated_anywhere(node):
                    self._remove(node, "repeated on other pages")
        for is_end in (False, True):
            self._trim(root, is_end=is_end)
        del self.left_out["title"]

    def _remove_tools(self, root: Node) -> None:
        """Signs, the labels of tabs and of code, and links of a heading to itself."""
        has_tabs = root.css_matches("[role=tabpanel]")
        radios = {node.attributes.get("id") for node in root.css("input[type=radio]")} - {None}
        for node in root.css("label, [role=tab], [class*=language-] > span.lang, a[href^='#']"):
            if node.tag == "label":
                is_tool = node.attributes.get("for") in radios or node.css_matches("[type=radio]")
            elif node.tag == "a" and node.attributes.get("role") != "tab":
                is_tool = self._is_sign(node)
            else:
                is_tool = has_tabs or node.tag == "span"
            if is_tool and node.parent is not None:
                self._remove(node, "controls")
        for node in root.css(_UNHEARD):
            if self._lengths[node.mem_id].text < 60:
                self._remove(node, "not shown")

    def _is_sign(self, link: Node) -> bool:
        """Whether a link within the page is no text: "#", or beside the heading it leads to."""
        text = link.text().strip()
        if not any(map(str.isalnum, text)):
            return bool(text) and not link.css_matches("img")
        target = (link.attributes.get("href") or "")[1:]
        for node in (link.prev, link.parent, link.parent and link.parent.parent):
            if node is not None and node.tag in _HEADINGS:
                ids = {node.attributes.get("id"), *(n.attributes.get("id") for n in node.css("*"))}
                return target in ids and one_line(node.text()) != one_line(text)
        return False

    def _remove_lines(self, root: Node, title: str) -> None:
        """Lines about the post at its beginning or end: its dates, its author, its length."""
        around = self._lengths[root.mem_id]
        titled = len("".join(title.split()))
        for node in root.css(_LINES):
            size = self._lengths[node.mem_id]
            before = size.start - around.start - titled
            after = around.text - size.start + around.start - size.text
            is_end = after < _NOTE and before > around.text / 2
            if not 0 < size.text <= _NOTE or (before > _SHORT and not is_end):
                continue
            tags = [outer.tag for outer in ancestors(node)]
            if node.parent is None or "aside" in tags or tags.count("article") > 1:
                continue
            if node.css_matches("h1, pre, code, blockquote, table"):
                continue
            if reason := self._why_line(node, is_end=is_end):
                self._note_dates(node)
                self._remove(node, reason)

    def _why_line(self, node: Node, *, is_end: bool) -> str:
        """What a line about the post is; "" if it is a part of the text."""
        size, text, names = self._lengths[node.mem_id], one_line(node.text()), names_of(node)
        is_named = _METADATA.search(names) or _AUTHOR.search(names)
        if size.text < _SHORT:
            date = TEXT_DATE.search(text)
            rest = len(TEXT_DATE.sub("", _outside_links(node)).split())
            is_sentence = rest > (5 if text.endswith((".", "!", "?", "。", ":")) else 12)
            is_said = _UPDATED.search(text) if is_end else node.tag in ("p", "div", "span")
            is_line = date and (is_named or (rest <= 5 and is_said))
            if (node.css_matches(_DATED) or is_line) and not is_sentence:
                return "date"
            if node.tag == "a" and "/edit/" in (node.attributes.get("href") or ""):
                return "navigation"
            if _READING_TIME.fullmatch(text) or (is_named and _READING_TIME.search(text)):
                return "date"
            if size.text < 60 and (_AUTHOR.search(names) or node.css_matches("[rel=author]")):
                return "author"
        if _AUTHOR.search(names) and is_end:
            return "author"
        is_note = node.tag == "footer" and is_end and size.unlinked < _SHORT
        is_note = is_note and node.css_matches("a[href], time, button")
        return "footer" if is_note and not node.css_matches("[href^='#']") else ""

    def _note_dates(self, node: Node) -> None:
        """Keep the dates in an element: those of a change apart from that of the post."""
        found, text, names = node.css(_DATED), one_line(node.text()), names_of(node)
        for inner in found:
            says, before = names_of(inner), text.partition(one_line(inner.text()))[0]
            is_change = "modified" in says or bool(_UPDATED.search(before))
            if len(found) == 1 and "publish" not in f"{names} {says}":
                is_change = is_change or bool(_UPDATED.search(f"{names} {says}"))
            (self.updated if is_change else self.dates).extend(values_of(inner))
        if not found and (date := TEXT_DATE.search(text)):
            is_change = bool(_UPDATED.search(f"{names} {text[: date.start()]}"))
            (self.updated if is_change else self.dates).append(date[0])

    # -- what other pages repeat -----------------------------------------------------------------

    def _share(self, node: Node) -> float:
        """The share of the pages of the site that has the text of an element."""
        if not 0 < self._lengths[node.mem_id].text <= _TEXTS:
            return 0.0
        return self._repeated.get(one_line(node.text()), 0.0)

    def _is_repeated_anywhere(self, node: Node) -> bool:
        size = self._lengths[node.mem_id]
        if node.tag in _HEADINGS:
            return False
        return (size.text >= 40 or size.link_share > _MOST) and self._share(node) >= _MOST

    def _trim(self, root: Node, *, is_end: bool) -> None:
        """Remove what pages repeat from one end of the content, up to a text of its own.

        A heading that many pages have, such as "Description", goes with what it introduces.
        """
        headings: list[Node] = []
        node = _next(root, root, is_end=is_end, is_inside=True)
        while node is not None:
            is_block, is_inside, this = node.tag in BLOCKS, False, node
            is_heading = node.tag in _HEADINGS and not is_end
            if node.tag == "-text" and (node.text_content or "").strip():
                return
            is_gone = is_block and self._is_repeated_at_end(node, is_end=is_end)
            if is_heading and (is_gone or node.tag == "h1"):
                headings += [node] if is_gone else []
            elif self._lengths[node.mem_id].text and not is_gone:
                if not is_block or node.tag in ("p", "pre", *_HEADINGS):
                    return
                is_inside = True
            node = _next(node, root, is_end=is_end, is_inside=is_inside)
            if is_gone and not is_heading:
                for gone in (this, *headings):
                    self._remove(gone, "repeated on other pages")
                headings = []

    def _is_repeated_at_end(self, node: Node, *, is_end: bool) -> bool:
        """Whether an element at an end of the content is the site's and not the page's.

        Without a second page, links that lead elsewhere tell it: above the title, or where the page
        marks no content.
        """
        size, share = self._lengths[node.mem_id], self._share(node)
        if size.link_share <= _MOST:
            is_part = node.tag in ("li", "dt", "dd", "tr", "td", "th")
            return not is_part and share >= (_MANY if is_end else _MOST)
        is_menu = size.links > 1 and size.text < (_SHORT if is_end else _NOTE)
        is_above = not is_end and size.start < self._title_at
        return share > 0 or (is_menu and (is_above or not self._is_marked))


def _next(node: Node, root: Node, *, is_end: bool, is_inside: bool = False) -> Node | None:
    """The node that follows in the order of the page, or, from its end, that comes before."""
    inner = (node.last_child if is_end else node.first_child) if is_inside else None
    if inner is not None:
        return inner
    while node.mem_id != root.mem_id:
        beside = node.prev if is_end else node.next
        if beside is not None:
            return beside
        if node.parent is None:
            return None
        node = node.parent
    return None
