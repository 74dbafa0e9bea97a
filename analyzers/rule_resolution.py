"""What every word and phrase of the rules finally becomes, and the lines Elasticsearch gets.

The `synonym` filter passes over a text once and looks every word up once, so a rule's result is
never looked up again: with `a => b` in one file and `b => c` in another, "a" and "b" would end
apart. So rules are followed to their end here. Words that are equivalent to each other are one
group, also across lines and files; a contraction of one of them holds for all of them; a phrase of
several words always ends at single tokens, those of its group's single words or, without any, the
words joined (shared/RELEVANCE.md, what is known about synonyms). Rules that lead in a circle or to two different ends are errors.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.findings import Finding, error
from analyzers.rule_lines import Rule
from analyzers.rule_words import Words, joined, words

MAX_GROUP = 100  # equivalents of one another, over all files; the filter makes n² pairs
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
    groups = _Groups(rules)
    ends = _Ends(groups)
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
    for root, members in groups.members.items():
        line = _line(ends.of(root), [form for member in members for form in spellings.of(member)])
        if line:
            lines.append(line)
            sources.append(groups.said(root)[0])
    return Resolution(entries, tuple(lines), tuple(sources), (*groups.findings, *ends.findings))


class _Groups:
    """Which words are one group, and which contractions lead out of each group."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.findings: list[Finding] = []
        self.forms: dict[Words, dict[str, None]] = {}
        self._parent: dict[Words, Words] = {}
        self._sides: dict[str, Words] = {}
        for rule in rules:
            for side in (*rule.left, *rule.right):
                self._add(side)
            if rule.kind == "equivalent":
                for side in rule.left[1:]:
                    self._union(self._sides[rule.left[0]], self._sides[side])
        self._sort(rules)
        if self._join_phrases():
            self._sort(rules)
        self._check_sizes()

    def root(self, key: Words) -> Words:
        """The word that stands for the group of a word."""
        while (parent := self._parent[key]) != key:
            self._parent[key] = self._parent[parent]
            key = self._parent[key]
        return key

    def rights(self, rule: Rule) -> tuple[Words, ...]:
        """The right-hand sides of a rule as words."""
        return tuple(self._sides[side] for side in rule.right)

    def said(self, root: Words) -> tuple[Rule, ...]:
        """The rules about a group at first hand; those that only lead to it when there are none."""
        about = (*self.within.get(root, ()), *self.arrows.get(root, ()))
        return about or tuple(self.into.get(root, ()))

    def _add(self, side: str) -> None:
        key = words(side)
        self._sides[side] = key
        self._parent.setdefault(key, key)
        self.forms.setdefault(key, {})[side] = None

    def _union(self, one: Words, other: Words) -> None:
        # The first root in reading order stays one, so that results do not depend on the path.
        self._parent[self.root(other)] = self.root(one)

    def _sort(self, rules: Sequence[Rule]) -> None:
        self.members: dict[Words, list[Words]] = defaultdict(list)
        self.within: dict[Words, list[Rule]] = defaultdict(list)
        self.arrows: dict[Words, list[Rule]] = defaultdict(list)
        self.into: dict[Words, list[Rule]] = defaultdict(list)
        for key in self.forms:
            self.members[self.root(key)].append(key)
        for rule in rules:
            if rule.kind == "equivalent":
                self.within[self.root(self._sides[rule.left[0]])].append(rule)
                continue
            rights = {self.root(right) for right in self.rights(rule)}
            for root in dict.fromkeys(self.root(self._sides[side]) for side in rule.left):
                (self.within if rights == {root} else self.arrows)[root].append(rule)
            for root in rights:
                self.into[root].append(rule)

    def _join_phrases(self) -> bool:
        """Gives every group that ends at nothing but phrases one word: the joined one."""
        ending = [
            members
            for root, members in self.members.items()
            if root not in self.arrows and all(len(member) > 1 for member in members)
        ]
        for members in ending:
            self._add(joined(members[0]))
            self._union(members[0], self._sides[joined(members[0])])
        return bool(ending)

    def _check_sizes(self) -> None:
        for root, members in self.members.items():
            if len(members) > MAX_GROUP and root not in self.arrows:
                rule = self.said(root)[-1]
                self.findings.append(
                    error(
                        rule.file,
                        rule.line,
                        "too_many_equivalents",
                        f"{len(members):,} words are the same as one another by rules that share "
                        f"words; the limit is {MAX_GROUP}.",
                        "Contract them to one word: `a, b, c => a`.",
                    )
                )


class _Ends:
    """Where each group ends: the tokens that stand for it in the index."""

    def __init__(self, groups: _Groups) -> None:
        self._groups = groups
        self._ends: dict[Words, tuple[str, ...]] = {}
        self.findings: list[Finding] = []
        for root in groups.members:
            self._follow(root)

    def of(self, root: Words) -> tuple[str, ...]:
        """The tokens that a group becomes."""
        return self._ends[root]

    def _follow(self, start: Words) -> None:
        # A stack, not recursion: a chain of rules may be longer than Python's stack is deep.
        path: dict[Words, None] = {}
        stack = [start]
        while stack:
            root = stack[-1]
            if root in self._ends:
                stack.pop()
                continue
            path[root] = None
            waiting = [after for after in self._after(root) if after not in self._ends]
            circle = next((after for after in waiting if after in path), None)
            if circle is not None:
                steps = list(path)
                self._circle(steps[steps.index(circle) :])
                self._ends[root] = self._own(root)
            elif waiting:
                stack.append(waiting[0])
                continue
            else:
                self._ends[root] = self._end(root)
            stack.pop()
            del path[root]

    def _after(self, root: Words) -> Iterator[Words]:
        for rule in self._groups.arrows.get(root, ()):
            for right in self._groups.rights(rule):
                after = self._groups.root(right)
                if after != root:  # `go => go, golang` keeps the word and is no circle
                    yield after

    def _own(self, root: Words) -> tuple[str, ...]:
        """The tokens of a group that no contraction leads out of."""
        members = self._groups.members[root]
        single = [member for member in members if len(member) == 1]
        pinned = [
            side
            for rule in self._groups.within.get(root, ())
            for side in self._groups.rights(rule)
            if rule.kind == "contraction" and len(rule.right) == 1
        ]
        ends = dict.fromkeys(side for side in pinned if len(side) == 1)
        if len(ends) > 1:
            self._circle([root])
        if ends:
            single = list(ends)[:1]
        return tuple(next(iter(self._groups.forms[member])) for member in single)

    def _end(self, root: Words) -> tuple[str, ...]:
        found: dict[tuple[str, ...], Rule] = {}
        for rule in self._groups.arrows.get(root, ()):
            tokens: dict[str, None] = {}
            for right in self._groups.rights(rule):
                after = self._groups.root(right)
                tokens.update(
                    dict.fromkeys(self._own(root) if after == root else self._ends[after])
                )
            found.setdefault(tuple(tokens), rule)
        if not found:
            return self._own(root)
        (first, former), *others = found.items()
        for _, rule in others:
            self._conflict(former, rule)
        return first

    def _conflict(self, former: Rule, rule: Rule) -> None:
        self.findings.append(
            error(
                rule.file,
                rule.line,
                "conflict",
                f"`{rule}` contracts to something else than `{former}` ({former.place}) does.",
                "Keep one of the two, or name both words in one rule: `a => b, c`.",
            )
        )

    def _circle(self, steps: Sequence[Words]) -> None:
        rules = [
            next(iter(self._groups.arrows.get(root) or self._groups.within[root])) for root in steps
        ]
        shown = "; ".join(f"`{rule}` ({rule.place})" for rule in rules[:5])
        last = max(rules, key=lambda rule: (rule.file, rule.line))
        self.findings.append(
            error(
                last.file,
                last.line,
                "cycle",
                f"these rules lead in a circle: {shown}{' and so on' if len(rules) > 5 else ''}.",
                "Remove one of them; words that are the same are written `a, b`.",
            )
        )


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


def _line(tokens: tuple[str, ...], forms: list[str]) -> str:
    """One line of Solr's syntax; empty when a group only becomes itself."""
    inputs = list(dict.fromkeys(forms))
    if set(inputs) == set(tokens):
        return ", ".join(map(_escaped, inputs)) if len(inputs) > 1 else ""
    changed = [form for form in inputs if (form,) != tokens]
    return f"{', '.join(map(_escaped, changed))} => {', '.join(map(_escaped, tokens))}"


def _escaped(side: str) -> str:
    return "".join("\\" + char if char in "\\,=>#" else char for char in side)
