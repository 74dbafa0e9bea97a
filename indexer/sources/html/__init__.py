"""HTML pages: a folder of them, such as a built site, and one page."""

from indexer.sources.html.built_site import built_site
from indexer.sources.html.folder import SUFFIXES, HTMLFolder
from indexer.sources.html.page import Page

__all__ = ["SUFFIXES", "HTMLFolder", "Page", "built_site"]
