"""HTML pages: a folder of them, such as a built site, and one page."""
