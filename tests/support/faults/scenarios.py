"""What each kind of work finds before it, so that it comes to all of its fault points."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from rearview.domain.principal import Caller, Role
from rearview.v1 import namespace_pb2, tenant_pb2
from tests.support.faults.kill_server import SEAL
from tests.support.faults.world import MINUTES, World, mark_of
from tests.support.running_gateway import OPERATOR_KEY, bearer

Jobs = Sequence[tuple[str, Mapping[str, str]]]

_SHARE_OF_SESSIONS = 0.3
"""Of the runs that could do without; indexing a session takes longer than all the rest."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`prepare` makes what leads to the given point, and returns the jobs that are killed on the way. `times` says how
    often a point is reached, if more than once: the process dies at one of them by chance. `ends_in` is what is left of
    the tenant: everything that was acknowledged, all but its namespace's content, or nothing."""

    prepare: Callable[[World, str], Awaitable[Jobs]]
    times: Mapping[str, int]
    ends_in: str = "everything"


def sweep_of(world: World) -> tuple[str, Mapping[str, str]]:
    """Return the job that sweeps the tenant's namespace."""
    return "sweep", {"tenant_id": str(world.scope.tenant_id), "namespace_id": str(world.scope.namespace_id)}


async def _make_cold(world: World, count: int) -> list[UUID]:
    ids = await world.write(count)
    await world.age(100)
    await world.bench.work["sweep"](sweep_of(world)[1])
    return ids


async def _use(world: World, memory_id: UUID) -> None:
    await world.writing.rows(
        "INSERT INTO memory_stats (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)"
        " VALUES (%s, %s, %s, 1, %s) ON CONFLICT (tenant_id, namespace_id, memory_id)"
        " DO UPDATE SET last_accessed_at = excluded.last_accessed_at",
        *(world.scope.tenant_id, world.scope.namespace_id, memory_id, world.bench.clock.now()),
    )


async def _sweep(world: World, point: str) -> Jobs:
    cold = await _make_cold(world, 4)
    if point == "events.lapsed" or world.chance.random() < _SHARE_OF_SESSIONS:
        await world.converse("old")
        await world.writing.rows(
            "UPDATE event SET created_at = created_at - interval '400 days' WHERE tenant_id = %s",
            world.scope.tenant_id,
        )
        # Its turns lapse now; what was made of them stays.
        world.turns.pop("old")
    hot = await world.write(3)
    world.reserved |= {*cold, *hot}
    await world.age(100)
    lapsing = (await world.write(1))[0]
    await world.expire(lapsing)
    await _use(world, cold[0])
    # Where a killed move would have left it.
    key = f"{world.scope.tenant_id}/{world.scope.namespace_id}/left-behind.segment"
    await world.bench.tiers.objects.put(key, b"left behind")
    return [sweep_of(world)]


async def _purge(world: World, point: str) -> Jobs:
    cold = await _make_cold(world, 4)
    warm = await world.write(2)
    await world.age(40)
    await world.bench.work["sweep"](sweep_of(world)[1])
    hot = await world.write(2)
    world.reserved |= {*cold, *warm, *hot}
    if point == "purge.events_erased" or world.chance.random() < _SHARE_OF_SESSIONS:
        await world.converse("told")
        await world.forget_session("told")
    await world.forget(*cold[:2], warm[0], hot[0])
    return await receipts(world)


async def receipts(world: World) -> Jobs:
    """Return the jobs that purge what is forgotten and not verified yet."""
    # The database's clock says when a receipt is due, and it is behind ours.
    rows = await world.writing.rows(
        "UPDATE forget_receipt SET purge_after = least(purge_after, now()) WHERE tenant_id = %s AND state < 3"
        " RETURNING receipt_id",
        world.scope.tenant_id,
    )
    tenant_id = str(world.scope.tenant_id)
    return [("purge", {"tenant_id": tenant_id, "receipt_id": str(row["receipt_id"])}) for row in rows]


async def _rehydrate(world: World, _point: str) -> Jobs:
    cold = await _make_cold(world, 3)
    warm = await world.write(2)
    await world.age(40)
    await world.bench.work["sweep"](sweep_of(world)[1])
    world.reserved |= {*cold, *warm}
    begun = await world.bench.operations.begin_rehydration(
        Caller(world.scope.tenant_id, "chief", Role.ADMIN),
        world.scope.tenant_id,
        {world.scope.namespace_id: [*cold, *warm]},
    )
    return [_operation(world, begun.operation_id)]


async def _seal(world: World, _point: str) -> Jobs:
    await world.write(3)
    world.bench.clock.moment += MINUTES
    return [(SEAL, {})]


async def _erase_namespace(world: World, _point: str) -> Jobs:
    await _fill(world)
    await world.bench.gateway.namespaces.DeleteNamespace(
        namespace_pb2.DeleteNamespaceRequest(name="namespaces/default", force=True), metadata=bearer(world.key)
    )
    (row,) = await world.writing.rows(
        "SELECT operation_id FROM operation WHERE tenant_id = %s AND kind = 'erase_namespace'", world.scope.tenant_id
    )
    return [_operation(world, row["operation_id"])]


async def _erase_tenant(world: World, _point: str) -> Jobs:
    await _fill(world)
    await world.bench.gateway.tenants.DeleteTenant(
        tenant_pb2.DeleteTenantRequest(name=f"tenants/{world.name}"), metadata=bearer(OPERATOR_KEY)
    )
    return [("erase_tenant", {"tenant_id": str(world.scope.tenant_id)})]


async def _fill(world: World) -> None:
    await _make_cold(world, 3)
    if world.chance.random() < _SHARE_OF_SESSIONS:
        await world.converse("told")
    await world.write(2)
    world.gone, world.kept = dict(world.kept), {}
    world.marks |= {mark_of(text) for turns in world.turns.values() for text in turns.values()}
    world.turns.clear()


def _operation(world: World, operation_id: UUID) -> tuple[str, Mapping[str, str]]:
    return "operation", {"tenant_id": str(world.scope.tenant_id), "operation_id": str(operation_id)}


SCENARIOS: Mapping[str, Scenario] = {
    "sweep": Scenario(_sweep, {"warm.moved": 2}),
    "rehydrate": Scenario(_rehydrate, {}),
    "purge": Scenario(_purge, {"purge.memories_erased": 4, "purge.events_erased": 3}),
    "seal": Scenario(_seal, {}),
    "erase_namespace": Scenario(_erase_namespace, {}, "no namespace"),
    "erase_tenant": Scenario(_erase_tenant, {}, "nothing"),
}
"""By the kind of work, as in `FAULT_POINTS`."""
