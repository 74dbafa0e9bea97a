"""Folders of HTML pages, and single pages."""

from indexer.sources.html.folder import SUFFIXES, HTMLFolder
from indexer.sources.html.page import Page

__all__ = ["SUFFIXES", "HTMLFolder", "Page"]
