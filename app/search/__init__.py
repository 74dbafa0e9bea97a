"""Runs a search: takes a SearchRequest, returns an Answer."""
