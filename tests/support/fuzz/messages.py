"""Messages of any type out of fitting, odd and spoilt values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct

from tests.support.fuzz.names import Names, an_id
from tests.support.fuzz.texts import odd_text

MOST_DEPTH = 4
WILDNESS = (0.0, 0.0, 0.05, 0.5)
"""Of the values of a message, how many are odd: half of the messages have none, or they would all end at one check."""

_INT32 = (0, 1, -1, 2, 100, 1000, 2**31 - 1, -(2**31))
_INT64 = (*_INT32, 2**53 + 1, 2**63 - 1, -(2**63), 253_402_300_799, 253_402_300_800, -62_135_596_801)
_FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 1.0000001, 1e-45, 3.4e38, math.inf, -math.inf, math.nan)
_READABLE = ("我的预算是八千", "the window faces south", "budget 是 8000 元", "SZ-88231-B", "上周")
_FITTING: dict[str, Callable[[Random], str]] = {
    "request_id": lambda random: random.choice(("", an_id(random))),
    "page_token": lambda _: "",
    "confirmation_token": lambda _: "",
    "etag": lambda random: random.choice(("", '"1"', '"2"')),
    "time_zone": lambda random: random.choice(("", "UTC", "Asia/Shanghai", "America/New_York")),
    "profile": lambda random: random.choice(("", "assistant", "support", "task")),
    "paths": lambda random: random.choice(("content", "priority", "pinned", "labels", "display_name", "expire_time")),
    "additional_namespaces": lambda _: "namespaces/default",
    "namespaces": lambda _: "namespaces/default",
    "namespace_id": lambda random: f"any-{random.getrandbits(40):010x}",
    "tenant_id": lambda random: f"any-{random.getrandbits(40):010x}",
    "principal": lambda random: random.choice(("agent", "reader")),
    "line": lambda _: "{}",
}
_FITS_UNSET = {"expire_time", "tool_call"}
"""A time in the future, and a part that fits some roles only."""

_REQUIRED = {"name", "names", "parent", "events", "role", "content", "memory", "update_mask", "paths", "query"}
_NAMES = {"name", "names", "parent", "session", "namespace"}
_NESTED = (1, 10, 24)
_MANY = (201, 1_001, 5_000)
_MANY_BYTES = 1_000_000


class Messages:
    """Draws messages from one source of chance."""

    def __init__(self, names: Names, random: Random) -> None:
        self._names = names
        self._random = random

    def any(self, descriptor: Descriptor) -> Message:
        """Return a message of a type, of some wildness."""
        return self.message(descriptor, MOST_DEPTH, self._random.choice(WILDNESS))

    def message(self, descriptor: Descriptor, depth: int, wildness: float) -> Message:
        """Return a message with any subset of its fields set; each is odd with the probability `wildness`."""
        message: Message = GetMessageClass(descriptor)()
        if depth <= 0:
            return message
        if isinstance(message, Struct) and self._is(wildness):
            return _nested(self._random.choice(_NESTED), odd_text(self._random))
        for field in descriptor.fields:
            # Without what is required nothing beyond the first check is reached.
            if self._random.randrange(10) >= (9 if field.name in _REQUIRED else 4):
                continue
            wild = self._is(wildness)
            if wild or field.name not in _FITS_UNSET:
                self._set(message, field, depth, wildness, wild=wild)
        return message

    def _set(self, message: Message, field: FieldDescriptor, depth: int, wildness: float, *, wild: bool) -> None:
        target = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            self._fill_map(target, field, depth, wildness)
        elif field.is_repeated:
            target.extend(self._values(field, depth, wildness, wild=wild))
        elif field.message_type is not None:
            target.CopyFrom(self._value(field, depth, wildness, wild=wild))
        else:
            setattr(message, field.name, self._value(field, depth, wildness, wild=wild))

    def _values(self, field: FieldDescriptor, depth: int, wildness: float, *, wild: bool) -> Sequence[Any]:
        values = [self._value(field, depth, wildness, wild=wild) for _ in range(self._random.randint(1, 3))]
        if wild and self._random.randrange(8) == 0:
            one = values[0]
            size_bytes = one.ByteSize() if isinstance(one, Message) else len(one) if isinstance(one, str) else 8
            return [one] * min(self._random.choice(_MANY), _MANY_BYTES // (size_bytes + 1))
        return values

    def _value(self, field: FieldDescriptor, depth: int, wildness: float, *, wild: bool) -> Any:
        if field.message_type is not None:
            return self.message(field.message_type, depth - 1, 0.7 if wild else wildness)
        return self._odd(field) if wild else self._fitting(field)

    def _odd(self, field: FieldDescriptor) -> Any:
        random, kind = self._random, field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if field.type == FieldDescriptor.TYPE_BYTES:
                return random.randbytes(random.randrange(40))
            return odd_text(random) if random.random() < 0.5 else self._names.any(random)
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return random.choice((*_members(field), 99, -1, 2**31 - 1))
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return random.random() < 0.5
        if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return random.choice(_FLOATS)
        return random.choice(_INT32 if kind == FieldDescriptor.CPPTYPE_INT32 else _INT64)

    def _fitting(self, field: FieldDescriptor) -> Any:
        random, kind = self._random, field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if field.name in _NAMES:
                return self._names.fitting(field, random)
            known = _FITTING.get(field.name)
            return known(random) if known else random.choice(_READABLE)
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return random.choice([number for number in _members(field) if number] or [0])
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return random.random() < 0.5
        if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return random.random()
        # Seconds of a timestamp, a page size, nanoseconds: small and positive fits all of them.
        return random.randint(0, 100)

    def _fill_map(self, entries: Any, field: FieldDescriptor, depth: int, wildness: float) -> None:
        assert field.message_type is not None
        value_field = field.message_type.fields_by_name["value"]
        for _ in range(self._random.randrange(3)):
            key = odd_text(self._random) if self._is(wildness) else self._random.choice(("a", "row", "k.1"))
            value = self._value(value_field, depth, wildness, wild=self._is(wildness))
            if value_field.message_type is not None:
                entries[key].CopyFrom(value)
            else:
                entries[key] = value

    def _is(self, probability: float) -> bool:
        return self._random.random() < probability


def _members(field: FieldDescriptor) -> list[int]:
    assert field.enum_type is not None
    return [value.number for value in field.enum_type.values]


def _nested(depth: int, text: str) -> Struct:
    """Return an object in an object in an object ..."""
    outermost = inner = Struct()
    for _ in range(depth):
        inner = inner.fields["a"].struct_value
    inner.fields[text[:200]].string_value = text
    return outermost
