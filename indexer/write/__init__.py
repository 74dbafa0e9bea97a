"""Writes to the live index."""
