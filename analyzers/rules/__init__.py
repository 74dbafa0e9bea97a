"""Synonym rules: `parse` reads rule files, `compile` makes of them what the synonym filter gets."""
