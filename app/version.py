"""The version of the service, and the commit that it was built from."""

from importlib.metadata import version

VERSION = version("blogsearch")
"""That of the tag, or `0.1.0+g` and the commit where there is none."""

COMMIT = VERSION.partition("+g")[2].partition(".")[0]
"""Its first letters; "" for a released version."""
