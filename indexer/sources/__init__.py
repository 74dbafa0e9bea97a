"""Where posts come from: each source is one small module behind one protocol."""

from indexer.errors import SourceError
from indexer.sources.base import Source, SourceOptions
from indexer.sources.jsonlines import JSONLines, raw_comment, raw_post

KINDS = {"jsonlines": JSONLines}
"""What `--source` takes."""

__all__ = ["KINDS", "Source", "SourceOptions", "open_source", "raw_comment", "raw_post"]


def open_source(spec: str, kind: str | None, options: SourceOptions) -> Source:
    """The source at `spec`, of the kind said or of the kind it is recognised as.

    Raises:
        SourceError: no such place, nothing that is known, or an unknown kind; with what to do.
    """
    if kind is not None and kind not in KINDS:
        raise SourceError(f"{kind!r} is no kind of source.", f"Known are {', '.join(KINDS)}.")
    return JSONLines(spec, options)
