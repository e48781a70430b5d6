"""What a sweep lets lapse: memories whose end has come, cold ones that nobody uses, old events."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from rearview.domain.errors import Conflict, LegalHold, NotFound
from rearview.domain.fall_rule import FallRule
from rearview.domain.lifecycle_policy import LifecyclePolicy
from rearview.domain.memory import Tier
from rearview.lifecycle.fault_points import NO_FAULTS, FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.expiry import ExpiryStore


class Expirer:
    """Lets things lapse in steps of one transaction each; killed between them, the next pass goes on."""

    def __init__(self, store: ExpiryStore, clock: Clock, *, step: int, faults: FaultPoints = NO_FAULTS) -> None:
        self._store = store
        self._clock = clock
        self._step = step
        self._faults = faults

    async def expired(self, tenant_id: UUID, namespace_id: UUID, policy: LifecyclePolicy, *, limit: int) -> list[UUID]:
        """Return memories that are expired. Raises: Unavailable."""
        now = self._clock.now()
        due = await self._store.due(tenant_id, namespace_id, now=now, limit=limit)
        found = dict.fromkeys(due)
        if policy.expire_after and len(found) < limit:
            left = limit - len(found)
            found |= dict.fromkeys(
                await self._store.lapsed(tenant_id, namespace_id, policy.expire_after, now=now, limit=left)
            )
        if len(found) < limit:
            low = await self.fallen(tenant_id, namespace_id, Tier.COLD, policy, limit=limit - len(found))
            found |= dict.fromkeys(low)
        return list(found)

    async def fallen(
        self, tenant_id: UUID, namespace_id: UUID, tier: Tier, policy: LifecyclePolicy, *, limit: int
    ) -> list[UUID]:
        """Return memories of a tier whose value has fallen below the policy's floor. Raises: Unavailable."""
        rule = self._rule(policy)
        if rule is None or limit <= 0:
            return []
        return await self._store.fallen(tenant_id, namespace_id, tier, rule, limit=limit)

    async def old_events(self, tenant_id: UUID, namespace_id: UUID, policy: LifecyclePolicy, *, limit: int) -> int:
        """Count events that are past their retention. Raises: Unavailable."""
        cutoff = self._clock.now() - policy.event_retention
        return await self._store.old_events(tenant_id, namespace_id, cutoff=cutoff, limit=limit)

    async def expire(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        policy: LifecyclePolicy,
        memory_ids: Sequence[UUID],
        on_expired: Callable[[int], None],
    ) -> None:
        """Forget expired memories; what has changed meanwhile is left to the next pass. Raises: Unavailable."""
        for first in range(0, len(memory_ids), self._step):
            part = memory_ids[first : first + self._step]
            gone = await self._expire(tenant_id, namespace_id, part, self._rule(policy), self._clock.now())
            self._faults.reach("expire.forgotten")
            on_expired(gone)

    async def lapse_events(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        policy: LifecyclePolicy,
        *,
        limit: int,
        on_lapsed: Callable[[int], None],
    ) -> None:
        """Delete events past their retention, at most `limit`. Raises: Unavailable."""
        left = limit
        while left > 0:
            now, step = self._clock.now(), min(self._step, left)
            cutoff = now - policy.event_retention
            gone = await self._store.lapse_events(tenant_id, namespace_id, cutoff=cutoff, limit=step, now=now)
            if gone:
                self._faults.reach("events.lapsed")
            on_lapsed(gone)
            left -= gone
            if gone < step:
                return

    def _rule(self, policy: LifecyclePolicy) -> FallRule | None:
        now = self._clock.now()
        if not policy.value_floor:
            return None
        return FallRule(policy.value_floor, policy.hot_priority_floor, now - policy.value_grace, now)

    async def _expire(
        self, tenant_id: UUID, namespace_id: UUID, part: Sequence[UUID], rule: FallRule | None, now: datetime
    ) -> int:
        try:
            return await self._store.expire(tenant_id, namespace_id, part, rule, now=now)
        except (Conflict, NotFound):
            return 0
        except LegalHold:
            # Something that derives from one of them is held: that one stays, the others go.
            if len(part) == 1:
                return 0
            half = len(part) // 2
            first = await self._expire(tenant_id, namespace_id, part[:half], rule, now)
            return first + await self._expire(tenant_id, namespace_id, part[half:], rule, now)
