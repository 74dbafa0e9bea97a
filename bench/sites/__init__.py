"""Builds sites with their real generators, and measures what is read of them."""
