"""The clauses a plan is made of: one word in one reading, a phrase, what is kept out. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.search import relevance
from app.search.spelling import Reading
from app.search.words import Word

Clause = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to read a word: the text to match, what it weighs, and whether words that only begin
    with it count too."""

    text: str
    weight: float
    prefix: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """A word that is searched for, in every way it is read."""

    word: Word
    spellings: tuple[Spelling, ...]

    @classmethod
    def of(cls, word: Word, reading: Reading, *, prefix: bool) -> "Sought":
        def grown(text: str, weight: float) -> bool:
            long_enough = len(text) >= relevance.PREFIX_MIN and len(word.pieces) == 1
            return prefix and long_enough and weight >= relevance.PREFIX_MIN_WEIGHT

        typed = Spelling(word.text, reading.typed_weight, grown(word.token, 1.0), word.stop)
        others = (
            Spelling(other.text, other.weight, grown(other.text, other.weight))
            for other in reading.alternatives
        )
        return cls(word, (typed, *others))

    @property
    def name(self) -> str:
        return f"word {self.word.at}"


def either(clauses: Iterable[Clause], name: str = "") -> Clause:
    """At least one of the clauses; their scores add up."""
    found: Clause = {"should": list(clauses), "minimum_should_match": 1}
    if name:
        found["_name"] = name
    return {"bool": found}


def constant(clause: Clause, boost: float, name: str = "") -> Clause:
    found: Clause = {"filter": clause, "boost": round(boost, 6)}
    if name:
        found["_name"] = name
    return {"constant_score": found}


def match(field: str, text: str) -> Clause:
    """A match of the text, of all its tokens and side by side where it has several."""
    return {"match_phrase": {field: text}}


def of_comments(clause: Clause) -> Clause:
    return {"has_child": {"type": "comment", "score_mode": "max", "query": clause}}


def spelling_clause(sought: Sought, spelling: Spelling, *, named: bool) -> Clause:
    """One spelling of a word: what a match in each field adds."""

    def name(field: str) -> str:
        return f"{sought.name}: {spelling.text} in {field}" if named else ""

    text, weight = spelling.text, spelling.weight
    fields: Mapping[str, float] = relevance.GAINS
    if spelling.exact:
        fields = {field: gain for field, gain in fields.items() if not _stops(field)}
    found = [
        constant(match(field, text), weight * gain, name(field)) for field, gain in fields.items()
    ]
    comments = [
        constant(match(field, text), weight * gain)
        for field, gain in relevance.COMMENT_GAINS.items()
        if not (spelling.exact and _stops(field))
    ]
    in_comments = of_comments(either(comments))
    if named:
        in_comments["has_child"]["_name"] = name("comments")
    found.append(in_comments)
    if weight >= relevance.BM25_MIN_WEIGHT:
        found += [_bm25(field, text, boost) for field, boost in relevance.BM25.items()]
    if spelling.prefix:
        found += [
            constant({"prefix": {field: text.lower()}}, weight * gain, name(f"{field} (beginning)"))
            for field, gain in relevance.PREFIX_GAINS.items()
        ]
    return either(found, f"{sought.name} as {spelling.text}")


def _stops(field: str) -> bool:
    return field in {"title", "text", "comment", "keywords.text"}


def _bm25(field: str, text: str, boost: float) -> Clause:
    return {"match_phrase": {field: {"query": text, "boost": boost}}}


def word_clause(sought: Sought, *, named: bool) -> Clause:
    """A word in any of its readings."""
    return either(
        (spelling_clause(sought, spelling, named=named) for spelling in sought.spellings),
        sought.name,
    )


def word_filter(sought: Sought) -> Clause:
    """Whether a post has a word in any of its readings; adds nothing."""
    return word_clause(sought, named=False)


def phrase_clauses(words: Iterable[Sought]) -> list[Clause]:
    """The words side by side, in their order, each in any of its readings."""
    words = list(words)
    kept = [sought for sought in words if not sought.word.stop]
    if len(words) < 2 or not kept:
        return []
    found = []
    for field, gain in relevance.PHRASE_GAINS.items():
        every = words if field.endswith(".words") else kept
        if len(every) < 2:
            continue
        rules = [
            _any_of(
                {"match": {"query": spelling.text, "ordered": True, "max_gaps": 0}}
                for spelling in sought.spellings
            )
            for sought in every
        ]
        # Stop words leave a gap behind in a stemmed field.
        gaps = len(words) - len(every)
        ordered = {"all_of": {"ordered": True, "max_gaps": gaps, "intervals": rules}}
        found.append(constant({"intervals": {field: ordered}}, gain, f"phrase in {field}"))
    return found


def _any_of(rules: Iterable[Clause]) -> Clause:
    found = list(rules)
    return found[0] if len(found) == 1 else {"any_of": {"intervals": found}}


EXACT_FIELDS = ("title.words", "text.words", "code.forms")


def quoted_clause(text: str) -> Clause:
    """Exactly these words side by side, unstemmed, wherever in the post."""
    found = [
        constant(match(field, text), relevance.GAINS[field.replace("words", "forms")])
        for field in EXACT_FIELDS
    ]
    gain = relevance.COMMENT_GAINS["comment.forms"]
    found.append(of_comments(constant(match("comment.words", text), gain)))
    return either(found, f'"{text}"')


def out_clause(text: str) -> Clause:
    """A word or phrase that a post must not have, in either spelling."""
    fields = ("title.forms", "text.forms", "title.words", "text.words", "code.forms")
    return either(match(field, text) for field in fields)
