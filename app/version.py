"""The version of the service, and the commit from which it was built."""

from importlib.metadata import version

VERSION = version("blogsearch")
"""The version of the git tag; without a tag, `0.1.0+g` and the commit."""

COMMIT = VERSION.partition("+g")[2].partition(".")[0]
"""The start of the commit's hash; "" for a released version."""
