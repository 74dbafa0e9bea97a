"""How values are kept in Redis: as finished JSON, which `make bench-serializers` chose.

It compares this with other formats and compressions; docs/caching.md says what came of it.
"""

from typing import Any

import orjson

SERIALIZER = "bytes"
"""The name of this way among those that are compared."""


class NotSerializable(ValueError):
    """A value that JSON would change."""


def render(body: Any) -> bytes:
    """The body of an HTTP response: UTF-8 JSON."""
    return orjson.dumps(body)


def dumps(value: Any) -> bytes:
    """A value as JSON, from which `orjson.loads` makes an equal one.

    Raises:
        NotSerializable: JSON would change the value, as it does a tuple, a date or NaN.
    """
    try:
        data = orjson.dumps(value)
    except TypeError as error:
        raise NotSerializable(str(error)) from error
    if orjson.loads(data) != value:
        raise NotSerializable("JSON would change the value")
    return data
