"""Reads posts from sources, and writes them to the index."""

SCHEMA = 3
"""Increased when changed documents or mappings make an index unusable; `blogsearch rebuild` turns
an index of the schema before into one of the present schema."""
