"""Which words of the rules are one group, also across lines and files, and where each group ends.

Words that are equivalent to each other are one group. A contraction of one of them holds for all
of them. Rules that lead in a circle or to two different ends are errors.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from analyzers.findings import Finding, error
from analyzers.rules.parse import Rule
from analyzers.rules.words import Words, joined, words

MAX_GROUP = 100  # equivalents of one another, over all files; the filter makes n² pairs


class Groups:
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


class Ends:
    """Where each group ends: the tokens that stand for it in the index."""

    def __init__(self, groups: Groups) -> None:
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
                self._circle(list(self._leading(steps[steps.index(circle) :])))
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
        pinned = {
            side: rule
            for rule in self._groups.within.get(root, ())
            for side in self._groups.rights(rule)
            if rule.kind == "contraction" and len(rule.right) == 1 and len(side) == 1
        }
        if len(pinned) > 1:
            self._circle(list(pinned.values()))
        if pinned:
            single = list(pinned)[:1]
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

    def _leading(self, steps: Sequence[Words]) -> Iterator[Rule]:
        """The rules that lead from each of these groups to the next, round to the first."""
        for root, after in zip(steps, [*steps[1:], steps[0]], strict=True):
            for rule in self._groups.arrows[root]:
                if any(self._groups.root(right) == after for right in self._groups.rights(rule)):
                    yield rule
                    break

    def _circle(self, rules: Sequence[Rule]) -> None:
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
