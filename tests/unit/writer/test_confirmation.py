"""Tokens of previews confirm one set of one target in one place for a while, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import InvalidConfirmationToken
from rearview.domain.forget import ForgetFilter, ForgetLastTurns, ForgetQuery, ForgetSelection, ForgetSubject
from rearview.domain.memory import MemoryType
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter
from rearview.writer.confirmation import LIFETIME, Confirmations

NOW = datetime(2026, 3, 2, tzinfo=UTC)
SCOPE = Scope(UUID(int=1), UUID(int=2), "notes")
TOKENS = Confirmations(b"k" * 32)
ids = st.lists(st.uuids(), max_size=5, unique=True).map(tuple)
selections = st.builds(ForgetSelection, ids, ids, ids)


@given(selections, st.randoms())
def test_a_token_confirms_its_set_in_any_order(selection: ForgetSelection, random: Any) -> None:
    target = ForgetSubject("李雷", "李雷")
    token = TOKENS.issue(SCOPE, target, selection, NOW)
    memories, events = (random.sample(group, len(group)) for group in (selection.memory_ids, selection.event_ids))
    shuffled = ForgetSelection(tuple(memories), tuple(events), selection.rewritten)
    TOKENS.check(token, SCOPE, target, shuffled, NOW)


@given(selections, selections)
def test_a_token_confirms_no_other_set(selection: ForgetSelection, other: ForgetSelection) -> None:
    target = ForgetSubject("李雷", "李雷")
    token = TOKENS.issue(SCOPE, target, selection, NOW)
    groups = [set(g) for g in (other.memory_ids, other.event_ids, other.rewritten)]
    if groups == [set(g) for g in (selection.memory_ids, selection.event_ids, selection.rewritten)]:
        return
    with pytest.raises(InvalidConfirmationToken):
        TOKENS.check(token, SCOPE, target, other, NOW)


@pytest.mark.parametrize(
    ("scope", "target"),
    [
        (replace(SCOPE, tenant_id=UUID(int=9)), ForgetQuery("q", (UUID(int=5),))),
        (replace(SCOPE, namespace_id=UUID(int=9)), ForgetQuery("q", (UUID(int=5),))),
        (SCOPE, ForgetQuery("r", (UUID(int=5),))),
        (SCOPE, ForgetSubject("q", "q")),
        (SCOPE, ForgetLastTurns("q", 1)),
        (SCOPE, ForgetFilter(MemoryFilter(types=frozenset({MemoryType.EPISODE})))),
    ],
)
def test_a_token_is_of_one_place_and_one_target(scope: Scope, target: Any) -> None:
    selection = ForgetSelection((UUID(int=5),), ())
    token = TOKENS.issue(SCOPE, ForgetQuery("q", (UUID(int=5),)), selection, NOW)
    assert TOKENS.found(token) == (UUID(int=5),)
    TOKENS.check(token, SCOPE, ForgetQuery("q", (UUID(int=5),)), selection, NOW)
    with pytest.raises(InvalidConfirmationToken):
        TOKENS.check(token, scope, target, selection, NOW)


def test_a_token_lapses_and_is_worth_nothing_under_another_key() -> None:
    target, selection = ForgetSubject("a", "a"), ForgetSelection((), ())
    token = TOKENS.issue(SCOPE, target, selection, NOW)
    TOKENS.check(token, SCOPE, target, selection, NOW + LIFETIME - timedelta(seconds=1))
    with pytest.raises(InvalidConfirmationToken):
        TOKENS.check(token, SCOPE, target, selection, NOW + LIFETIME)
    with pytest.raises(InvalidConfirmationToken):
        Confirmations(b"j" * 32).check(token, SCOPE, target, selection, NOW)


@given(st.text(max_size=120))
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfirmationToken):
        TOKENS.check(text, SCOPE, ForgetSubject("a", "a"), ForgetSelection((), ()), NOW)
