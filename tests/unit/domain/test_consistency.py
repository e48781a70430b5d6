"""What a statement does to what is known: whatever the order of arrival, the history is that of what was told when."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.consistency import Effect, HeldValue, Resolution, confidence, resolve
from rearview.domain.fact import ANY_OF, Stance
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryState, Trust

START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def told(key: str, number: int, **fields: Any) -> HeldValue:
    """Return a statement of a single-valued attribute, told on a day."""
    moment = day(number)
    source = UUID(int=number << 8 | (ord(key[0]) if key else 0))
    return HeldValue(new_id(), key, moment, source, moment, **{"single_valued": True, **fields})


def adds(key: str, number: int, **fields: Any) -> HeldValue:
    """Return a statement of an attribute whose values add up."""
    return told(key, number, **{"single_valued": False, **fields})


def after(statements: Iterable[HeldValue]) -> dict[UUID, HeldValue]:
    """Return what is known after statements arrived in this order."""
    known: dict[UUID, HeldValue] = {}
    for statement in statements:
        apply(known, statement, resolve(statement, tuple(known.values())))
    return known


def apply(known: dict[UUID, HeldValue], statement: HeldValue, found: Resolution) -> None:
    known |= {value.memory_id: value for value in found.changed}
    if found.stored is not None:
        known[found.stored.memory_id] = found.stored
    elif found.confirmed is not None:
        value = known[found.confirmed]
        known[found.confirmed] = replace(value, said_until=max(value.said_until or value.told_at, statement.told_at))


def active(known: dict[UUID, HeldValue]) -> list[tuple[str, bool]]:
    found = (value for value in known.values() if value.state is MemoryState.ACTIVE)
    return sorted((value.value_key, value.denied) for value in found)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9).flatmap(
    lambda keys: st.permutations([told(key, at) for at, key in enumerate(keys)])
))  # fmt: skip
def test_in_any_order_one_value_is_active_and_it_is_the_last_that_was_told(arriving: Sequence[HeldValue]) -> None:
    known = after(arriving)

    last = max(arriving, key=lambda value: value.position)
    assert active(known) == [(last.value_key, False)]
    assert {value.value_key for value in known.values()} == {value.value_key for value in arriving}
    for value in known.values():
        if value.state is MemoryState.SUPERSEDED:
            assert value.superseded_by in known
            assert value.valid_to is not None
            assert value.valid_to >= value.starts_at


@given(st.permutations([told(key, at) for at, key in enumerate("abcde")]))
def test_in_any_order_values_that_differ_make_one_chain(arriving: Sequence[HeldValue]) -> None:
    chain = sorted(after(arriving).values(), key=lambda value: value.position)

    assert [value.value_key for value in chain] == list("abcde")
    assert [value.superseded_by for value in chain] == [*(value.memory_id for value in chain[1:]), None]
    assert [value.valid_to for value in chain] == [*(value.starts_at for value in chain[1:]), None]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=1, max_size=8).flatmap(
    lambda said: st.permutations([adds(key, at, denied=denied) for at, (key, denied) in enumerate(said)])
))  # fmt: skip
def test_of_values_that_add_up_each_holds_or_is_denied_as_it_was_told_last(arriving: Sequence[HeldValue]) -> None:
    last = {value.value_key: value.denied for value in sorted(arriving, key=lambda value: value.position)}

    assert active(after(arriving)) == sorted(last.items())


def test_a_one_off_changes_nothing() -> None:
    standing = adds("americano", 0, category="drink")

    assert resolve(adds("latte", 1, category="drink", stance=Stance.ONE_OFF), [standing]).effect is Effect.NONE


@pytest.mark.parametrize("arrives_first", ["the standing value", "the change"])
def test_a_change_replaces_its_category_whatever_arrives_first(arrives_first: str) -> None:
    standing, jazz = adds("americano", 0, category="drink"), adds("jazz", 1)
    change = adds("latte", 2, category="drink", stance=Stance.CHANGE)

    known = after([standing, jazz, change] if arrives_first == "the standing value" else [change, jazz, standing])

    assert active(known) == [("jazz", False), ("latte", False)]
    assert known[standing.memory_id].superseded_by == change.memory_id


def test_a_change_that_names_what_it_replaces_replaces_only_that() -> None:
    change = adds("latte", 2, category="drink", stance=Stance.CHANGE, replaces="americano")

    known = after([adds("americano", 0, category="drink"), adds("tea", 1, category="drink"), change])

    assert active(known) == [("latte", False), ("tea", False)]


def test_a_preference_beside_another_replaces_nothing() -> None:
    assert len(active(after([adds("americano", 0, category="drink"), adds("latte", 1, category="drink")]))) == 2


def test_a_negation_ends_what_it_denies_and_nothing_else() -> None:
    assert active(after([told("b", 0), told("a", 1, denied=True, stance=Stance.NEGATION)])) == [("b", False)]
    assert active(after([told("a", 0), told("a", 1, denied=True, stance=Stance.NEGATION)])) == [("a", True)]


def test_what_was_taken_back_stays_so_when_older_words_arrive() -> None:
    first, taken_back = told("a", 0), told("", 5, stance=Stance.RETRACTION)

    known = after([first, taken_back, told("b", 3)])

    assert active(known) == []
    assert sorted((value.value_key, value.valid_to) for value in known.values()) == [("a", day(3)), ("b", day(5))]
    assert active(after([first, taken_back, told("b", 6)])) == [("b", False)]


def test_what_is_trusted_less_replaces_nothing_that_is_trusted_more() -> None:
    mine = told("a", 0)

    assert resolve(told("b", 1, trust=Trust.UNTRUSTED), [mine]).effect is Effect.NONE
    untrusted = told("a", 0, trust=Trust.UNTRUSTED)
    assert resolve(told("b", 1), [untrusted]).superseded == (untrusted.memory_id,)


def test_bounded_times_stand_beside_each_other_and_beside_the_present() -> None:
    first = replace(told("paris", 9), starts_at=day(0), valid_to=day(2))
    second = replace(told("paris", 10), starts_at=day(4), valid_to=day(6))

    known = after([told("berlin", 8), first, second, replace(second, memory_id=new_id())])

    assert active(known) == [("berlin", False), ("paris", False), ("paris", False)]


def test_an_amount_without_a_unit_is_the_same_in_any() -> None:
    assert resolve(told("8000", 1), [told("8000", 0, unit="CNY")]).effect is Effect.CONFIRMED
    assert resolve(told("8000", 1, unit="USD"), [told("8000", 0, unit="CNY")]).effect is Effect.STORED


@pytest.mark.parametrize("trust", list(Trust))
def test_confidence_grows_with_each_source_and_stays_in_bounds(trust: Trust) -> None:
    sure = [confidence(trust, sources) for sources in range(1, 40)]

    assert sure == sorted(sure)
    assert sure[1] > sure[0]
    assert sure[-1] < 1.0
    assert confidence(Trust.UNTRUSTED, 1000) < confidence(Trust.TRUSTED, 1)


def test_a_change_of_a_sort_takes_the_place_of_each_of_it_in_any_order() -> None:
    coffees, tea = ANY_OF.join(("americano", "mocha")), adds("green tea", 0, category="drink")
    told_of = [
        tea,
        adds("americano", 1, category="drink"),
        adds("mocha", 2, category="drink"),
        adds("latte", 3, category="drink", stance=Stance.CHANGE, replaces=coffees),
    ]
    for order in permutations(told_of):
        assert active(after(order)) == [("green tea", False), ("latte", False)]
