"""Which turns without a memory pass a filter."""

from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.event import Event, EventRole
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType, Origin
from rearview.domain.recall import MemoryFilter
from rearview.domain.turn_filter import admits_turn, admits_turns

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TURN = Event(new_id(), EventRole.USER, "预算是12000", NOON, created_at=NOON + timedelta(days=3))


@pytest.mark.parametrize(
    ("memory_filter", "passes"),
    [
        (MemoryFilter(), True),
        (MemoryFilter(types=frozenset({MemoryType.EPISODE})), True),
        (MemoryFilter(types=frozenset({MemoryType.FACT})), False),
        (MemoryFilter(labels={"team": "a"}), False),
        (MemoryFilter(entities=("预算",)), False),
        (MemoryFilter(session_id="s1"), True),
        (MemoryFilter(session_id="s2"), False),
        (MemoryFilter(start=NOON, end=NOON + timedelta(hours=1)), True),
        (MemoryFilter(start=NOON + timedelta(seconds=1)), False),
        (MemoryFilter(end=NOON), False),
        (MemoryFilter(origins=frozenset({Origin.USER})), True),
        (MemoryFilter(origins=frozenset({Origin.TOOL})), False),
    ],
)
def test_filters(memory_filter: MemoryFilter, passes: bool) -> None:
    assert admits_turn(memory_filter, "s1", TURN, None) is passes
    if not admits_turns(memory_filter):
        assert not passes


@pytest.mark.parametrize(("as_of", "passes"), [(NOON, True), (NOON - timedelta(seconds=1), False)])
def test_as_of_counts_from_when_it_was_told(as_of: datetime, passes: bool) -> None:
    assert admits_turn(MemoryFilter(), "s1", TURN, as_of) is passes
