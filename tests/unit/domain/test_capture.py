from datetime import UTC, datetime
from uuid import UUID

import pytest

from rearview.domain.capture import decide, origin_of
from rearview.domain.content_hash import content_hash
from rearview.domain.event import CaptureOutcome, Event, EventRole, ToolCall
from rearview.domain.importance import TurnSignals
from rearview.domain.memory import MemoryType, Origin


def event(role: EventRole, *, tool: bool = False) -> Event:
    call = ToolCall("search", result="3 hits") if tool else None
    return Event(UUID(int=1), role, "text", datetime(2026, 3, 1, tzinfo=UTC), tool_call=call)


def test_small_talk_is_dropped_and_everyday_talk_is_kept() -> None:
    dropped = decide(event(EventRole.USER), TurnSignals(length=5, small_talk=True))
    assert (dropped.outcome, dropped.type) == (CaptureOutcome.DROPPED, None)
    assert dropped.reason.startswith("small talk: importance 0.020 < 0.05")
    kept = decide(event(EventRole.USER), TurnSignals(length=24))
    assert (kept.outcome, kept.type) == (CaptureOutcome.KEPT, MemoryType.EPISODE)


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        (TurnSignals(length=30, explicit_remember=True), MemoryType.EXPLICIT),
        (TurnSignals(length=30, constraint=True), MemoryType.CONSTRAINT),
        (TurnSignals(length=30, decision=True), MemoryType.DECISION),
        (TurnSignals(length=2, acknowledgement=True, decision=True), MemoryType.DECISION),
    ],
)
def test_what_a_user_asks_forbids_or_decides_is_a_memory_of_its_own(signals: TurnSignals, expected: MemoryType) -> None:
    assert decide(event(EventRole.USER), signals).type is expected


@pytest.mark.parametrize(
    ("role", "tool"), [(EventRole.TOOL, True), (EventRole.DOCUMENT, False), (EventRole.USER, True)]
)
def test_untrusted_text_cannot_make_itself_a_constraint(role: EventRole, tool: bool) -> None:
    signals = TurnSignals(length=30, explicit_remember=True, decision=True, constraint=True)
    decided = decide(event(role, tool=tool), signals)
    assert decided.type is (MemoryType.TOOL_RESULT if tool else MemoryType.EPISODE)


def test_a_document_that_says_nothing_is_dropped_even_if_it_asks_to_be_remembered() -> None:
    signals = TurnSignals(length=5, small_talk=True, explicit_remember=True)
    assert decide(event(EventRole.DOCUMENT), signals).outcome is CaptureOutcome.DROPPED


def test_an_empty_tool_result_is_kept_and_is_the_tools() -> None:
    empty = event(EventRole.TOOL, tool=True)
    assert decide(empty, TurnSignals()).outcome is CaptureOutcome.KEPT
    assert origin_of(event(EventRole.ASSISTANT, tool=True)) is Origin.TOOL


def test_an_assistant_decides_but_does_not_ask_to_remember() -> None:
    assistant = event(EventRole.ASSISTANT)
    assert decide(assistant, TurnSignals(length=30, explicit_remember=True)).type is MemoryType.EPISODE
    assert decide(assistant, TurnSignals(length=30, decision=True)).type is MemoryType.DECISION


def test_the_content_hash_sees_through_case_width_and_spacing() -> None:
    assert content_hash("Ｂｕｄｇｅｔ：  100元\n") == content_hash("budget: 100元")
    assert content_hash("budget 100") != content_hash("budget 101")
    assert content_hash("预算一百") != content_hash("预算二百")
