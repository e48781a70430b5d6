"""Payloads with something done to all of their texts."""

from collections.abc import Callable, Mapping
from typing import Any


def mapped_tree(tree: Mapping[str, Any], change: Callable[[str], str]) -> Mapping[str, Any]:
    """Return the payload with its keys and values changed."""
    changed: Mapping[str, Any] = _mapped(tree, change)
    return changed


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_mapped(key, change): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return value
