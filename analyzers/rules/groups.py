"""Groups equivalent terms, and follows contractions to the tokens of each group.

`a, b` and `b, c` are one group, also across files, and `b => d` contracts all of it. Contractions
that form a cycle or contradict each other are errors.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzers.errors import Finding
from analyzers.rules.parse import MAX_EQUIVALENTS, SINGLE_CHARACTER_WORD, Rule, Words, words

MAX_CHAIN = 100  # contractions in a row; people write two or three
MAX_PAIRS = 2_000_000  # pairs of a term and a token, over all files; each takes memory
MAX_FOLLOWED = 500_000  # pairs of a rule and one that it leads to

_SPELLED_OUT = {"+": "plus", "#": "sharp"}


class TooMuch(Exception):
    """A limit was exceeded; the argument is the finding."""


@dataclass(slots=True, eq=False)
class Group:
    """Equivalent terms in reading order, and the tokens (single words) that replace them.

    `rules` has the rules about the group, then those followed from there; `length` is the number of
    successive contractions, -1 before they are followed.
    """

    terms: list[Words]
    rules: list[Rule] = field(default_factory=list)
    contractions: list[Rule] = field(default_factory=list)
    tokens: tuple[str, ...] = ()
    length: int = -1


class Groups:
    """The groups of all terms; `errors` has the faults of the rules taken together.

    `spellings` has the spellings of each term in the rules: `node.js` and `node js` are the same
    words. `taken` are the terms that a contraction removes. A phrase that nothing contracts to a
    word gets one: its own words joined.

    Raises:
        TooMuch: it would take too long.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.errors: list[Finding] = []
        self.spellings: dict[Words, list[str]] = {}
        self._words = {term: words(term) for rule in rules for term in rule.terms}
        for spelling, term in self._words.items():
            self.spellings.setdefault(term, []).append(spelling)
        self.taken = {
            self._words[term]
            for rule in rules
            if rule.right
            for term in {*rule.left} - {*rule.right}
        }
        self.of = self._grouped(rules)
        self.all = list(dict.fromkeys(self.of.values()))
        followed: dict[Group, list[Rule]] = {group: [] for group in self.all}
        for rule in rules:
            for group in self._groups(rule.left):
                group.rules.append(rule)
                if rule.right:
                    group.contractions.append(rule)
            for group in self._groups(rule.right):
                followed[group].append(rule)
        for group in self.all:
            group.rules = group.rules or followed[group]
        self._pairs = self._followed = 0
        for group in self.all:
            self._resolve(group, {})

    def _grouped(self, rules: Sequence[Rule]) -> dict[Words, Group]:
        together: dict[Words, list[Words]] = {term: [term] for term in self.spellings}

        def join(terms: Sequence[Words], rule: Rule) -> None:
            lists = {id(together[term]): together[term] for term in terms}.values()
            joint = list(dict.fromkeys(itertools.chain.from_iterable(lists)))
            if len(joint) > MAX_EQUIVALENTS:
                message = f"this rule and others make over {MAX_EQUIVALENTS} terms equivalent."
                remedy = "Contract them to one word: `a, b, c => a`."
                raise TooMuch(rule.error("too_many_equivalents", message, remedy))
            together.update(dict.fromkeys(joint, joint))

        about: dict[Words, Rule] = {}
        contracted: set[Words] = set()
        for rule in rules:
            terms = [self._words[term] for term in rule.terms]
            about.update(dict.fromkeys(terms, rule))
            if not rule.right:
                join(terms, rule)
        for rule in rules:
            ends = [together[self._words[term]] for term in rule.right]
            for term in (self._words[term] for term in rule.left):
                if any(end is not together[term] for end in ends):
                    contracted.update(together[term])
        for term in list(together):
            if term not in contracted and all(len(other) > 1 for other in together[term]):
                word = join_words(together[term][0])
                key = self._words.setdefault(word, words(word))
                self.spellings.setdefault(key, [word])
                together.setdefault(key, [key])
                join([term, key], about[term])
        groups: dict[int, Group] = {}
        for term in self.spellings:
            groups.setdefault(id(together[term]), Group([])).terms.append(term)
        return {term: group for group in groups.values() for term in group.terms}

    def _groups(self, terms: Sequence[str]) -> list[Group]:
        return list(dict.fromkeys(self.of[self._words[term]] for term in terms))

    def _resolve(self, group: Group, path: dict[Group, Rule]) -> None:
        """Set the tokens of a group and of those that it is contracted to.

        Args:
            path: the groups on the way to this one, and the rule that leads on from each.
        """
        if group.length >= 0:
            return
        group.length = 0
        own = [self.spellings[term][0] for term in group.terms if len(term) == 1]
        results: dict[tuple[str, ...], Rule] = {}
        followed = list(group.rules)
        for rule in group.contractions:
            path[group] = rule
            tokens: list[str] = []
            for term in (self._words[term] for term in rule.right):
                target = self.of[term]
                if target is group:
                    tokens += [self.spellings[term][0]] if len(term) == 1 else own
                elif target in path:
                    self.errors.append(_cycle(list(path.values())[list(path).index(target) :]))
                    break
                elif len(path) + max(target.length, 0) > MAX_CHAIN:
                    message = f"a chain of over {MAX_CHAIN} rules leads to this result."
                    remedy = "Write the last result on the right side of each."
                    raise TooMuch(rule.error("chain_too_long", message, remedy))
                else:
                    self._resolve(target, path)
                    tokens += target.tokens
                    followed += target.rules
                    self._followed += len(target.rules)
                    if self._followed > MAX_FOLLOWED:
                        message = f"the rules up to this one lead to over {MAX_FOLLOWED:,} others."
                        remedy = "Write the last result on the right side of each."
                        raise TooMuch(rule.error("too_many_followed", message, remedy))
                    group.length = max(group.length, target.length + 1)
            results.setdefault(tuple(dict.fromkeys(tokens)), rule)
        path.pop(group, None)
        group.rules = list(dict.fromkeys(followed))
        group.tokens = next(iter(results), tuple(own))
        for other in list(results.values())[1:]:
            self.errors.append(_conflict(group.contractions[0], other))
        self._pairs += len(group.terms) * len(group.tokens)
        if self._pairs > MAX_PAIRS:
            message = f"the rules up to this one make over {MAX_PAIRS:,} pairs of words."
            remedy = "Contract long lists of equivalents to one word: `a, b, c => a`."
            raise TooMuch(group.rules[0].error("too_many_pairs", message, remedy))


def join_words(phrase: Words) -> str:
    """Join several words to one: `machine learning` → `machinelearning`.

    Only letters and digits remain, none that is a token of its own: every chain makes one token.
    """
    text = "".join(phrase)
    return "".join(map(_joinable, text)) or "".join(f"{ord(char):x}" for char in text)


def _joinable(char: str) -> str:
    if char in _SPELLED_OUT:
        return _SPELLED_OUT[char]
    if re.match(f"[{SINGLE_CHARACTER_WORD}]", char) or unicodedata.category(char) == "So":
        return f"{ord(char):x}"
    return char if char.isalnum() else ""


def _conflict(former: Rule, rule: Rule) -> Finding:
    message = f"`{rule}` contradicts `{former}` ({former.place})."
    remedy = "Keep one of the two, or put both results into one rule: `a => b, c`."
    return rule.error("conflict", message, remedy)


def _cycle(rules: Sequence[Rule]) -> Finding:
    shown = "; ".join(f"`{rule}` ({rule.place})" for rule in rules[:5])
    message = f"these rules form a cycle: {shown}{'; …' if len(rules) > 5 else ''}."
    remedy = "Remove one of them; equivalent terms are written `a, b`."
    last = max(rules, key=lambda rule: (rule.file, rule.line))
    return last.error("cycle", message, remedy)
