"""Values from the environment and from TOML, converted to the types of a data class."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SWITCH = {"on": True, "yes": True, "off": False, "no": False}
"""What a boolean may be besides `true`, `false`, `1` and `0`, which msgspec converts."""


def convert_fields(
    model: "type[DataclassInstance]", values: Mapping[str, object]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Convert values to the types of the fields of `model`.

    A string is converted to a number, a boolean or a path, a table to a data class.

    Returns:
        The converted values by field, and complaints by field about the others, such as "must be a
        whole number, at least 1". An unknown name is a complaint too.
    """
    types: dict[str, Any] = {field.name: field.type for field in fields(model)}
    converted: dict[str, Any] = {}
    complaints = {}
    for name, value in values.items():
        type_ = types.get(name)
        if type_ is None:
            complaints[name] = f"is unknown; known are {', '.join(types)}"
        elif isinstance(type_, type) and is_dataclass(type_) and isinstance(value, Mapping):
            inner, wrong = convert_fields(type_, value)
            complaints |= {f"{name}.{field}": complaint for field, complaint in wrong.items()}
            if not wrong:
                converted[name] = type_(**inner)
        else:
            try:
                converted[name] = _convert(value, type_)
            except ValueError:
                complaints[name] = f"must be {_requirement(type_)}"
    return converted, complaints


def _convert(value: object, type_: Any) -> Any:
    """The value as this type.

    Raises:
        ValueError: it is of another type or out of bounds.
    """
    if type_ is bool and isinstance(value, str):
        value = _SWITCH.get(value.lower(), value)
    if type(value) in (int, float):
        value = str(value)  # a number without quotes may be meant for a string
    found = msgspec.convert(value, type_, strict=False, dec_hook=lambda other, text: other(text))
    if isinstance(found, float) and not math.isfinite(found):
        raise ValueError("is not finite")
    return found


def _requirement(type_: Any) -> str:
    """What a value of this type must be, in words; `Meta` may describe it."""
    # Imported here: only complaints need it.
    from msgspec import inspect

    match inspect.type_info(type_):
        case inspect.Metadata(extra_json_schema={"description": str(description)}):
            return description
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.BoolType():
            return "on or off"
        case inspect.IntType() as number:
            return "a whole number" + _limits(number)
        case inspect.FloatType() as number:
            return "a number" + _limits(number)
        case inspect.VarTupleType():
            return "a list of strings"
        case inspect.DictType(value_type=inspect.StrType()):
            return "a table of strings"
        case inspect.DictType() | inspect.DataclassType():
            return "a table"
        case _:
            return "a string"


def _limits(number: Any) -> str:
    limits = {"more than": number.gt, "at least": number.ge, "at most": number.le}
    return "".join(f", {word} {limit}" for word, limit in limits.items() if limit is not None)
