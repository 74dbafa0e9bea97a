"""Parses the XML of feeds, sitemaps and exports, which may come from anywhere."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring, iterparse

from indexer.errors import SourceError
from indexer.sources.files import File, Stream

_FAULTS = (ParseError, DefusedXmlException, ValueError, LookupError)
"""Errors of the parser; the last two occur for some encodings."""
BEFORE_XML = b"\xef\xbb\xbf \t\r\n"
"""What plugins of a blog write before feeds and sitemaps, and no parser reads."""
_NOT_XML = bytes((*range(9), 11, 12, *range(14, 32)))


def parse_xml(body: bytes, name: str) -> Element:
    """Return the root of a document without entities.

    Raises:
        SourceError: it is not XML, or declares entities.
    """
    try:
        root: Element = fromstring(body.lstrip(BEFORE_XML))
    except _FAULTS as error:
        raise SourceError(f"{name} is not XML: {error}.") from error
    return root


def elements(file: File, depth: int) -> Iterator[Element]:
    """Yield the elements at `depth` below the root as they are read; drop each afterwards.

    An export of twenty years is larger than the memory of a small server.

    Raises:
        SourceError: the file is not XML to its end, or declares entities.
    """
    path: list[Element] = []
    with file.opened() as stream:
        try:
            for event, element in iterparse(_WithoutControls(stream), events=("start", "end")):
                if event == "start":
                    path.append(element)
                    continue
                path.pop()
                if len(path) == depth:
                    yield element
                    path[-1].clear()
        except _FAULTS as error:
            reason = f"{file.name} cannot be read as XML: {error}."
            raise SourceError(reason, "Export it again.") from error


class _WithoutControls:
    """A stream without `BEFORE_XML`, and without the control characters that WordPress lets through
    but XML forbids."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._before = BEFORE_XML

    def read(self, size: int = -1) -> bytes:
        while chunk := self._stream.read(size):
            if valid := chunk.translate(None, _NOT_XML).lstrip(self._before):
                self._before = b""
                return valid
        return b""


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(parent: Element, name: str) -> str:
    """Return the text of the first child with this local name; "" if there is none."""
    return next((child.text or "" for child in parent if local_name(child) == name), "").strip()


def texts(element: Element) -> dict[str, str]:
    """Return the texts of the children by their local names."""
    return {local_name(child): (child.text or "").strip() for child in element}


def locations(sitemap: Element) -> Iterator[tuple[str, str]]:
    """Yield the URLs in a sitemap or an index of sitemaps, with the last change ("" if unknown)."""
    for entry in sitemap:
        fields = texts(entry)
        if url := fields.get("loc"):
            yield url, fields.get("lastmod", "")
