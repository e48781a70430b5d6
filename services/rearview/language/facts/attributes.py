"""The attributes that can be known: the ones that ship with the package, and a user's own file beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import yaml

from rearview.domain.errors import FieldViolation, InvalidFields
from rearview.domain.fact import FactKind
from rearview.language.aliases import normalised

MAX_ATTRIBUTES = 500
MAX_ALIASES = 50
MAX_TOPICS = 500
MAX_FILE_BYTES = 262_144
_MAX_NAME_CHARACTERS = 64
_SHIPPED, _TOPICS = "attributes.yaml", "topics"

Choice = TypeVar("Choice", bound=StrEnum)


class ValueType(StrEnum):
    """How an attribute's values are read and compared."""

    TEXT = "text"
    NAME = "name"
    MONEY = "money"
    NUMBER = "number"
    DATE = "date"
    BIRTHDAY = "birthday"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A known attribute: whether it holds one value at a time, how its values are read, what it is called.

    `units` gives what one of a unit makes in `unit`; `stated` says whether "my <alias> is <value>" states it.
    """

    name: str
    single_valued: bool
    aliases: tuple[str, ...]
    kind: FactKind = FactKind.IDENTITY
    value: ValueType = ValueType.TEXT
    unit: str | None = None
    units: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    stated: bool = True


class InvalidAttributeFile(InvalidFields):
    """A file of attributes cannot be used; each violation names the file, the line and the field."""

    def __init__(self, source: str, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__(*(FieldViolation(f"{source}{where}", why) for where, why in problems))


@lru_cache(maxsize=1)
def attributes() -> Mapping[str, Attribute]:
    """The attributes that ship with the package, by name."""
    text = files("rearview.language").joinpath("data", _SHIPPED).read_text(encoding="utf-8")
    return MappingProxyType(_Reading(_SHIPPED, {}).table(text))


def load_attributes(path: Path | None) -> Mapping[str, Attribute]:
    """Return the shipped attributes and those of a user's file, which adds its own and may alter shipped ones.

    An entry for a known name needs only the fields that differ; its aliases are added to the known ones.

    Raises:
        InvalidAttributeFile: the file cannot be read or holds mistakes; all of them are named.
    """
    return attributes() if path is None else MappingProxyType(_Reading(str(path), attributes()).table(_text(path)))


def read_own_topics(path: Path) -> list[list[str]]:
    """Return the topics that a user's file adds, each with its names.

    Raises:
        InvalidAttributeFile: the file cannot be read or holds mistakes; all of them are named.
    """
    reading = _Reading(str(path), attributes())
    reading.table(_text(path))
    return reading.topics


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidAttributeFile(str(path), [("", f"cannot be read: {error.strerror}")]) from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidAttributeFile(str(path), [("", f"has {len(content)} bytes, at most {MAX_FILE_BYTES} are read")])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidAttributeFile(str(path), [("", f"is not UTF-8 at byte {error.start}")]) from error


class _Reading:
    """One file being read; mistakes are collected so that all are reported at once."""

    def __init__(self, source: str, known: Mapping[str, Attribute]) -> None:
        self._source = source
        self._table = dict(known)
        self._owners = {
            normalised(alias): known_one.name for known_one in known.values() for alias in known_one.aliases
        }
        self._problems: list[tuple[str, str]] = []
        self.topics: list[list[str]] = []

    def table(self, text: str) -> dict[str, Attribute]:
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f" line {mark.line + 1}" if mark else ""
            problem = getattr(error, "problem", None) or "cannot be parsed"
            raise InvalidAttributeFile(self._source, [(where, f"not YAML: {problem}")]) from error
        except RecursionError as error:
            raise InvalidAttributeFile(self._source, [("", "is nested too deeply")]) from error
        if root is None:
            return self._table
        if not isinstance(root, yaml.MappingNode):
            raise InvalidAttributeFile(self._source, [(" line 1", "must map attribute names to their fields")])
        seen: set[str] = set()
        for key, node in root.value:
            name = str(key.value)
            if name in seen:
                self._problem(key, name, "is given twice")
            seen.add(name)
            if name == _TOPICS:
                self._read_topics(node)
            else:
                self._read(name, key, node)
        if len(self._table) > MAX_ATTRIBUTES:
            self._problems.append(("", f"makes {len(self._table)} attributes, at most {MAX_ATTRIBUTES} are allowed"))
        if self._problems:
            raise InvalidAttributeFile(self._source, self._problems)
        return self._table

    def _read_topics(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.SequenceNode) or len(node.value) > MAX_TOPICS:
            self._problem(node, _TOPICS, f"must be a list of at most {MAX_TOPICS} lists of names")
            return
        for group in node.value:
            names = group.value if isinstance(group, yaml.SequenceNode) else []
            said = [normalised(str(name.value)) if isinstance(name, yaml.ScalarNode) else "" for name in names]
            if not 0 < len(said) <= MAX_ALIASES or not all(0 < len(name) <= _MAX_NAME_CHARACTERS for name in said):
                self._problem(
                    group, _TOPICS, f"each must be 1 to {MAX_ALIASES} names of 1 to {_MAX_NAME_CHARACTERS} characters"
                )
            else:
                self.topics.append(said)

    def _read(self, name: str, key: yaml.Node, node: yaml.Node) -> None:
        if not (name.isascii() and name.replace("_", "").isalnum() and name == name.lower()):
            self._problem(key, name, "must be lower-case letters, digits and underscores")
            return
        if len(name) > _MAX_NAME_CHARACTERS:
            self._problem(key, name, f"is longer than {_MAX_NAME_CHARACTERS} characters")
            return
        if not isinstance(node, yaml.MappingNode):
            self._problem(node, name, "must be a mapping of fields")
            return
        fields = {str(entry.value): value for entry, value in node.value}
        for entry, _ in node.value:
            if entry.value not in _FIELDS:
                self._problem(entry, f"{name}.{entry.value}", f"is no known field; known are {', '.join(_FIELDS)}")
        before = self._table.get(name)
        aliases = self._aliases(name, fields.get("aliases"))
        if before is None:
            for needed in ("single_valued", "aliases"):
                if needed not in fields:
                    self._problem(key, f"{name}.{needed}", "is required")
        single_valued = self._flag(name, "single_valued", fields, before.single_valued if before else False)
        kind = self._choice(name, "kind", fields, FactKind, before.kind if before else FactKind.IDENTITY)
        value = self._choice(name, "value", fields, ValueType, before.value if before else ValueType.TEXT)
        units = self._units(name, fields.get("units")) or dict(before.units if before else {})
        unit = self._text(name, "unit", fields, before.unit if before else None)
        if units and value is not ValueType.NUMBER:
            self._problem(node, f"{name}.units", "only a `value: number` has units")
        stated = self._flag(name, "stated", fields, before.stated if before else True)
        known = before.aliases if before else ()
        self._table[name] = Attribute(
            name,
            single_valued,
            tuple(dict.fromkeys((*known, *aliases))),
            kind,
            value,
            unit,
            MappingProxyType(units),
            stated,
        )

    def _aliases(self, name: str, node: yaml.Node | None) -> list[str]:
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode) or not node.value or len(node.value) > MAX_ALIASES:
            self._problem(node, f"{name}.aliases", f"must be a list of 1 to {MAX_ALIASES} names")
            return []
        aliases: list[str] = []
        for item in node.value:
            alias = normalised(str(item.value)) if isinstance(item, yaml.ScalarNode) else ""
            if not alias or len(alias) > _MAX_NAME_CHARACTERS:
                self._problem(item, f"{name}.aliases", f"each must be 1 to {_MAX_NAME_CHARACTERS} characters")
            elif self._owners.setdefault(alias, name) != name:
                self._problem(item, f"{name}.aliases", f"{alias!r} already names {self._owners[alias]}")
            else:
                aliases.append(alias)
        return aliases

    def _units(self, name: str, node: yaml.Node | None) -> dict[str, float]:
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._problem(node, f"{name}.units", "must map units to numbers")
            return {}
        units: dict[str, float] = {}
        for key, value in node.value:
            try:
                factor = float(str(value.value))
            except ValueError:
                factor = 0.0
            if not 0 < factor < float("inf"):
                self._problem(value, f"{name}.units.{key.value}", "must be a number above 0")
            else:
                units[str(key.value).lower()] = factor
        return units

    def _flag(self, name: str, of: str, fields: Mapping[str, yaml.Node], otherwise: bool) -> bool:
        node = fields.get(of)
        if node is None:
            return otherwise
        if isinstance(node, yaml.ScalarNode) and node.value in ("true", "false"):
            return bool(node.value == "true")
        self._problem(node, f"{name}.{of}", "must be true or false")
        return otherwise

    def _text(self, name: str, of: str, fields: Mapping[str, yaml.Node], otherwise: str | None) -> str | None:
        node = fields.get(of)
        if node is None:
            return otherwise
        if isinstance(node, yaml.ScalarNode) and 0 < len(node.value) <= _MAX_NAME_CHARACTERS:
            return str(node.value)
        self._problem(node, f"{name}.{of}", "must be a short text")
        return otherwise

    def _choice(
        self, name: str, of: str, fields: Mapping[str, yaml.Node], choices: type[Choice], otherwise: Choice
    ) -> Choice:
        node = fields.get(of)
        if node is None:
            return otherwise
        if isinstance(node, yaml.ScalarNode) and node.value in tuple(choices):
            return choices(node.value)
        self._problem(node, f"{name}.{of}", f"must be one of {', '.join(choices)}")
        return otherwise

    def _problem(self, node: yaml.Node, what: str, why: str) -> None:
        self._problems.append((f" line {node.start_mark.line + 1}, {what}", why))


_FIELDS = ("kind", "single_valued", "value", "unit", "units", "stated", "aliases")


def by_alias(table: Mapping[str, Attribute]) -> Iterator[tuple[str, Attribute]]:
    """Every alias with its attribute, the longest alias first."""
    pairs = [(normalised(alias), attribute) for attribute in table.values() for alias in attribute.aliases]
    return iter(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))
