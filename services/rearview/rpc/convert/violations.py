"""Collecting what is wrong with a request, so that the caller hears all of it at once."""

import math
import re
from collections.abc import Callable
from enum import IntEnum
from typing import ParamSpec, TypeVar

from rearview.domain.errors import FieldViolation, InvalidFields

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)

_MAX_VIOLATIONS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")


class Violations:
    """What was found so far. Checks return a usable value in any case; `raise_if_any` ends the conversion."""

    def __init__(self) -> None:
        self._found: list[FieldViolation] = []

    def add(self, field: str, description: str) -> None:
        """Note one violation; after a hundred the rest is left out."""
        if len(self._found) < _MAX_VIOLATIONS:
            self._found.append(FieldViolation(field, description))

    def attempt(self, fallback: T, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what `parse` returns, or note its violations and return the fallback."""
        try:
            return parse(*args, **kwargs)
        except InvalidFields as error:
            for violation in error.violations:
                self.add(violation.field, violation.description)
            return fallback

    def raise_if_any(self) -> None:
        """Raises: InvalidFields, with everything that was noted."""
        if self._found:
            raise InvalidFields(*self._found)

    def text(self, value: str, field: str, *, max_characters: int, required: bool = False) -> str:
        """Return the text; note what no store can keep (NUL, lone surrogates) and what is too long or missing."""
        if required and not value.strip():
            self.add(field, "is required")
        if len(value) > max_characters:
            self.add(field, f"has {len(value)} characters; at most {max_characters} are allowed")
        if "\0" in value:
            self.add(field, "must not contain the character U+0000")
        if _SURROGATE.search(value):
            self.add(field, "must not contain lone surrogates")
        return value

    def fraction(self, value: float, field: str) -> float:
        """Return the number; note it unless it lies in [0, 1]."""
        if not math.isfinite(value) or not 0.0 <= value <= 1.0:
            self.add(field, "must be a number from 0 to 1")
            return 0.0
        return value

    def whole(self, value: int, field: str, *, default: int, low: int, high: int) -> int:
        """Return the number, or the default for 0; note it unless it lies in [low, high]."""
        if value == 0:
            return default
        if not low <= value <= high:
            self.add(field, f"must be from {low} to {high}")
            return default
        return value

    def member(self, kind: type[E], number: int, field: str, default: E | None = None) -> E:
        """Return the member of a domain enumeration; 0 is the default, or noted where there is none."""
        if number == 0 and default is not None:
            return default
        try:
            return kind(number)
        except ValueError:
            names = ", ".join(member.name for member in kind if member.value)
            self.add(field, "is required" if number == 0 else f"has the unknown value {number}; known are {names}")
            return default if default is not None else next(iter(kind))
