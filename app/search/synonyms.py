"""The synonym rules that apply to a search."""

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from analyzers.rules.compile import Applied, RuleErrors, RuleSet, read_rules
from analyzers.rules.parse import rule_files
from app.settings import Settings

Json = dict[str, Any]
Stamp = tuple[tuple[Path, int, int], ...]


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
        rules = _rules(settings)
    except (RuleErrors, OSError) as error:
        return {"rules": [], "note": f"the rule files cannot be read: {error}"[:300]}
    if rules.digest != digest:
        return {
            "rules": [],
            "note": "the index was built with other rules than the folder has now; "
            "`blogsearch synonyms load` applies them",
        }
    return {"rules": [_explain(tokens, match) for match in rules.explain(tokens)]}


def _rules(settings: Settings) -> RuleSet:
    # The folder is listed once a second at most: that takes as long as building a request.
    second = int(time.monotonic())
    return _listed(settings.synonyms_dir, settings.synonyms_left_out, settings.language, second)


@lru_cache(maxsize=2)
def _listed(folder: Path, left_out: frozenset[str], language: str, second: int) -> RuleSet:
    files = rule_files(folder, left_out, language)
    return _read(tuple((path, *_stamp(path)) for path in files))


def _explain(tokens: Sequence[str], match: Applied) -> Json:
    behind = [{"file": rule.file, "line": rule.line, "rule": str(rule)} for rule in match.rules]
    words = " ".join(tokens[match.start : match.start + match.count])
    return {"words": words, "tokens": list(match.tokens), "rules": behind}


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=2)
def _read(files: Stamp) -> RuleSet:
    """Thousands of rules are read once, and again when a file changes."""
    return read_rules([path for path, _, _ in files])
