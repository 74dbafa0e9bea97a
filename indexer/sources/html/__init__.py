"""HTML pages: a folder of them, such as a built site, and one page."""

from indexer.sources.html.folder import SUFFIXES

__all__ = ["SUFFIXES"]
