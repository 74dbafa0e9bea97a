"""The clauses a plan is made of: one word in one reading, a phrase, what is kept out. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.search import relevance
from app.search.spelling import Reading
from app.search.words import Word, plain

Clause = dict[str, Any]

STEMMED = frozenset({"title", "text", "comment", "keywords.text"})
EXACT_FIELDS = ("title.words", "text.words", "code.forms")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to read a word: the text to match, what it weighs, whether words that only begin with
    it count too (and are marked in long texts, which is slow), and whether stems are left out."""

    text: str
    weight: float
    prefix: bool = False
    mark_prefix: bool = False
    unstemmed: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """A word that is searched for, in every way it is read.

    `phrase` is the several words that a synonym rule takes together with it, "" for none: a post
    with "ML" has both words of `machine learning`.
    """

    word: Word
    spellings: tuple[Spelling, ...]
    phrase: str = ""

    @classmethod
    def of(
        cls, word: Word, reading: Reading, *, prefix: bool, begins: bool, unknown: bool
    ) -> "Sought":
        """The typed word first, then its alternatives.

        Args:
            prefix: whether it may be the beginning of a word, and its alternatives too.
            begins: whether any word of the index is known to begin so, or that is not known.
            unknown: whether it is known to stand nowhere itself.
        """

        def grown(text: str, weight: float, cost: float = 0.0) -> bool:
            long_enough = len(text) >= relevance.PREFIX_MIN and text.isalnum()
            likely = weight >= relevance.PREFIX_MIN_WEIGHT and cost <= relevance.MAX_COST_BEGINNING
            return prefix and long_enough and likely

        started = begins and grown(word.token, 1.0)
        typed = Spelling(
            word.text, reading.typed_weight, started, started and unknown, word.partly_stop
        )
        others = (
            Spelling(other.text, other.weight, grown(other.text, other.weight, other.cost))
            for other in reading.alternatives
        )
        return cls(word, (typed, *others))

    @property
    def name(self) -> str:
        return f"word {self.word.at}"

    @property
    def likeliest(self) -> Spelling:
        """The reading that weighs most, the typed one before others that weigh the same."""
        return max(self.spellings, key=lambda spelling: spelling.weight)

    @property
    def tokens(self) -> tuple[str, ...]:
        """What the likeliest reading is to the synonym rules."""
        best = self.likeliest
        return self.word.pieces if best is self.spellings[0] else (best.text,)

    @property
    def ways(self) -> tuple[Spelling, ...]:
        """Everything that counts as the word: its spellings, and the phrase it is part of."""
        return (*self.spellings, Spelling(self.phrase, 1.0)) if self.phrase else self.spellings

    def spelling_name(self, spelling: Spelling) -> str:
        return f"{self.name} as {spelling.text}"


def either(clauses: Iterable[Clause], name: str = "") -> Clause:
    """At least one of the clauses; their scores add up."""
    found: Clause = {"should": list(clauses), "minimum_should_match": 1}
    if name:
        found["_name"] = name
    return {"bool": found}


def constant(clause: Clause, boost: float, name: str = "") -> Clause:
    """What a match adds, however often it matches."""
    found: Clause = {"filter": clause, "boost": round(boost, 6)}
    if name:
        found["_name"] = name
    return {"constant_score": found}


def match(field: str, text: str, boost: float = 1.0, name: str = "") -> Clause:
    """A match of the text; of all its tokens side by side where it has several."""
    if boost == 1.0:
        return {"match_phrase": {field: text}}
    found: Clause = {"query": text, "boost": boost}
    if name:
        found["_name"] = name
    return {"match_phrase": {field: found}}


def match_any(fields: Sequence[str], text: str) -> Clause:
    """The same in any of the fields."""
    if len(fields) == 1:
        return match(fields[0], text)
    names = list(dict.fromkeys(fields))
    return {"multi_match": {"query": text, "type": "phrase", "fields": names}}


def of_comments(clause: Clause) -> Clause:
    """Posts with a comment that matches; the best one counts."""
    return {"has_child": {"type": "comment", "score_mode": "max", "query": clause}}


def _gains(
    gains: Mapping[tuple[str, ...], float], spelling: Spelling
) -> list[tuple[tuple[str, ...], float]]:
    return [
        (fields, gain * spelling.weight)
        for fields, gain in gains.items()
        if not (spelling.unstemmed and fields[0] in STEMMED)
    ]


def spelling_clause(sought: Sought, spelling: Spelling, *, named: bool) -> Clause:
    """One spelling of a word: what a match in each field adds."""
    text = spelling.text
    label = sought.spelling_name(spelling)

    def name(field: str) -> str:
        return f"{label}: {field}" if named else ""

    found = [
        constant(match_any(fields, text), gain, name(" or ".join(fields)))
        for fields, gain in _gains(relevance.GAINS, spelling)
    ]
    if spelling.weight >= relevance.BM25_MIN_WEIGHT and not spelling.unstemmed:
        found += [
            match(field, text, boost, name(f"BM25 in {field}"))
            for field, boost in relevance.BM25.items()
        ]
    if spelling.prefix:
        factor = relevance.UNKNOWN_PREFIX if spelling.mark_prefix else spelling.weight
        found += [
            constant(begins(field, text), factor * gain, name(f"{field} begins so"))
            for field, gain in relevance.PREFIX_GAINS.items()
        ]
    return either(found, label)


def begins(field: str, text: str) -> Clause:
    """A word that begins with the text."""
    return {"prefix": {field: {"value": plain(text)}}}


def word_clause(sought: Sought, *, named: bool) -> Clause:
    """A word in any of its readings."""
    found = [spelling_clause(sought, spelling, named=named) for spelling in sought.ways]
    # One look at the comments for all readings: each `has_child` costs as much as all else.
    in_comments = (
        constant(match_any(fields, spelling.text), gain)
        for spelling in sought.ways
        for fields, gain in _gains(relevance.COMMENT_GAINS, spelling)
    )
    comments = of_comments(either(in_comments))
    if named:
        comments["has_child"]["_name"] = f"{sought.name} in comments"
    return either([*found, comments], sought.name)


def has_spelling(spelling: Spelling) -> Clause:
    """Whether a post has a word so spelled, in itself or in a comment."""
    return either([*_in_post(spelling), of_comments(either(_in_comments(spelling)))])


def has_word(sought: Sought) -> Clause:
    """Whether a post has a word in any of its readings: the posts of `word_clause`, unscored."""
    in_posts = [clause for spelling in sought.ways for clause in _in_post(spelling)]
    in_comments = [clause for spelling in sought.ways for clause in _in_comments(spelling)]
    return either([*in_posts, of_comments(either(in_comments))])


def _in_post(spelling: Spelling) -> list[Clause]:
    fields = [field for fields, _ in _gains(relevance.GAINS, spelling) for field in fields]
    found = [match_any(fields, spelling.text)]
    if spelling.prefix:
        found += [begins(field, spelling.text) for field in relevance.PREFIX_GAINS]
    return found


def _in_comments(spelling: Spelling) -> list[Clause]:
    fields = [field for fields, _ in _gains(relevance.COMMENT_GAINS, spelling) for field in fields]
    return [match_any(fields, spelling.text)]


def out_clause(text: str) -> Clause:
    """A word or phrase that a post must not have, in either spelling."""
    return match_any(("title.forms", "text.forms", "title.words", "text.words", "code.forms"), text)
