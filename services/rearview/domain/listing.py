"""What a list of memories asks for."""

from dataclasses import dataclass, field
from datetime import datetime

from rearview.domain.memory import MemoryState
from rearview.domain.paging import PageRequest
from rearview.domain.recall import MemoryFilter

KNOWN_ONCE = frozenset({MemoryState.ACTIVE, MemoryState.SUPERSEDED, MemoryState.INACTIVE})
"""The states of what was believed at some time."""


@dataclass(frozen=True, slots=True)
class ListMemories:
    """One page of a namespace's memories, newest first; with `as_of` those held then, whatever their state now."""

    namespace: str
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    states: frozenset[MemoryState] = frozenset({MemoryState.ACTIVE})
    as_of: datetime | None = None
    page: PageRequest = field(default_factory=PageRequest)
