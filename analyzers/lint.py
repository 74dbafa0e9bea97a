"""The check of rule files before they are used: all findings at once, with their places.

Nothing is asked of a server. That Elasticsearch accepts the rules shows when an index is built with
them, before it is swapped in.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from analyzers.findings import Finding, Severity
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import Rules
from analyzers.rules.parse import SUFFIX, Rule, is_for, languages_of


def check(
    files: Sequence[Path], others: Sequence[Path] = (), language: Language = ENGLISH
) -> tuple[Rules, list[Finding]]:
    """Checks rule files together with those that they will be used with.

    Args:
        files: their findings are reported.
        others: files in use. One with the name of a checked file is its older version and is left
            out. Only errors are reported.
        language: of the index.

    Returns:
        The rules of all files together, which cannot be used with an error, and the findings.
    """
    checked = {path.name for path in files}
    rules = Rules([*files, *(path for path in others if path.name not in checked)])
    findings = {*rules.errors, *_of_files(files, language), *_of_rules(rules.rules, language)}
    listed = (found for found in findings if found.severity == "error" or found.file in checked)
    return rules, sorted(listed, key=lambda found: (found.file, found.line, found.code))


def _of_files(files: Sequence[Path], language: Language) -> Iterator[Finding]:
    names = Counter(path.name for path in files)
    for path in files:
        unknown = ", ".join(sorted(languages_of(path) - LANGUAGES.keys()))
        wrong: tuple[str, ...] = ()
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            wrong = ("file_name", f"the name of a rule file is NAME{SUFFIX}.", "Rename it.")
        elif names[path.name] > 1:
            wrong = ("file_name", "two files have this name.", "Rename one of them.")
        elif unknown:
            remedy = f"Known are {', '.join(LANGUAGES)}."
            wrong = ("unknown_language", f"there is no language `{unknown}`.", remedy)
        elif not is_for(path, language.name):
            message = f"is not for {language.name} posts (BLOGSEARCH_LANGUAGE)."
            wrong = ("other_language", message, "Change its comment `# language: …` if it is.")
        if wrong:
            yield Finding(path.name, 0, "error", *wrong)


def _of_rules(rules: Iterable[Rule], language: Language) -> Iterator[Finding]:
    """Rules that repeat others, and terms that are stop words: nothing is left of what becomes one,
    and others are not searched for."""
    seen: dict[tuple[frozenset[str], frozenset[str]], Rule] = {}
    for rule in rules:
        former = seen.setdefault((frozenset(rule.left), frozenset(rule.right)), rule)
        if former is not rule:
            message = f"`{rule}` repeats {former.place}."
            yield rule.finding("warning", "duplicate", message, "Remove the line.")
        stopped = [term for term in rule.terms if language.written(term) in language.stop_words]
        if stopped:
            single = {term for term in rule.left if " " not in term}
            nothing_left = set(rule.right or single) <= set(stopped)
            severity: Severity = "error" if nothing_left else "warning"
            message = f"`{stopped[0]}` is a stop word, which is not searched for."
            yield rule.finding(severity, "stop_word", message, "Remove it from the rule.")
