"""The check of rule files before they are used: all findings at once, with their places.

Nothing is asked of a server. That Elasticsearch accepts the rules shows when an index is built with
them, before it is swapped in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analyzers.findings import Finding
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import RuleSet, compile_rules, rules_digest
from analyzers.rules.parse import SUFFIX, Rule, is_for, languages_of, parse_files

_REMOVE = "Remove the line."


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found.

    `rules` are those of all files together; None when there are errors. `unlisted` is the number of
    errors that are not among the findings.
    """

    rules: RuleSet | None
    findings: tuple[Finding, ...]
    unlisted: int = 0


def check(
    files: Sequence[Path], others: Sequence[Path] = (), language: Language = ENGLISH
) -> CheckResult:
    """Checks rule files together with those that they will be used with.

    Args:
        files: their findings are reported.
        others: files in use. One with the name of a checked file is its older version and is left
            out. Only errors are reported.
        language: of the index.
    """
    checked = {path.name for path in files}
    together = [*files, *(path for path in others if path.name not in checked)]
    parsed = parse_files(sorted(together, key=lambda path: path.name))
    compiled, problems = compile_rules(parsed.rules)
    findings = [*parsed.errors, *problems, *_file_findings(files, language)]
    findings += _stop_words(parsed.rules, language)
    if not problems:
        findings += _warnings(parsed.rules)
    listed = sorted(
        {found for found in findings if found.severity == "error" or found.file in checked},
        key=lambda found: (found.file, found.line, found.code, found.message),
    )
    usable = all(found.severity == "warning" for found in listed)
    rules = replace(compiled, digest=rules_digest(together)) if usable else None
    return CheckResult(rules, tuple(listed), parsed.unlisted)


def _file_findings(files: Sequence[Path], language: Language) -> Iterator[Finding]:
    """What is wrong with the names of files, and with the languages that they name."""
    for path in files:
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            message = f"the name of a rule file is NAME{SUFFIX}."
            remedy = "Rename it before you load it."
            yield Finding(path.name, 0, "warning", "file_name", message, remedy)
        if unknown := languages_of(path) - LANGUAGES.keys():
            message = f"there is no language `{', '.join(sorted(unknown))}`."
            remedy = f"Known are {', '.join(LANGUAGES)}."
            yield Finding(path.name, 0, "error", "unknown_language", message, remedy)
        elif not is_for(path, language.name):
            message = f"is not for {language.name} posts, so it is not used."
            remedy = "Change its comment `# language: …` if it should be."
            yield Finding(path.name, 0, "warning", "other_language", message, remedy)


def _stop_words(rules: Iterable[Rule], language: Language) -> Iterator[Finding]:
    """Rules with a term that is a stop word: it is not searched for, and nearly every post has it.
    Nothing is left of what becomes one."""
    for rule in rules:
        stopped = [term for term in rule.terms if language.written(term) in language.stop_words]
        if stopped:
            single = [term for term in rule.left if " " not in term]
            nothing_left = set(rule.right or single) <= set(stopped)
            yield rule.finding(
                "error" if nothing_left else "warning",
                "stop_word",
                f"`{stopped[0]}` is a stop word, which is not searched for.",
                "Remove it from the rule.",
            )


def _warnings(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Rules that have no effect."""
    contractions = {term: rule for rule in rules if rule.is_contraction for term in rule.left}
    seen: dict[tuple[frozenset[str], frozenset[str]], Rule] = {}
    for rule in rules:
        left, right = frozenset(rule.left), frozenset(rule.right)
        former = seen.setdefault((left, right), rule)
        replaced = (contractions[term] for term in left if not right and term in contractions)
        if former is not rule:
            yield rule.finding("warning", "duplicate", f"`{rule}` repeats {former.place}.", _REMOVE)
        elif left == right or len(left | right) == 1:
            yield rule.finding("warning", "no_effect", f"`{rule}` changes nothing.", _REMOVE)
        elif len(left) < len(rule.left) or len(right) < len(rule.right):
            yield rule.finding("warning", "duplicate", f"`{rule}` has a term twice.", "Remove one.")
        elif other := next((other for other in replaced if left.issuperset(other.right)), None):
            message = f"`{other}` ({other.place}) takes the word away that `{rule}` would keep."
            yield rule.finding("warning", "unreachable", message, "Keep one of the two.")
