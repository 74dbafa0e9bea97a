"""Compiles rules to the lines that Elasticsearch's `synonym` filter gets.

The filter looks every word of a text up once. It does not look up the result of a rule, so with
`a => b` in one file and `b => c` in another, "a" and "b" would become different tokens. Rules are
therefore followed to their end here (`analyzers.rules.graph`). A phrase always becomes single
tokens: those of the single words in its group or, if there are none, its own words joined.
docs/synonyms.md has the measurements.
"""

import hashlib
import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from analyzers.bigrams import split
from analyzers.errors import BlogsearchError
from analyzers.findings import Finding
from analyzers.rules.graph import TermGraph, resolve
from analyzers.rules.parse import Rule, Words, folded, parse_files

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
    are the rules about the term; `via` are the terms that they contract it to, which may have rules
    of their own.
    """

    tokens: tuple[str, ...]
    spellings: tuple[str, ...]
    rules: tuple[Rule, ...]
    via: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """Rules that apply to a text: `count` tokens from index `start` become `tokens`.

    `rules` has the rules about these tokens first, then those that were followed from there.
    """

    start: int
    count: int
    tokens: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class RuleSet:
    """All rules of all files in reading order, compiled.

    `lines` are in Solr's syntax, and every term on a right side in them is a single word.
    `sources[n]` is the rule that `lines[n]` was compiled from, the first one if there are several.
    `digest` is that of their files.
    """

    rules: tuple[Rule, ...]
    lines: tuple[str, ...]
    sources: tuple[Rule, ...] = field(repr=False)
    entries: Mapping[Words, Entry] = field(repr=False, compare=False)
    digest: str = ""

    @property
    def compiled(self) -> tuple[str, ...]:
        """The filter's setting `synonyms`: all lines in one element.

        Elasticsearch handles each element of a list whenever the settings or the mapping of the
        index change: with 20,000 elements, creating the index takes twice as long, and changing it
        three times as long.
        """
        return ("\n".join(self.lines),) if self.lines else ()

    def explain(self, tokens: Sequence[str]) -> tuple[Applied, ...]:
        """Which rules apply to a text.

        Args:
            tokens: the tokens before the synonym filter, in order. A symbol that the chain spells
                out (cplusplus) is given as it was written (c++).
        """
        plain = tuple(map(folded, tokens))
        applied = []
        for start, end in _longest_matches(plain, self._terms_by_folded, self._longest):
            term = self._terms_by_folded[plain[start:end]]
            tokens_after, rules = self.entries[term].tokens, self._rules_behind(term)
            applied.append(Applied(start, end - start, tokens_after, rules))
        return tuple(applied)

    @cached_property
    def _terms_by_folded(self) -> dict[Words, Words]:
        return {tuple(map(folded, term)): term for term in self.entries}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.entries), default=0)

    def _rules_behind(self, term: Words) -> tuple[Rule, ...]:
        rules: dict[Rule, None] = {}
        terms = [term]
        for reached in terms:  # grows while it is read
            entry = self.entries[reached]
            rules.update(dict.fromkeys(entry.rules))
            terms += [target for target in entry.via if target not in terms]
        return tuple(rules)


class RuleFiles:
    """Rule files that are compiled only when an index is created with them.

    To compile thousands of rules takes a second; that an index has them is told by the digest.

    Raises:
        RuleErrors: in `compiled`, if a file is invalid.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)

    @cached_property
    def digest(self) -> str:
        return rules_digest(self._files)

    @cached_property
    def compiled(self) -> tuple[str, ...]:
        return read_rules(self._files).compiled


Rules = RuleSet | RuleFiles
"""What an index is created with."""


def rules_digest(files: Sequence[Path]) -> str:
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
    rules, invalid = parse_files(files)
    compiled, findings = compile_rules(rules)
    if invalid or findings:
        raise RuleErrors([*invalid, *findings])
    return replace(compiled, digest=rules_digest(files))


def compile_rules(rules: Sequence[Rule]) -> tuple[RuleSet, list[Finding]]:
    """The rules followed to their end, and what is wrong with them taken together.

    With findings, the rule set is only good for further checks.
    """
    graph = TermGraph(rules)
    findings = resolve(graph)
    entries: dict[Words, Entry] = {}
    for group in graph.groups:
        via = tuple(term for rule in group.outgoing for term in graph.right(rule))
        for term in group.terms:
            entries[term] = Entry(group.tokens, tuple(graph.spellings[term]), group.rules, via)
    single_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for term, entry in entries.items():
        if len(term) == 1:
            single_words[entry.tokens].append(term[0])
    lines: list[str] = []
    sources: list[Rule] = []
    pairs = 0
    for group in graph.groups:
        spellings = [
            spelling for term in group.terms for spelling in _spellings(term, entries, single_words)
        ]
        line = _compiled_line(group.tokens, spellings)
        if not line:
            continue
        lines.append(line)
        sources.append(group.rules[0])
        pairs += len(spellings) * len(group.tokens)
        if pairs > MAX_PAIRS:
            message = (
                f"the rules up to this one make {MAX_PAIRS:,} pairs of a term and a token: the "
                "limit."
            )
            remedy = "Contract long lists of equivalents to one word: `a, b, c => a`."
            findings.append(sources[-1].finding("error", "too_many_pairs", message, remedy))
            break
    return RuleSet(tuple(rules), tuple(lines), tuple(sources), entries), findings


NO_RULES = RuleSet((), (), (), {}, rules_digest([]))


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


def _compiled_line(tokens: tuple[str, ...], spellings: Sequence[str]) -> str:
    """One line of Solr's syntax; empty when the terms become themselves."""
    inputs = list(dict.fromkeys(spellings))
    if set(inputs) == set(tokens):
        return ", ".join(map(_escaped, inputs)) if len(inputs) > 1 else ""
    changed = [spelling for spelling in inputs if (spelling,) != tokens]
    return f"{', '.join(map(_escaped, changed))} => {', '.join(map(_escaped, tokens))}"


def _escaped(term: str) -> str:
    return "".join("\\" + char if char in "\\,=>#" else char for char in term)


@dataclass(frozen=True, slots=True)
class Phrases:
    """The terms of several words in compiled rules, which become single tokens."""

    terms: frozenset[Words] = frozenset()
    longest: int = 0

    @classmethod
    def of(cls, compiled: Iterable[str]) -> "Phrases":
        """From the setting `synonyms` of an index (`RuleSet.compiled`)."""
        terms = frozenset(
            tuple(map(folded, words))
            for lines in compiled
            for line in lines.splitlines()
            for term in _SEPARATOR.split(line)
            if len(words := split(_ESCAPED.sub(r"\1", term))) > 1
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
