"""Marks words in titles, texts and comments, and cuts snippets and sections as safe HTML. Pure.

Stored texts are already HTML-escaped plain text. Fragments are nevertheless decoded and escaped
again, so that a document written by another indexer cannot put markup into a page.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple
from urllib.parse import quote

from analyzers.languages import ENGLISH, Language, abbreviations
from analyzers.signs import CHARACTERS, OPERATORS, is_unspaced
from app.search.clauses import Query
from app.search.plan import Plan
from app.search.scoring import (
    FRAGMENT_SIZE,
    LONGEST_SNIPPET,
    MAX_ANALYZED_OFFSET,
    PREFIX_MIN,
    SECTIONS,
)
from app.search.session import Body, EngineHit, HeadingPlace

Words = frozenset[str]

_NO_WORDS: Words = frozenset()

# Control characters, which no stored text contains, and which need no wider strings.
MARK, UNMARK = "\x01", "\x02"

_CAMEL_CASE = 4
"""The length of the shortest word that is searched for inside words such as `useEffect`."""

_MARKED_TEXT = re.compile(f"({MARK}[^{UNMARK}]*{UNMARK})")
_MARKED = re.compile(f"{MARK}([^{MARK}{UNMARK}]*){UNMARK}")
_EMPTY = re.compile(f"{MARK}\\s*{UNMARK}")
_MARK_OVER_LINES = re.compile(f"{MARK}[^{UNMARK}\n]*\n[^{UNMARK}]*{UNMARK}")
_LINE_END = re.compile(r"(?<!\s)\s*\n\s*")
_ANY_MARK = f"[{MARK}{UNMARK}]"
_CUT_ENTITY = re.compile(
    f"&(?=[^;]*{_ANY_MARK})(?:"
    + "|".join(f"{_ANY_MARK}?{f'{_ANY_MARK}?'.join(name)}" for name in ("amp;", "lt;", "gt;"))
    + ")"
)
# The analyzer turns operators into words, and Lucene's marks for them are off by some characters.
_OPERATOR = re.compile("|".join(f"{_ANY_MARK}*".join(map(re.escape, s)) for s in OPERATORS))

_SPACE = re.compile(rf"\s|(?=[{CHARACTERS}])")  # where a text may be cut
# Begins with a character class, which `re` searches for in a tenth of the time.
_STOP = re.compile(r"[\n.!?。！？](?:(?<![.!?])| )")
_ENDS = ".!?。！？"
_PIECES = re.compile(r"[\s(\[\"'“„«]")
_ABBREVIATIONS = abbreviations()
_NAMES = frozenset(("yahoo", "jeopardy", "yum", "kahoot", "joomla"))
_BEFORE = FRAGMENT_SIZE * 3 // 4
"""The maximum number of characters before the first mark of a part, in the same sentence."""
_COMPARED = 100
"""The maximum number of parts compared: limits the time for a text with thousands of marks."""
_FIRST_LETTERS = re.compile(f"{MARK}([^{UNMARK}]{{1,5}})")
"""Marked words that begin with the same letters count as one: `index`, `indexes`, `indexing`."""

_LIKELY, _NEARLY = 5, 0.8
"""How many passages are compared by the words that stand together, and the share of the best one's
worth that another passage needs to be shown, too."""
_LONGEST_HEADING = 120
"""The maximum length of a heading in a text fragment."""
_WORDS_BEFORE = 4
"""The words before a heading that distinguish it from another one with the same text."""
_WORDS_OF_FRAGMENT = 3
"""The words at either end of an excerpt by which a browser finds it."""
_UNTIL_STOP = re.compile(r"[。！？、，；]")
_IN_FRAGMENT = "!$&'()*+,;=:@/?"
_BEGINNING: HeadingPlace = {"line": -1, "code_line": 0, "level": 7, "id": ""}
"""The place of the text before the first heading."""


# -- marks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Marker:
    """The words to mark for a query.

    Elasticsearch marks the matches of `queries` (kind and text of each). This class marks what
    Elasticsearch could mark only by analyzing every text again: words that begin with `begun` in
    titles and with `begun_in_texts` elsewhere (too many words begin with one or two letters), and
    `words` inside of others, as in `useEffect`, if a text has them only there.
    """

    begun: tuple[str, ...] = ()
    begun_in_texts: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    queries: tuple[tuple[str, str], ...] = ()
    language: Language = ENGLISH
    whole: tuple[str, ...] = ()  # patterns of texts with one mark: quoted stop words, flags
    alone: tuple[str, ...] = ()  # patterns of words to mark in a hit without other marks
    folded: tuple[str, ...] = ()  # words without accents, if stems depend on accents

    @classmethod
    def of(cls, plan: Plan) -> "Marker":
        """Return the marker for the hits of a plan: marks the significant terms, or all if there
        are none, in every variant."""
        begun: list[str] = []
        words: list[str] = []
        queries: dict[tuple[str, str], None] = {}
        terms = plan.significant or plan.terms
        for term in terms:
            for variant in term.variants:
                if variant.is_beginning:
                    begun.append(term.typed.folded)
                if not variant.text.isalnum():
                    queries["match_phrase", variant.text] = None
                elif variant.kind not in ("character", "prefix"):
                    words.append(variant.text)
            if term.phrase:  # also alone: as a phrase they are the single word of the synonym rule
                queries["match", term.typed.text] = None
                queries["match_phrase", term.phrase] = None
        if words:
            queries["match", " ".join(words)] = None
        whole: list[str] = []
        phrases = list(plan.query.quoted)
        if plan.terms and not plan.without_stop_words:  # `the who`
            phrases.append(" ".join([term.typed.text for term in plan.terms]))
        for text in phrases:
            quoted = re.findall(r"\w+", text.lower())
            significant = [word for word in quoted if word not in plan.language.stop_words]
            if len(significant) > 1 or significant == quoted:
                queries["match_phrase", text] = None
            # The fields have no stop words: "to run" would be any form of run.
            if significant != quoted:
                whole.append(r"[\W_]+".join(map(re.escape, quoted)))
        for term in plan.terms:
            if term.typed.text.startswith("-"):
                parts = re.findall(r"\w+|\W", term.typed.text)
                whole.append(f"{_ANY_MARK}*".join(map(re.escape, parts)))
        alone = [term.typed.text for term in terms]
        alone += [word.text for term in terms for word in term.similar]
        tokens = () if plan.language.folds_first else map(plan.language.token, words)
        return cls(
            tuple(begun),
            tuple([text for text in begun if len(text) >= PREFIX_MIN or is_unspaced(text)]),
            frozenset([text.lower() for text in words if len(text) >= _CAMEL_CASE]),
            tuple(queries),
            plan.language,
            tuple(whole),
            tuple(map(re.escape, alone)),
            tuple(filter(str.isascii, tokens)),
        )

    def query(self, field: str) -> Query:
        """Return the highlight query for a field."""
        return {"bool": {"should": [{kind: {field: text}} for kind, text in self.queries]}}

    def highlighting(self, *fields: str) -> Body:
        """Return the `highlight` part of a search. Each field has its own query: one query for all
        fields took a seventh of the CPU time of a search."""
        has_all = self.begun or self.whole
        unmatched = fields if has_all else ("title", "text") if self.folded else ("text",)
        body = highlight_fields(*fields, unmatched=unmatched)
        for name in fields:
            body["fields"][name]["highlight_query"] = self.query(name)
        return body


def highlight_fields(*names: str, unmatched: Sequence[str] = ("text",)) -> Body:
    """Return the `highlight` part for whole texts; this module cuts them, because the highlighter
    would have to find all sentences of a text to return two. The fields in `unmatched` are also
    returned without a match."""
    always: Body = {"no_match_size": MAX_ANALYZED_OFFSET}
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "number_of_fragments": 0,
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": {name: {**always} if name in unmatched else {} for name in names},
    }


def marked_texts(hit: EngineHit, marker: Marker) -> dict[str, str]:
    """Return the marked texts of a hit, decoded, by field; the title if a word may be marked."""
    texts: dict[str, str] = {}
    for field, fragments in hit.get("highlight", {}).items():
        name = field.partition(".")[0]
        begun = marker.begun if name == "title" else marker.begun_in_texts
        text = "\n".join(fragments)
        marked = decode_marked(text) if "&" in text else text
        marked = _with_whole(marked, marker.whole) if marker.whole else marked
        # Lines are cut and moved: the mark of a phrase must end with each.
        marked = _MARK_OVER_LINES.sub(_mark_each_line, marked)
        texts[name] = _with_words(marked, begun, marker)
    if marker.alone and not any(MARK in text for text in texts.values()):
        texts |= {"title": plain(hit["_source"].get("title"))} if "text" in texts else {}
        return {name: _with_whole(text, marker.alone) for name, text in texts.items()}
    return texts


def _mark_each_line(marked: re.Match[str]) -> str:
    return _LINE_END.sub(lambda end: f"{UNMARK}{end[0]}{MARK}", marked[0])


def marked_words(texts: Iterable[str]) -> list[str]:
    """Return the marked words in texts, in lower case, each once."""
    return list(dict.fromkeys(word.lower() for text in texts for word in _MARKED.findall(text)))


def _with_whole(marked: str, patterns: tuple[str, ...]) -> str:
    pattern = rf"(?<![\w-]){MARK}?(?:{'|'.join(patterns)})(?![\w-]){UNMARK}?"
    return re.sub(pattern, lambda found: f"{MARK}{unmark(found[0])}{UNMARK}", marked, flags=re.I)


def _with_words(marked: str, begun: tuple[str, ...], marker: Marker) -> str:
    whole: list[str] = []
    others = sorted(marker.words.difference(begun))
    words = [word for word in others if f"{MARK}{word}{UNMARK}" not in marked]
    if words:
        # Bytes suffice for the letters of names in code, and are searched in a tenth of the time.
        lower = marked.encode().lower()
        for word in words:
            is_marked = f"{MARK}{word}{UNMARK}".encode() in lower
            if not is_marked and _ends_word(lower, word.encode()):
                whole.append(word)
    if marker.folded:  # the stem of raksmorgas is not that of räksmörgås
        seen = set(map(marker.language.token, _MARKED.findall(marked)))
        whole += [word for word in marker.folded if word not in seen]
    if not begun and not whole:
        return marked

    def mark(match: re.Match[str]) -> str:
        word = match.group()
        token = word.lower() if word.isascii() else marker.language.token(word.replace("’", "'"))
        return f"{MARK}{word}{UNMARK}" if token.startswith(begun) or token in whole else word

    pattern = _words_with((*begun, *whole))
    parts = _MARKED_TEXT.split(marked)
    parts[::2] = [pattern.sub(mark, part) for part in parts[::2]]
    return "".join(parts)


def _ends_word(text: bytes, part: bytes) -> bool:
    """Whether a word of the text may end with this part: `useeffect` with `effect`."""
    at = text.find(part)
    while at >= 0 and text[at + len(part) : at + len(part) + 1].isalnum():
        at = text.find(part, at + 1)
    return at >= 0


@lru_cache(maxsize=128)
def _words_with(beginnings: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for words, also inside of camelCase, that may begin with one of these texts
    when folded. It begins with the first character, for which a search is five times as fast."""
    letters = {letter for text in beginnings for letter in text[0].lower() + text[0].upper()}
    # A negated class: one that lists the characters themselves takes milliseconds to compile.
    codes = sorted(code for code in map(ord, letters) if code < 0xC0)
    between = [(low + 1, high - 1) for low, high in pairwise([-1, *codes, 0xC0])]
    others = "".join(rf"\x{first:02x}-\x{last:02x}" for first, last in between if first <= last)
    rest = "|".join(dict.fromkeys(re.escape(text[1:]) for text in beginnings))
    longest = max(map(len, beginnings))
    return re.compile(
        rf"[^{others}](?<=[^\W_])"
        r"(?:(?<![^\W_].)|(?<=[a-z][A-Z]))"
        rf"(?:(?<=[^\0-\x7f])|(?i:(?={rest}))|(?=[\w']{{0,{longest}}}[^\0-\x7f]))"
        r"[^\W_]*(?:['’][^\W_]+)*"
    )


# -- HTML ------------------------------------------------------------------------------------------


def plain(stored: str | None) -> str:
    """Return a stored text as a person reads it."""
    return html.unescape(stored or "")


def decode_marked(marked: str) -> str:
    """Return a marked stored text as a person reads it; widen a mark that cuts an entity to it."""
    if MARK in marked:
        marked = _CUT_ENTITY.sub(_mark_entity, marked)
    return html.unescape(marked)


def _mark_entity(entity: re.Match[str]) -> str:
    cut = entity.group()
    opens, closes = MARK in cut, UNMARK in cut
    whole = unmark(cut)
    if opens and closes and cut.rindex(MARK) < cut.index(UNMARK):
        return f"{MARK}{whole}{UNMARK}"
    # One mark ends inside, and another may begin there: they become one.
    return f"{MARK if opens and not closes else ''}{whole}{UNMARK if closes and not opens else ''}"


def safe(fragment: str) -> str:
    """Return a marked plain text as HTML whose only markup is our own `<mark>`."""
    fragment = fragment.strip()
    if MARK in fragment:
        fragment = _EMPTY.sub("", _OPERATOR.sub(_mark_whole, fragment))
    marked = _MARKED.sub(_element, html.escape(fragment, quote=False))
    return marked.replace(MARK, "").replace(UNMARK, "")


def _element(marked: re.Match[str]) -> str:
    return f"<mark>{marked[1]}</mark>"


def _mark_whole(operator: re.Match[str]) -> str:
    marked = operator.group()
    return f"{MARK}{unmark(marked)}{UNMARK}" if MARK in marked else marked


def unmark(text: str) -> str:
    return text.replace(MARK, "").replace(UNMARK, "")


# -- passages --------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a text: the whole text, where the part begins and ends, and its marked words."""

    text: str
    begin: int
    end: int
    words: Words


@dataclass(eq=False)
class Passage:
    """The marked text between `heading` and the next one.

    `name` is the heading without marks, `above` lists its parent headings, `id` is the id of its
    element. `before` is the text before a heading without id that occurs several times in the post.
    `words` are the marked words of the passage and its heading, `heading_words` and `body_words`
    the marked words of each, `above_words` those of the parent headings.
    """

    prose: str
    code: str
    heading: str
    name: str
    above: tuple[str, ...]
    id: str
    before: str
    heading_words: Words
    body_words: Words
    words: Words
    above_words: Words

    @cached_property
    def parts(self) -> list[Part]:
        """The first parts with a mark, up to one that has every word."""
        return self.cut(complete=1)

    def cut(self, complete: int) -> list[Part]:
        """Return the first parts with a mark, until `complete` of them have every word."""
        parts: list[Part] = []
        for text in (self.prose, self.code):
            at, end = text.find(MARK), 0
            while at >= 0 and len(parts) < _COMPARED and complete:
                parts.append(part := _part(text, at, end))
                complete -= part.words == self.body_words
                end = part.end
                at = text.find(MARK, end)
        return parts

    @property
    def beginning(self) -> str:
        """The excerpt of a passage without marks: its beginning, or the first line of its code."""
        text = self.prose or self.code.lstrip().partition("\n")[0]
        return _cut(text, 0, _end(text, 0, 0))

    def worth(self, shown: Words) -> float:
        """Score a passage by the number of marked words in it and the headings above, twice those
        in its heading, and the marked share of the heading. Words already shown count half."""
        worth = _count(self.words | self.above_words, shown)
        if self.heading_words:
            marked = sum(map(len, _MARKED.findall(self.heading)))
            worth += 2 * _count(self.heading_words, shown) + 2 * (marked / len(self.name))
        return worth

    def together(self, shown: Words) -> float:
        """Return how many of its words stand together, in its heading and one part."""
        if len(self.body_words) < 2:
            return _count(self.words, shown)
        in_parts = [part.words | self.heading_words for part in self.parts]
        return max([_count(words, shown) for words in {self.heading_words, *in_parts}])

    def url(self, page: str, excerpt: str = "") -> str:
        """Return the URL of the passage: the page with the id of its heading and a text fragment
        for a marked excerpt; without either, with a text fragment for its heading."""
        start = page
        if self.id:
            start = f"{page.partition('#')[0]}#{quote(self.id, safe=_IN_FRAGMENT)}"
        if MARK in excerpt:
            return with_text_fragment(start, excerpt)
        name = self.name
        if len(name) > _LONGEST_HEADING:
            name = name[:_LONGEST_HEADING].rpartition(" ")[0] or name[: _LONGEST_HEADING // 2]
        before = " ".join(self.before.split()[-_WORDS_BEFORE:])
        return start if self.id else _with_text(start, name, before=before)


def with_text_fragment(page: str, excerpt: str) -> str:
    """Return the URL of a page with a text fragment for an excerpt, marked or not: its first and
    last words, because a URL with all of it would be long. Browsers ignore words they cannot find.
    """
    lines = [line.strip() for line in unmark(excerpt).strip("… \n").splitlines() if line.strip()]
    if not lines:
        return page
    first, last = lines[0].split(), lines[-1].split()
    if len(lines) == 1 and len(first) <= 2 * _WORDS_OF_FRAGMENT:
        return _with_text(page, lines[0][:_LONGEST_HEADING])
    if is_unspaced(lines[0]):
        # Browsers find only whole words, and only they know where one ends.
        return _with_text(page, _UNTIL_STOP.split(lines[0])[0][:_LONGEST_HEADING])
    ends = " ".join(first[:_WORDS_OF_FRAGMENT]), " ".join(last[-_WORDS_OF_FRAGMENT:])
    return _with_text(page, *ends)


def _with_text(page: str, *texts: str, before: str = "") -> str:
    said = quote("\n".join(filter(None, (before, *texts))), safe="")
    said = said.replace("-", "%2D")  # part of the syntax of text fragments
    said = said.replace("%0A", "-,", 1 if before else 0).replace("%0A", ",")
    return f"{page}{'' if '#' in page else '#'}:~:text={said}"


def _words_of(marked: str) -> Words:
    """Return the marked words of a text; inflections count as one word."""
    return frozenset(map(str.casefold, _FIRST_LETTERS.findall(marked)))


def marks_all(marked: Mapping[str, str]) -> bool:
    """Whether the title has every marked word of the post."""
    texts, title = (marked.get("text", ""), marked.get("code", "")), marked.get("title", "")
    if MARK not in title:
        return not any(MARK in text for text in texts)
    words = _words_of(title)
    found = chain.from_iterable(map(_FIRST_LETTERS.finditer, texts))
    return all(match[1].casefold() in words for match in found)


def _count(words: Words, shown: Words) -> float:
    return len(words) - len(words & shown) / 2


def passages(
    text: str,
    code: str,
    headings: Sequence[HeadingPlace],
    title: str,
    announced: Sequence[str] = (),
) -> list[Passage]:
    """Cut a marked text and its code at the headings, and return the passages with marks, or all if
    there are no marks. A heading that equals the title is left out. Code that is announced by a
    colon follows it."""
    without_mark = MARK not in text and MARK not in code
    lines = text.split("\n")
    code_lines = code.split("\n")
    if announced:
        marked_lines = {unmark(line): line for line in code_lines}
        for number, *behind in (plain(one).split("\n") for one in announced):
            if (place := int(number)) < len(lines):
                behind = [marked_lines.get(line, line) for line in behind]
                lines[place] = "\n".join([lines[place], *behind])
    last: HeadingPlace = {**_BEGINNING, "line": len(lines), "code_line": len(code_lines)}
    levels: list[int] = []
    above: list[tuple[str, Words]] = []
    cut: list[Passage] = []
    names_of_all: Counter[str] = Counter()
    if not all(heading["id"] for heading in headings):
        names_of_all.update(unmark(lines[h["line"]]) for h in headings if h["line"] < len(lines))
    code_before = 0
    for heading, following in pairwise([_BEGINNING, *headings, last]):
        at, level = heading["line"], heading["level"]
        if at >= len(lines):
            break
        marked = name = lines[at] if at >= 0 else ""
        in_name = _NO_WORDS
        if MARK in marked:
            name, in_name = unmark(marked), _words_of(marked)
        while levels and levels[-1] >= level:
            levels.pop(), above.pop()
        prose = "\n".join(lines[at + 1 : following["line"]])
        block = "\n".join(code_lines[heading["code_line"] : following["code_line"]]).strip("\n")
        if without_mark or in_name or MARK in prose or MARK in block:
            in_body = _words_of(prose)
            if MARK in block:
                in_body |= _words_of(block)
            is_title = name and name.casefold() == title.casefold()
            texts = ("", "") if is_title else (marked, name)
            in_heading = _NO_WORDS if is_title else in_name
            names, words_above = zip(*above, strict=True) if above else ((), ())
            words = in_heading, in_body, in_heading | in_body, _NO_WORDS.union(*words_above)
            is_one = names_of_all[name] < 2 or heading["code_line"] > code_before
            before = "" if is_one or at < 1 else unmark(lines[at - 1])
            cut.append(Passage(prose, block, *texts, names, heading["id"], before, *words))
        code_before = heading["code_line"]
        levels.append(level)
        above.append((name, in_name))
    return cut


def _best_passages(candidates: Sequence[Passage], shown: Words) -> list[Passage]:
    """Return the passages to show, best first: the best one, and those that add words, or that have
    words in their heading and are nearly as good."""
    worth = {passage: passage.worth(shown) for passage in candidates}
    likely = sorted(candidates, key=worth.__getitem__, reverse=True)
    most, first = 0.0, likely[0]
    for passage in likely[:_LIKELY]:
        if worth[passage] + _count(passage.words, shown) > most:  # otherwise it cannot be the best
            value = worth[passage] + passage.together(shown)
            if value > most:
                most, first = value, passage
    best, seen = [first], shown | first.words
    enough = _NEARLY * worth[first]
    while len(best) < SECTIONS:
        left = [
            (len(passage.words - seen), -place)
            for place, passage in enumerate(likely)
            if (passage.words - seen or (passage.heading_words and worth[passage] > enough))
            and passage not in best
        ]
        if not left:
            break
        best.append(likely[-max(left)[1]])
        seen |= best[-1].words
    return best


# -- snippets --------------------------------------------------------------------------------------


def excerpts(
    marked: Mapping[str, str],
    headings: Sequence[HeadingPlace] = (),
    title: str = "",
    announced: Sequence[str] = (),
) -> tuple[list[str], list[tuple[Passage, str]]]:
    """Return the snippets of a post that are in no section, and its sections with one snippet each.

    A snippet has the sentences with most different marked words. Words that the title or an earlier
    snippet shows count less.
    """
    shown = _words_of(marked.get("title", ""))
    texts = marked.get("text", ""), marked.get("code", "")
    candidates = passages(*texts, headings, title, announced)
    best = [passage for passage in candidates if passage.words]
    if len(best) > 1:
        best = _best_passages(best, shown)
    if not best:
        return [beginning for passage in candidates if (beginning := passage.beginning)][:1], []
    loose: dict[str, None] = {}
    sections: list[tuple[Passage, str]] = []
    if len(best) == 1 and not best[0].heading:
        parts = best[0].cut(complete=2)
        for _ in range(min(2, len(parts))):
            part = _most_words(parts, shown)
            parts.remove(part)
            shown |= part.words
            loose[_cut(part.text, part.begin, part.end)] = None
        return list(loose), []
    for passage in best:
        shown |= passage.heading_words
        if parts := passage.parts:
            part = _most_words(parts, shown)
            shown |= part.words
            text = _cut(part.text, part.begin, part.end)
        else:
            text = passage.beginning
        if passage.heading:
            sections.append((passage, text))
        else:
            loose[text] = None
    return list(loose), sections


def _most_words(parts: Sequence[Part], shown: Words) -> Part:
    """Return the part with most words that are not yet shown; the first of equal ones."""
    if len(parts) == 1:
        return parts[0]
    ranks = [(len(words - shown), len(words), -place) for place, (*_, words) in enumerate(parts)]
    return parts[-max(ranks)[2]]


def _cut(text: str, begin: int, end: int) -> str:
    """Return a part of a text, with an ellipsis at an end that is inside a sentence."""
    part = text[begin:end]
    before = text[max(0, begin - 2) : begin].rstrip(" ")[-1:]
    after = text[end : end + 2].lstrip(" ")[:1]
    starts = not before or before in f"\n{_ENDS}"
    ends = not after or "\n" in (after, part[-1:]) or part.rstrip()[-1:] in tuple(_ENDS)
    return ("" if starts else "… ") + part.strip() + ("" if ends else " …")


def _part(text: str, mark: int, after: int) -> Part:
    """Return the part around the mark at `mark`, from `after` on: it begins with the sentence, or
    with a word if the sentence is long."""
    begin = earliest = max(0, mark - _BEFORE)
    for stop in reversed([*_STOP.finditer(text, earliest, mark)]):
        if _is_stop(text, stop):
            begin = stop.end()
            break
    if 0 < begin == earliest:
        space = _SPACE.search(text, mark - FRAGMENT_SIZE // 2, mark)
        begin = space.end() if space else mark
    begin = max(begin, after)
    end = _end(text, begin, text.find(UNMARK, mark) + 1)
    words = map(str.casefold, _FIRST_LETTERS.findall(text, begin, end))
    return Part(text, begin, end, frozenset(words))


def _is_stop(text: str, stop: re.Match[str]) -> bool:
    """Whether the match ends a sentence: it is not the point of an abbreviation, an initial or a
    list number, not part of a name (Yahoo!), and not before a lower-case letter."""
    sign, at = stop[0][0], stop.start()
    if sign not in ".!?":
        return True
    following = text[at + 2 : at + 3]
    if not following.isalnum():
        following = unmark(text[at + 1 : at + 5]).lstrip()[:1]
    if following.islower():
        return False
    word = _PIECES.split(unmark(text[max(0, at - 24) : at]))[-1].casefold()
    if sign != ".":
        return word not in _NAMES
    is_short = len(word) == 1 or (word.isdigit() and len(word) < 3) or "." in word
    return not is_short and word not in _ABBREVIATIONS


def _end(text: str, begin: int, marked_to: int) -> int:
    """Return where a part ends: with its sentence, or with a word after `FRAGMENT_SIZE`."""
    limit = max(begin + FRAGMENT_SIZE, marked_to)
    for stop in _STOP.finditer(text, marked_to, limit) if marked_to else ():
        at = stop.start()
        # A text that ends with a colon includes what it announces.
        is_colon = stop[0] == "\n" and unmark(text[max(0, at - 3) : at]).rstrip()[-1:] == ":"
        if not is_colon and _is_stop(text, stop):
            return at + 1
    if limit >= len(text):
        return len(text)
    space = _SPACE.search(text, limit, begin + LONGEST_SNIPPET)
    return space.start() if space else max(marked_to, begin + LONGEST_SNIPPET)
