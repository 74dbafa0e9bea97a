"""The synonym rules that apply to a search."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from analyzers.rules.compile import RuleErrors, Rules
from analyzers.rules.parse import rule_files
from app.settings import Settings

Json = dict[str, Any]


def applied(tokens: Sequence[str], digest: str, settings: Settings) -> Json:
    """The rules at work in the tokens of a query.

    Args:
        tokens: lower-case, in their order.
        digest: of the rules in the index that answered, "" when it has none.

    Returns:
        `rules` with file, line and text of each; `note` where the folder's rules are not the
        index's, so that nothing certain can be said.
    """
    try:
        files = rule_files(settings.synonyms_dir, settings.synonyms_left_out, settings.language)
        rules = _rules(tuple((path, path.stat().st_mtime_ns) for path in files))
        if rules.digest == digest:
            return {
                "rules": [
                    {
                        "words": " ".join(tokens[start:end]),
                        "tokens": list(group.tokens),
                        "rules": [
                            {"file": rule.file, "line": rule.line, "rule": str(rule)}
                            for rule in group.rules
                        ],
                    }
                    for start, end, group in rules.explain(tokens)
                ]
            }
    except (RuleErrors, OSError) as error:
        return {"rules": [], "note": f"the rule files cannot be read: {error}"[:300]}
    note = "the index was built with other rules than the folder has now; "
    return {"rules": [], "note": f"{note}`blogsearch synonyms load` applies them"}


@lru_cache(maxsize=2)
def _rules(files: tuple[tuple[Path, int], ...]) -> Rules:
    """Thousands of rules are compiled once, and again when a file changes."""
    return Rules(path for path, _ in files)
