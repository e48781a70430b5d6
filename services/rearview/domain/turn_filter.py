"""Which turns without a memory pass a filter of memories."""

from datetime import datetime

from rearview.domain.event import Event, EventRole
from rearview.domain.memory import ORIGIN_OF_ROLE, MemoryType
from rearview.domain.recall import MemoryFilter


def admits_turns(memory_filter: MemoryFilter) -> bool:
    """Return whether any bare turn can pass: it has no labels, no analysed entities, and would become an episode."""
    if memory_filter.labels or memory_filter.entities:
        return False
    return not memory_filter.types or MemoryType.EPISODE in memory_filter.types


def admitted_roles(memory_filter: MemoryFilter) -> frozenset[EventRole] | None:
    """Return the roles whose origin passes; None for all."""
    if not memory_filter.origins:
        return None
    return frozenset(role for role, origin in ORIGIN_OF_ROLE.items() if origin in memory_filter.origins)


def admits_turn(memory_filter: MemoryFilter, session_id: str, event: Event, as_of: datetime | None) -> bool:
    """Return whether a turn passes the filter and was known at `as_of`, if that is set."""
    roles = admitted_roles(memory_filter)
    known_since = min(event.occurred_at, event.created_at or event.occurred_at)
    return (
        admits_turns(memory_filter)
        and (roles is None or event.role in roles)
        and (not memory_filter.session_id or memory_filter.session_id == session_id)
        and (memory_filter.start is None or event.occurred_at >= memory_filter.start)
        and (memory_filter.end is None or event.occurred_at < memory_filter.end)
        and (as_of is None or known_since <= as_of)
    )
