"""Synonym rules: reads rule files and compiles them for the `synonym` token filter."""

from analyzers.rules.parse import Rule
from analyzers.rules.rule_set import (
    NO_RULES,
    SUFFIX,
    Applied,
    RuleErrors,
    RuleSet,
    read_rules,
    rule_files,
)

__all__ = [
    "NO_RULES",
    "SUFFIX",
    "Applied",
    "Rule",
    "RuleErrors",
    "RuleSet",
    "read_rules",
    "rule_files",
]
