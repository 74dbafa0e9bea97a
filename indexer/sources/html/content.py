"""Extracts the visible text of an HTML page, without what the pages of the site repeat.

An element is left out for what it contains: links to other places, nothing but a date, form fields,
or a text that other pages have, too. Classes, ids and roles only add to that evidence. The
characters left out are counted for `blogsearch try`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, takewhile
from types import MappingProxyType
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from indexer.posts.addresses import host_of
from indexer.posts.dates import DATE_IN_TEXT
from indexer.posts.html_text import (
    HEADINGS,
    UNSEEN,
    Readable,
    TooMuchMarkup,
    one_line,
    parse,
    text_of,
    walk,
)
from indexer.sources.html.layouts import Layout, layouts

Node = LexborNode

_NAVIGATION = re.compile(
    r"nav|menu|breadcrumb|pag(?:er|inat)|prev|next|\btoc|toc\b|table-?of-?contents|sidebar|related"
    r"|shar(?:e|ing)|social|skip|crumbs|lang(?:uage)?s?[-_]?(?:list|menu|pick|select|switch)"
)
_FRAMES = re.compile(r"\bcomments\b|\bcomments?-(?:area|box|container|section|wrap)|\btoc\b")
_AUTHOR = re.compile(r"author|\bbio\b|h-card|vcard|byline|about-me|\b(?:meta|posted)(?![\w-])")
_FIELDS = "input, textarea, select, button"
_SIGN = re.compile(r"\s*[^\w\s]\W*")
_UNHEARD = (
    "[class*=sr-only], [class*=screen-reader], [class*=visually], [role=tooltip],"
    " [hidden]:is([data-pagefind-filter], [data-pagefind-meta], [data-pagefind-sort])"
)
_UNSHOWN = ["script", "style", "noscript", "template"]
_PARTS = (
    "div, p, section, ul, ol, li, nav, aside, header, footer, table, dl, form, address, blockquote,"
    " details, article, a, h1, h2, h3, h4, h5, h6"
)
_AROUND = "nav, div, section, ul, ol, p, dl, form, dialog, header, aside, article, details"
_LINES = (
    "p, div, abbr, span, time, ul, li, dl, header, footer, section, a,"
    " small:not(:is(h1, h2, h3, h4, h5, h6) *)"
)
_DATED = (
    "time, [itemprop=datePublished], [itemprop=dateModified], .published, .dt-published, "
    "abbr.modified, .dt-updated"
)
_TITLES = "h1 a, h2 a, h3 a, h4 a, a h1, a h2, a h3, a h4"
_COVERS = "a[href]:empty"
_ANCHORS = "a[href^='#']:not([href='#'])"
_TURN = re.compile(r"(?:^|[\W_])(?:prev|next)")
ANY_HEADING = ", ".join(HEADINGS)
_UPDATED = re.compile(
    r"\bupdat|\bmodif|\blast-?mod|\brevis|\bedited|\bchanged|a[ckt]?tuali|geändert|bearbeit"
    r"|mis à jour|bijgewerkt|[uo]p?pdater|güncel|обновл|измен|оновлен|به.?روز|تحديث|עודכן|cập nhật"
    r"|수정|更新|修改|最后|編集",
    re.IGNORECASE,
)
_BUILT = re.compile(r"\b(?:generated|built|last build)\b|\bbuild-", re.IGNORECASE)
_DEFINITION = re.compile(r"[.:/(]")
_WORD = re.compile(r"[\w']+")
_TYPED = str.maketrans("‘’“”–—", "''\"\"--")
"""Typographic characters and their typed forms: a page's head and heading may differ in them."""
_READING = (
    r"(?:(?:estimated )?read(?:ing)?[\s-]time|lese(?:zeit|dauer)|temps de lecture|tiempo de lectura"
    r"|tempo d[ei] l(?:ettura|eitura)|leestijd)"
)
_LENGTH = re.compile(
    rf"(?:\b{_READING}\W{{1,3}})?\b(?:\d[\d.,]*|one)k?[\s-](?:min(?:ut\w*|s)?|words?|chars?)\b"
    rf"(?:[\s-]read\b|\W{{1,2}}{_READING})?",
    re.IGNORECASE,
)
_NO_LINE = (
    "h1, h2, h3, h4[id], h5[id], h6[id], pre, code, blockquote, table, [itemprop=articleBody],"
    " .e-content"
)
_SENTENCE = re.compile(r".+ .+[.!?。]")
_READ = re.compile(
    r"\b(?:\d+|one)[\s-](?:min(?:ute)?s?\b.{0,3}\bread|words|chars)\b"
    rf"|{_READING}\W{{1,3}}(?:\d|one)|\dk?\smin\w*\W{{1,2}}{_READING}",
    re.IGNORECASE,
)
"""The reading time or length of a post."""
_LANGUAGE = re.compile(r"\blang(?:uage)?-([\w+#-]+)")
_DEPTH = 5
"""The number of elements around code that may be its frame."""
_LICENSED = "[rel~=license], [href*='creativecommons.org']"
_LABELLED = 25
"""The maximum number of characters beside the links of a line of labels: "Filed under", commas."""
_LISTED = 3
"""The number of links in items of a list, other than labels, from which it is text."""
_LEAST = 20
"""The minimum length that removing repeated text leaves."""
_FEW = 60
"""The length below which an element may be a heading."""
_SHORT = 200
"""The length below which a text may be a line about a post."""
_NOTE = 600
"""The maximum length of a menu, a card, a note about the author or a repeated text."""
_MOST = 0.5
"""The share of the pages from which a text belongs to the site wherever it stands."""
_MANY = 0.1
"""The share of the pages from which a text at the end belongs to the site."""
_WHOLE = 0.9
"""The share of the text of `main` from which an article counts as all of it."""


class Lengths(NamedTuple):
    """The number of characters before an element, in it, and in its links, without white space."""

    start: int
    text: int
    linked: int

    @property
    def end(self) -> int:
        return self.start + self.text

    @property
    def unlinked(self) -> int:
        return self.text - self.linked

    @property
    def link_share(self) -> float:
        return self.linked / self.text if self.text else 0.0


_LEAST_BESIDE = 60
"""With fewer characters beside a notice for members, a post is locked."""
_NONE = Lengths(0, 0, 0)
_NO_TEXTS: Mapping[str, float] = MappingProxyType({})
OF_ENTRIES = "header:has(h2, h3):not(:has(h1))"
"""The headers of the entries of a list; that of a page has its title, or a menu."""
NOT_OWN = UNSEEN | {"header", "nav", "aside", "footer", "form", "dialog"}
"""Elements that hold no text of the page itself: scripts, navigation, footers and forms."""


def measure(root: Node, skipped: frozenset[str] = UNSEEN, kept: str = "") -> dict[int, Lengths]:
    """Measure every element in one pass: asking each for its text would take quadratic time.

    Elements with a `skipped` tag have no length, unless the selector `kept` fits them.
    """
    lengths: dict[int, Lengths] = defaultdict(lambda: _NONE)
    opened: list[tuple[int, int]] = []
    text = linked = 0
    own = {node.mem_id for node in root.css(kept)} if kept else ()
    unread = skipped | {"pre"}
    for node, is_end in walk(root, lambda node: node.tag in unread and node.mem_id not in own):
        tag = node.tag or ""
        if is_end:
            start, linked_before = opened.pop()
            if tag == "a":
                linked = linked_before + text - start
            lengths[node.mem_id] = Lengths(start, text - start, linked - linked_before)
        elif tag == "-text":
            text += len("".join((node.text_content or "").split()))
        elif tag == "pre":  # highlighters put hundreds of elements into it
            length = text_length(node)
            lengths[node.mem_id] = Lengths(text, length, 0)
            text += length
        elif tag not in skipped or node.mem_id in own:
            opened.append((text, linked))
    return lengths


def marked_content(body: Node) -> Node | None:
    """Return the element that the template marks as the content, if there is just one."""
    if marked := body.css("[data-pagefind-body]"):
        return _only(top_nodes(marked))
    own = measure(body, NOT_OWN)
    mains = [node for node in body.css("main, [role=main]") if own[node.mem_id].text]
    main = max(mains, key=lambda node: own[node.mem_id].text, default=None)
    outer = main or body
    for selector in ("[itemprop=articleBody]", "article", "#content"):
        nodes = top_nodes(outer.css(selector))
        length = own[nodes[0].mem_id].unlinked if len(nodes) == 1 else 0
        if length and length >= _WHOLE * own[outer.mem_id].unlinked:
            return nodes[0]
    return main or headed_article(body)


def headed_article(body: Node) -> Node | None:
    """Return the only article, or the only one with an `<h1>`; others are cards."""
    headed = top_nodes(body.css("article:has(h1)") or body.css("article"))
    return headed[0] if len(headed) == 1 else None


def text_length(node: Node) -> int:
    """Count the characters of an element's text without white space."""
    return len("".join(node.text().split()))


def body_of(page: LexborHTMLParser) -> Node:
    """Return the body, or the root of a page of frames, which has no body."""
    return page.css("html, body")[-1]


def ancestors(node: Node, below: Node | None = None) -> Iterator[Node]:
    """Yield the elements around a node, from the inside out, up to but without `below`."""
    parent = node.parent
    while parent is not None and (below is None or parent.mem_id != below.mem_id):
        yield parent
        parent = parent.parent


def top_nodes(nodes: list[Node]) -> list[Node]:
    """Return the nodes, given in document order, that are not inside another of them."""
    known = {node.mem_id for node in nodes}
    return [node for node in nodes if known.isdisjoint(outer.mem_id for outer in ancestors(node))]


def _only(nodes: list[Node]) -> Node:
    """Return the innermost element that contains all nodes, and remove the rest of its content."""
    ways = [[node, *ancestors(node)] for node in nodes]
    shared = set.intersection(*({outer.mem_id for outer in way} for way in ways))
    root = next(outer for outer in ways[0] if outer.mem_id in shared)
    kept = {outer.mem_id for way in ways for outer in way}
    for outer in (outer for way in ways for outer in way[1:]):
        if outer.mem_id == root.mem_id or outer.mem_id not in shared:
            for inner in [inner for inner in outer.iter() if inner.mem_id not in kept]:
                inner.remove()
    return root


def is_in_text(node: Node) -> bool:
    """Whether an element is part of a sentence: there is more than a comma beside it."""
    beside = [inner for inner in (node.prev, node.next) if inner and inner.tag == "-text"]
    texts = "".join(inner.text_content or "" for inner in beside)
    return len("".join(texts.split())) > _LABELLED


def _is_bare(link: Node) -> bool:
    """Whether a link stands between the blocks of an article, and not in a line of text."""
    beside = [inner for inner in (link.prev, link.next) if inner and inner.tag == "-text"]
    is_said = any(_WORD.search(inner.text_content or "") for inner in beside)
    around = link.parent.tag if link.parent else ""
    return not is_said and around in ("article", "main", "header", "section", "body", "div")


def _parts(root: Node) -> list[Node]:
    """Return the blocks of an element, and the links between them."""
    return [node for node in root.css(_PARTS) if node.tag != "a" or _is_bare(node)]


def _has_sentence(node: Node) -> bool:
    """Whether a paragraph inside an element is a sentence without links: a short post may be."""
    paragraphs = [p for p in node.css("p:not(:has(a))") if p.mem_id != node.mem_id]
    return any(_SENTENCE.fullmatch(one_line(p.text())) for p in paragraphs)


def _is_in_sentence(node: Node, lengths: Mapping[int, Lengths]) -> bool:
    """Whether an inline element is part of a paragraph that is a sentence, or long."""
    outer = node.parent
    if outer is None or outer.tag != "p" or node.tag not in ("time", "span", "abbr", "a"):
        return False
    is_long = lengths[outer.mem_id].text > _NOTE
    return is_long or _SENTENCE.fullmatch(one_line(outer.text())) is not None


def is_block_of_code(node: Node) -> bool:
    """Whether an element is nothing but a block of code, perhaps with a name."""
    code = sum(text_length(inner) for inner in node.css("pre"))
    return code > 0 and text_length(node) - code < _SHORT


def _beside_code(pre: Node, lengths: Mapping[int, Lengths]) -> Iterator[Node]:
    """Yield what a template writes beside code: the name of its language, a hidden copy of it."""
    code, own = pre.text().strip(), lengths[pre.mem_id].text
    around, classes = [], [pre, *pre.css("code")]
    for outer in islice(ancestors(pre), _DEPTH):
        if lengths[outer.mem_id].text > 2 * own + _LABELLED:
            break
        yield from (node for node in outer.css("[hidden]") if node.text().strip() == code)
        around = outer.css(":is(span, div, small):not(pre *)")
        classes.append(outer)
    names = " ".join(node.attributes.get("class") or "" for node in classes)
    languages = {"text", "plaintext", *map(str.lower, _LANGUAGE.findall(names))}
    yield from (node for node in around if node.text().strip().lower() in languages)


def texts_of(page: LexborHTMLParser, layout: Layout) -> set[str]:
    """Return the texts of the blocks of a page, to find those that pages repeat."""
    content = Content(page, layout)
    root = page.css_first(layout.content) if layout.content else None
    root = root or content.root
    content.remove_tools(root)
    lengths = measure(content.root)
    parts = [node for outer in (root, *page.css("footer")) for node in _parts(outer)]
    blocks = (node for node in parts if 0 < lengths[node.mem_id].text <= _NOTE)
    return {one_line(node.text()) for node in blocks}


def _dates_in(node: Node) -> list[str]:
    """Return the dates that an element states in attributes and shows as text."""
    inner = node.css_first("time, abbr") or node
    stated = map(inner.attributes.get, ("datetime", "content", "title"))
    shown = one_line(inner.text())
    found = DATE_IN_TEXT.search(shown)
    return [*filter(None, stated), shown, *([found[0]] if found else [])]


def _names_of(node: Node) -> str:
    """Return the role, classes, id, labels and item type of an element, without ids of definitions
    such as `method.next`, `next()` or `next/1`."""
    id_ = node.attributes.get("id") or ""
    names = map(node.attributes.get, ("role", "class", "aria-label", "itemtype", "itemprop"))
    return " ".join(filter(None, (*names, "" if _DEFINITION.search(id_) else id_))).lower()


GATES = (
    "form.post-password-form, form[action*='action=postpass'], .gh-post-upgrade-cta,"
    " #hexo-blog-encrypt, .members-access-error, .pmpro:has(> .pmpro_content_message),"
    " [class^=swpm-post-], [class^=swpm-more-tag-], .um-locked-content, #wpmem_login, #wpmem_reg,"
    " #wpmem_restricted_msg, .leaky_paywall_message_wrap, .patreon-campaign-banner,"
    " .content-control-not-accessible, .jetpack-subscribe-paywall"
)
"""Elements that WordPress, its plugins, Ghost and one of Hexo show in place of locked content."""
_BOXES = (
    ".subscription-widget-wrap, .subscription-widget-wrap-editor, .captioned-button-wrap,"
    " .subscription-widget, p.button-wrapper, .install-substack-app-embed, .digest-post-embed,"
    " .community-chat, .poll-embed"
)
"""Boxes in the posts of Substack."""


@cache
def _inserted() -> Layout:
    """Return what stands in the text of a post in an API or a feed, but is not its own."""
    of_plugins = next(row.drop for row in layouts() if row.name == "WordPress")
    return Layout(content="body", drop=f"{of_plugins}, {_BOXES}")


def is_gated(content: Node) -> bool:
    """Whether a form for a password or a notice for members stands in place of a content."""
    gates = {gate.mem_id: gate for gate in content.css(GATES)}  # some match several selectors
    length = sum(map(text_length, top_nodes(list(gates.values()))))
    return bool(length) and text_length(content) - length < _LEAST_BESIDE


def replaces_text(gate: Node) -> bool:
    """Whether a form or a notice stands in place of the text of a page of unknown layout, and not
    in a sidebar or in place of a part of the text."""
    around = list(ancestors(gate))
    is_beside = not {"aside", "nav", "header", "footer"}.isdisjoint(node.tag for node in around)
    if is_beside or not around or not is_gated(around[0]):
        return False
    scope = next((node for node in around if node.tag in ("article", "main")), around[0])
    inside = {node.mem_id for other in scope.css(GATES) for node in other.css("p")}
    return sum(text_length(p) for p in scope.css("p") if p.mem_id not in inside) < _NOTE


def own_text(html: str) -> Readable | str | None:
    """Return the text of a post in an API or a feed, as its page has it; None if it is locked."""
    try:
        page = parse(html)
    except TooMuchMarkup:
        return html  # which is rejected when it is read
    if is_gated(body_of(page)):
        return None
    content = Content(page, _inserted())
    content.find()
    return text_of(content.root)


class Content:
    """The content of a parsed page, which is modified: first call `find`, then `tidy`.

    `root` is the element with the content. `left_out` counts the characters left out, by reason.
    `dates` are the dates shown on the page, `updated` those of its changes.

    Args:
        repeated: by text, the share of the site's pages that have it.
        excluded: CSS selectors of elements that the user has excluded.
    """

    def __init__(
        self,
        page: LexborHTMLParser,
        layout: Layout,
        repeated: Mapping[str, float] = _NO_TEXTS,
        excluded: tuple[str, ...] = (),
    ) -> None:
        page.strip_tags(_UNSHOWN)
        for node in page.css(layout.code) if layout.code else ():
            block = page.create_node("pre")
            block.insert_child(node)
            node.replace_with(block)
        self.root = self._body = body_of(page)
        self.left_out: Counter[str] = Counter()
        self.dates: list[str] = []
        self.updated: list[str] = []
        self.is_repeated = False
        name = page.css_first("head > title")
        self._name = one_line(name.text()) if name else ""
        self._page = page
        self._is_marked = False
        self._layout, self._repeated = layout, repeated
        self._lengths = measure(self._body)
        for selector in excluded:
            for node in page.css(selector):
                self._remove(node, "excluded by blogsearch.toml")
        for node in page.css(_UNHEARD):
            if self._lengths[node.mem_id].text < _FEW:
                self._remove(node, "for screen readers or the search")
        for node in page.css(f"{GATES}, {layout.drop}" if layout.drop else GATES):
            self._remove(node, f"not the text in {layout.name or 'any layout'}")
        for selector, dates in ((layout.date, self.dates), (layout.updated, self.updated)):
            for node in page.css(selector) if selector else ():
                dates += _dates_in(node)

    def _remove(self, node: Node, reason: str) -> None:
        if node.parent is None:
            return
        self.left_out[reason] += self._lengths[node.mem_id].text
        for inner in node.css("*"):
            self._lengths[inner.mem_id] = _NONE
        node.remove()

    # -- the element -----------------------------------------------------------------------------

    def find(self, *, keeps_code: bool = False) -> None:
        """Find the element with the content, and remove what surrounds the text in it.

        `keeps_code` keeps code that is excluded from the search: on this site the generator
        excludes it, not the author.
        """
        body, page = self._body, self._page
        self._remove_ignored(body, keeps_code=keeps_code)
        known = page.css_first(self._layout.content) if self._layout.content else None
        around = known or body
        longest = max(
            around.css("article"), key=lambda node: self._lengths[node.mem_id].text, default=around
        )
        for node in around.css(_AROUND):
            is_content = node.mem_id in (longest.mem_id, around.mem_id)
            if not is_content and (why := self._why_beside(node)):
                self._remove(node, why)
        marked = known or marked_content(body)
        self._is_marked = marked is not None
        self.root = marked or body
        self.remove_tools(self.root)
        self._lengths = measure(body)
        outside = self._lengths[body.mem_id].text - self._lengths[self.root.mem_id].text
        self.left_out["around the content"] += outside

    def _remove_ignored(self, body: Node, *, keeps_code: bool) -> None:
        """Remove what the page excludes from the search; for a heading, its whole section."""
        marked = self._layout.marked
        own = {node.mem_id for node in body.css(marked)} if marked else set()
        for node in body.css("[data-pagefind-ignore], [data-search-exclude]"):
            if node.mem_id in own or (keeps_code and is_block_of_code(node)):
                continue
            while node.tag in HEADINGS and (after := node.next) is not None:
                if after.tag in HEADINGS and after.tag <= node.tag:
                    break
                self._remove(after, "asks to be left out")
            self._remove(node, "asks to be left out")

    def _why_beside(self, node: Node) -> str:
        """Return why an element is no part of the text; "" if it may be one."""
        size = self._lengths[node.mem_id]
        is_away = size.link_share > _MOST
        if not size.text or (size.text >= _NOTE and not is_away):
            return ""
        if node.tag == "article":  # its heading, or much of it, is a link to another page
            is_linked = size.link_share > _MOST / 2 or node.css_matches(_COVERS)
            titles = [text for link in node.css(_TITLES) if (text := one_line(link.text()))]
            # Documenter has an article with anchors for each function.
            is_own = node.css_matches(_ANCHORS) or any(title in self._name for title in titles)
            is_card = (is_linked or titles) and not is_own and size.text < _NOTE
            return "other pages" if is_card else ""
        if node.css_matches("h1, main, article"):
            return ""
        names = f"{node.tag} {_names_of(node)}"
        if size.text < _FEW and _FRAMES.search(names) and not node.css_matches("p, pre, li"):
            return "comments or contents"  # of a page that has none
        if node.tag in ("form", "dialog") and size.text < _SHORT and node.css_matches(_FIELDS):
            return "forms"
        most = _SHORT if node.tag == "nav" else 30
        is_linked = bool(size.linked) or (node.tag == "nav" and node.css_matches(_COVERS))
        if is_linked and (is_away or size.unlinked < most) and _NAVIGATION.search(names):
            return "navigation"
        turns = [f"{a.attributes.get('rel')} {_names_of(a)}" for a in node.css("a[href]")]
        if is_away and turns and all(map(_TURN.search, turns)):
            return "navigation"
        is_inside = size.link_share > 0.8 and not node.css_matches("a[href]:not([href^='#'])")
        return "table of contents" if is_inside and len(node.css("a[href]")) > 1 else ""

    def remove_tools(self, root: Node) -> None:
        """Remove links that show only a sign, and the labels of tabs and of code."""
        radios = {node.attributes.get("id") for node in root.css("input[type=radio]")} - {None}
        tools = [n for n in root.css("a[href^='#']:not(pre *)") if _SIGN.fullmatch(n.text())]
        tools += [node for node in root.css("label") if node.attributes.get("for") in radios]
        tools += root.css("[role=tab]") if root.css_matches("[role=tabpanel]") else []
        tools += [node for pre in root.css("pre") for node in _beside_code(pre, self._lengths)]
        for node in tools:
            self._remove(node, "controls")

    # -- inside the content ----------------------------------------------------------------------

    def tidy(self, title: str, labels: list[Node]) -> None:
        """Remove the title, the lines about the post, and what other pages repeat."""
        root = self.root
        for link in root.css(_LICENSED)[:_LABELLED]:
            boxes = takewhile(lambda node: text_length(node) < _NOTE, ancestors(link, root))
            box = next((node for node in boxes if title in one_line(node.text())), None)
            is_below = box and self._lengths[box.mem_id].start > self._lengths[root.mem_id].start
            if box and is_below and not (_has_sentence(box) or box.css_first("h1")):
                self._remove(box, "licence")  # with the title, date and address of the post
        titles = root.css("h1, h2, p[class], div[class*=title], #title")
        for heading in titles + root.css(ANY_HEADING)[:1]:
            if one_line(text_of(heading).prose).translate(_TYPED) == title.translate(_TYPED):
                heading.remove()
        self._remove_lines(title, {node.mem_id for node in labels})
        for selector in filter(None, (self._layout.tags, self._layout.categories)):
            for node in root.css(selector):
                self._remove(node, "labels")
        twice = [node for is_end in (False, True) for node in self._repeats(is_end=is_end)]
        found = list({node.mem_id: node for node in twice}.values())
        self._lengths = measure(self._body)
        tops = top_nodes(sorted(found, key=lambda node: self._lengths[node.mem_id].start))
        if self._would_empty(tops):
            self.is_repeated = True
            most = [n for n in found if self._repeated.get(one_line(n.text()), 0.0) >= _MOST]
            tops = top_nodes(sorted(most, key=lambda node: self._lengths[node.mem_id].start))
            tops = [] if self._would_empty(tops, least=1) else tops
        for node in tops:
            self._remove(node, "repeated on other pages")
        if tops:  # a line may stand below a note about the author
            self._lengths = measure(self._body)
            self._remove_lines(title, {node.mem_id for node in labels})

    def _would_empty(self, nodes: list[Node], least: int = _LEAST) -> bool:
        """Whether removing the nodes would leave the post fewer than `least` characters."""
        lengths = self._lengths
        rest = lengths[self.root.mem_id].text - sum(lengths[node.mem_id].text for node in nodes)
        return bool(nodes) and rest < least

    def _repeats(self, *, is_end: bool) -> Iterator[Node]:
        """Yield the elements that belong to the site, from one end of the content inwards."""
        self._lengths = measure(self._body)
        content, parts = self._lengths[self.root.mem_id], _parts(self.root)
        edge = content.end if is_end else content.start
        if is_end:  # from the end, outer elements first
            parts.sort(key=lambda node: -self._lengths[node.mem_id].end)
        for node in parts:
            size = self._lengths[node.mem_id]
            is_edge = (size.end if is_end else size.start) == edge
            if self._is_repeated(node, is_edge=is_edge, is_end=is_end):
                edge += (-size.text if is_end else size.text) if is_edge else 0
                yield node

    def _remove_lines(self, title: str, labels: set[int]) -> None:
        """Remove lines about the post at its beginning or end: dates, author, length and labels.

        Lines above the content are not removed, but their dates are kept.
        """
        content = self._lengths[self.root.mem_id]
        outside = {node.mem_id for node in (self.root, *ancestors(self.root))}
        for node in self._body.css(_LINES):
            size = self._lengths[node.mem_id]
            if not 0 < size.text <= _NOTE or node.mem_id in outside or size.end > content.end:
                continue
            is_above = size.end <= content.start
            around = [node, *ancestors(node)]
            tags = [n.tag for n in around if not (is_above and n.mem_id in outside)]
            before = size.start - content.start - len("".join(title.split()))
            is_end = content.end - size.end < _NOTE and before > content.text / 2
            is_inside = before > _SHORT and not is_end
            if is_inside or tags.count("article") > 1 - is_above:
                continue
            is_menu = "nav" in tags if is_above else is_end and not {"a", "li"}.isdisjoint(tags)
            is_menu = is_menu or (is_above and node.css_matches(_ANCHORS))
            if is_menu or node.css_matches(_NO_LINE) or _is_in_sentence(node, self._lengths):
                continue
            is_linked = node.tag != "a" and size.linked and size.unlinked <= _LABELLED
            is_linked = is_linked and all(p.css_first("a") for p in node.css("p"))
            is_labels = is_linked and labels.issuperset(link.mem_id for link in node.css("a"))
            is_labels = is_labels or (node.mem_id in labels and _is_bare(node))
            listed = sum(link.mem_id not in labels for link in node.css("li a"))
            if listed >= _LISTED and not is_labels:
                continue  # all of a short post
            if reason := "labels" if is_labels else self._why_line(node, title, is_end=is_end):
                if not (is_end and self._repeated.get(one_line(node.text()), 0.0) >= _MOST):
                    self._note_dates(node)  # but not the date of a build, which all pages have
                if not is_above:
                    self._remove(node, reason)

    def _why_line(self, node: Node, title: str, *, is_end: bool) -> str:
        """Return what a line says about the post; "" if it is part of the text."""
        size, names = self._lengths[node.mem_id], _names_of(node)
        text = one_line(node.text()).replace(title, "", 1)  # which may have a date
        is_author = _AUTHOR.search(names)
        if size.text < _SHORT:
            own = text
            for link in node.css("a"):
                own = own.replace(one_line(link.text()), "", 1)
            rest = len(_WORD.findall(_LENGTH.sub("", DATE_IN_TEXT.sub("", own))))
            is_sentence = rest > (5 if text.endswith((".", "!", "?", "。", ":")) else 12)
            is_sentence = is_sentence or _has_sentence(node)
            is_named = "date" in names or bool(_UPDATED.search(text) or _BUILT.search(text))
            is_alone = not rest and node.tag in ("p", "div")
            is_said = (
                (is_named or is_alone) if is_end else node.tag in ("p", "div", "span", "small")
            )
            is_line = (is_author or (rest <= 6 and is_said)) and DATE_IN_TEXT.search(text)
            is_dated = is_line or any(inner.tag != "meta" for inner in node.css(_DATED))
            if is_dated and not is_sentence:
                return "date"
            is_length = _READ.search(text) and (is_author or not rest)
            if is_length:
                return "date"
            if size.text < _FEW and (is_author or node.css_matches("[rel=author]")):
                return "author"
        is_note = node.tag == "footer" and is_end and size.unlinked < _SHORT
        return "footer" if is_note and node.css_matches("a[href]:not([href^='#']), time") else ""

    def _note_dates(self, node: Node) -> None:
        """Store the dates in an element, by the words before each."""
        found, text = node.css(_DATED), one_line(node.text())
        for inner in found:
            shown, names = one_line(inner.text()), _names_of(inner)
            before = text.partition(shown)[0] if shown else text
            said = before if "published" in names else f"{names} {before}"
            self._dates_for(said).extend(_dates_in(inner))
        end, names = 0, "" if found else _names_of(node)
        for date in DATE_IN_TEXT.finditer(text):
            said = f"{names} {text[end : date.start()]}"
            if not found or _UPDATED.search(said):
                self._dates_for(said).append(date[0])
            end = date.end()

    def _dates_for(self, said: str) -> list[str]:
        """Return the list for a date after such words; the date of a build is dropped."""
        if _BUILT.search(said):
            return []
        return self.updated if _UPDATED.search(said) else self.dates

    def _is_repeated(self, node: Node, *, is_edge: bool, is_end: bool) -> bool:
        """Whether an element of the content belongs to the site and not to the page.

        It does if half of the pages have it, at the end even a tenth. At the beginning, where the
        page marks no content, a menu counts without a second page; at the end, links to other pages
        of the site below a heading of the template, such as "See also".
        """
        size = self._lengths[node.mem_id]
        if not 0 < size.text <= _NOTE or (node.tag in HEADINGS and not is_edge):
            return False
        share = self._repeated.get(one_line(node.text()), 0.0)
        is_away = size.link_share > _MOST
        if not is_edge:
            return share >= _MOST and (size.text >= 40 or is_away)
        if not is_away:
            return node.tag != "li" and share >= (_MANY if is_end else _MOST)
        if is_end:
            return share > 0 or self._is_headed(node)
        return share > 0 or (len(node.css("a")) > 1 and not self._is_marked)

    def _is_headed(self, node: Node) -> bool:
        """Whether links of the site stand below words of the template: an author's have an id."""
        before = node.prev
        while before is not None and not before.text().strip():
            before = before.prev
        said = one_line(before.text()) if before is not None else ""
        is_own = before is not None and bool(before.attributes.get("id"))
        if is_own or self._repeated.get(said, 0.0) < _MANY:
            return False
        base = self._page.css_first("link[rel=canonical]")
        own = {"", host_of((base and base.attributes.get("href")) or "")}
        return all(host_of(a.attributes["href"] or "") in own for a in node.css("a[href]"))
