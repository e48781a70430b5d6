"""Fields of a line: each is taken out once, with what it may be. What is wrong is named by its path in the line."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from rearview.domain.errors import InvalidFields, invalid_field

T = TypeVar("T")

_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_LARGEST = 2**63 - 1


def parsed(line: str) -> "Fields":
    """Return the fields of a line. Raises: InvalidFields: it is no JSON object."""
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise invalid_field("line", "is no JSON") from error
    if not isinstance(value, dict):
        raise invalid_field("line", "is no JSON object")
    return Fields(value, "")


class Fields:
    """A JSON object. Every method raises InvalidFields when its field is not what it has to be; null is absent."""

    def __init__(self, values: Mapping[str, Any], path: str) -> None:
        self._values = values
        self._path = path

    def text(self, name: str, longest: int, *, default: str | None = None) -> str:
        """Return a text of at most `longest` characters; without a default it is required and not empty."""
        value = self._value(name, default)
        if not isinstance(value, str) or len(value) > longest:
            raise self.wrong(name, f"is to be a text of at most {longest} characters")
        if default is None and not value:
            raise self.wrong(name, "must not be empty")
        return self._storable(name, value)

    def number(self, name: str, low: float, high: float, default: float) -> float:
        """Return a number between two others."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.wrong(name, f"is to be a number from {low:g} to {high:g}")
        return float(value)

    def whole(self, name: str, low: int, default: int | None = None, high: int = _LARGEST) -> int:
        """Return a whole number between two others."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(name, f"is to be a whole number from {low}")
        return value

    def flag(self, name: str) -> bool:
        """Return a truth value; false when absent."""
        value = self._value(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "is to be true or false")
        return value

    def moment(self, name: str) -> datetime:
        """Return a time."""
        found = self.optional_moment(name)
        if found is None:
            raise self.wrong(name, "is required")
        return found

    def optional_moment(self, name: str) -> datetime | None:
        """Return a time, or None."""
        value = self._values.get(name)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise self.wrong(name, "is to be a time as in 2026-01-31T12:00:00Z") from error
        if moment.utcoffset() is None:
            raise self.wrong(name, "is to have a time zone, as in 2026-01-31T12:00:00Z")
        try:
            moment = moment.astimezone(UTC)
        except OverflowError as error:
            raise self.wrong(name, "is out of range") from error
        if not _EARLIEST <= moment <= _LATEST:
            raise self.wrong(name, "is out of range")
        return moment

    def uuid(self, name: str) -> UUID:
        """Return an id."""
        found = self.optional_uuid(name)
        if found is None:
            raise self.wrong(name, "is required")
        return found

    def optional_uuid(self, name: str) -> UUID | None:
        """Return an id, or None."""
        value = self._values.get(name)
        return None if value is None else self._uuid(name, value)

    def uuids(self, name: str, most: int) -> tuple[UUID, ...]:
        """Return ids, at most so many."""
        return tuple(self._uuid(f"{name}[{at}]", value) for at, value in enumerate(self._list(name, most)))

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        """Return texts, at most so many of at most so many characters."""
        values = self._list(name, most)
        if not all(isinstance(value, str) and len(value) <= longest for value in values):
            raise self.wrong(name, f"is to hold texts of at most {longest} characters")
        return tuple(self._storable(name, value) for value in values)

    def choice(self, name: str, choices: Mapping[str, T], default: T | None = None) -> T:
        """Return what one of some words stands for."""
        value = self._values.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(name, f"is to be one of {', '.join(choices)}")
        return choices[value]

    def tree(self, name: str, most_bytes: int) -> dict[str, Any]:
        """Return an object of any shape, at most so many bytes as JSON."""
        value = self._value(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, "is to be an object")
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > most_bytes or len(self._storable(name, text).encode()) > most_bytes:
            raise self.wrong(name, f"is more than {most_bytes} bytes")
        if "\\u0000" in text:
            raise self.wrong(name, "holds a character that cannot be stored")
        return value

    def child(self, name: str) -> "Fields | None":
        """Return an object's fields, or None."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(name, "is to be an object")
        return Fields(value, f"{self._path}{name}.")

    def children(self, name: str, most: int) -> list["Fields"]:
        """Return the fields of each object in a list, at most so many."""
        values = self._list(name, most)
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(name, "is to hold objects")
        return [Fields(value, f"{self._path}{name}[{at}].") for at, value in enumerate(values)]

    def numbers(self, name: str, most: int, low: float, high: float) -> list[float]:
        """Return numbers, at most so many, each between two others."""
        values = self._list(name, most)
        if not all(
            isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high for value in values
        ):
            raise self.wrong(name, f"is to hold numbers from {low:g} to {high:g}")
        return values

    def wrong(self, name: str, why: str) -> InvalidFields:
        """Return the error for a field."""
        return invalid_field(f"{self._path}{name}", why)

    def _value(self, name: str, default: Any) -> Any:
        value = self._values.get(name)
        if value is not None:
            return value
        if default is None:
            raise self.wrong(name, "is required")
        return default

    def _list(self, name: str, most: int) -> list[Any]:
        value = self._value(name, [])
        if not isinstance(value, list) or len(value) > most:
            raise self.wrong(name, f"is to be a list of at most {most}")
        return value

    def _uuid(self, name: str, value: object) -> UUID:
        try:
            return UUID(str(value))
        except ValueError as error:
            raise self.wrong(name, "is to be a UUID") from error

    def _storable(self, name: str, value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self.wrong(name, "holds half of a character") from error
        if "\0" in value:
            raise self.wrong(name, "holds a character that cannot be stored")
        return value


def _no_constant(name: str) -> float:
    raise ValueError(name)
