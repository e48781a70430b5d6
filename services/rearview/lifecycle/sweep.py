"""One pass over a namespace: what has expired goes, the rest to the tiers where the policy wants it."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.domain.lifecycle_policy import LifecyclePolicy
from rearview.domain.memory import Tier
from rearview.lifecycle.cold_moves import ColdMoves
from rearview.lifecycle.expire import Expirer
from rearview.lifecycle.fault_points import FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.tiering import Lease, Rehydrator, TierStore

EXPIRED, EVENTS = "expired", "events_expired"
HOT_TO_WARM, WARM_TO_COLD, TO_HOT = "hot_to_warm", "warm_to_cold", "to_hot"
MOVES = (EXPIRED, EVENTS, TO_HOT, HOT_TO_WARM, WARM_TO_COLD)
COMPACTED, ERASED, ORPHANS = "segments_compacted", "objects_erased", "orphans_deleted"

OnProgress = Callable[[Mapping[str, int]], Awaitable[None]]
"""Is told what was done since it was told last, by name."""
OnMoved = Callable[[str, int], None]
"""Is told at once what was done, by name and how often."""


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """`run` memories move at most in one pass, `step` in one transaction. A lease that is not renewed for `lease` goes
    to whoever asks."""

    run: int = 50_000
    step: int = 500
    lease: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a pass did, by name, and whether there is more to do."""

    counts: Mapping[str, int]
    more: bool


class Sweeper:
    """Sweeps namespaces; several workers may, one at a time a namespace."""

    def __init__(
        self,
        store: TierStore,
        moves: ColdMoves,
        expirer: Expirer,
        rehydrator: Rehydrator,
        clock: Clock,
        *,
        limits: SweepLimits,
        faults: FaultPoints,
        on_moved: OnMoved = lambda _name, _count: None,
    ) -> None:
        self._store = store
        self._moves = moves
        self._expirer = expirer
        self._rehydrator = rehydrator
        self._clock = clock
        self._limits = limits
        self._faults = faults
        self._on_moved = on_moved

    async def sweep(self, tenant_id: UUID, namespace_id: UUID, on_progress: OnProgress) -> Swept:
        """Make one bounded pass.

        Raises:
            Conflict: another worker sweeps the namespace.
            Unavailable: a store does not do its part; what was moved, is, and the next pass goes on.
        """
        lease = await self._store.acquire(tenant_id, namespace_id, length=self._limits.lease)
        if lease is None:
            raise Conflict("another worker sweeps this namespace", retry_after_seconds=1.0)
        self._faults.reach("sweep.leased")
        swept = False
        try:
            done = _Pass(on_progress, self._on_moved, self._limits.run)
            await self._pass(lease, done)
            self._faults.reach("sweep.done")
            swept = done.left > 0
        finally:
            await self._store.release(lease, swept=swept)
        return Swept(done.counts, more=not swept)

    async def plan(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Return what a sweep would move or let lapse, by name, counting no further than one pass goes. Raises:
        Unavailable."""
        policy, now, most = await self._store.policy(tenant_id, namespace_id), self._clock.now(), self._limits.run
        floor = policy.hot_priority_floor
        warm = now - policy.warm_after
        used = await self._store.used(tenant_id, namespace_id, cutoff=warm, limit=most)
        old = await self._store.unused(tenant_id, namespace_id, Tier.HOT, cutoff=warm, floor=floor, limit=most)
        over = await self._store.excess(tenant_id, namespace_id, most=policy.max_hot_memories, floor=floor, limit=most)
        cold = now - policy.cold_after
        expired = set(await self._expirer.expired(tenant_id, namespace_id, policy, limit=most))
        low = {
            tier: await self._expirer.fallen(tenant_id, namespace_id, tier, policy, limit=most)
            for tier in (Tier.HOT, Tier.WARM)
        }
        colder: set[UUID] = set()
        for tier in (Tier.HOT, Tier.WARM):
            colder.update(await self._store.unused(tenant_id, namespace_id, tier, cutoff=cold, floor=floor, limit=most))
        return {
            EXPIRED: len(expired),
            EVENTS: await self._expirer.old_events(tenant_id, namespace_id, policy, limit=most),
            TO_HOT: len(set(used) - expired),
            HOT_TO_WARM: len((set(old) | set(over) | set(low[Tier.HOT])) - expired),
            WARM_TO_COLD: len((colder | set(low[Tier.WARM])) - set(used) - expired),
        }

    async def _pass(self, lease: Lease, done: "_Pass") -> None:
        policy = await self._store.policy(lease.tenant_id, lease.namespace_id)
        await self._expire(lease, policy, done)
        await self._bring_back(lease, policy, done)
        # What falls now falls one tier: both are found before anything moves.
        low = await self._expirer.fallen(lease.tenant_id, lease.namespace_id, Tier.WARM, policy, limit=done.left)
        await self._make_warm(lease, policy, done)
        await self._make_cold(lease, policy, low, done)
        await self._store.renew(lease, length=self._limits.lease)
        await done.note(COMPACTED, await self._moves.compact(lease))
        await done.note(ERASED, await self._moves.delete_garbage(lease))
        await done.note(ORPHANS, await self._moves.sweep_orphans(lease))

    async def _expire(self, lease: Lease, policy: LifecyclePolicy, done: "_Pass") -> None:
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        expired = await self._expirer.expired(tenant_id, namespace_id, policy, limit=done.left)
        await self._expirer.expire(tenant_id, namespace_id, policy, expired, done.moved_now(EXPIRED))
        await self._expirer.lapse_events(
            tenant_id, namespace_id, policy, limit=max(done.left, 0), on_lapsed=done.moved_now(EVENTS)
        )
        await done.tell()
        await self._store.renew(lease, length=self._limits.lease)

    async def _bring_back(self, lease: Lease, policy: LifecyclePolicy, done: "_Pass") -> None:
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        ids = await self._store.used(
            tenant_id, namespace_id, cutoff=self._clock.now() - policy.warm_after, limit=done.left
        )
        for first in range(0, len(ids), self._limits.step):
            part = ids[first : first + self._limits.step]
            await done.move(TO_HOT, await self._rehydrator.rehydrate(tenant_id, namespace_id, part))

    async def _make_warm(self, lease: Lease, policy: LifecyclePolicy, done: "_Pass") -> None:
        tenant_id, namespace_id, floor = lease.tenant_id, lease.namespace_id, policy.hot_priority_floor
        cutoff = self._clock.now() - policy.warm_after
        old = await self._store.unused(tenant_id, namespace_id, Tier.HOT, cutoff=cutoff, floor=floor, limit=done.left)
        for first in range(0, len(old), self._limits.step):
            part = old[first : first + self._limits.step]
            moved = await self._store.make_warm(lease, part, cutoff=cutoff, floor=floor, now=self._clock.now())
            self._faults.reach("warm.moved")
            await done.move(HOT_TO_WARM, moved)
        low = await self._expirer.fallen(tenant_id, namespace_id, Tier.HOT, policy, limit=done.left)
        for first in range(0, len(low), self._limits.step):
            part = low[first : first + self._limits.step]
            fallen_at = self._clock.now() - policy.value_grace
            moved = await self._store.make_warm(lease, part, cutoff=fallen_at, floor=floor, now=self._clock.now())
            await done.move(HOT_TO_WARM, moved)
        if done.left <= 0:
            return
        over = await self._store.excess(
            tenant_id, namespace_id, most=policy.max_hot_memories, floor=floor, limit=done.left
        )
        for first in range(0, len(over), self._limits.step):
            part = over[first : first + self._limits.step]
            moved = await self._store.make_warm(lease, part, cutoff=None, floor=floor, now=self._clock.now())
            await done.move(HOT_TO_WARM, moved)

    async def _make_cold(self, lease: Lease, policy: LifecyclePolicy, low: Sequence[UUID], done: "_Pass") -> None:
        cutoff = self._clock.now() - policy.cold_after
        ids = await self._store.unused(
            lease.tenant_id,
            lease.namespace_id,
            Tier.WARM,
            cutoff=cutoff,
            floor=policy.hot_priority_floor,
            limit=max(done.left, 0),
        )
        moving = list(dict.fromkeys([*ids, *low]))[: max(done.left, 0)]
        await self._moves.make_cold(lease, moving, done.moved_now(WARM_TO_COLD))
        await done.tell()


class _Pass:
    """What one pass has done, and how much more it may."""

    def __init__(self, on_progress: OnProgress, on_moved: OnMoved, most: int) -> None:
        self.counts: Counter[str] = Counter()
        self.left = most
        self._untold: Counter[str] = Counter()
        self._on_progress = on_progress
        self._on_moved = on_moved

    async def move(self, name: str, count: int) -> None:
        """Note moved memories and tell of them."""
        self.moved_now(name)(count)
        await self.tell()

    def moved_now(self, name: str) -> Callable[[int], None]:
        """Return what notes moved memories without telling."""

        def note(count: int) -> None:
            self.left -= count
            self._count(name, count)

        return note

    async def note(self, name: str, count: int) -> None:
        """Note and tell what else was done."""
        self._count(name, count)
        await self.tell()

    async def tell(self) -> None:
        """Tell what was not told yet."""
        told = +self._untold
        self._untold.clear()
        if told:
            await self._on_progress(told)

    def _count(self, name: str, count: int) -> None:
        self.counts[name] += count
        self._untold[name] += count
        self._on_moved(name, count)
