"""What a list of memories asks for."""

from dataclasses import dataclass, field

from rearview.domain.memory import MemoryState
from rearview.domain.paging import PageRequest
from rearview.domain.recall import MemoryFilter


@dataclass(frozen=True, slots=True)
class ListMemories:
    """One page of a namespace's memories, newest first."""

    namespace: str
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    states: frozenset[MemoryState] = frozenset({MemoryState.ACTIVE})
    page: PageRequest = field(default_factory=PageRequest)
