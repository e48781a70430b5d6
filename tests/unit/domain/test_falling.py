"""The value of a memory: never outside [0, 1], and greater for what is used, felt or wanted more."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.fall_rule import FallRule
from rearview.domain.falling import Valued, fallen, memory_values

NOW = datetime(2026, 3, 2, tzinfo=UTC)
UNUSED = Valued(UUID(int=1), NOW - timedelta(days=30), 0, 0.0, False, 0.5)

memories = st.builds(
    Valued,
    memory_id=st.uuids(),
    used_at=st.timedeltas(timedelta(0), timedelta(days=3_000)).map(lambda age: NOW - age),
    access_count=st.integers(0, 1_000_000),
    intensity=st.floats(0, 1),
    pinned=st.booleans(),
    priority=st.floats(0, 1),
)


@given(st.lists(memories, max_size=20))
def test_values_lie_between_zero_and_one(given_memories: list[Valued]) -> None:
    if given_memories:
        values = memory_values(given_memories, NOW)
        assert ((values >= 0.0) & (values <= 1.0 + 1e-9)).all()


@pytest.mark.parametrize(
    "better",
    [
        replace(UNUSED, used_at=NOW - timedelta(days=29)),
        replace(UNUSED, access_count=1),
        replace(UNUSED, intensity=0.1),
        replace(UNUSED, pinned=True),
        replace(UNUSED, priority=0.6),
    ],
)
def test_what_is_used_felt_or_wanted_more_is_worth_more(better: Valued) -> None:
    plain, more = memory_values([UNUSED, better], NOW)
    assert more > plain
    rule = FallRule((plain + more) / 2, 0.9, NOW, NOW)
    assert fallen([replace(better, memory_id=UUID(int=2)), UNUSED], rule) == [UNUSED.memory_id]


def test_nothing_falls_where_there_is_nothing() -> None:
    assert fallen([], FallRule(1.0, 0.9, NOW, NOW)) == []
