"""Keeps the live index in step with a source: `sync` makes them equal, `add` removes nothing."""
