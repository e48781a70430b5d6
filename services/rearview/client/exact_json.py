"""JSON values kept in metadata, so that they come back as they were: the order of keys and the spelling of numbers too.

Metadata is a tree, in which redaction knows a secret by its key; but it keeps neither the order of keys nor `1.0` apart
from `1`. So both are written down beside the tree. What was redacted comes back redacted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.protobuf.struct_pb2 import Struct

from rearview.domain.errors import invalid_field
from rearview.domain.event import MAX_METADATA_BYTES
from rearview.rpc.convert.structs import MAX_DEPTH, size_of, struct_from_proto
from rearview.rpc.convert.violations import Violations

VALUE, ORDER, NUMBERS = "value", "order", "numbers"

_LARGEST_EXACT = 2**53


def pack(value: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return metadata that holds a JSON object.

    Raises:
        InvalidFields: it is not JSON, or nested deeper than metadata may be; `field` is named.
    """
    writing = _Writing(field)
    packed: dict[str, Any] = {VALUE: writing.node(value, ())}
    if any(writing.order):
        packed[ORDER] = writing.order
    if writing.numbers:
        packed[NUMBERS] = writing.numbers
    return packed


def unpack(metadata: Struct) -> dict[str, Any] | None:
    """Return the object that metadata holds; None where it holds none."""
    if VALUE not in metadata.fields:
        return None
    tree = plain(metadata)
    numbers = {tuple(path) for path in tree.get(NUMBERS, ())}
    found: dict[str, Any] = _read(tree[VALUE], (), iter(tree.get(ORDER, ())), numbers)
    return found


def plain(metadata: Struct) -> dict[str, Any]:
    """Return metadata as JSON-like values, whole numbers as int."""
    return struct_from_proto(metadata, "metadata", Violations(), max_bytes=MAX_METADATA_BYTES)


def check_size(metadata: Mapping[str, Any], field: str) -> None:
    """Raises: InvalidFields: it is more than metadata may hold."""
    size_bytes = size_of(metadata)
    if size_bytes > MAX_METADATA_BYTES:
        raise invalid_field(
            field,
            f"takes {size_bytes} bytes as JSON with what is kept beside it; at most {MAX_METADATA_BYTES} are allowed",
        )


class _Writing:
    """One object on its way into metadata. `order` holds for each object, parents first and keys in alphabetical order,
    the places of its keys, None where they were in order; `numbers` the paths of numbers that are written as text."""

    def __init__(self, field: str) -> None:
        self._field = field
        self.order: list[list[int] | None] = []
        self.numbers: list[Sequence[str | int]] = []

    def node(self, value: Any, path: tuple[str | int, ...]) -> Any:
        # One level of metadata is the tree's own name.
        if len(path) > MAX_DEPTH - 2:
            raise invalid_field(self._field, f"is nested deeper than {MAX_DEPTH - 2} levels")
        if isinstance(value, Mapping):
            return self._object(value, path)
        if isinstance(value, list | tuple):
            return [self.node(item, (*path, index)) for index, item in enumerate(value)]
        if value is None or isinstance(value, str | bool) or _is_plain(value):
            return value
        if isinstance(value, int | float):
            try:
                text = json.dumps(value, allow_nan=False)
            except ValueError:
                raise invalid_field(self._field, "must not contain NaN or infinity") from None
            self.numbers.append(path)
            return text
        raise invalid_field(self._field, f"must be JSON; {type(value).__name__} is not")

    def _object(self, value: Mapping[Any, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in value):
            raise invalid_field(self._field, "must be JSON: keys of objects are texts")
        keys = list(value)
        places = {key: place for place, key in enumerate(sorted(keys))}
        order = [places[key] for key in keys]
        self.order.append(None if order == sorted(order) else order)
        return {key: self.node(value[key], (*path, key)) for key in places}


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return value == value and value not in (float("inf"), float("-inf")) and not value.is_integer()
    return isinstance(value, int) and abs(value) <= _LARGEST_EXACT


def _read(node: Any, path: tuple[Any, ...], order: Iterator[Any], numbers: set[tuple[Any, ...]]) -> Any:
    if isinstance(node, dict):
        places = next(order, None)
        keys = sorted(node)
        read = {key: _read(node[key], (*path, key), order, numbers) for key in keys}
        if not places or sorted(places) != list(range(len(keys))):  # a key that was redacted may have become another
            return read
        return {keys[place]: read[keys[place]] for place in places}
    if isinstance(node, list):
        return [_read(item, (*path, index), order, numbers) for index, item in enumerate(node)]
    if path in numbers:
        try:
            return json.loads(node)
        except ValueError:  # redacted
            return node
    return node
