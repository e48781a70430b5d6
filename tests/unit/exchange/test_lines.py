"""Lines of exports: what is written is read back as it was, and what is wrong is named by its field."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from rearview.domain.errors import InvalidFields
from rearview.domain.event import CaptureOutcome, Event, EventRole, ToolCall
from rearview.domain.exchange.reading import read
from rearview.domain.exchange.records import (
    EMPTY_CHECKSUM,
    End,
    ExportedEvent,
    ExportedLink,
    ExportedMemory,
    ExportedUnit,
    Manifest,
    Record,
    Remapping,
    chained,
)
from rearview.domain.exchange.writing import written
from rearview.domain.ids import new_id
from rearview.domain.memory import Fact, Memory, MemoryState, MemoryType, Origin, Tier, Trust
from rearview.domain.text import Entity, EntityType, Intent, Language, Sentiment

NOW = datetime(2026, 3, 18, 4, 0, 0, 123456, tzinfo=UTC)
ID, OTHER = new_id(), new_id()
UNIT = ExportedUnit(ID, NOW, 78, (b"\x00\x3c" + bytes(6)), (5, 17), (0.5, 1.25))
EVENT = ExportedEvent(
    event=Event(
        ID,
        EventRole.TOOL,
        "订单 done",
        NOW,
        speaker="小林",
        tool_call=ToolCall("shop", "c1", {"n": [1, None]}, "ok", failed=True),
        image_caption="a photo",
        metadata={"深": {"x": 1.5}},
        redactions=("PHONE",),
        sequence=7,
        created_at=NOW,
    ),
    session_id="s:1",
    session_started_at=NOW,
    session_last_event_at=NOW,
    session_ended_at=NOW,
    outcome=CaptureOutcome.KEPT,
    reason="said",
    importance=0.25,
    bands=(-3, 9),
    indexed_at=NOW,
)
MEMORY = ExportedMemory(
    memory=Memory(
        ID,
        MemoryType.FACT,
        "预算 is 一万二",
        NOW,
        NOW,
        NOW,
        Origin.USER,
        Trust.TRUSTED,
        state=MemoryState.SUPERSEDED,
        tier=Tier.COLD,
        priority=0.9,
        pinned=True,
        labels={"project": "sofa"},
        metadata={"k": 1},
        entities=(Entity(EntityType.PRODUCT, "沙发", "沙发", 0, 0),),
        intent=Intent.PLAN,
        sentiment=Sentiment(-0.5, 0.5),
        confidence=0.75,
        valid_from=NOW,
        valid_to=NOW,
        occurred_until=NOW,
        expires_at=NOW,
        superseded_by=OTHER,
        session_id="s:1",
        languages=frozenset(Language),
        generation_id="g",
        redactions=("EMAIL",),
        fact=Fact("user", "budget", "12000", "CNY", single_valued=True, value_key="12000", note="n"),
        access_count=3,
        last_accessed_at=NOW,
        version=4,
    ),
    told_at=NOW,
    source_id=OTHER,
    derived=True,
    links=(ExportedLink("s:1", OTHER, 7, ID), ExportedLink("s:1", ID, 8)),
    sources=(OTHER,),
    units=(UNIT,),
)


@pytest.mark.parametrize(
    "record",
    [Manifest(ID, NOW, "default", OTHER, "g", 3, 4), EVENT, MEMORY, End(3, 4, EMPTY_CHECKSUM)],
    ids=lambda record: type(record).__name__,
)
def test_what_is_written_is_read_back(record: Record) -> None:
    line = written(record)
    assert "\n" not in line
    assert read(line) == record


def _with(record: Record, **changes: Any) -> str:
    content = json.loads(written(record))
    for path, value in changes.items():
        place: Any = content
        names = path.split("__")
        for name in names[:-1]:
            place = place[int(name) if name.isdigit() else name]
        place[names[-1]] = value
    return json.dumps(content)


NOT_OF_LENGTH_ONE = base64.b64encode(b"\x00\x40").decode()


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("not JSON", "line"),
        ("[1]", "line"),
        ('{"kind": "memory", "x": NaN}', "line"),
        ("[" * 100_000, "line"),
        ('{"kind": "other"}', "kind"),
        (_with(Manifest(ID, NOW, "n"), schema_version=2), "schema_version"),
        (_with(Manifest(ID, NOW, "n"), format="tar"), "format"),
        (_with(EVENT, role="narrator"), "role"),
        (_with(EVENT, session__id="a/b"), "session.id"),
        (_with(EVENT, sequence=0), "sequence"),
        (_with(EVENT, sequence=True), "sequence"),
        (_with(EVENT, outcome="forgotten"), "outcome"),
        (_with(EVENT, occurred_at="2026-01-01"), "occurred_at"),
        (_with(EVENT, occurred_at="9999-12-31T23:59:59-23:00"), "occurred_at"),
        (_with(EVENT, tool_call__tool=""), "tool_call.tool"),
        (_with(MEMORY, id="x"), "id"),
        (_with(MEMORY, content="a\0b"), "content"),
        (_with(MEMORY, content="\ud800"), "content"),
        (_with(MEMORY, metadata={"k": "\0"}), "metadata"),
        (_with(MEMORY, labels={"Bad Key": "v"}), "labels"),
        (_with(MEMORY, labels={"k": 1}), "labels.k"),
        (_with(MEMORY, priority=1.5), "priority"),
        (_with(MEMORY, state="tombstoned"), "state"),
        (_with(MEMORY, units__0__vector=NOT_OF_LENGTH_ONE), "units[0].vector"),
        (_with(MEMORY, units__0__vector="!"), "units[0].vector"),
        (_with(MEMORY, units__0__weights=[1]), "units[0].terms"),
        (_with(MEMORY, events__1__id=None), "events[1].id"),
        (_with(End(1, 1, EMPTY_CHECKSUM), checksum="ab"), "checksum"),
    ],
)
def test_what_is_wrong_is_named(line: str, field: str) -> None:
    with pytest.raises(InvalidFields) as caught:
        read(line)
    assert [violation.field for violation in caught.value.violations] == [field]


def test_a_checksum_knows_every_line_and_its_place() -> None:
    def over(*lines: str) -> bytes:
        checksum = EMPTY_CHECKSUM
        for line in lines:
            checksum = chained(checksum, line)
        return checksum

    assert len({over(), over("一"), over("一", "b"), over("b", "一"), over("一b")}) == 5


def test_ids_stay_at_home_and_become_others_of_the_same_moment_elsewhere() -> None:
    home, elsewhere = new_id(), new_id()
    assert Remapping(home, home).of(ID) == ID
    first, second = Remapping(home, elsewhere).of(ID), Remapping(home, elsewhere).of(OTHER)
    assert first == Remapping(None, elsewhere).of(ID) == Remapping(home, elsewhere).of(ID)
    assert len({ID, first, second, Remapping(home, new_id()).of(ID)}) == 4
    assert first.version == 7
    assert first.int >> 80 == ID.int >> 80
