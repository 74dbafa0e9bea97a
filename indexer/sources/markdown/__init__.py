"""Folders of Markdown posts with front matter."""

from indexer.sources.markdown.folder import MarkdownFolder

__all__ = ["MarkdownFolder"]
