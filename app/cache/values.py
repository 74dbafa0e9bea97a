"""What may be kept: plain values, and the few types that JSON and MessagePack lack.

Every serializer but pickle gets the same tree: dicts with str keys, lists, str, int within 64 bit,
finite floats, bool, None. Dates and bigger integers become a dict with one key out of `TAGS`, and
a dict that happens to look like that is wrapped. Anything else is refused, because some library
would change it without a word: a tuple comes back as a list, NaN as null, an int key as text.
"""

import math
from datetime import date, datetime
from typing import Any

from app.cache.errors import NotCarried

DEEPEST = 64  # levels; orjson gives up at 254, and no answer has more than 6

_DAY, _MOMENT, _INTEGER, _LITERAL = "$date", "$datetime", "$int", "$dict"
TAGS = frozenset({_DAY, _MOMENT, _INTEGER, _LITERAL})

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def plain(value: Any) -> tuple[Any, bool]:
    """The tree to serialize, and whether it has tags that `restore` must undo.

    Raises:
        NotCarried: something in it would not come back as it is.
    """
    return _Walk().tree(value)


class _Walk:
    def __init__(self) -> None:
        self._tagged = False

    def tree(self, value: Any) -> tuple[Any, bool]:
        tree = self._visit(value, "value", DEEPEST)
        return tree, self._tagged

    def _visit(self, value: Any, path: str, levels: int) -> Any:
        kind = type(value)  # exactly: a subclass would come back as its base
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if _SMALLEST <= value <= _LARGEST else self._tag(_INTEGER, hex(value))
        if kind is float:
            if not math.isfinite(value):
                raise NotCarried(path, f"{value} is no number in JSON")
            return value
        if kind is dict:
            return self._mapping(value, path, levels - 1)
        if kind is list:
            _check_depth(path, levels)
            return [self._visit(part, f"{path}[]", levels - 1) for part in value]
        if kind is datetime or kind is date:
            return self._moment(value, path)
        raise NotCarried(path, f"{kind.__name__} is not a type the cache carries")

    def _mapping(self, value: dict[Any, Any], path: str, levels: int) -> dict[str, Any]:
        _check_depth(path, levels)
        for key in value:
            if type(key) is not str:
                raise NotCarried(path, f"the key {key!r} is not a str")
        tree = {key: self._visit(part, f"{path}.{key}", levels) for key, part in value.items()}
        if len(tree) == 1 and not TAGS.isdisjoint(tree):
            return self._tag(_LITERAL, tree)
        return tree

    def _moment(self, value: date, path: str) -> dict[str, Any]:
        text = value.isoformat()
        # A named zone has moments (the hour that comes twice) that no fixed offset equals.
        if type(value).fromisoformat(text) != value:
            raise NotCarried(path, f"{value!r} does not equal itself with a fixed offset")
        return self._tag(_MOMENT if isinstance(value, datetime) else _DAY, text)

    def _tag(self, tag: str, content: Any) -> dict[str, Any]:
        self._tagged = True
        return {tag: content}


def _check_depth(path: str, levels: int) -> None:
    if levels < 0:
        raise NotCarried(path, f"nested deeper than {DEEPEST} levels")


def restore(tree: Any) -> Any:
    """The value that `plain` made this tree of.

    Raises:
        ValueError: a tag whose content is not what the tag says.
    """
    if isinstance(tree, list):
        return [restore(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        [(key, content)] = tree.items()
        if key in TAGS:
            return _untag(key, content)
    return {key: restore(part) for key, part in tree.items()}


def _untag(tag: str, content: Any) -> Any:
    if tag == _LITERAL:
        return {key: restore(part) for key, part in content.items()}
    if tag == _INTEGER:
        return int(content, 16)
    return datetime.fromisoformat(content) if tag == _MOMENT else date.fromisoformat(content)
