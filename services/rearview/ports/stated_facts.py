"""Statements on their way into memory: what is stored of them is decided where others cannot write meanwhile."""

from dataclasses import dataclass
from uuid import UUID

from rearview.domain.consistency import HeldValue
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Memory
from rearview.domain.unit_projection import SearchUnit


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """The turn that stated something."""

    session_id: str
    event_id: UUID
    sequence: int


@dataclass(frozen=True, slots=True, eq=False)
class StatedFact:
    """One statement, with the memory that it makes unless it only confirms or ends another.

    Attributes:
        value: what it says, as `domain.consistency` compares it.
        memory: as it would be stored; its id is that of `value`.
        event: the turn that stated it; None when an explicit memory did, whose id is then `value.source_id`.
        unit: by which the memory is found, with its full keyword bag; None when the memory is that of the turn itself
            (`adopts`), or when there would be none.
        adopts: the memory is there already, made of the turn or by request, and only becomes a fact.
    """

    value: HeldValue
    memory: Memory
    event: SourceEvent | None
    unit: SearchUnit | None = None
    bag: KeywordBag | None = None
    adopts: bool = False
