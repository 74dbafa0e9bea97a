"""Groups the terms of rules and follows contractions to the tokens that each group becomes.

Equivalent terms form one group, also across lines and files. A contraction of one term applies to
its whole group. Contractions that form a cycle, or that contradict each other, are errors.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

from analyzers.findings import Finding
from analyzers.rules.parse import SINGLE_CHARACTER_WORD, Rule, Words, words

T = TypeVar("T")

MAX_GROUP = 100  # equivalent terms over all files; the filter stores every pair of them
MAX_CHAIN = 100  # contractions one after the other; people write two or three
MAX_CYCLES = 20  # reported at once; each costs another pass over the graph

_SPELLED_OUT = {"+": "plus", "#": "sharp"}


@dataclass(slots=True, eq=False)
class Group:
    """Equivalent terms, the rules about them and the tokens that they become.

    `internal` are rules whose terms are all in the group, `outgoing` contractions to other groups,
    `incoming` contractions to this one. `resolve` sets `tokens`, which are single words, and
    `rules`: those about the group first, then those that were followed from there.
    """

    terms: list[Words] = field(default_factory=list)
    internal: list[Rule] = field(default_factory=list)
    outgoing: list[Rule] = field(default_factory=list)
    incoming: list[Rule] = field(default_factory=list)
    tokens: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


class TermGraph:
    """The groups of all terms in reading order, and the contractions between them.

    `spellings` has the spellings of each term in the rules: `node.js` and `node js` are the same
    words. Phrases that nothing contracts to a word get one, their own words joined.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.spellings: dict[Words, dict[str, None]] = {}
        self._words: dict[str, Words] = {}
        self._parents: dict[Words, Words] = {}
        for rule in rules:
            first, *others = (self._add(term) for term in rule.terms)
            if not rule.is_contraction:
                for other in others:
                    self._union(first, other)
        contracted: set[Words] = set()
        for rule in rules:
            if results := {self._root(term) for term in self.right(rule)}:
                left = {self._root(self._words[term]) for term in rule.left}
                contracted |= {root for root in left if results != {root}}
        for phrases in self._by_root().values():
            if self._root(phrases[0]) not in contracted and all(len(term) > 1 for term in phrases):
                self._union(phrases[0], self._add(joined(phrases[0])))
        self._groups = {root: Group(terms) for root, terms in self._by_root().items()}
        for rule in rules:
            self._attach(rule)
        for group in self.groups:
            group.rules = (*group.internal, *group.outgoing) or tuple(group.incoming)

    @property
    def groups(self) -> list[Group]:
        return list(self._groups.values())

    def right(self, rule: Rule) -> list[Words]:
        """The terms on the right side of a rule."""
        return [self._words[term] for term in rule.right]

    def group(self, term: Words) -> Group:
        """The group that has this term."""
        return self._groups[self._root(term)]

    def _add(self, term: str) -> Words:
        key = self._words.setdefault(term, words(term))
        self._parents.setdefault(key, key)
        self.spellings.setdefault(key, {})[term] = None
        return key

    def _root(self, key: Words) -> Words:
        while (parent := self._parents[key]) != key:
            self._parents[key] = self._parents[parent]
            key = self._parents[key]
        return key

    def _union(self, first: Words, other: Words) -> None:
        self._parents[self._root(other)] = self._root(first)

    def _by_root(self) -> dict[Words, list[Words]]:
        terms: dict[Words, list[Words]] = {}
        for key in self.spellings:
            terms.setdefault(self._root(key), []).append(key)
        return terms

    def _attach(self, rule: Rule) -> None:
        if not rule.is_contraction:
            self.group(self._words[rule.left[0]]).internal.append(rule)
            return
        targets = _unique(map(self.group, self.right(rule)))
        for group in _unique(self.group(self._words[term]) for term in rule.left):
            (group.internal if targets == (group,) else group.outgoing).append(rule)
        for group in targets:
            group.incoming.append(rule)


def resolve(graph: TermGraph) -> list[Finding]:
    """Sets the tokens of every group; what is wrong with the rules is in the findings.

    Groups in a cycle get tokens as well, so that other checks can go on.
    """
    findings = [
        group.rules[-1].finding(
            "error",
            "too_many_equivalents",
            f"rules that share terms make {len(group.terms):,} terms equivalent; "
            f"the limit is {MAX_GROUP}.",
            "Contract them to one word: `a, b, c => a`.",
        )
        for group in graph.groups
        if len(group.terms) > MAX_GROUP and not group.outgoing
    ]
    targets = {group: _targets(graph, group) for group in graph.groups}
    order, cycles = _targets_first(targets)
    findings += _too_long(order, targets)
    if findings:  # what follows would take long
        return findings
    findings += [_cycle(_leading(graph, cycle)) for cycle in cycles]
    cut = {cycle[0] for cycle in cycles}
    for group in order:
        if group.outgoing and group not in cut:
            group.tokens, conflicts = _contracted(graph, group)
            findings += conflicts
        pinned = _pinned(graph, group)
        if len(pinned) > 1 and _keeps_own_tokens(graph, group):
            findings.append(_cycle(list(pinned.values())))
        group.tokens = group.tokens or _own_tokens(graph, group)
        followed = (rule for target in targets[group] for rule in target.rules)
        group.rules = _unique((*group.rules, *followed))
    return findings


def joined(phrase: Words) -> str:
    """One word made of several: `machine learning` → `machinelearning`.

    Only letters and digits are left, and no character that is a token of its own, so that every
    chain makes one token of it.
    """
    text = "".join(phrase)
    return "".join(map(_joinable, text)) or "".join(f"{ord(char):x}" for char in text)


def _joinable(char: str) -> str:
    if char in _SPELLED_OUT:
        return _SPELLED_OUT[char]
    if re.match(f"[{SINGLE_CHARACTER_WORD}]", char) or unicodedata.category(char) == "So":
        return f"{ord(char):x}"
    return char if char.isalnum() else ""


def _targets(graph: TermGraph, group: Group) -> list[Group]:
    """The other groups that a group is contracted to."""
    terms = (term for rule in group.outgoing for term in graph.right(rule))
    return [target for target in _unique(map(graph.group, terms)) if target is not group]


def _targets_first(
    targets: dict[Group, list[Group]],
) -> tuple[list[Group], list[list[Group]]]:
    """All groups, each after its targets, and the cycles, which are cut at their first group."""
    cycles: list[list[Group]] = []
    while True:
        try:
            return list(TopologicalSorter(targets).static_order()), cycles
        except CycleError as error:
            # In the exception each group is a target of the next, and the last is the first.
            cycle: list[Group] = error.args[1][:0:-1]
            cycles.append(cycle)
            cut = [cycle[0]] if len(cycles) < MAX_CYCLES else targets
            targets = {**targets, **{group: [] for group in cut}}


def _too_long(order: Iterable[Group], targets: dict[Group, list[Group]]) -> list[Finding]:
    """The first chain of contractions that is over the limit."""
    lengths: dict[Group, int] = {}
    for group in order:
        lengths[group] = 1 + max((lengths.get(after, 0) for after in targets[group]), default=-1)
        if lengths[group] > MAX_CHAIN:
            rule = group.outgoing[0]
            message = f"more than {MAX_CHAIN} rules lead from `{rule.left[0]}` to its last result."
            remedy = "Write the last result on the right side of each."
            return [rule.finding("error", "chain_too_long", message, remedy)]
    return []


def _contracted(graph: TermGraph, group: Group) -> tuple[tuple[str, ...], list[Finding]]:
    """The tokens that the contractions of a group lead to, and the contradictions among them."""
    contractions: dict[tuple[str, ...], Rule] = {}
    for rule in group.outgoing:
        tokens: dict[str, None] = {}
        for term in graph.right(rule):
            target = graph.group(term)
            after = _own_tokens(graph, group) if target is group else target.tokens
            tokens.update(dict.fromkeys(after))
        contractions.setdefault(tuple(tokens), rule)
    (first, former), *others = contractions.items()
    return first, [_conflict(former, rule) for _, rule in others]


def _own_tokens(graph: TermGraph, group: Group) -> tuple[str, ...]:
    """The tokens of a group that is not contracted to another."""
    single = [term for term in group.terms if len(term) == 1]
    pinned = list(_pinned(graph, group))[:1]
    return tuple(next(iter(graph.spellings[term])) for term in pinned or single)


def _keeps_own_tokens(graph: TermGraph, group: Group) -> bool:
    """Whether a group is not contracted, or contracted to itself as in `go => go, golang`."""
    terms = [term for rule in group.outgoing for term in graph.right(rule)]
    return not terms or any(graph.group(term) is group for term in terms)


def _pinned(graph: TermGraph, group: Group) -> dict[Words, Rule]:
    """The terms that contractions inside a group lead to; two of them form a cycle."""
    return {
        term: rule
        for rule in group.internal
        if len(rule.right) == 1
        for term in graph.right(rule)
        if len(term) == 1
    }


def _conflict(former: Rule, rule: Rule) -> Finding:
    return rule.finding(
        "error",
        "conflict",
        f"`{rule}` contradicts `{former}` ({former.place}).",
        "Keep one of the two, or put both results into one rule: `a => b, c`.",
    )


def _leading(graph: TermGraph, cycle: Sequence[Group]) -> list[Rule]:
    """The rules that lead from each group to the next and from the last to the first."""
    return [
        next(rule for rule in group.outgoing if after in map(graph.group, graph.right(rule)))
        for group, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    ]


def _cycle(rules: Sequence[Rule]) -> Finding:
    shown = "; ".join(f"`{rule}` ({rule.place})" for rule in rules[:5])
    more = f"; and {len(rules) - 5} more" if len(rules) > 5 else ""
    last = max(rules, key=lambda rule: (rule.file, rule.line))
    return last.finding(
        "error",
        "cycle",
        f"these rules form a cycle: {shown}{more}.",
        "Remove one of them; equivalent terms are written `a, b`.",
    )


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
