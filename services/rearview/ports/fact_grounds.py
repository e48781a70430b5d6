"""What a model's reading has to agree with: the attributes that are known, and the words as they stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rearview.domain.fact import FactKind


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value as facts keep it: amounts as plain decimals, otherwise words. `unit` is None where none was said.

    `key` is equal for equal values, whatever their words; `category` says what sort of thing it is, where known.
    """

    value: str
    key: str
    unit: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeTraits:
    """What is known of an attribute."""

    single_valued: bool
    kind: FactKind


@dataclass(frozen=True, slots=True)
class Statement:
    """Words that are to state a fact, [start, end) in the turn, and where in the turn they name its value."""

    start: int
    end: int
    attribute: str
    value_start: int
    denied: bool


class FactGrounds(Protocol):
    """Judges by the text alone; implementations never raise on text."""

    @property
    def attributes(self) -> Mapping[str, AttributeTraits]:
        """The known attributes, by name."""
        ...

    def canonical(self, name: str) -> str:
        """Return the form that two mentions of a name share across case, width, language and alias."""
        ...

    def topic(self, name: str) -> str:
        """Return the form that two names of what an attribute is of share: "phone", "手机"."""
        ...

    def stated_value(self, attribute: str, words: str, *, reference: datetime) -> StatedValue | None:
        """Return the value that words say for a known attribute; None where they are no value of it."""
        ...

    def objection(self, text: str, statement: Statement) -> str | None:
        """Return why words of a user's turn do not state what is made of them, None if they may.

        The reasons are few and short, to be counted: `instruction`, `question`, `hypothetical`, `negated`,
        `denial_not_in_text`.
        """
        ...
