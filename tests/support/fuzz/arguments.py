"""Arguments of MCP tools out of the JSON schemas they are listed with: fitting, odd, and of other types."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.support.fuzz.texts import UNSAID, odd_text

_NUMBERS: tuple[Any, ...] = (0, 1, -1, 0.5, 1.5, 2**31, 2**53 + 1, 2**63, 10**400, -(10**400), 1e308, -0.0)
_NO_NUMBERS = (float("inf"), float("-inf"), float("nan"))
_SURROGATES = ("\ud800", "lone \udfff end", "\udc00\ud800")
_OTHER_TYPES: tuple[Any, ...] = (None, True, [], {}, [[]], {"a": {"b": []}}, "", "5", *_NUMBERS, *_NO_NUMBERS)
_WORDS = ("我的预算是八千", "the window faces south", "budget 是 8000 元", "chat-1", "2026-08-15", "Asia/Shanghai")
_MANY = (101, 1_001, 5_000)
_DEEP = 200
_MOST_CHARACTERS = 200_000


def arguments(random: Random, schema: Mapping[str, Any]) -> Any:
    """Return arguments of a tool; at times something that is no object."""
    wildness = random.choice((0.0, 0.05, 0.3, 0.8))
    if random.random() < wildness / 8:
        return random.choice((_deep(random), *_OTHER_TYPES))
    return _value(random, schema, wildness)


def _value(random: Random, schema: Mapping[str, Any], wildness: float) -> Any:
    if random.random() < wildness / 2:
        return random.choice((*_OTHER_TYPES, _deep(random)))
    wild = random.random() < wildness
    kind = schema.get("type")
    if kind == "object":
        return _object(random, schema, wildness)
    if kind == "array":
        items = [_value(random, schema["items"], wildness) for _ in range(random.randint(0 if wild else 1, 3))]
        # A list without end of what is small.
        many = wild and items and len(str(items[0])) < 200
        return items[:1] * min(random.choice(_MANY), _MOST_CHARACTERS // (len(str(items[0])) + 1)) if many else items
    if kind == "boolean":
        return random.random() < 0.5
    if kind in ("number", "integer"):
        return random.choice((*_NUMBERS, *_NO_NUMBERS)) if wild else random.choice((0, 1, 2))
    if "enum" in schema and not wild:
        return random.choice(schema["enum"])
    return _text(random) if wild else random.choice(_WORDS)


def _object(random: Random, schema: Mapping[str, Any], wildness: float) -> dict[str, Any]:
    required = schema.get("required", ())
    value = {
        name: _value(random, one, wildness)
        for name, one in schema.get("properties", {}).items()
        if random.random() < (0.95 if name in required else 0.3)
    }
    if random.random() < wildness / 4:
        value[_text(random)[:100]] = random.choice(_OTHER_TYPES)
    return value


def _text(random: Random) -> str:
    if random.randrange(8) == 0:
        return random.choice(_SURROGATES)
    return odd_text(random).replace(UNSAID, "\ud800")


def _deep(random: Random) -> Any:
    value: Any = "x"
    for _ in range(random.randint(1, _DEEP)):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value
