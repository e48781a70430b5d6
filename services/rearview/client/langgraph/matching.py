"""Which items and namespaces a search or a list is about."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.store.base import MatchCondition

from rearview.domain.errors import invalid_field

_WILDCARD = "*"


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison that holds only between numbers, or between texts."""

    def holds(value: Any, wanted: Any) -> bool:
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, wanted))
        texts = isinstance(value, str) and isinstance(wanted, str)
        return (numbers or texts) and compare(value, wanted)

    return holds


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": _ordered(lambda value, wanted: value > wanted),
    "$gte": _ordered(lambda value, wanted: value >= wanted),
    "$lt": _ordered(lambda value, wanted: value < wanted),
    "$lte": _ordered(lambda value, wanted: value <= wanted),
}


def check_filter(wanted: Mapping[str, Any] | None) -> None:
    """Raises: InvalidFields: the filter has an operator that is none."""
    for condition in (wanted or {}).values():
        if isinstance(condition, Mapping):
            unknown = sorted(str(key) for key in condition if str(key).startswith("$") and key not in _OPERATORS)
            if unknown:
                raise invalid_field("filter", f"{unknown[0]!r} is none of {', '.join(_OPERATORS)}")
            check_filter(condition)


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """True if every field that a filter names is as it says."""
    return all(_is_as(value.get(key), condition) for key, condition in (wanted or {}).items())


def matches(namespace: Sequence[str], conditions: Sequence[MatchCondition]) -> bool:
    """True if a namespace begins or ends as all conditions say."""
    return all(_begins(namespace, condition) for condition in conditions)


def literal_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """Return the longest beginning that all namespaces in question share."""
    shared: tuple[str, ...] = ()
    for condition in conditions:
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            literal = path[: path.index(_WILDCARD)] if _WILDCARD in path else path
            shared = max(shared, literal, key=len)
    return shared


def _begins(namespace: Sequence[str], condition: MatchCondition) -> bool:
    if condition.match_type not in ("prefix", "suffix"):
        raise invalid_field("match_conditions", f"{condition.match_type!r} is none of prefix, suffix")
    path, parts = tuple(condition.path), tuple(namespace)
    if condition.match_type == "suffix":
        path, parts = path[::-1], parts[::-1]
    if len(parts) < len(path):
        return False
    return all(wanted in (_WILDCARD, part) for part, wanted in zip(parts, path, strict=False))


def _is_as(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(str(key).startswith("$") for key in condition):
            return all(_OPERATORS[operator](value, wanted) for operator, wanted in condition.items())
        return isinstance(value, Mapping) and passes(value, condition)
    if isinstance(condition, list | tuple):
        return isinstance(value, list | tuple) and len(value) == len(condition) and all(map(_is_as, value, condition))
    return bool(value == condition)
