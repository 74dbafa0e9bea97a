"""What is highlighted in titles, texts and comments. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from analyzers.bigrams import is_unspaced
from analyzers.languages import Language
from app.search.render import MARK, UNMARK
from app.search.scoring import FRAGMENT_SIZE, MAX_ANALYZED_OFFSET, PREFIX_MIN
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]

_MARKED = re.compile(f"({MARK}[^{UNMARK}]*{UNMARK})")


def post_highlighting(terms: Sequence[Interpretation], quoted: Sequence[str]) -> Json:
    """The `highlight` part of a search for posts: the terms in every variant.

    Each field has a query of its own. The highlighter looks for every clause of a query in each
    field of each hit: one query for all fields took a seventh of the CPU time of a search.
    """
    fields = ["title", "text", "code.forms"]
    if stop_words(terms):  # the stemmed fields have none; `mark_words` marks those of the text
        fields = ["title.words", "text", "code.forms"]
    return highlighting(terms, quoted, fields)


def stop_words(terms: Iterable[Interpretation]) -> frozenset[str]:
    """The words of a query that has nothing but stop words, folded; otherwise none."""
    words = [term.term for term in terms]
    only_stop_words = all(word.stop for word in words)
    return frozenset(word.folded for word in words if only_stop_words)


def highlighting(
    terms: Sequence[Interpretation], quoted: Sequence[str], fields: Sequence[str]
) -> Json:
    """The `highlight` part of a search: each field for a query of its own."""
    body = highlight_fields(*fields, unmatched=bool(beginnings(terms)))
    for name, query in highlight_queries(terms, quoted, fields).items():
        body["fields"][name]["highlight_query"] = query
    return body


def beginnings(terms: Iterable[Interpretation]) -> list[str]:
    """What terms that may be the beginning of a longer word begin with, folded."""
    meant = _meant(terms)
    prefixes = [
        variant.text for term in meant for variant in term.variants if variant.kind == "prefix"
    ]
    return prefixes + [term.term.folded for term in meant if term.begun]


def long_beginnings(terms: Iterable[Interpretation]) -> list[str]:
    """Those of `beginnings` that are looked for in texts: one or two letters begin too many
    words."""
    return [text for text in beginnings(terms) if len(text) >= PREFIX_MIN or is_unspaced(text)]


def _meant(terms: Iterable[Interpretation]) -> list[Interpretation]:
    """The terms without those that say little, if there are others."""
    terms = list(terms)
    return [term for term in terms if not term.term.light] or terms


def highlight_queries(
    terms: Sequence[Interpretation], quoted: Sequence[str], fields: Sequence[str]
) -> dict[str, Json]:
    """For each field a query that matches every variant of the terms, but for `beginnings`."""
    meant = _meant(terms)
    variants = [
        variant for term in meant for variant in term.variants if variant.kind != "character"
    ]
    single = [variant.text for variant in variants if variant.kind != "prefix" and _single(variant)]
    words = [" ".join([*single, *dict.fromkeys(term.compound for term in meant if term.compound)])]
    # By themselves too: together they are the single word of the synonym rule.
    words += [term.term.text for term in meant if term.phrase]
    phrases = [variant.text for variant in variants if not _single(variant)]
    phrases += [*dict.fromkeys(term.phrase for term in meant if term.phrase), *quoted]
    queries: dict[str, Json] = {}
    for field in fields:
        clauses: list[Json] = [{"match": {field: text}} for text in words if text]
        clauses += [{"match_phrase": {field: text}} for text in phrases]
        queries[field] = {"bool": {"should": clauses}}
    return queries


def highlight_fields(*names: str, unmatched: bool = False) -> Json:
    """The `highlight` part of a search: all of them whole.

    With `unmatched`, texts without a match are returned, too. `app.search.render` cuts them. The
    highlighter would look for the sentences of a whole text to find two, which took half of the
    time of a search.
    """
    of_field: dict[str, Json] = {
        "title": {"number_of_fragments": 0},
        "text": {"number_of_fragments": 0, "no_match_size": MAX_ANALYZED_OFFSET},
        "code": {"number_of_fragments": 0},
        "comments": {"number_of_fragments": 0},
    }
    fields = {name: of_field.get(name.partition(".")[0], {}) for name in names}
    if unmatched:
        for field in fields.values():
            field["no_match_size"] = MAX_ANALYZED_OFFSET
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "fragment_size": FRAGMENT_SIZE,
        "number_of_fragments": 1,
        "order": "score",
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": fields,
    }


def _single(variant: TermVariant) -> bool:
    return variant.text.isalnum()


# -- beginnings of words, and stop words -----------------------------------------------------------


def mark_words(
    hits: Iterable[Mapping[str, Any]], terms: Sequence[Interpretation], language: Language
) -> None:
    """Mark the words that begin like a term in the highlights of these hits, and the stop words of
    a query that has no others.

    Elasticsearch would analyze every text again for that: seventy times the time of a usual search
    in long posts.
    """
    begun, long, whole = beginnings(terms), long_beginnings(terms), stop_words(terms)
    for hit in hits if begun or whole else ():
        for field, texts in hit.get("highlight", {}).items():
            wanted = begun if field.startswith("title") else long
            texts[:] = [_with_words(text, tuple(wanted), whole, language) for text in texts]


def _with_words(
    marked: str, begun: tuple[str, ...], whole: frozenset[str], language: Language
) -> str:
    wanted = (*begun, *whole)
    if not wanted or (marked.isascii() and not any(text in marked.lower() for text in wanted)):
        return marked

    def mark(match: re.Match[str]) -> str:
        word = match.group()
        token = word.lower() if word.isascii() else language.token(word.replace("’", "'"))
        return f"{MARK}{word}{UNMARK}" if token.startswith(begun) or token in whole else word

    pattern = _words_with(wanted)
    parts = _MARKED.split(marked)
    parts[::2] = [pattern.sub(mark, part) for part in parts[::2]]
    return "".join(parts)


@lru_cache(maxsize=128)
def _words_with(beginnings: tuple[str, ...]) -> re.Pattern[str]:
    """Words, also inside of camelCase, that may begin like one of these texts when they are folded.
    An entity of HTML is none.

    The first character comes first in the pattern: a search for it is five times as fast. A
    character that is not ASCII may be folded to any other.
    """
    letters = {letter for text in beginnings for letter in text[0] + text[0].upper()}
    # Without what it is not: a class of all other characters takes milliseconds to compile.
    others = re.escape("".join(chr(code) for code in range(0xC0) if chr(code) not in letters))
    rest = "|".join(dict.fromkeys(re.escape(text[1:]) for text in beginnings))
    longest = max(map(len, beginnings))
    return re.compile(
        rf"[^{others}](?<=[^\W_])"
        r"(?:(?<![^\W_].)(?<!&.)|(?<=[a-z][A-Z]))"
        rf"(?:(?<=[^\0-\x7f])|(?i:(?={rest}))|(?=[\w']{{0,{longest}}}[^\0-\x7f]))"
        r"[^\W_]*(?:['’][^\W_]+)*"
    )
