extensions = ["myst_parser"]
exclude_patterns = [
    "_build",
    'internal/*',  # not for readers
]
