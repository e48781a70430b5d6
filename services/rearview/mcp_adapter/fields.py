"""What a tool takes: each field once, as the JSON schema that is published and as the check that is made.

Schemas keep to what all common model providers accept: `type`, `description`, `properties`, `required`, `items`, `enum`
and `additionalProperties: false`; ranges, defaults and examples stand in the description.
"""

import difflib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from rearview.domain.errors import FieldViolation, InvalidFields
from rearview.mcp_adapter.moments import read_moment

MAX_SHOWN_CHARACTERS = 60
MAX_VIOLATIONS = 100

# Python refuses to write whole numbers of more than 4,300 digits, which JSON may bring.
_MOST_SHOWN_BITS = 1_024


@dataclass(slots=True)
class Reading:
    """One reading of arguments: what was wrong so far, and the caller's zone if told."""

    zone: tzinfo | None = None
    violations: list[FieldViolation] = field(default_factory=list)

    def refuse(self, path: str, description: str) -> None:
        """Note what is wrong with a field; after a hundred the rest is left out."""
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(FieldViolation(path, description))

    def raise_if_any(self) -> None:
        """Raises: InvalidFields: with everything that is wrong."""
        if self.violations:
            raise InvalidFields(*self.violations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(ABC):
    """One argument. `description` tells the model what it is, in which range, and an example."""

    description: str
    required: bool = False

    @abstractmethod
    def shape(self) -> dict[str, Any]:
        """Return the schema without the description."""

    @abstractmethod
    def read(self, value: Any, path: str, reading: Reading) -> Any:
        """Return the value; refuse it where it is wrong."""

    def schema(self) -> dict[str, Any]:
        """Return the published schema."""
        return {**self.shape(), "description": self.description}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Field):
    """Text that is not empty."""

    def shape(self) -> dict[str, Any]:
        return {"type": "string"}

    def read(self, value: Any, path: str, reading: Reading) -> str:
        if not isinstance(value, str):
            reading.refuse(path, f"expected text, got {shown(value)}")
        elif not value.strip():
            reading.refuse(path, "must not be empty")
        else:
            return value
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Field):
    """One of several words."""

    of: Sequence[str]

    def shape(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.of)}

    def read(self, value: Any, path: str, reading: Reading) -> str:
        if isinstance(value, str) and value in self.of:
            return value
        near = difflib.get_close_matches(value.lower(), self.of, n=1) if isinstance(value, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        reading.refuse(path, f"expected one of {', '.join(self.of)}, got {shown(value)}{hint}")
        return self.of[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Field):
    """A number from `low` to `high`, both included."""

    low: float
    high: float
    whole: bool = False

    def shape(self) -> dict[str, Any]:
        return {"type": "integer" if self.whole else "number"}

    def read(self, value: Any, path: str, reading: Reading) -> Any:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if fits and self.low <= value <= self.high and (not self.whole or float(value).is_integer()):
            return int(value) if self.whole else float(value)
        kind = "a whole number" if self.whole else "a number"
        reading.refuse(path, f"expected {kind} from {self.low:g} to {self.high:g}, got {shown(value)}")
        return self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Field):
    """True or false."""

    def shape(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def read(self, value: Any, path: str, reading: Reading) -> bool:
        if not isinstance(value, bool):
            reading.refuse(path, f"expected true or false, got {shown(value)}")
            return False
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Field):
    """A point in time. Published as text; numbers are taken as well where they can mean one thing only."""

    end_of_day: bool = False

    def shape(self) -> dict[str, Any]:
        return {"type": "string"}

    def read(self, value: Any, path: str, reading: Reading) -> Any:
        try:
            return read_moment(value, zone=reading.zone, end_of_day=self.end_of_day)
        except (ValueError, OverflowError) as error:
            reading.refuse(path, f"{error}; got {shown(value)}")
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Many(Field):
    """A list of `low` to `high` items."""

    of: Field
    low: int = 0
    high: int

    def shape(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema()}

    def read(self, value: Any, path: str, reading: Reading) -> list[Any]:
        if not isinstance(value, list):
            reading.refuse(path, f"expected a list, got {shown(value)}")
            return []
        if not self.low <= len(value) <= self.high:
            reading.refuse(path, f"expected {self.low} to {self.high} items, got {len(value)}")
            return []
        return [self.of.read(item, f"{path}[{index}]", reading) for index, item in enumerate(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels(Field):
    """Labels, as a list of pairs, since not every provider accepts free keys. An object is taken as well."""

    def shape(self) -> dict[str, Any]:
        return {"type": "array", "items": _LABEL.schema()}

    def read(self, value: Any, path: str, reading: Reading) -> dict[str, str]:
        if isinstance(value, dict):
            return {key: _VALUE.read(given, f"{path}.{key}", reading) for key, given in value.items()}
        if not isinstance(value, list):
            reading.refuse(path, f'expected a list like [{{"key": "project", "value": "apollo"}}], got {shown(value)}')
            return {}
        pairs = [_LABEL.read(item, f"{path}[{index}]", reading) for index, item in enumerate(value)]
        return {pair.get("key", ""): pair.get("value", "") for pair in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields(Field):
    """An object of named fields, and of no others."""

    of: Mapping[str, Field]
    description: str = ""

    def shape(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: one.schema() for name, one in self.of.items()},
            "required": [name for name, one in self.of.items() if one.required],
            "additionalProperties": False,
        }

    def read(self, value: Any, path: str, reading: Reading) -> dict[str, Any]:
        if not isinstance(value, dict):
            reading.refuse(path, f"expected an object with {', '.join(self.of)}, got {shown(value)}")
            return {}
        # None stands for "not given": several hosts send every optional argument.
        given = {name: item for name, item in value.items() if item is not None}
        for name in given:
            if name not in self.of:
                reading.refuse(_below(path, name), self._unknown(name))
        for name, one in self.of.items():
            if one.required and name not in given:
                reading.refuse(_below(path, name), f"is required: {one.description}")
        return {
            name: one.read(given[name], _below(path, name), reading) for name, one in self.of.items() if name in given
        }

    def _unknown(self, name: str) -> str:
        for group, one in self.of.items():
            if isinstance(one, Fields) and name in one.of:
                return f"is not known here; it belongs into {group}.{name}"
        near = difflib.get_close_matches(name, self.of, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"is not known; {hint}known are {', '.join(self.of)}"


_VALUE = Text(description='The value, for example "apollo".', required=True)
_LABEL = Fields(
    description="One label.",
    of={"key": Text(description='The key, lower case, for example "project".', required=True), "value": _VALUE},
)


def shown(value: Any) -> str:
    """Return a value as an error may show it to the caller who sent it."""
    if isinstance(value, str):
        kind = "text"
    elif isinstance(value, bool) or value is None:
        return repr(value)
    elif isinstance(value, int) and value.bit_length() > _MOST_SHOWN_BITS:
        return "a number of very many digits"
    elif isinstance(value, int | float):
        kind = "the number"
    else:
        return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__
    text = repr(value)
    return f"{kind} {text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + '...'}"


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
