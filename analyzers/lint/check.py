"""Checks rule files, offline and with what Elasticsearch's analysis makes of them.

Two scratch indices are used: one without rules gives the tokens of every word, one with the rules
proves that an index can be created with them and that every term becomes the tokens that the
compiler expects. The live index is used only to count the posts that have a word.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elasticsearch import Elasticsearch

from analyzers.findings import Finding, error, warning
from analyzers.lint.scratch_index import Refused, Trial, trial
from analyzers.lint.static import review
from analyzers.lint.suppressions import allowed, in_files
from analyzers.lint.tokens import Judge, told
from analyzers.rules import SUFFIX, Rule, RuleSet
from analyzers.rules.parse import MAX_WORDS
from analyzers.rules.words import words

FREQUENT = 0.1  # a share of the posts; a word in a tenth of them is a blog's own subject
FEW_POSTS = 20  # in fewer posts than this nothing is frequent


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many posts there are, and how many have each word."""

    total: int
    posts: Mapping[str, int]


Count = Callable[[Sequence[str]], Frequencies]


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `rules` are all files taken together, None when they cannot be used.

    `silenced` counts the warnings that the files themselves asked not to be told
    (`# check-allow: CODE`).
    """

    rules: RuleSet | None
    findings: tuple[Finding, ...]
    silenced: int

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What keeps the files from being used."""
        return tuple(found for found in self.findings if found.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What the keeper ought to have seen."""
        return tuple(found for found in self.findings if found.severity == "warning")


def check(
    client: Elasticsearch | None,
    files: Sequence[Path],
    others: Sequence[Path] = (),
    count: Count | None = None,
) -> Report:
    """Checks rule files together with the others they are going to be used with.

    Args:
        client: for the analysis; None: only what can be said without.
        files: what to tell about.
        others: files already in use; one with the name of a checked file is taken for its older
            version and left out.
        count: tells how many posts of the live index have each of some words; without it nothing
            is said about frequent words.

    Raises:
        elasticsearch.ApiError, elasticsearch.TransportError: as the client does.
    """
    names = {path.name for path in files}
    together = sorted(
        [*files, *(path for path in others if path.name not in names)], key=lambda path: path.name
    )
    reviewed = review(together)
    if reviewed.rules is None:
        return _report(None, reviewed.findings, files)
    own = [rule for rule in reviewed.rules.rules if rule.file in names]
    findings = [*reviewed.findings, *_misnamed(files)]
    if client is not None:
        findings += _analysed(client, reviewed.rules, own)
    if count is not None:
        findings += _frequent(own, count)
    return _report(reviewed.rules, findings, files)


def _misnamed(files: Sequence[Path]) -> Iterator[Finding]:
    for path in files:
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            message = f"is not called NAME{SUFFIX}, as files of the folder are."
            yield warning(path.name, 0, "file_name", message, "Rename it before it is loaded.")


def _report(rules: RuleSet | None, found: Sequence[Finding], files: Sequence[Path]) -> Report:
    ours = in_files(found, {path.name for path in files})
    allowances = {path.name: allowed(path) for path in files}
    kept = [
        finding
        for finding in ours
        if finding.severity == "error" or finding.code not in allowances.get(finding.file, ())
    ]
    broken = any(finding.severity == "error" for finding in kept)
    return Report(None if broken else rules, tuple(kept), len(ours) - len(kept))


def _analysed(client: Elasticsearch, rules: RuleSet, own: Sequence[Rule]) -> Iterator[Finding]:
    with trial(client, RuleSet.of(())) as bare:
        judge = Judge(bare, rules)
        # All of them: a rule of another file may be about the same token.
        found = [finding for rule in rules.rules for finding in judge.findings(rule)]
    yield from found
    if any(finding.severity == "error" for finding in found):
        return  # Elasticsearch would refuse the same rules once more, in words of its own
    try:
        with trial(client, rules) as full:
            yield from _unproven(full, rules, own, judge)
    except Refused as refusal:
        yield _refused(rules, own, refusal)


def _unproven(full: Trial, rules: RuleSet, own: Sequence[Rule], judge: Judge) -> Iterator[Finding]:
    """The proof: every side, analysed with all rules, is the tokens that it should be."""
    sides = list(dict.fromkeys(side for rule in own for side in (*rule.left, *rule.right)))
    made = dict(zip(sides, full.forms(sides), strict=True))
    for rule in own:
        for side in (*rule.left, *rule.right):
            tokens = rules.entries[words(side)].tokens
            expected = {judge.before(token)[0] for token in tokens}
            if set(made[side]) != expected:
                message = (
                    f"does not hold: `{side}` becomes `{' '.join(made[side])}`, "
                    f"not `{' '.join(sorted(expected))}`."
                )
                remedy = f"Another rule is in the way, or a phrase has over {MAX_WORDS} tokens."
                yield told(error, rule, "does_not_hold", message, remedy)
                break


def _refused(rules: RuleSet, own: Sequence[Rule], refusal: Refused) -> Finding:
    at = refusal.line - 1
    rule = rules.sources[at] if 0 <= at < len(rules.sources) else own[0]
    message = f"Elasticsearch refuses `{rule}`: {refusal.reason}."
    return told(error, rule, "refused", message, "Write it with letters and digits.")


def _frequent(own: Sequence[Rule], count: Count) -> Iterator[Finding]:
    """Contractions that take a word away which more posts have than what is put in its place."""
    changed = {
        side: rule
        for rule in own
        if rule.kind == "contraction"
        for side in rule.left
        if side not in rule.right and len(words(side)) == 1
    }
    if not changed:
        return
    ends = [side for rule in changed.values() for side in rule.right]
    found = count(list(dict.fromkeys([*changed, *ends])))
    for side, rule in changed.items():
        posts = found.posts.get(side, 0)
        known = max((found.posts.get(right, 0) for right in rule.right), default=0)
        if posts >= max(FREQUENT * found.total, FEW_POSTS) and posts > known:
            message = (
                f"changes `{side}`, which {posts:,} of {found.total:,} posts have; "
                f"`{', '.join(rule.right)}` stands in {known:,}."
            )
            remedy = "Make sure that it means nothing else in them; `preview` shows what changes."
            yield told(warning, rule, "frequent_word", message, remedy)
