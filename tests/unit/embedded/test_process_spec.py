"""The order in which things start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.embedded.errors import StackError
from rearview.embedded.process_spec import TaskSpec, start_order


def task(name: str, *depends_on: str) -> TaskSpec:
    return TaskSpec(name, run=lambda: None, depends_on=depends_on)


def test_what_is_independent_shares_a_level() -> None:
    specs = [task("gateway", "writer", "s3"), task("writer", "postgres"), task("postgres"), task("s3")]
    assert [[spec.name for spec in level] for level in start_order(specs)] == [
        ["postgres", "s3"],
        ["writer"],
        ["gateway"],
    ]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([task("a", "b")], "a depends on unknown b"),
        ([task("a", "b"), task("b", "a")], "circle: a, b"),
        ([task("a", "a")], "circle: a"),
        ([task("a"), task("a")], "two things: a"),
    ],
)
def test_impossible_orders_are_refused_by_name(specs: list[TaskSpec], message: str) -> None:
    with pytest.raises(StackError, match=message):
        start_order(specs)


@given(st.lists(st.sets(st.integers(0, 8)), max_size=9), st.randoms(use_true_random=False))
def test_each_comes_after_all_it_depends_on(graph: list[set[int]], random: object) -> None:
    specs = [
        task(str(number), *(str(other) for other in others if other < number)) for number, others in enumerate(graph)
    ]
    random.shuffle(specs)  # type: ignore[attr-defined]
    seen: set[str] = set()
    for level in start_order(specs):
        assert all(seen.issuperset(spec.depends_on) for spec in level)
        seen.update(spec.name for spec in level)
    assert len(seen) == len(specs)
