"""Reads posts: from the values of a source to the stored document."""
