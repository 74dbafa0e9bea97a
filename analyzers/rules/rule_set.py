"""The synonym rules: files in, one frozen set out, compiled for Elasticsearch's `synonym` filter.

rules = read_rules(rule_files(folder, without=()))
rules.compiled   # for `"type": "synonym", "synonyms": list(rules.compiled)`
rules.digest     # changes when, and only when, the index would
rules.explain(["learn", "js"])   # which rule of which file made which token
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from analyzers.findings import Finding, error
from analyzers.rules.compile import Entry, Resolution, resolve
from analyzers.rules.parse import Rule, read_file
from analyzers.rules.words import Words, folded

SUFFIX = ".synonyms"
MAX_RULES = 100_000  # over all files; docs/synonyms.md has what 200,000 would cost
MAX_ERRORS = 100  # enough to see what is wrong with a file that is no rule file at all


class RuleErrors(Exception):
    """Rule files that cannot be used; `findings` has every complaint with file and line."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, findings)))


@dataclass(frozen=True, slots=True)
class Applied:
    """Rules at work in a text: `count` words from the `start`-th (from 0) became `tokens`.

    `rules` are all that had a say, the first-hand ones first.
    """

    start: int
    count: int
    tokens: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of all files, in reading order, and what they compile to.

    `lines` are Solr's syntax, every right-hand side in them a single word; `sources[n]` is the rule
    behind `lines[n]`. Equal digests make equal indices. `longest` is
    the number of words in the longest phrase, `folded` finds entries by words without accents.
    """

    rules: tuple[Rule, ...]
    lines: tuple[str, ...]
    sources: tuple[Rule, ...] = field(repr=False)
    digest: str
    entries: Mapping[Words, Entry] = field(repr=False, compare=False, hash=False)
    folded: Mapping[Words, Words] = field(repr=False, compare=False, hash=False)
    longest: int = field(repr=False)

    @property
    def compiled(self) -> tuple[str, ...]:
        """What the filter's setting `synonyms` takes: all lines in one element.

        Every element of a list in the settings costs Elasticsearch time whenever the settings or
        the mapping of the index change; with 20,000 rules, one element each, twice the time to
        create it and three times that to change it.
        """
        return ("\n".join(self.lines),) if self.lines else ()

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> "RuleSet":
        """Compiles rules.

        Raises:
            RuleErrors: for rules that lead in a circle, contradict each other or are too many.
        """
        held = tuple(rules)
        resolution = resolve(held)
        if resolution.findings:
            raise RuleErrors(resolution.findings)
        return cls.from_resolution(held, resolution)

    @classmethod
    def from_resolution(cls, rules: tuple[Rule, ...], resolution: Resolution) -> "RuleSet":
        """The set of rules that are resolved already."""
        digest = hashlib.sha256("\n".join(resolution.lines).encode()).hexdigest()[:16]
        entries = MappingProxyType(dict(resolution.entries))
        longest = max(map(len, entries), default=0)
        plain = MappingProxyType({tuple(map(folded, key)): key for key in entries})
        return cls(rules, resolution.lines, resolution.sources, digest, entries, plain, longest)

    def explain(self, tokens: Sequence[str]) -> tuple[Applied, ...]:
        """Which rules are at work in a text.

        `tokens` are the text's tokens in order as they reach the synonym filter: after lowercase,
        before synonyms; a name that the chain made of symbols (cplusplus) is given as it was
        written (c++). As in the filter, the longest match wins and each token is used once.
        """
        found: list[Applied] = []
        plain = tuple(map(folded, tokens))
        start = 0
        while start < len(plain):
            key = self._match(plain, start)
            if key is not None:
                entry = self.entries[key]
                found.append(Applied(start, len(key), entry.tokens, self._behind(key)))
            start += len(key) if key is not None else 1
        return tuple(found)

    def _match(self, tokens: Words, start: int) -> Words | None:
        for count in range(min(self.longest, len(tokens) - start), 0, -1):
            key = self.folded.get(tokens[start : start + count])
            if key is not None:
                return key
        return None

    def _behind(self, key: Words) -> tuple[Rule, ...]:
        rules: dict[Rule, None] = {}
        seen = {key}
        waiting = [key]
        while waiting:
            entry = self.entries[waiting.pop(0)]
            rules.update(dict.fromkeys(entry.rules))
            waiting.extend(via for via in entry.via if via not in seen)
            seen.update(entry.via)
        return tuple(rules)


NO_RULES = RuleSet.of(())


def rule_files(folder: Path, without: Collection[str] = ()) -> list[Path]:
    """The rule files of a folder in name order, leaving out names, with or without `.synonyms`.

    Hidden files are left out: one that is just being written is called so. A folder that is not
    there has none.
    """
    left_out = {name.removesuffix(SUFFIX) for name in without}
    return sorted(
        (
            path
            for path in folder.glob(f"*{SUFFIX}")
            if not path.name.startswith(".") and path.stem not in left_out
        ),
        key=lambda path: path.name,
    )


def read_rules(files: Sequence[Path]) -> RuleSet:
    """Reads rule files in the given order and compiles them together.

    Raises:
        RuleErrors: with every complaint (the first 100) about every file: syntax, encoding,
            limits, circles and contradictions.
    """
    rules: list[Rule] = []
    findings: list[Finding] = []
    for path in files:
        for item in read_file(path):
            if isinstance(item, Finding):
                findings.append(item)
                if len(findings) >= MAX_ERRORS:
                    raise RuleErrors(findings)
                continue
            rules.append(item)
            if len(rules) > MAX_RULES:
                raise RuleErrors([*findings, _too_many(item)])
    if findings:
        raise RuleErrors(findings)
    return RuleSet.of(rules)


def _too_many(rule: Rule) -> Finding:
    return error(
        rule.file,
        rule.line,
        "too_many_rules",
        f"more than {MAX_RULES:,} rules in all files together.",
        "Keep what your posts and their readers really write.",
    )
