"""Pinned results: rule files, and where their rules are kept. `app.search.pins` applies them."""
