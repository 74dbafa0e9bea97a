"""What is marked in titles, texts and comments: by Elasticsearch, and in what it returns. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analyzers.bigrams import is_unspaced
from analyzers.languages import ENGLISH, Language
from app.search.clauses import compounds
from app.search.plan import Plan
from app.search.render import MARK, UNMARK, decoded
from app.search.scoring import MAX_ANALYZED_OFFSET, PREFIX_MIN
from app.search.spelling import Interpretation

Json = dict[str, Any]

_MARKED = re.compile(f"({MARK}[^{UNMARK}]*{UNMARK})")
_CAMEL_CASE = 4
"""Letters of the shortest word that is looked for in words such as `useEffect`."""


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
    words = compounds(significant)
    single: list[str] = []
    phrases: list[str] = []
    for term in significant:
        for variant in term.variants:
            if not variant.text.isalnum():
                phrases.append(variant.text)
            elif variant.kind not in ("character", "prefix"):
                single.append(variant.text)
    words = [" ".join([*single, *words])]
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
    parts = _MARKED.split(marked)
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
