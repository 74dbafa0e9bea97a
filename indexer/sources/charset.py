"""The text of an HTML page, whatever its server and its author say about its encoding."""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_HEAD = 2048


def decoded(body: bytes, content_type: str = "") -> str:
    """By the byte order mark; as UTF-8 if it is valid; else as declared; else as Windows-1252.

    UTF-8 before what is declared, because declarations are wrong more often than text in another
    encoding happens to be valid UTF-8. ISO-2022 alone looks like plain ASCII.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    declared = [
        found[1] for found in map(_DECLARED.search, (content_type.encode(), body[:_HEAD])) if found
    ]
    names = [name.decode("ascii", "replace").lower() for name in declared]
    stateful = [name for name in names if name.startswith("iso-2022")]
    for encoding in (*stateful, "utf-8", *names):
        # Latin-1 on the web means Windows-1252 (WHATWG Encoding, section 4.2).
        name = "cp1252" if encoding in ("iso-8859-1", "latin1", "ascii", "us-ascii") else encoding
        try:
            return body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("cp1252", "replace")
