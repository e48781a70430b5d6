"""The tombstone ledger: what was forgotten and deleted, by ids and times, kept apart from backups.

A line is a JSON object of one entry; its `check` is a digest over the line and the check before it, so a line that was
changed, lost or cut in half is found and named. Later lines about the same receipt replace earlier ones.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from rearview.domain.errors import invalid_field
from rearview.domain.forget import ForgetState

VERSION = 1
_CHECK_DIGITS = 32


class EntryKind(StrEnum):
    """What a line speaks of."""

    LEDGER = "ledger"
    FORGET = "forget"
    NAMESPACE = "namespace"
    TENANT = "tenant"
    REACHED = "reached"


@dataclass(frozen=True, slots=True)
class ForgetEntry:
    """A forget: its receipt with the ids of all that it took, and how far it had come. `session_id` is set when a whole
    session went."""

    tenant_id: UUID
    namespace_id: UUID
    receipt_id: UUID
    state: ForgetState
    memory_ids: tuple[UUID, ...]
    event_ids: tuple[UUID, ...]
    session_id: str
    at: datetime
    purge_after: datetime


@dataclass(frozen=True, slots=True)
class DeletionEntry:
    """A deleted namespace, or with `namespace_id` None a deleted tenant."""

    tenant_id: UUID
    namespace_id: UUID | None
    at: datetime


LedgerEntry = ForgetEntry | DeletionEntry


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a ledger says: forgets by receipt as last heard of, deletions, up to which moment it was kept, and the check
    of its last line."""

    forgets: Mapping[UUID, ForgetEntry]
    deletions: frozenset[DeletionEntry]
    reached: datetime | None
    check: str

    @property
    def tenant_ids(self) -> frozenset[UUID]:
        """The tenants of which anything was forgotten or deleted."""
        return frozenset(entry.tenant_id for entry in self.in_order())

    def in_order(self) -> list[LedgerEntry]:
        """Return forgets in the order in which they happened, then deletions, tenants last."""
        deletions = sorted(self.deletions, key=lambda entry: (entry.namespace_id is None, entry.at))
        return [*sorted(self.forgets.values(), key=lambda entry: (entry.at, entry.receipt_id)), *deletions]


class LedgerWriter:
    """Makes lines, each chained to the one before."""

    def __init__(self, check: str = "") -> None:
        self.check = check

    def begin(self) -> str:
        """Return the first line of a ledger."""
        return self._line(EntryKind.LEDGER, {"version": VERSION})

    def entry(self, entry: LedgerEntry) -> str:
        """Return an entry's line."""
        if isinstance(entry, ForgetEntry):
            content: dict[str, Any] = {
                "tenant": str(entry.tenant_id),
                "namespace": str(entry.namespace_id),
                "receipt": str(entry.receipt_id),
                "state": entry.state.name.lower(),
                "session": entry.session_id,
                "memories": [str(memory_id) for memory_id in entry.memory_ids],
                "events": [str(event_id) for event_id in entry.event_ids],
                "at": entry.at.isoformat(),
                "purge_after": entry.purge_after.isoformat(),
            }
            return self._line(EntryKind.FORGET, content)
        content = {"tenant": str(entry.tenant_id), "at": entry.at.isoformat()}
        if entry.namespace_id is None:
            return self._line(EntryKind.TENANT, content)
        return self._line(EntryKind.NAMESPACE, {**content, "namespace": str(entry.namespace_id)})

    def reached(self, at: datetime) -> str:
        """Return a line that says that everything up to this moment is written."""
        return self._line(EntryKind.REACHED, {"at": at.isoformat()})

    def _line(self, kind: EntryKind, content: Mapping[str, Any]) -> str:
        fields = {"kind": kind.value, **content}
        self.check = _check(self.check, fields)
        return json.dumps({**fields, "check": self.check}, ensure_ascii=False) + "\n"


def read_ledger(lines: Iterable[str]) -> Ledger:
    """Return what a ledger's lines say.

    Raises:
        InvalidFields: a line is damaged, missing or of a newer version; it is named.
    """
    forgets: dict[UUID, ForgetEntry] = {}
    deletions: set[DeletionEntry] = set()
    reached, check = None, ""
    for number, line in enumerate(lines, 1):
        fields = _fields(line, number, check)
        check = fields.pop("check")
        if (number == 1) != (fields["kind"] == EntryKind.LEDGER) or fields.get("version", VERSION) != VERSION:
            raise invalid_field(f"ledger line {number}", f"is not of a ledger of version {VERSION}")
        try:
            if fields["kind"] == EntryKind.REACHED:
                reached = datetime.fromisoformat(fields["at"])
            elif fields["kind"] == EntryKind.FORGET:
                entry = _forget(fields)
                forgets[entry.receipt_id] = entry
            elif fields["kind"] in (EntryKind.NAMESPACE, EntryKind.TENANT):
                namespace = fields.get("namespace")
                at = datetime.fromisoformat(fields["at"])
                deletions.add(DeletionEntry(UUID(fields["tenant"]), UUID(namespace) if namespace else None, at))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise invalid_field(f"ledger line {number}", "does not say what such a line has to say") from None
    if not check:
        raise invalid_field("ledger", "is empty")
    return Ledger(forgets, frozenset(deletions), reached, check)


def _fields(line: str, number: int, check: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
        found = fields["check"]
        expected = _check(check, {name: value for name, value in fields.items() if name != "check"})
        if found == expected and EntryKind(fields["kind"]):
            return dict(fields)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise invalid_field(
        f"ledger line {number}", "is damaged, or a line before it is missing; use an undamaged copy of the ledger"
    )


def _check(before: str, fields: Mapping[str, Any]) -> str:
    content = before + json.dumps(fields, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:_CHECK_DIGITS]


def _forget(fields: Mapping[str, Any]) -> ForgetEntry:
    return ForgetEntry(
        tenant_id=UUID(fields["tenant"]),
        namespace_id=UUID(fields["namespace"]),
        receipt_id=UUID(fields["receipt"]),
        state=ForgetState[fields["state"].upper()],
        memory_ids=tuple(map(UUID, fields["memories"])),
        event_ids=tuple(map(UUID, fields["events"])),
        session_id=str(fields["session"]),
        at=datetime.fromisoformat(fields["at"]),
        purge_after=datetime.fromisoformat(fields["purge_after"]),
    )
