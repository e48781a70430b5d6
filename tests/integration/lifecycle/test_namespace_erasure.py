"""A deleted namespace or tenant leaves nothing in any place, and nothing else is touched: over real stores."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio
import redis.asyncio
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.namespace_erasure import PostgresNamespaceErasure
from rearview.adapters.postgres.namespaces import PostgresNamespaceStore
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.adapters.postgres.tenancy import PostgresTenantStore
from rearview.adapters.postgres.tenant_erasure import PostgresTenantErasure
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.namespace_erasure import RedisNamespaceErasure
from rearview.domain.errors import Conflict, LegalHold, NamespaceDenied, NamespaceNotEmpty
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.ids import new_id
from rearview.domain.memory import Tier
from rearview.domain.operation import Operation
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role, Scope
from rearview.lifecycle.erase_namespace import OBJECTS, NamespaceEraser
from rearview.lifecycle.erase_tenant import TenantEraser
from tests.support.lifecycle_bench import elsewhere
from tests.support.tier_bench import TEXTS, TierBench
from tests.support.writer_fixtures import WriterBench, add_namespace

pytestmark = pytest.mark.asyncio(loop_scope="session")

SETTLE = timedelta(minutes=1)
ANOTHERS = ("同一把钥匙也写在这里：蓝色花盆下面。", "The same key is noted here as well: KEY-20417.")


@dataclass(frozen=True, slots=True)
class ErasureBench:
    """A namespace to be deleted, another of the same tenant and one of another tenant, and what erases."""

    tiers: TierBench
    beside: WriterBench
    stranger: WriterBench
    database: Database
    redis: RedisConnection
    redis_url: str
    namespaces: PostgresNamespaceStore
    eraser: NamespaceEraser
    tenant_eraser: TenantEraser

    @property
    def scope(self) -> Scope:
        """Where the doomed namespace is."""
        return self.tiers.writing.scope

    async def fill(self) -> list[UUID]:
        """Write into all three, in every tier and place; return the doomed namespace's memories."""
        doomed = self.tiers.writing
        cold = await self.tiers.write(TEXTS[:2])
        await self.tiers.make_cold()
        warm = await self.tiers.write(TEXTS[2:4])
        await self.tiers.age(40)
        await self.tiers.sweep()
        hot = await self.tiers.write(TEXTS[4:])
        for bench in (doomed, self.beside, self.stranger):
            await bench.append(["王芳的生日是三月八号", "The cake has to be without nuts"], "chat")
            await bench.run_jobs(also_later=True)
            await bench.append([f"还没有读到的 {bench.scope.namespace_id}"], "later")
            for text in ANOTHERS:
                kept = (await bench.remember(text)).memory.memory_id
            await RedisAccessCounter(self.redis).count(
                bench.scope.tenant_id, {bench.scope.namespace_id: [kept]}, datetime.now(UTC)
            )
            await bench.rows(
                "INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)"
                " VALUES (%s, %s, 'tester', %s, '{\"query\": \"蓝色花盆\"}', now())",
                bench.scope.tenant_id,
                new_id(),
                [bench.scope.namespace_id],
            )
        await doomed.writer.forgetter.forget(self.scope, Forget("notes", ForgetMemories(tuple(hot[:1]))))
        await doomed.rows(
            "INSERT INTO namespace_policy (tenant_id, namespace_id, max_hot_memories, version, updated_at)"
            " VALUES (%s, %s, 7, 1, now())",
            self.scope.tenant_id,
            self.scope.namespace_id,
        )
        return [*cold, *warm, *hot]

    async def delete(self, *, force: bool = True) -> None:
        """Delete the doomed namespace as an administrator."""
        scope = self.scope
        reached = {scope.namespace: NamespaceAccess(scope.namespace_id, Access.WRITE)}
        caller = Caller(scope.tenant_id, "chief", Role.ADMIN, reached)
        now = self.tiers.writing.clock.now()
        await self.namespaces.delete(caller, scope.namespace_id, scope.namespace, now, force=force)

    async def operation(self) -> Operation:
        """Return the erasure as it stands."""
        row = (await self.tiers.writing.rows("SELECT operation_id FROM operation WHERE kind = 'erase_namespace'"))[0]
        return await PostgresOperations(self.database).get(self.scope.tenant_id, row["operation_id"])

    async def carry_out(self) -> bool:
        """Carry the erasure out, as its job does."""
        return await self.eraser.carry_out(self.scope.tenant_id, await self.operation())

    async def leftovers(self, name: str = "") -> dict[str, Any]:
        """Return where the doomed namespace's id, or another name, still stands."""
        name = name or str(self.scope.namespace_id)
        found: dict[str, Any] = dict.fromkeys(await self.tiers.writing.tables_with(name), name)
        client = redis.asyncio.Redis.from_url(self.redis_url, decode_responses=True)
        async for key in client.scan_iter():
            held = await client.hgetall(key) if await client.type(key) == "hash" else {}
            if name in f"{key} {held}":
                found[key] = held
        await client.aclose()
        found |= {key: "object" for key, _ in self.tiers.versions() if name in key}
        return found

    async def others(self, *, of_strangers: bool = False) -> dict[str, list[str]]:
        """Return everything of the namespaces that stay, or of the other tenant."""
        key, stay = "namespace_id", {str(self.beside.scope.namespace_id), str(self.stranger.scope.namespace_id)}
        if of_strangers:
            key, stay = "tenant_id", {str(self.stranger.scope.tenant_id)}
        tables = await self.tiers.writing.tables()
        return {
            name: sorted(json.dumps(row, sort_keys=True) for row in rows if row.get(key) in stay)
            for name, rows in tables.items()
        }


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tiers: TierBench, redis_url: str) -> AsyncIterator[ErasureBench]:
    bucket = tiers.bucket
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    stranger = Scope(new_id(), new_id(), "notes", principal="stranger")
    add_namespace(tiers.urls.superuser, stranger)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(tiers.urls.service, vectors=False))
        connection = await stack.enter_async_context(RedisConnection(redis_url, timeout_seconds=10.0))
        writing = tiers.writing
        eraser = NamespaceEraser(
            PostgresNamespaceErasure(database, batch=50),
            RedisNamespaceErasure(connection),
            ObjectSegmentStore(tiers.cold.objects),
            tiers.tiers.store,
            PostgresOperations(database),
            writing.clock,
            lease=timedelta(seconds=60),
            settle=SETTLE,
        )
        yield ErasureBench(
            tiers,
            elsewhere(writing, "beside"),
            WriterBench(writing.writer, stranger, writing.clock, writing.superuser_url),
            database,
            connection,
            redis_url,
            PostgresNamespaceStore(database),
            eraser,
            TenantEraser(
                PostgresTenantErasure(database, batch=50),
                eraser,
                RedisNamespaceErasure(connection),
                ObjectSegmentStore(tiers.cold.objects),
                writing.clock,
                settle=SETTLE,
            ),
        )


async def test_everything_of_a_deleted_namespace_goes_and_nothing_of_others(bench: ErasureBench) -> None:
    memories = await bench.fill()
    assert (await bench.tiers.tier_counts()).keys() == set(Tier)
    places = await bench.leftovers()
    assert {
        "memory",
        "event",
        "cold_segment",
        "search_unit_warm_1",
        "recall_trace",
        "namespace_policy",
    } <= places.keys()
    assert any(key.startswith("wm:") for key in places)
    assert any(key.startswith("acc:") for key in places)
    assert any(value == "object" for value in places.values())
    others = await bench.others()

    with pytest.raises(NamespaceNotEmpty):
        await bench.delete(force=False)
    assert await bench.leftovers() == places
    await bench.delete()
    assert not await bench.carry_out(), "a request that was let through before may still be writing"
    bench.tiers.writing.clock.moment += SETTLE
    assert await bench.carry_out()

    assert set(await bench.leftovers()) == {"namespace", "operation", "audit_record"}
    kept = await bench.tiers.writing.rows(
        "SELECT name, display_name FROM namespace WHERE namespace_id = %s", bench.scope.namespace_id
    )
    assert kept == [{"name": "notes", "display_name": ""}]
    assert await bench.tiers.writing.tables_with(*TEXTS) == set()
    assert await bench.tiers.writing.tables_with(*map(str, memories)) <= {"audit_record"}
    assert await bench.others() == others
    counts = (await bench.operation()).counts
    assert counts["postgres.memory"] >= len(memories)
    assert counts[OBJECTS] >= 1
    assert counts["redis.working_memory"] >= 1
    detail = (await bench.tiers.writing.rows("SELECT * FROM audit_record WHERE action = 'namespace.erase'"))[0][
        "detail"
    ]
    assert f"postgres.memory={counts['postgres.memory']}" in detail


async def test_nothing_is_written_into_a_deleted_namespace(bench: ErasureBench) -> None:
    doomed = bench.tiers.writing
    remembered = (await doomed.remember(TEXTS[0])).memory
    await bench.delete()
    before = await doomed.tables()
    for attempt in (
        lambda: doomed.append(["王芳搬家了"], "chat"),
        lambda: doomed.append(["She moved"], "another"),
        lambda: doomed.remember(TEXTS[1]),
        lambda: doomed.remember(TEXTS[0]),
    ):
        with pytest.raises(NamespaceDenied):
            await attempt()
    assert remembered.content == TEXTS[0]
    assert await doomed.tables() == before


async def test_what_was_under_way_is_erased_by_a_later_pass(bench: ErasureBench) -> None:
    await bench.tiers.write(TEXTS[:1])
    await bench.delete()
    assert not await bench.carry_out()
    waiting = await bench.tiers.writing.rows(
        "SELECT scheduled_at FROM procrastinate_jobs WHERE task_name = 'operation' AND scheduled_at IS NOT NULL"
    )
    assert [row["scheduled_at"] for row in waiting] == [(await bench.operation()).started_at + SETTLE]
    late = new_id()
    await bench.tiers.writing.rows(
        "INSERT INTO event (tenant_id, namespace_id, event_id, session_id, sequence, role, content, occurred_at,"
        " created_at) VALUES (%s, %s, %s, 's', 1, 1, '迟到的一句话', now(), now())",
        bench.scope.tenant_id,
        bench.scope.namespace_id,
        late,
    )
    await bench.tiers.cold.objects.put(f"{bench.scope.tenant_id}/{bench.scope.namespace_id}/late.segment", b"late")
    bench.tiers.writing.clock.moment += SETTLE
    assert await bench.carry_out()
    assert set(await bench.leftovers()) == {"namespace", "operation", "audit_record"}
    assert await bench.tiers.writing.tables_with(str(late)) == set()


async def test_an_erasure_waits_for_a_move_and_goes_on(bench: ErasureBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rearview.lifecycle.erase_namespace._PATIENCE", 2)
    await bench.tiers.write(TEXTS[:1])
    store = bench.tiers.tiers.store
    lease = await store.acquire(bench.scope.tenant_id, bench.scope.namespace_id, length=timedelta(seconds=60))
    assert lease is not None
    await bench.delete()
    with pytest.raises(Conflict):
        await bench.carry_out()
    assert await bench.tiers.writing.count("memory", "namespace_id = %s", bench.scope.namespace_id) > 0
    await store.release(lease, swept=False)
    bench.tiers.writing.clock.moment += SETTLE
    assert await bench.carry_out()
    assert set(await bench.leftovers()) == {"namespace", "operation", "audit_record"}
    # Whoever held the lease before moves nothing any more.
    with pytest.raises(Conflict):
        await store.renew(lease, length=timedelta(seconds=60))


async def test_only_a_deleted_namespace_of_ones_own_is_erased(bench: ErasureBench) -> None:
    await bench.beside.remember(ANOTHERS[0])
    others, erasure = await bench.others(), PostgresNamespaceErasure(bench.database)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await erasure.erase(bench.beside.scope.tenant_id, bench.beside.scope.namespace_id)
    await bench.delete()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await erasure.erase(bench.stranger.scope.tenant_id, bench.scope.namespace_id)
    assert await bench.others() == others


async def test_a_namespace_with_a_hold_in_it_is_not_deleted(bench: ErasureBench) -> None:
    memories = await bench.tiers.write(TEXTS[:1])
    await bench.tiers.writing.rows(
        "INSERT INTO legal_hold (tenant_id, hold_id, namespace_id, scope, target, principal, created_at)"
        " VALUES (%s, %s, %s, 'memory', %s, 'chief', now())",
        bench.scope.tenant_id,
        new_id(),
        bench.scope.namespace_id,
        str(memories[0]),
    )
    places = await bench.leftovers()
    with pytest.raises(LegalHold) as refused:
        await bench.delete()
    assert refused.value.metadata["resource_name"] == "namespaces/notes"
    assert await bench.leftovers() == places


async def test_everything_of_a_deleted_tenant_goes_and_nothing_of_another(bench: ErasureBench) -> None:
    await bench.fill()
    tenant_id = bench.scope.tenant_id
    others = await bench.others(of_strangers=True)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await PostgresTenantErasure(bench.database).erase(tenant_id)
    assert await bench.tenant_eraser.erase(tenant_id), "nothing is to be done for a tenant that was not deleted"
    async with Database(bench.tiers.urls.operator, vectors=False) as operator:
        tenants = PostgresTenantStore(operator)
        await tenants.delete(
            Caller(None, "operator", Role.OPERATOR, {}), str(tenant_id), bench.tiers.writing.clock.now()
        )
        with pytest.raises(NamespaceDenied):
            await bench.beside.append(["王芳搬家了"], "chat")
        assert not await bench.tenant_eraser.erase(tenant_id)
        bench.tiers.writing.clock.moment += SETTLE
        with pytest.raises(NamespaceDenied):
            await bench.beside.append(["王芳搬家了"], "chat")
        assert await bench.tenant_eraser.erase(tenant_id)
        kept = await tenants.get(str(tenant_id))

    assert set(await bench.leftovers(str(tenant_id))) == {"tenant", "audit_record", "procrastinate_jobs"}
    assert (
        await bench.tiers.writing.rows(
            "SELECT task_name FROM procrastinate_jobs WHERE args ->> 'tenant_id' = %s", str(tenant_id)
        )
        == [{"task_name": "erase_tenant"}] * 2
    )
    assert kept.disabled
    assert kept.erased_at is not None
    assert kept.erased["postgres.memory"] > 0
    assert kept.erased[OBJECTS] > 0
    assert await bench.others(of_strangers=True) == others
    assert await bench.tiers.writing.tables_with(*TEXTS) == set()
