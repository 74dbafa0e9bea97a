"""HTML pages: a folder of them, such as a built site, and one page."""

from indexer.sources.html.folder import SUFFIXES, HTMLFolder
from indexer.sources.html.survey import built_site

__all__ = ["SUFFIXES", "HTMLFolder", "built_site"]
