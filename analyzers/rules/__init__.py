"""Synonym rules: reads rule files and compiles them for the `synonym` token filter.

rules = read_rules(rule_files(folder))
rules.compiled                  # the filter's setting `synonyms`
rules.digest                    # identifies what the index gets
rules.explain(["learn", "js"])  # which rule of which file applies to which token
"""

from analyzers.rules.compile import NO_RULES, Applied, RuleErrors, RuleSet, read_rules
from analyzers.rules.parse import SUFFIX, Rule, rule_files

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
