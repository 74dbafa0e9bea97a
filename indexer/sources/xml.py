"""XML of feeds and sitemaps, which may come from anywhere."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from indexer.errors import SourceError


def parse_xml(body: bytes, name: str) -> Element:
    """The root of a document, without entities.

    Raises:
        SourceError: it is not XML, or declares entities.
    """
    try:
        root: Element = fromstring(body)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise SourceError(f"{name} is not XML: {error}.") from error
    return root


def local_name(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def texts(element: Element) -> dict[str, str]:
    """The texts of the children by their local names."""
    return {local_name(child): (child.text or "").strip() for child in element}


def locations(sitemap: Element) -> Iterator[tuple[str, str]]:
    """The URLs of a sitemap or an index of sitemaps, each with its last change ("" if unknown)."""
    for entry in sitemap:
        fields = texts(entry)
        if url := fields.get("loc"):
            yield url, fields.get("lastmod", "")
