"""What is marked in titles, texts and comments, and what of them is shown: snippets, sections and
HTML. Pure; whatever a post contains, the page is safe.

Stored texts are HTML-escaped plain text already. Fragments are decoded and escaped again all the
same, so that a document some other indexer wrote cannot put markup into a page.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

from analyzers.bigrams import CHARACTERS, is_unspaced
from analyzers.languages import ENGLISH, Language
from analyzers.symbols import OPERATORS
from app.search.plan import Plan
from app.search.scoring import (
    FRAGMENT_SIZE,
    LONGEST_SNIPPET,
    MAX_ANALYZED_OFFSET,
    PREFIX_MIN,
    SECTIONS,
)
from app.search.spelling import Interpretation

Json = dict[str, Any]
Words = frozenset[str]

# Private-use characters, which a stored text has no reason to contain.
MARK, UNMARK = "\ue000", "\ue001"

_CAMEL_CASE = 4
"""Letters of the shortest word that is looked for in words such as `useEffect`."""

_MARKED_TEXT = re.compile(f"({MARK}[^{UNMARK}]*{UNMARK})")
_MARKED = re.compile(f"{MARK}([^{MARK}{UNMARK}]*){UNMARK}")
_EMPTY = re.compile(f"{MARK}\\s*{UNMARK}")
_ANY_MARK = f"[{MARK}{UNMARK}]"
_CUT_ENTITY = re.compile(
    f"&(?=[^;]*{_ANY_MARK})(?:"
    + "|".join(f"{_ANY_MARK}?{f'{_ANY_MARK}?'.join(name)}" for name in ("amp;", "lt;", "gt;"))
    + ")"
)
# The analysis makes words of operators, and Lucene's marks for them are off by some characters.
_OPERATOR = re.compile("|".join(f"{_ANY_MARK}*".join(map(re.escape, s)) for s in OPERATORS))

_SPACE = re.compile(rf"\s|(?=[{CHARACTERS}])")  # where a text may be cut
_STOP = re.compile(r"\n|[.!?] |[。！？]")
_LAST_STOP = re.compile(rf"(?s:.*)(?:{_STOP.pattern})")
_ENDS = ".!?。！？"
_BEFORE = FRAGMENT_SIZE * 3 // 4
"""Characters of its sentence that may come before the first mark of a part."""
_COMPARED = 100
"""Parts of a passage that are compared: bounds the time for a text of many thousand marks."""
_FIRST_LETTERS = re.compile(f"{MARK}([^{UNMARK}]{{1,5}})")
"""Marked words that begin with the same letters count as one: `index`, `indexes`, `indexing`."""

_NO_WORDS: Words = frozenset()

_LIKELY, _NEARLY, _IS_QUERY = 5, 0.8, 100.0
"""Passages of which the words that stand together are compared; which share of the best one's worth
another has that is shown beside it; and the worth of a heading that is the query."""

_CONTEXT, _LONGEST_HEADING = 20, 120
"""Characters of a text fragment: beside a heading, and of it."""
_IN_FRAGMENT = "!$&'()*+,;=:@/?"
_BEGINNING: Json = {"line": -1, "code_line": 0, "level": 7, "id": ""}
"""What is before the first heading."""


# -- terms -----------------------------------------------------------------------------------------


def _meant(terms: Iterable[Interpretation]) -> list[Interpretation]:
    """The terms without those that say little, if there are others."""
    terms = list(terms)
    return [term for term in terms if not term.term.light] or terms


def _beginnings(terms: Iterable[Interpretation]) -> list[str]:
    """What terms that may be the beginning of a longer word begin with, folded."""
    return [
        term.term.folded
        for term in _meant(terms)
        if any(variant.kind in ("prefix", "begun") for variant in term.variants)
    ]


def _long_beginnings(terms: Iterable[Interpretation]) -> list[str]:
    """Those that are looked for in texts: one or two letters begin too many words."""
    texts = _beginnings(terms)
    return [text for text in texts if len(text) >= PREFIX_MIN or is_unspaced(text)]


def begin_in(field: str, terms: Iterable[Interpretation]) -> list[Json]:
    """Texts with a word that begins like one of the terms."""
    return [{"prefix": {field: {"value": text}}} for text in _long_beginnings(terms)]


def _stop_words(terms: Sequence[Interpretation]) -> frozenset[str]:
    """The words of a query that has nothing but stop words, folded; otherwise none."""
    if not all(term.term.stop for term in terms):
        return frozenset()
    return frozenset(term.term.folded for term in terms)


# -- what Elasticsearch marks ----------------------------------------------------------------------


def post_highlighting(terms: Sequence[Interpretation], quoted: Sequence[str]) -> Json:
    """The `highlight` part of a search for posts: the terms in every variant."""
    # The stemmed fields have no stop words; `marked_texts` marks those of the text.
    title = "title.words" if _stop_words(terms) else "title"
    return highlighting(terms, quoted, [title, "text", "code.forms"])


def highlighting(
    terms: Sequence[Interpretation], quoted: Sequence[str], fields: Sequence[str]
) -> Json:
    """The `highlight` part of a search. Each field has a query of its own: one query for all fields
    took a seventh of the CPU time of a search."""
    body = highlight_fields(*fields, unmatched=bool(_beginnings(terms)))
    for name, query in highlight_queries(terms, quoted, fields).items():
        body["fields"][name]["highlight_query"] = query
    return body


def highlight_queries(
    terms: Sequence[Interpretation], quoted: Sequence[str], fields: Sequence[str]
) -> dict[str, Json]:
    """For each field a query that matches every variant of the terms, but for beginnings."""
    significant = _meant(terms)
    single: list[str] = []
    phrases: list[str] = []
    for term in significant:
        for variant in term.variants:
            if not variant.text.isalnum():
                phrases.append(variant.text)
            elif variant.kind not in ("character", "prefix"):
                single.append(variant.text)
    words = [" ".join(single)]
    # By themselves too: together they are the single word of the synonym rule.
    words += [term.term.text for term in significant if term.phrase]
    phrases += [*dict.fromkeys(term.phrase for term in significant if term.phrase), *quoted]
    return {
        field: {
            "bool": {
                "should": [
                    *({"match": {field: text}} for text in words if text),
                    *({"match_phrase": {field: text}} for text in phrases),
                ]
            }
        }
        for field in fields
    }


def highlight_fields(*names: str, unmatched: bool = False) -> Json:
    """The texts whole; `app.search.render` cuts them, as the highlighter would look for all
    sentences of a text to find two. The text, and with `unmatched` every field, is returned without
    a match, too."""
    always: Json = {"no_match_size": MAX_ANALYZED_OFFSET}
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "number_of_fragments": 0,
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": {name: {**always} if unmatched or name == "text" else {} for name in names},
    }


# -- what is marked afterwards ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Marker:
    """Words that Elasticsearch cannot mark without analyzing every text again: what words begin
    with that may not be typed to their end, the words of a query that has only stop words, and
    words that are marked where none of them is, as in `useEffect`."""

    begun: tuple[str, ...] = ()
    begun_in_texts: tuple[str, ...] = ()
    stop_words: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    language: Language = ENGLISH

    @classmethod
    def of(cls, plan: Plan) -> "Marker":
        """What is to be marked in the hits of a plan."""
        return cls(
            tuple(_beginnings(plan.terms)),
            tuple(_long_beginnings(plan.terms)),
            _stop_words(plan.terms),
            frozenset(
                variant.text.lower()
                for term in _meant(plan.terms)
                for variant in term.variants
                if len(variant.text) >= _CAMEL_CASE and variant.text.isalnum()
            ),
            plan.language,
        )


def marked_texts(hit: Mapping[str, Any], marker: Marker) -> dict[str, str]:
    """The marked texts of a hit by field, whichever of its sub-fields was highlighted, decoded."""
    texts: dict[str, str] = {}
    for field, fragments in hit.get("highlight", {}).items():
        name = field.partition(".")[0]
        begun = marker.begun if name == "title" else marker.begun_in_texts
        texts[name] = _with_words(decoded("\n".join(fragments)), begun, marker)
    return texts


def _with_words(marked: str, begun: tuple[str, ...], marker: Marker) -> str:
    whole = set(marker.stop_words)
    if marker.words:
        # Bytes have the letters of names in code, and are searched in a tenth of the time.
        lower = marked.encode().lower()
        for word in marker.words:
            if word.encode() in lower and f"{MARK}{word}{UNMARK}".encode() not in lower:
                whole.add(word)
    if not begun and not whole:
        return marked

    def mark(match: re.Match[str]) -> str:
        word = match.group()
        token = word.lower() if word.isascii() else marker.language.token(word.replace("’", "'"))
        return f"{MARK}{word}{UNMARK}" if token.startswith(begun) or token in whole else word

    pattern = _words_with((*begun, *sorted(whole)))
    parts = _MARKED_TEXT.split(marked)
    parts[::2] = [pattern.sub(mark, part) for part in parts[::2]]
    return "".join(parts)


@lru_cache(maxsize=128)
def _words_with(beginnings: tuple[str, ...]) -> re.Pattern[str]:
    """Words, also inside of camelCase, that may begin like one of these texts when they are folded.
    The first character comes first: a search for it is five times as fast."""
    letters = {letter for text in beginnings for letter in text[0].lower() + text[0].upper()}
    # Without what it is not: a class of all other characters takes milliseconds to compile.
    others = re.escape("".join(chr(code) for code in range(0xC0) if chr(code) not in letters))
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
    """A stored text as a person reads it."""
    return html.unescape(stored or "")


def decoded(marked: str) -> str:
    """A marked stored text as a person reads it; a mark that cuts an entity is widened to it."""
    if "&" not in marked:
        return marked
    if MARK in marked:
        marked = _CUT_ENTITY.sub(_mark_entity, marked)
    return html.unescape(marked)


def _mark_entity(entity: re.Match[str]) -> str:
    cut = entity.group()
    opens, closes = MARK in cut, UNMARK in cut
    whole = unmarked(cut)
    if opens and closes and cut.rindex(MARK) < cut.index(UNMARK):
        return f"{MARK}{whole}{UNMARK}"
    # One mark ends inside and another one may begin there: both are one.
    return f"{MARK if opens and not closes else ''}{whole}{UNMARK if closes and not opens else ''}"


def safe(fragment: str) -> str:
    """A highlighted plain text with nothing but our own `<mark>` in it."""
    fragment = fragment.strip()
    if MARK not in fragment:
        return html.escape(unmarked(fragment), quote=False)
    marked = _EMPTY.sub("", _OPERATOR.sub(_mark_whole, fragment))
    # Faster than a replacement with a group, which is expanded in Python.
    parts = _MARKED.split(html.escape(marked, quote=False))
    parts[1::2] = [f"<mark>{word}</mark>" for word in parts[1::2]]
    return unmarked("".join(parts))


def _mark_whole(operator: re.Match[str]) -> str:
    marked = operator.group()
    return f"{MARK}{unmarked(marked)}{UNMARK}" if MARK in marked else marked


def unmarked(text: str) -> str:
    return text.replace(MARK, "").replace(UNMARK, "")


# -- passages --------------------------------------------------------------------------------------


class Part(NamedTuple):
    """Where a part of a text begins and ends, and its marked words."""

    text: str
    begin: int
    end: int
    words: Words


@dataclass(frozen=True, eq=False)
class Passage:
    """A marked text without headings: what follows `heading` up to the next one.

    `above` are the headings above it, `id` is that of its element, `before` the line before it;
    `heading_words` and `body_words` are its marked words.
    """

    prose: str
    code: str
    heading: str
    above: tuple[str, ...]
    id: str
    before: str
    heading_words: Words
    body_words: Words

    @cached_property
    def words(self) -> Words:
        """The marked words of the passage and its heading."""
        return self.heading_words | self.body_words

    @cached_property
    def parts(self) -> list[Part]:
        """The first parts that have a mark, up to the second one with every word."""
        parts: list[Part] = []
        complete = 0
        for text in (self.prose, self.code):
            for part in islice(_parts(text), _COMPARED):
                parts.append(part)
                complete += part.words == self.body_words
                if complete == 2:
                    return parts
        return parts

    @property
    def beginning(self) -> str:
        """What is shown of it without a mark: of code, a line."""
        text = self.prose or self.code.lstrip().partition("\n")[0]
        return _cut(text, 0, _end(text, 0, 0))

    def worth(self, shown: Words, q: str) -> float:
        """By its words and those above it, twice those of its heading, and by how much of its
        heading is marked; a heading that is the query wins. Words that are shown already count
        half."""
        name = unmarked(self.heading)
        if name and name.casefold() == q:
            return _IS_QUERY
        worth = _count(self.words.union(*map(_words_of, self.above)), shown)
        if self.heading_words:
            share = sum(map(len, _MARKED.findall(self.heading))) / len(name)
            worth += 2 * _count(self.heading_words, shown) + 2 * share
        return worth

    def together(self, shown: Words) -> float:
        """How many of its words stand together, in its heading and a part."""
        if len(self.body_words) < 2:
            return _count(self.words, shown)
        in_parts = {self.heading_words, *[part.words | self.heading_words for part in self.parts]}
        return max([_count(words, shown) for words in in_parts])

    def url(self, page: str) -> str:
        """The id of its heading, else a text fragment.

        A table of contents has the same words, so the fragment also names the words that follow or
        precede the heading; those that follow alone, too, where a link stands between them.
        """
        if self.id:
            return f"{page.partition('#')[0]}#{quote(self.id, safe=_IN_FRAGMENT)}"
        name = unmarked(self.heading)
        first = _first_words(name, _LONGEST_HEADING)
        heading = _in_directive(first)
        after = _in_directive(_first_words(unmarked(self.prose.partition("\n")[0])))
        if after and first == name:
            texts = f"text={heading},-{after}&text={after}"
        else:
            before = _in_directive(_first_words(unmarked(self.before)[::-1])[::-1])
            texts = f"text={before}-,{heading}&text={heading}" if before else f"text={heading}"
        return f"{page}{'' if '#' in page else '#'}:~:{texts}"


def _words_of(marked: str) -> Words:
    """The marked words of a text, of which inflections count as one."""
    if MARK not in marked:
        return _NO_WORDS
    return frozenset([word.casefold() for word in set(_FIRST_LETTERS.findall(marked))])


def _count(words: Words, shown: Words) -> float:
    return len(words) - len(words & shown) / 2


def _in_directive(text: str) -> str:
    """A text percent-encoded for a text fragment, in which a hyphen has a meaning."""
    return quote(text, safe="").replace("-", "%2D")


def _first_words(text: str, length: int = _CONTEXT) -> str:
    if len(text) <= length:
        return text
    return text[:length].rpartition(" ")[0] or text[: length // 2]


def _passages(text: str, code: str, headings: Sequence[Json], title: str) -> list[Passage]:
    """A marked text and its code, cut at the headings: the passages that have a mark, or all of
    them if there is none. A heading that is the title of the post is left out."""
    without_mark = MARK not in text and MARK not in code
    lines = text.split("\n")
    code_lines = code.split("\n")
    last: Json = {"line": len(lines), "code_line": len(code_lines)}
    within = [heading for heading in headings if heading["line"] < len(lines)]
    path: list[tuple[int, str]] = []
    cut: list[Passage] = []
    former = ""
    for heading, following in pairwise([_BEGINNING, *within, last]):
        at, level = heading["line"], heading["level"]
        name = lines[at] if at >= 0 else ""
        path = [above for above in path if above[0] < level]
        prose = "\n".join(lines[at + 1 : following["line"]])
        block = "\n".join(code_lines[heading["code_line"] : following["code_line"]]).strip("\n")
        if without_mark or MARK in prose or MARK in name or MARK in block:
            shown = "" if unmarked(name).casefold() == title.casefold() else name
            above = tuple([text for _, text in path])
            before = former.rpartition("\n")[2]
            words = _words_of(shown), _words_of(prose) | _words_of(block)
            cut.append(Passage(prose, block, shown, above, heading["id"], before, *words))
        path.append((level, name))
        former = prose
    return cut


def _best_passages(candidates: Sequence[Passage], shown: Words, q: str) -> list[Passage]:
    """The passages to show, the best first: the best one, and those that add words to it or answer
    nearly as well with words in their heading."""
    candidates = [passage for passage in candidates if passage.words]
    if len(candidates) < 2:
        return candidates
    q = q.casefold()
    worth = {passage: passage.worth(shown, q) for passage in candidates}
    likely = sorted(candidates, key=worth.__getitem__, reverse=True)
    best = [max(likely[:_LIKELY], key=lambda passage: worth[passage] + passage.together(shown))]
    seen = shown | best[0].words
    enough = _NEARLY * worth[best[0]]
    while len(best) < SECTIONS:
        left = [
            passage
            for passage in likely
            if (passage.words - seen or (passage.heading_words and worth[passage] > enough))
            and passage not in best
        ]
        if not left:
            break
        best.append(max(left, key=lambda passage: len(passage.words - seen)))
        seen |= best[-1].words
    return best


# -- snippets --------------------------------------------------------------------------------------


def excerpts(
    marked: Mapping[str, str], headings: Sequence[Json] = (), q: str = "", title: str = ""
) -> tuple[list[str], list[tuple[Passage, str]]]:
    """What is shown of a post for a query: the snippets that are in no section, and sections with
    one each."""
    shown = _words_of(marked.get("title", ""))
    candidates = _passages(marked.get("text", ""), marked.get("code", ""), headings, title)
    best = _best_passages(candidates, shown, q)
    if not best:
        return [beginning for passage in candidates if (beginning := passage.beginning)][:1], []
    if len(best) == 1 and not best[0].heading:
        best *= min(2, len(best[0].parts))
    texts = list(zip(best, _snippets(best, shown), strict=True))
    loose = list(dict.fromkeys(text for passage, text in texts if not passage.heading))
    return loose, [(passage, text) for passage, text in texts if passage.heading]


def _snippets(passages: Sequence[Passage], shown: Words) -> list[str]:
    """A snippet of each passage, two of a passage that is listed twice: the sentences that show
    most different words. Words of `shown` (the title) count less."""
    left = {passage: list(passage.parts) for passage in passages}
    snippets: list[str] = []
    for passage in passages:
        shown |= passage.heading_words
        parts = left[passage]
        if not parts:
            snippets.append(passage.beginning)
            continue
        best = max(parts, key=lambda part: (len(part.words - shown), len(part.words)))
        parts.remove(best)
        snippets.append(_cut(best.text, best.begin, best.end))
        shown |= best.words
    return snippets


def _parts(text: str) -> Iterator[Part]:
    at, end = text.find(MARK), 0
    while at >= 0:
        begin = max(end, _begin(text, at))
        end = _end(text, begin, text.find(UNMARK, at) + 1)
        yield Part(text, begin, end, _words_of(text[begin:end]))
        at = text.find(MARK, end)


def _cut(text: str, begin: int, end: int) -> str:
    """A part of a text, with an ellipsis where it ends inside a sentence."""
    part = text[begin:end]
    before = text[max(0, begin - 2) : begin].rstrip(" ")[-1:]
    after = text[end : end + 2].lstrip(" ")[:1]
    starts = not before or before in f"\n{_ENDS}"
    ends = not after or "\n" in (after, part[-1:]) or part.rstrip()[-1:] in tuple(_ENDS)
    return ("" if starts else "… ") + part.strip() + ("" if ends else " …")


def _begin(text: str, mark: int) -> int:
    """Where a part with this mark begins: with its sentence, or in a long one with a word."""
    first = max(0, mark - _BEFORE)
    if stop := _LAST_STOP.match(text, first, mark):
        return stop.end()
    if not first:
        return 0
    space = _SPACE.search(text, mark - FRAGMENT_SIZE // 2, mark)
    return space.end() if space else mark


def _end(text: str, begin: int, marked_to: int) -> int:
    """Where it ends: with its sentence, or with a word after `FRAGMENT_SIZE` characters."""
    limit = max(begin + FRAGMENT_SIZE, marked_to)
    if marked_to and (stop := _STOP.search(text, marked_to, limit)):
        return stop.start() + 1
    if limit >= len(text):
        return len(text)
    space = _SPACE.search(text, limit, begin + LONGEST_SNIPPET)
    return space.start() if space else max(marked_to, begin + LONGEST_SNIPPET)
