"""What a model's reading has to agree with: the attributes that are known, and the words as they stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value as facts keep it: amounts as plain decimals, otherwise words. `unit` is None where none was said."""

    value: str
    unit: str | None


class FactGrounds(Protocol):
    """Judges by the text alone; implementations never raise on text."""

    @property
    def attributes(self) -> Mapping[str, bool]:
        """The known attributes, and whether each is single-valued."""
        ...

    def canonical(self, name: str) -> str:
        """Return the form that two mentions of a name share across case, width, language and alias."""
        ...

    def stated_value(self, attribute: str, words: str, *, reference: datetime) -> StatedValue | None:
        """Return the value that words say for a known attribute; None where they are no value of it."""
        ...

    def objection(self, text: str, start: int, end: int, *, denied: bool) -> str | None:
        """Return why the words at [start, end) of a user's turn do not state a fact of that polarity, None if they may.

        The reasons are few and short, to be counted: `question`, `hypothetical`, `instruction`, `negation_cut_off`,
        `negated`, `denial_not_in_text`.
        """
        ...
