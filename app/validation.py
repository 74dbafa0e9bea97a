"""Values from the environment and from TOML, converted to the types of a data class."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import msgspec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SWITCH = {
    **dict.fromkeys(("on", "yes", "true", "1"), True),
    **dict.fromkeys(("off", "no", "false", "0"), False),
}


def convert_fields(
    model: "type[DataclassInstance]", values: Mapping[str, object]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Convert values to the types of the fields of `model`.

    A string is converted to a number, a boolean or a path, a table to a data class.

    Returns:
        The converted values by field, and complaints by field about the others, such as "must be a
        whole number from 1 to 64". An unknown name is a complaint too.
    """
    types: dict[str, Any] = {field.name: field.type for field in fields(model)}
    converted: dict[str, Any] = {}
    complaints = {}
    for name, value in values.items():
        type_ = types.get(name)
        if type_ is None:
            near = get_close_matches(name, types, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(types)}"
            complaints[name] = f"is unknown ({hint})"
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
    plain = get_args(type_)[0] if get_origin(type_) is Annotated else type_
    if plain is bool:
        value = _SWITCH.get(str(value).strip().lower(), value)
    elif plain in (int, float) and isinstance(value, str):
        value = plain(value)
    elif plain is str and type(value) in (int, float):
        value = str(value)  # TOML without quotes
    if isinstance(value, str):
        value.encode()  # fails for bytes of the environment that are not UTF-8
    converted = msgspec.convert(value, type_, dec_hook=_decode)
    if isinstance(converted, float) and not math.isfinite(converted):
        raise ValueError("is not finite")
    return converted


def _decode(type_: type, value: object) -> Path:
    """Of the types that msgspec does not know, the only one in use is a path."""
    if not (type_ is Path and isinstance(value, str) and value):
        raise ValueError("is not a path")
    return Path(value)


def _requirement(type_: Any) -> str:
    """What a value of this type must be, in words."""
    # Imported here: only complaints need it.
    from msgspec import inspect

    match inspect.type_info(type_):
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
        case inspect.CustomType():
            return "a path"
        case _:
            return "a string"


def _limits(number: Any) -> str:
    if number.ge is not None and number.le is not None:
        return f" from {number.ge:,} to {number.le:,}"
    limits = {"greater than": number.gt, "of at least": number.ge, "at most": number.le}
    stated = [f"{words} {limit:,}" for words, limit in limits.items() if limit is not None]
    return f" {' and '.join(stated)}" if stated else ""
