"""What every word and phrase of the rules finally becomes, and the lines Elasticsearch gets.

The `synonym` filter passes over a text once and looks every word up once, so a rule's result is
never looked up again: with `a => b` in one file and `b => c` in another, "a" and "b" would end
apart. So rules are followed to their end here (`analyzers.rules.graph`). A phrase of several words
always ends at single tokens: those of its group's single words or, without any, the words joined.
docs/synonyms.md tells what was tried.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.findings import Finding, error
from analyzers.rules.graph import Ends, Groups
from analyzers.rules.parse import Rule
from analyzers.rules.words import Words

MAX_PAIRS = 2_000_000  # of a word and what it becomes, over all files; each costs memory
MAX_VARIANTS = 24  # spellings of one phrase, see `_variants`


@dataclass(frozen=True, slots=True)
class Entry:
    """What one word or phrase of the rules becomes.

    `tokens` are the words that stand in its place, each a single token; `forms` its spellings in
    the rules; `rules` the rules that say so at first hand and `via` the words of the rules that
    they lead on to.
    """

    tokens: tuple[str, ...]
    forms: tuple[str, ...]
    rules: tuple[Rule, ...]
    via: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """All of the rules taken together: every entry, the compiled lines, and what is wrong.

    `sources[n]` is the rule that `lines[n]` was compiled from, the first one if there are several.
    """

    entries: Mapping[Words, Entry]
    lines: tuple[str, ...]
    sources: tuple[Rule, ...]
    findings: tuple[Finding, ...]


def resolve(rules: Sequence[Rule]) -> Resolution:
    """Follows all rules to their end; never raises, `findings` has what is wrong with them."""
    groups = Groups(rules)
    ends = Ends(groups)
    entries: dict[Words, Entry] = {}
    lines: list[str] = []
    sources: list[Rule] = []
    for root, members in groups.members.items():
        tokens = ends.of(root)
        said = groups.said(root)
        via = tuple(side for rule in groups.arrows.get(root, ()) for side in groups.rights(rule))
        for member in members:
            entries[member] = Entry(tokens, tuple(groups.forms[member]), said, via)
    spellings = _Spellings(entries)
    pairs = 0
    findings = [*groups.findings, *ends.findings]
    for root, members in groups.members.items():
        forms = [form for member in members for form in spellings.of(member)]
        line = _line(ends.of(root), forms)
        if line:
            lines.append(line)
            sources.append(groups.said(root)[0])
            pairs += len(forms) * len(ends.of(root))
            if pairs > MAX_PAIRS:
                findings.append(_too_many_pairs(sources[-1]))
                break
    return Resolution(entries, tuple(lines), tuple(sources), tuple(findings))


class _Spellings:
    """The forms under which a phrase is to be looked for, with the rules for its own words."""

    def __init__(self, entries: Mapping[Words, Entry]) -> None:
        self._entries = entries
        self._same: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, entry in entries.items():
            if len(key) == 1:
                self._same[entry.tokens].append(key[0])

    def of(self, key: Words) -> Iterator[str]:
        """The forms of a word as written; of a phrase also those with its words exchanged.

        The filter takes the longest match of a text as typed, so `colour scheme, palette` would
        miss "color scheme" in spite of `colour => color`. Names such as node.js stay as they are.
        """
        forms = self._entries[key].forms
        yield from forms
        if len(key) == 1:
            return
        yield " ".join(key)
        if any(len(form.split()) == len(key) for form in forms):
            choices = [self._choices(word) for word in key]
            for variant in itertools.islice(itertools.product(*choices), 1, MAX_VARIANTS):
                if variant not in self._entries:
                    yield " ".join(variant)

    def _choices(self, word: str) -> list[str]:
        entry = self._entries.get((word,))
        if entry is None:
            return [word]
        return [word, *(other for other in self._same[entry.tokens] if other != word)]


def _too_many_pairs(rule: Rule) -> Finding:
    return error(
        rule.file,
        rule.line,
        "too_many_pairs",
        f"up to here the rules make {MAX_PAIRS:,} pairs of a word and what it becomes: the limit.",
        "Contract long lists of equivalents to one word: `a, b, c => a`.",
    )


def _line(tokens: tuple[str, ...], forms: list[str]) -> str:
    """One line of Solr's syntax; empty when a group only becomes itself."""
    inputs = list(dict.fromkeys(forms))
    if set(inputs) == set(tokens):
        return ", ".join(map(_escaped, inputs)) if len(inputs) > 1 else ""
    changed = [form for form in inputs if (form,) != tokens]
    return f"{', '.join(map(_escaped, changed))} => {', '.join(map(_escaped, tokens))}"


def _escaped(side: str) -> str:
    return "".join("\\" + char if char in "\\,=>#" else char for char in side)
