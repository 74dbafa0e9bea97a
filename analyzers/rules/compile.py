"""Compiles rules to the lines that Elasticsearch's `synonym` filters get.

The filter looks every word of a text up once. It does not look up the result of a rule, so with
`a => b` in one file and `b => c` in another, "a" and "b" would become different tokens. Rules are
therefore followed to their end here (`analyzers.rules.graph`).

A query has single tokens only: a phrase becomes the single words of its group or, if there are
none, its own words joined. A post has them too, but keeps the words of a phrase beside them, unless
a contraction takes them away. So `machine learning, ml` is compiled to

    machine learning => ml                                      for queries
    machine learning => machine learning, ml, machine ml        for posts

Of the three results the second marks the whole phrase, and the third has the token at the last
word, so that words behind the phrase stand beside it as they stand behind "ml".
"""

import hashlib
import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from analyzers.bigrams import is_unspaced, split
from analyzers.errors import BlogsearchError
from analyzers.findings import Finding
from analyzers.rules.formats import escaped
from analyzers.rules.graph import TermGraph, resolve
from analyzers.rules.parse import Rule, Words, folded, normalise, parse_files, words

MAX_PAIRS = 2_000_000  # pairs of a term and a token, over all files; each costs memory
MAX_VARIANTS = 24  # spellings of one phrase

_SEPARATOR = re.compile(r"(?<!\\)(?:\\\\)*(?:=>|,)")
_ESCAPED = re.compile(r"\\(.)")


class RuleErrors(BlogsearchError):
    """The rule files cannot be used; `findings` has every problem with file and line."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, findings)))


@dataclass(frozen=True, slots=True)
class Entry:
    """What one term becomes.

    `tokens` replace the term; each is a single word. `spellings` are those in the rules. `rules`
    has those about the term first, then those that were followed from there. `kept`: posts keep
    its words beside `in_posts`, one of several equivalents, as searches have all of them.
    """

    tokens: tuple[str, ...]
    spellings: tuple[str, ...]
    rules: tuple[Rule, ...]
    kept: bool
    in_posts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """Rules that apply to a query: `count` tokens from index `start` become `tokens`."""

    start: int
    count: int
    tokens: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class RuleSet:
    """All rules of all files in reading order, compiled.

    `lines` for queries and `post_lines` are in Solr's syntax. `digest` is that of the files.
    """

    rules: tuple[Rule, ...]
    lines: tuple[str, ...]
    post_lines: tuple[str, ...]
    entries: Mapping[Words, Entry] = field(repr=False, compare=False)
    digest: str = ""

    def explain(self, tokens: Sequence[str]) -> tuple[Applied, ...]:
        """Which rules apply to a query.

        Args:
            tokens: the tokens before the synonym filter, in order. A symbol that the chain spells
                out (cplusplus) is given as it was written (c++).
        """
        plain = tuple(map(folded, tokens))
        applied = []
        for start, end in _longest_matches(plain, self._by_folded, self._longest):
            entry = self._by_folded[plain[start:end]]
            applied.append(Applied(start, end - start, entry.tokens, entry.rules))
        return tuple(applied)

    @cached_property
    def _by_folded(self) -> dict[Words, Entry]:
        return {tuple(map(folded, term)): entry for term, entry in self.entries.items()}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.entries), default=0)


class RuleFiles:
    """Rule files that are compiled only when an index is created with them.

    To compile thousands of rules takes a second; that an index has them is told by the digest.

    Raises:
        RuleErrors: in `lines` and `post_lines`, if a file is invalid.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)

    @cached_property
    def digest(self) -> str:
        return rules_digest(self._files)

    @property
    def lines(self) -> tuple[str, ...]:
        return self._rules.lines

    @property
    def post_lines(self) -> tuple[str, ...]:
        return self._rules.post_lines

    @cached_property
    def _rules(self) -> RuleSet:
        return read_rules(self._files)


Rules = RuleSet | RuleFiles
"""What an index is created with."""


def rules_digest(files: Iterable[Path]) -> str:
    """16 hexadecimal digits, from the bytes of the files in the order of their names."""
    whole = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.name):
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def read_rules(files: Sequence[Path]) -> RuleSet:
    """Reads rule files in the given order and compiles them together.

    Raises:
        RuleErrors: with every problem in every file: encoding, syntax, limits, cycles and
            contradictions.
    """
    parsed = parse_files(files)
    compiled, findings = compile_rules(parsed.rules)
    if parsed.errors or findings:
        raise RuleErrors([*parsed.errors, *findings])
    return replace(compiled, digest=rules_digest(files))


def compile_rules(rules: Sequence[Rule]) -> tuple[RuleSet, list[Finding]]:
    """The rules followed to their end, and what is wrong with them taken together.

    With findings, the rule set has no lines.
    """
    numbers = (len(rule.left) * len(rule.right or rule.left) for rule in rules)
    for rule, pairs in zip(rules, itertools.accumulate(numbers), strict=True):
        if pairs > MAX_PAIRS:
            return RuleSet(tuple(rules), (), (), {}), [_too_many_pairs(rule)]
    graph = TermGraph(rules)
    findings = resolve(graph)
    if findings:
        return RuleSet(tuple(rules), (), (), {}), findings
    entries = _entries(graph, rules)
    single_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for term, entry in entries.items():
        if len(term) == 1:
            single_words[entry.tokens].append(term[0])
    lines: list[str] = []
    post_lines: list[str] = []
    pairs = 0
    for group in graph.groups:
        every: list[str] = []
        replaced: list[str] = []
        beside: list[str] = []
        for term in group.terms:
            spellings = list(dict.fromkeys(_spellings(term, entries, single_words)))
            every += spellings
            if entries[term].kept:
                beside += [_beside(spelling, term, entries) for spelling in spellings]
            else:
                replaced += spellings
        lines += _compiled_line(group.tokens, every)
        post_lines += [*_compiled_line(group.tokens, replaced), *beside]
        pairs += len(every) * len(group.tokens)
        if pairs > MAX_PAIRS:
            findings.append(_too_many_pairs(group.rules[0]))
            break
    return RuleSet(tuple(rules), tuple(lines), tuple(post_lines), entries), findings


def _too_many_pairs(rule: Rule) -> Finding:
    message = f"the rules up to this one make over {MAX_PAIRS:,} pairs of a term and a token."
    remedy = "Contract long lists of equivalents to one word: `a, b, c => a`."
    return rule.finding("error", "too_many_pairs", message, remedy)


NO_RULES = RuleSet((), (), (), {}, rules_digest([]))


def setting(lines: Sequence[str]) -> list[str]:
    """The setting `synonyms` of a filter: all lines in one element.

    Elasticsearch handles each element of a list whenever the settings or the mapping of the index
    change: with 20,000 elements, creating the index takes twice as long, and changing it three
    times as long.
    """
    return ["\n".join(lines)] if lines else []


def in_effect(lines: Iterable[str], post_lines: Iterable[str]) -> dict[str, None]:
    """The rules of an index as they are read: `a, b` where posts keep what queries replace."""
    of_posts = set(post_lines)
    return dict.fromkeys(line if line in of_posts else line.replace(" => ", ", ") for line in lines)


def terms_of(lines: Iterable[str]) -> Iterator[str]:
    """The terms in lines of Solr's syntax."""
    for line in lines:
        for term in _SEPARATOR.split(line):
            yield _ESCAPED.sub(r"\1", term).strip()


def _entries(graph: TermGraph, rules: Sequence[Rule]) -> dict[Words, Entry]:
    taken = {
        words(term)
        for rule in rules
        for term in rule.left
        if rule.is_contraction and term not in rule.right
    }
    entries: dict[Words, Entry] = {}
    for group in graph.groups:
        for term in group.terms:
            kept = len(term) > 1 and term not in taken
            spellings = tuple(graph.spellings[term])
            is_own = len(term) == 1 and term[0] in group.tokens
            own = term if is_own else group.tokens[:1]
            in_posts = group.tokens if group.outgoing else own
            entries[term] = Entry(group.tokens, spellings, group.rules, kept, in_posts)
    return entries


def _spellings(
    term: Words,
    entries: Mapping[Words, Entry],
    single_words: Mapping[tuple[str, ...], Sequence[str]],
) -> Iterator[str]:
    """The spellings of a term in the rules; of a phrase also those with synonyms of its words.

    The filter compares the text as it was written, so `colour scheme, palette` would not match
    "color scheme" in spite of `colour => color`. Names such as node.js are left as they are.

    Args:
        single_words: by the tokens that they become.
    """
    spellings = entries[term].spellings
    yield from spellings
    if len(term) == 1:
        return
    yield " ".join(term)
    if any(len(spelling.split()) == len(term) for spelling in spellings):
        choices = []
        for word in term:
            entry = entries.get((word,))
            choices.append(dict.fromkeys([word, *(single_words[entry.tokens] if entry else ())]))
        for variant in itertools.islice(itertools.product(*choices), 1, MAX_VARIANTS):
            if variant not in entries:
                yield " ".join(variant)


def _compiled_line(tokens: tuple[str, ...], spellings: Sequence[str]) -> list[str]:
    """One line of Solr's syntax; none when the terms become themselves."""
    inputs = list(dict.fromkeys(spellings))
    if set(inputs) == set(tokens):
        return [_terms(inputs)] if len(inputs) > 1 else []
    changed = [spelling for spelling in inputs if (spelling,) != tokens]
    return [f"{_terms(changed)} => {_terms(tokens)}"] if changed else []


def _beside(spelling: str, term: Words, entries: Mapping[Words, Entry]) -> str:
    """The line that puts the tokens of a phrase beside its words, which become what they are
    without it: a phrase inside of it and synonyms of a word are found, too.

    A name such as node.js is a word to those who write it: all are in one place.
    """
    tokens = entries[term].in_posts
    pieces = _pieces(spelling)
    is_name = any(" " not in written for written in entries[term].spellings)
    results: list[list[str]]
    if is_name and not any(map(is_unspaced, pieces)):
        results = [[piece] for piece in pieces] + [[token] for token in tokens]
    else:
        columns = [list(_become((piece,), entries) or (piece,)) for piece in pieces]
        for start, end in itertools.combinations(range(len(pieces) + 1), 2):
            if 1 < end - start < len(pieces):
                for place in (start, end - 1):
                    columns[place] += _become(pieces[start:end], entries)
        rows = range(max(map(len, columns)))
        results = [[column[row % len(column)] for column in columns] for row in rows]
        for token in tokens:
            results += [[token], [*results[0][:-1], token]]
    unique = dict.fromkeys(map(" ".join, results))
    return f"{escaped(spelling)} => {_terms(unique)}"


def _become(term: Words, entries: Mapping[Words, Entry]) -> tuple[str, ...]:
    return entries[term].in_posts if term in entries else ()


def _pieces(spelling: str) -> Words:
    """The tokens that the chain makes of a term before synonyms."""
    parts = split(normalise(spelling))
    return tuple(
        piece for part in parts for piece in ([part] if is_unspaced(part) else words(part))
    )


def _terms(terms: Iterable[str]) -> str:
    return ", ".join(map(escaped, terms))


@dataclass(frozen=True, slots=True)
class Phrases:
    """The terms of several words that a query has single tokens for."""

    terms: frozenset[Words] = frozenset()
    longest: int = 0

    @classmethod
    def of(cls, compiled: Iterable[str]) -> "Phrases":
        """From the setting `synonyms` of an index (`setting`)."""
        terms = frozenset(
            tuple(map(folded, found))
            for lines in compiled
            for term in terms_of(lines.splitlines())
            if len(found := split(term)) > 1
        )
        return cls(terms, max(map(len, terms), default=0))

    def places(self, tokens: Sequence[str]) -> list[tuple[int, int]]:
        """The start and end of each phrase in a text; `tokens` are as for `RuleSet.explain`."""
        return list(_longest_matches(tuple(map(folded, tokens)), self.terms, self.longest))


def _longest_matches(
    tokens: Words, terms: Container[Words], longest: int
) -> Iterator[tuple[int, int]]:
    """The start and end of each term in a text, of which none has more words than `longest`.

    As in the filter, the longest match wins and each token is used once.
    """
    start = 0
    while start < len(tokens):
        ends = range(min(start + longest, len(tokens)), start, -1)
        end = next((end for end in ends if tokens[start:end] in terms), None)
        if end is not None:
            yield start, end
        start = end or start + 1
