"""Synonym rules: `parse` reads rule files; `compile` converts them for the synonym filter."""
