"""Synonym rules: reads rule files and compiles them for the `synonym` token filter.

rules = read_rules(rule_files(folder))
rules.compiled                  # the filter's setting `synonyms`
rules.digest                    # identifies the files
rules.explain(["learn", "js"])  # which rule of which file applies to which token
"""

from analyzers.rules.compile import (
    NO_RULES,
    Applied,
    Phrases,
    RuleErrors,
    RuleFiles,
    Rules,
    RuleSet,
    read_rules,
    rules_digest,
)
from analyzers.rules.parse import SUFFIX, Rule, rule_files

__all__ = [
    "NO_RULES",
    "SUFFIX",
    "Applied",
    "Phrases",
    "Rule",
    "RuleErrors",
    "RuleFiles",
    "RuleSet",
    "Rules",
    "read_rules",
    "rule_files",
    "rules_digest",
]
