"""Builds a new generation beside the live one, verifies it and swaps it in."""
