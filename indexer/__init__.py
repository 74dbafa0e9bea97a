"""Reads posts from sources, and writes them to the index."""

SCHEMA = 10
"""Increased when documents or mappings change so that an older index cannot answer a search.

`blogsearch rebuild` makes an index of the present schema from one of any former. Each schema has a
fixture in tests/data, written by scripts/schema_fixture.py, from which a test does that.
"""

OLDEST_READABLE = 9
"""The oldest schema that searches can read: the former one from schema 9 on, so that two versions
of the service can answer side by side while one replaces the other."""
