"""Audit records are sealed in batches, behind the writers, who never wait for a chain."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from rearview.domain.audit_seal import START, AuditKey, AuditSeal, end_of
from rearview.lifecycle.fault_points import FaultPoints
from rearview.ports.audit_seals import AuditAnchors, AuditSealStore, Head
from rearview.ports.clock import Clock

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SealRules:
    """`lag` has to be longer than any transaction takes that writes records, and than clocks differ: what appears
    later with an earlier time counts as forged. A round seals at most `batches` of `batch` records for each of
    `tenants`."""

    lag: timedelta = timedelta(minutes=10)
    batch: int = 500
    batches: int = 20
    tenants: int = 1_000


class AuditSealer:
    """Several workers may seal at a time, and each may be killed anywhere: a seal is one row, whole or not there.
    Killed behind a seal, the head outside the database is that of the seal before, until the tenant's next one."""

    def __init__(
        self,
        store: AuditSealStore,
        anchors: AuditAnchors,
        key: AuditKey,
        clock: Clock,
        *,
        rules: SealRules,
        faults: FaultPoints,
        on_sealed: Callable[[int], None] = lambda _records: None,
        on_broken: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._anchors = anchors
        self._key = key
        self._clock = clock
        self._rules = rules
        self._faults = faults
        self._on_sealed = on_sealed
        self._on_broken = on_broken

    async def seal(self) -> int:
        """Seal what is old enough, of all tenants; return how many records.

        Raises:
            Unavailable: PostgreSQL or object storage does not do its part; what is left comes next time.
        """
        until = self._clock.now() - self._rules.lag
        watermark = await self._anchors.watermark()
        tenants = await self._store.unsealed_tenants(until, limit=self._rules.tenants)
        sealed, whole = 0, len(tenants) < self._rules.tenants
        for tenant_id in tenants:
            count, done = await self._seal_tenant(tenant_id, watermark, until)
            sealed, whole = sealed + count, whole and done
        if whole and (watermark is None or watermark < until):
            await self._anchors.note_watermark(until)
            self._faults.reach("audit.watermarked")
        return sealed

    async def _seal_tenant(self, tenant_id: UUID, watermark: datetime | None, until: datetime) -> tuple[int, bool]:
        last, sealed = await self._store.last(tenant_id), 0
        if last is not None and not self._key.made(tenant_id, last):
            # Nothing is built on a seal that is not ours; VerifyAudit says what is wrong.
            _log.error("the last audit seal is broken", tenant_id=str(tenant_id), number=last.number)
            self._on_broken()
            return 0, False
        for _ in range(self._rules.batches):
            seal = await self._next(tenant_id, last, watermark, until)
            if seal is None:
                await self._anchor(tenant_id, last)
                return sealed, True
            self._faults.reach("audit.read")
            if not await self._store.add(tenant_id, seal):
                return sealed, False  # another worker is at it
            self._faults.reach("audit.sealed")
            last, sealed = seal, sealed + len(seal.leaves)
            self._on_sealed(len(seal.leaves))
        await self._anchor(tenant_id, last)
        return sealed, False

    async def _next(
        self, tenant_id: UUID, last: AuditSeal | None, watermark: datetime | None, until: datetime
    ) -> AuditSeal | None:
        after = max(last.upto if last else START, end_of(watermark) if watermark else START)
        entries = await self._store.entries(tenant_id, after, end_of(until), limit=self._rules.batch)
        return self._key.seal(tenant_id, last, after, entries, self._clock.now()) if entries else None

    async def _anchor(self, tenant_id: UUID, last: AuditSeal | None) -> None:
        if last is None:
            return
        head = await self._anchors.head(tenant_id)
        # A head beyond the last seal says that seals are missing: it stays, for whoever verifies.
        if head is None or head.number < last.number:
            await self._anchors.note_head(tenant_id, Head(last.number, last.code))
            self._faults.reach("audit.anchored")
