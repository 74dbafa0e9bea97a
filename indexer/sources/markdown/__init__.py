"""Reads folders of Markdown posts with front matter."""
