"""Reads posts from sources, and writes them to the index."""

SCHEMA = 3
"""Increased when documents or mappings change so that an index cannot be searched or written any
more; `blogsearch rebuild` makes one of the present schema from one of the schema before."""
