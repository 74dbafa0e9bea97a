"""Folders of Markdown posts with front matter."""
