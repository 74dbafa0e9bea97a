"""Pinned results: the posts that come first for a search, and those that are hidden. Pure.

`app.pins` parses and stores the rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from analyzers.languages import Language
from app.search.query_parser import ParsedQuery, parse_query
from app.search.spelling import Interpretation

MAX_FIRST = 10
"""Posts that come first for one search; further ones are left out."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinnedSearch:
    """The searches that a rule is for: those of exactly these words in this order or, with
    `among_others`, those that have all of them anywhere. `text` is as written in the file."""

    text: str
    words: Words
    among_others: bool


@dataclass(frozen=True, slots=True)
class PinRule:
    """One rule of a file. `first` and `never` are oids; `until` is the last day on which it
    applies, in UTC."""

    file: str
    line: int
    searches: tuple[PinnedSearch, ...]
    first: tuple[str, ...]
    never: tuple[str, ...]
    until: date | None = None

    @property
    def place(self) -> str:
        """File and line as in `launch.pins:3`."""
        return f"{self.file}:{self.line}"

    def expired(self, today: date) -> bool:
        """Whether the last day of the rule has passed."""
        return self.until is not None and self.until < today


@dataclass(frozen=True, slots=True)
class MatchedPins:
    """The rules for one search, and the oids that they name; false when there are none."""

    first: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    rules: tuple[PinRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.first or self.never)

    def only_never(self) -> "MatchedPins":
        """Without the posts that come first."""
        return replace(self, first=())


NO_MATCH = MatchedPins()


class Pins:
    """Rules, found by the words of a search."""

    def __init__(self, rules: Iterable[PinRule]) -> None:
        self.rules = tuple(rules)
        self._exact: defaultdict[Words, list[PinRule]] = defaultdict(list)
        self._by_word: defaultdict[str, list[tuple[PinnedSearch, PinRule]]] = defaultdict(list)
        for rule in self.rules:
            for search in rule.searches:
                if search.among_others:
                    self._by_word[search.words[0]].append((search, rule))
                else:
                    self._exact[search.words].append(rule)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def match(self, words: Sequence[str], today: date) -> MatchedPins:
        """The rules for a search of these words: exact ones first, then those with more words.

        A post that one rule puts first and another hides is hidden.
        """
        rules = tuple(rule for rule in self._found(tuple(words)) if not rule.expired(today))
        if not rules:
            return NO_MATCH
        never = tuple(dict.fromkeys(oid for rule in rules for oid in rule.never))
        first = dict.fromkeys(oid for rule in rules for oid in rule.first if oid not in never)
        return MatchedPins(tuple(first)[:MAX_FIRST], never, rules)

    def _found(self, words: Words) -> Iterable[PinRule]:
        there = set(words)
        by_word = [
            (search, rule)
            for word in there & self._by_word.keys()
            for search, rule in self._by_word[word]
            if there.issuperset(search.words)
        ]
        by_word.sort(key=lambda match: (-len(match[0].words), match[1].file, match[1].line))
        return dict.fromkeys([*self._exact.get(words, ()), *(rule for _, rule in by_word)])


NO_PINS = Pins(())


def words_of(terms: Sequence[Interpretation], query: ParsedQuery, language: Language) -> Words:
    """The words of a query in their order, as the index has them and in their likeliest spelling.

    `terms` are the interpretations of those of the query.
    """
    places = [(term.term.start, _words(term)) for term in terms]
    for text, start in zip(query.quoted, query.quoted_at, strict=True):
        phrase = parse_query(text, language).terms
        places.append((start, [piece for term in phrase for piece in term.pieces]))
    places.sort(key=lambda place: place[0])
    return tuple(word for _, words in places for word in words)


def _words(term: Interpretation) -> Sequence[str]:
    likeliest = term.likeliest
    return (
        term.term.pieces
        if likeliest.kind in ("typed", "prefix", "begun", "character")
        else likeliest.text.split()
    )
