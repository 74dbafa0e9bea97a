"""Checks synonym rule files before they are used."""

from analyzers.lint.check import CheckResult, PostCounts, check

__all__ = ["CheckResult", "PostCounts", "check"]
