"""Folders of Markdown posts with front matter."""

from indexer.sources.markdown.folder import SUFFIXES, MarkdownFolder

__all__ = ["SUFFIXES", "MarkdownFolder"]
