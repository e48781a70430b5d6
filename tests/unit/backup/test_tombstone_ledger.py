"""The ledger's lines: what was written is read, and damage is named by its line."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.errors import InvalidFields
from rearview.domain.forget import ForgetState
from rearview.domain.ids import new_id
from rearview.domain.tombstone_ledger import DeletionEntry, ForgetEntry, LedgerWriter, read_ledger

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(state: ForgetState = ForgetState.VERIFIED) -> ForgetEntry:
    return ForgetEntry(new_id(), new_id(), new_id(), state, (new_id(),), (new_id(), new_id()), "旅行 trip", NOW, NOW)


def lines_of(*entries: ForgetEntry | DeletionEntry) -> list[str]:
    writer = LedgerWriter()
    return [writer.begin(), *map(writer.entry, entries), writer.reached(NOW)]


def test_entries_are_read_as_written_and_later_ones_replace_earlier() -> None:
    first, second = entry(ForgetState.TOMBSTONED), replace(entry(), at=NOW - timedelta(hours=1))
    later = replace(first, state=ForgetState.RESTORED)
    namespace, tenant = DeletionEntry(new_id(), new_id(), NOW), DeletionEntry(new_id(), None, NOW)
    ledger = read_ledger(lines_of(first, tenant, second, namespace, later))
    assert ledger.in_order() == [second, later, namespace, tenant]
    assert ledger.reached == NOW


@pytest.mark.parametrize("damage", ["changed", "lost", "swapped", "cut", "not JSON"])
def test_damage_is_named_by_its_line(damage: str) -> None:
    lines = lines_of(entry(), entry(), entry())
    if damage == "changed":
        lines[2] = lines[2].replace("verified", "restored")
    elif damage == "lost":
        del lines[2]
    elif damage == "swapped":
        lines[2], lines[3] = lines[3], lines[2]
    elif damage == "cut":
        lines[2] = lines[2][:60]
    else:
        lines[2] = "遗忘\n"
    with pytest.raises(InvalidFields, match="ledger line 3: is damaged"):
        read_ledger(lines)


def test_what_is_no_ledger_is_refused() -> None:
    with pytest.raises(InvalidFields, match="ledger: is empty"):
        read_ledger([])
    with pytest.raises(InvalidFields, match="ledger line 1"):
        read_ledger(lines_of(entry())[1:])
    writer = LedgerWriter()
    with pytest.raises(InvalidFields, match="ledger line 1"):
        read_ledger([writer.reached(NOW)])
