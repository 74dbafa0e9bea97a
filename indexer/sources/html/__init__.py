"""Reads HTML pages: a folder of them, such as a built site, or one page."""
