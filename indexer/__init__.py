"""Reads posts from sources, and writes them to the index."""

SCHEMA = 9
"""Increased when documents or mappings change so that an older index cannot answer a search."""
