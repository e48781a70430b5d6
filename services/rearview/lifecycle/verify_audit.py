"""The audit log is compared with its seals, from the first record on."""

from uuid import UUID

from rearview.domain.audit import AuditVerdict
from rearview.domain.audit_seal import START, AuditKey, AuditSeal, Place, end_of
from rearview.ports.audit_seals import AuditAnchors, AuditSealStore


class AuditVerifier:
    """Recomputes seals. One call looks at a bounded number of records and says where the next is to go on."""

    def __init__(self, store: AuditSealStore, anchors: AuditAnchors, key: AuditKey, *, most: int = 20_000) -> None:
        self._store = store
        self._anchors = anchors
        self._key = key
        self._most = most

    async def verify(self, tenant_id: UUID, start: int) -> AuditVerdict:
        """Verify from the seal on that covers the sequence `start`, from 1. Raises: Unavailable."""
        last = await self._before(tenant_id, start)
        checked = 0
        if last is not None and not self._key.made(tenant_id, last):
            return _broken(0, last.first_sequence, "the seal of this record is not one that the platform made")
        while (seal := await self._store.after(tenant_id, last.number if last else 0)) is not None:
            broken = self._chained(last, seal) or await self._records(tenant_id, last, seal)
            if broken is not None:
                sequence, problem = broken
                return _broken(checked + sequence - seal.first_sequence, sequence, problem)
            checked += len(seal.leaves)
            last = seal
            if checked >= self._most:
                return AuditVerdict(True, checked, next_sequence=seal.next_sequence, sealed_until=seal.sealed_at)
        return await self._end(tenant_id, last, checked)

    async def _before(self, tenant_id: UUID, start: int) -> AuditSeal | None:
        seal = await self._store.at(tenant_id, start) if start > 1 else None
        return await self._store.numbered(tenant_id, seal.number - 1) if seal is not None else None

    def _chained(self, last: AuditSeal | None, seal: AuditSeal) -> tuple[int, str] | None:
        expected = last.next_sequence if last else 1
        if seal.number != (last.number + 1 if last else 1):
            return expected, "the seal of this record is missing"
        if seal.key_id != self._key.key_id:
            return expected, "this record was sealed with another key than the configured one"
        if (
            seal.first_sequence != expected
            or seal.previous != (last.code if last else b"")
            or seal.after < (last.upto if last else START)
        ):
            return expected, "the seal of this record does not follow the seal before it"
        return None

    async def _records(self, tenant_id: UUID, last: AuditSeal | None, seal: AuditSeal) -> tuple[int, str] | None:
        begun = last.upto if last else START
        if begun < seal.after and await self._store.entries(tenant_id, begun, seal.after, limit=1):
            return seal.first_sequence, "a record was inserted after its time had been sealed"
        entries = await self._store.entries(tenant_id, seal.after, seal.upto, limit=len(seal.leaves) + 1)
        for at, leaf in enumerate(seal.leaves):
            sequence = seal.first_sequence + at
            if at >= len(entries):
                return sequence, "this record was deleted"
            if self._key.leaf(tenant_id, sequence, entries[at]) != leaf:
                return sequence, _problem(len(entries), len(seal.leaves))
        if len(entries) > len(seal.leaves):
            return seal.next_sequence, "a record was inserted after its time had been sealed"
        if not self._key.made(tenant_id, seal):
            return seal.first_sequence, "the seal of this record is not one that the platform made"
        return None

    async def _end(self, tenant_id: UUID, last: AuditSeal | None, checked: int) -> AuditVerdict:
        following = last.next_sequence if last else 1
        head = await self._anchors.head(tenant_id)
        if head is not None and head.number > (last.number if last else 0):
            return _broken(checked, following, "records and their seals were cut off from here on")
        watermark = await self._anchors.watermark()
        begun: Place = last.upto if last else START
        if watermark is not None and begun < end_of(watermark):
            late = await self._store.entries(tenant_id, begun, end_of(watermark), limit=1)
            # Between the two readings another worker may have sealed what is found here.
            newer = await self._store.last(tenant_id) if late else None
            if late and (newer.number if newer else 0) == (last.number if last else 0):
                return _broken(checked, following, "a record was inserted after its time had been sealed")
        return AuditVerdict(True, checked, sealed_until=last.sealed_at if last else None)


def _problem(found: int, sealed: int) -> str:
    if found > sealed:
        return "a record was inserted here after its time had been sealed"
    return "this record was deleted" if found < sealed else "this record was changed, moved or replaced"


def _broken(checked: int, sequence: int, problem: str) -> AuditVerdict:
    return AuditVerdict(False, checked, first_broken_sequence=sequence, problem=problem)
