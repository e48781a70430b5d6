"""Free-form data: `google.protobuf.Struct` and plain JSON values."""

import json
import math
from collections.abc import Mapping
from typing import Any

from google.protobuf.struct_pb2 import ListValue, NullValue, Struct, Value

from rearview.domain.errors import InvalidFields, invalid_field
from rearview.rpc.convert.violations import Violations

MAX_DEPTH = 16

# Doubles hold every whole number up to here; beyond it, a whole number would claim digits that nobody sent.
_LARGEST_EXACT = 2**53


def struct_from_proto(struct: Struct, field: str, found: Violations, *, max_bytes: int) -> dict[str, Any]:
    """Return the data as JSON-like values, whole numbers as int; note what is too deep, too large or not JSON."""
    tree: dict[str, Any] = {}
    try:
        tree = _mapping(struct, field, MAX_DEPTH)
    except InvalidFields as error:
        for violation in error.violations:
            found.add(violation.field, violation.description)
        return tree
    size_bytes = size_of(tree)
    if size_bytes > max_bytes:
        found.add(field, f"has {size_bytes} bytes as JSON; at most {max_bytes} are allowed")
    return tree


def size_of(tree: Mapping[str, Any]) -> int:
    """Return the size of JSON-like data in bytes, as compact UTF-8 JSON; 0 for none."""
    return len(json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")) if tree else 0


def struct_to_proto(tree: Mapping[str, Any]) -> Struct:
    """Return the message of JSON-like data.

    Raises:
        TypeError: something in it is not JSON.
    """
    return Struct(fields={key: _value_to_proto(value) for key, value in tree.items()})


def _mapping(struct: Struct, field: str, depth: int) -> dict[str, Any]:
    if depth == 0:
        raise invalid_field(field, f"is nested deeper than {MAX_DEPTH} levels")
    tree: dict[str, Any] = {}
    for key, value in struct.fields.items():
        tree[_clean(key, field)] = _value(value, field, depth - 1)
    return tree


def _value(value: Value, field: str, depth: int) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return _clean(value.string_value, field)
    if kind == "number_value":
        return _number(value.number_value, field)
    if kind == "bool_value":
        return value.bool_value
    if kind == "struct_value":
        return _mapping(value.struct_value, field, depth)
    if kind == "list_value":
        if depth == 0:
            raise invalid_field(field, f"is nested deeper than {MAX_DEPTH} levels")
        return [_value(item, field, depth - 1) for item in value.list_value.values]
    return None


def _clean(text: str, field: str) -> str:
    checked = Violations()
    checked.text(text, field, max_characters=len(text))
    checked.raise_if_any()
    return text


def _number(number: float, field: str) -> int | float:
    if not math.isfinite(number):
        raise invalid_field(field, "must not contain NaN or infinity")
    return int(number) if number.is_integer() and abs(number) <= _LARGEST_EXACT else number


def _value_to_proto(value: Any) -> Value:
    if value is None:
        return Value(null_value=NullValue.NULL_VALUE)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, int | float):
        return Value(number_value=value)
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, Mapping):
        return Value(struct_value=struct_to_proto(value))
    if isinstance(value, list | tuple):
        return Value(list_value=ListValue(values=[_value_to_proto(item) for item in value]))
    raise TypeError(f"{type(value).__name__} is not a JSON value")
