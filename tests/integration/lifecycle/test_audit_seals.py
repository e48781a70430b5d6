"""The audit log is sealed, and whatever is done to it behind the services' back is named: over real stores."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from rearview.adapters.cold.opening import open_cold
from rearview.adapters.postgres.audit_log import PostgresAuditLog
from rearview.adapters.postgres.audit_seals import PostgresAuditSeals
from rearview.adapters.postgres.database import Database
from rearview.adapters.s3.audit_anchors import ObjectAuditAnchors
from rearview.domain.audit import AuditFilter, AuditVerdict
from rearview.domain.audit_seal import AuditKey
from rearview.domain.paging import PageRequest
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.fault_points import NO_FAULTS
from rearview.lifecycle.seal_audit import AuditSealer, SealRules
from rearview.lifecycle.verify_audit import AuditVerifier
from rearview.ports.cold_store import ColdObjects
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.stack import BucketAddress
from tests.support.tier_bench import lifecycle_config

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "a" * 32
LAG = timedelta(minutes=2)
TEXTS = ("王芳的生日是三月八号", "The library closes at eight", "draft 发给许航 before noon")
BATCH = 4


@dataclass(frozen=True, slots=True)
class SealBench:
    """Tenants whose deeds are recorded, and what seals the records in batches of four."""

    lifecycle: LifecycleBench
    config: LifecycleConfig
    objects: ColdObjects
    store: PostgresAuditSeals
    anchors: ObjectAuditAnchors

    def sealer(self, key: str = KEY) -> AuditSealer:
        """Return a sealer with small batches."""
        rules = SealRules(lag=LAG, batch=BATCH)
        clock, faults = self.lifecycle.own.clock, NO_FAULTS
        return AuditSealer(self.store, self.anchors, AuditKey(key.encode()), clock, rules=rules, faults=faults)

    async def act(self, times: int = 10) -> None:
        """Do things that are recorded, in both tenants, and let them grow old enough to be sealed."""
        for at in range(times):
            await self.lifecycle.own.remember(f"{TEXTS[at % 3]} {at}")
            await self.lifecycle.other.remember(f"{TEXTS[at % 3]} {at}")
        self.lifecycle.own.clock.moment += LAG * 2

    async def sealed(self, times: int = 10) -> int:
        """Do such things, seal them and return how many records were sealed."""
        await self.act(times)
        return await self.sealer().seal()

    async def verdict(self, start: int = 1, *, most: int = 1_000, key: str = KEY) -> AuditVerdict:
        """Verify the own tenant's log."""
        verifier = AuditVerifier(self.store, self.anchors, AuditKey(key.encode()), most=most)
        return await verifier.verify(self.lifecycle.own.scope.tenant_id, start)

    async def places(self) -> list[dict[str, Any]]:
        """Return the own tenant's records in their order."""
        return await self.lifecycle.own.rows(
            "SELECT * FROM audit_record WHERE tenant_id = %s ORDER BY recorded_at, record_id",
            self.lifecycle.own.scope.tenant_id,
        )

    async def tamper(self, statement: str, *values: Any) -> None:
        """Do something straight in the database, as its superuser."""
        await self.lifecycle.own.rows(statement, *values)


@pytest_asyncio.fixture(loop_scope="session")
async def bench(lifecycle: LifecycleBench, bucket: BucketAddress) -> AsyncIterator[SealBench]:
    config = lifecycle_config(lifecycle.urls, lifecycle.redis_url, bucket, audit_key=KEY)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(Database(lifecycle.urls.service, vectors=False))
        cold = await stack.enter_async_context(open_cold(config, pool, lifecycle.own.clock))
        anchors = ObjectAuditAnchors(cold.objects, AuditKey(KEY.encode()))
        yield SealBench(lifecycle, config, cold.objects, PostgresAuditSeals(pool), anchors)


async def test_records_are_sealed_in_batches_and_verified_in_parts(bench: SealBench) -> None:
    assert await bench.sealed() == 20
    assert await bench.lifecycle.own.count("audit_seal") == 6
    whole = await bench.verdict()
    assert (whole.intact, whole.checked, whole.next_sequence) == (True, 10, 0)

    assert await bench.sealed(3) == 6
    part = await bench.verdict(most=5)
    assert (part.intact, part.checked, part.next_sequence) == (True, 8, 9)
    rest = await bench.verdict(part.next_sequence)
    assert (rest.intact, rest.checked, rest.next_sequence) == (True, 5, 0)
    assert await bench.sealer().seal() == 0


async def test_what_is_too_young_stays_unsealed(bench: SealBench) -> None:
    await bench.lifecycle.own.remember(TEXTS[0])
    assert await bench.sealer().seal() == 0
    empty = await bench.verdict()
    assert (empty.intact, empty.checked, empty.sealed_until) == (True, 0, None)


TAMPERINGS = {
    "edited": ("UPDATE audit_record SET principal = 'somebody' WHERE record_id = %(third)s", "was changed"),
    "detail": ("UPDATE audit_record SET detail = detail || ' ' WHERE record_id = %(third)s", "was changed"),
    "other trace": ("UPDATE audit_record SET trace_id = 'x' WHERE record_id = %(third)s", "was changed"),
    "deleted": ("DELETE FROM audit_record WHERE record_id = %(third)s", "was deleted"),
    "inserted": (
        "INSERT INTO audit_record SELECT tenant_id, gen_random_uuid(), recorded_at - interval '1 microsecond',"
        " principal, action, resource_names, detail, request_id, trace_id FROM audit_record"
        " WHERE record_id = %(third)s",
        "was inserted",
    ),
    "reordered": (
        "UPDATE audit_record a SET recorded_at = b.recorded_at FROM audit_record b WHERE"
        " (a.record_id, b.record_id) IN ((%(third)s, %(fourth)s), (%(fourth)s, %(third)s))",
        "was changed",
    ),
}


@pytest.mark.parametrize("way", TAMPERINGS)
async def test_a_record_that_is_not_what_it_was_is_named(bench: SealBench, way: str) -> None:
    await bench.sealed()
    statement, problem = TAMPERINGS[way]
    records = await bench.places()
    with psycopg.connect(bench.lifecycle.urls.superuser, autocommit=True) as connection:
        named = {"third": records[2]["record_id"], "fourth": records[3]["record_id"]}
        assert connection.execute(statement.encode(), named).rowcount > 0
    found = await bench.verdict()
    assert (found.intact, found.first_broken_sequence, found.checked) == (False, 3, 2)
    assert problem in found.problem


async def test_cut_ends_missing_and_forged_seals_are_named(bench: SealBench) -> None:
    await bench.sealed()
    tenant_id = bench.lifecycle.own.scope.tenant_id
    records = await bench.places()
    await bench.tamper("CREATE TABLE kept AS SELECT * FROM audit_seal WHERE tenant_id = %s", tenant_id)

    async def restored(problem: str, sequence: int) -> None:
        found = await bench.verdict()
        assert (found.intact, found.first_broken_sequence) == (False, sequence)
        assert problem in found.problem
        await bench.tamper("DELETE FROM audit_seal WHERE tenant_id = %s", tenant_id)
        await bench.tamper("INSERT INTO audit_seal SELECT * FROM kept")
        assert (await bench.verdict()).intact

    await bench.tamper("DELETE FROM audit_seal WHERE tenant_id = %s AND number = 3", tenant_id)
    await restored("cut off", 9)
    await bench.tamper("DELETE FROM audit_seal WHERE tenant_id = %s AND number = 2", tenant_id)
    await restored("is missing", 5)
    await bench.tamper("DELETE FROM audit_seal WHERE tenant_id = %s", tenant_id)
    await restored("cut off", 1)
    await bench.tamper("UPDATE audit_seal SET sealed_at = now() WHERE tenant_id = %s AND number = 2", tenant_id)
    await restored("is not one that the platform made", 5)
    # Whoever can write rows makes a chain of his own, with a key of his own.
    forged = AuditKey(b"b" * 32)
    first = await bench.store.numbered(tenant_id, 1)
    assert first is not None
    entries = await bench.store.entries(tenant_id, first.after, first.upto, limit=BATCH)
    made = forged.seal(tenant_id, None, first.after, entries, first.sealed_at)
    await bench.tamper(
        "UPDATE audit_seal SET leaves = %s, root = %s, code = %s WHERE tenant_id = %s AND number = 1",
        *(b"".join(made.leaves), made.root, made.code, tenant_id),
    )
    await restored("was changed", 1)
    # The records behind the cut end go, too: what is left is whole in itself.
    await bench.tamper("DELETE FROM audit_seal WHERE tenant_id = %s AND number = 3", tenant_id)
    await bench.tamper("DELETE FROM audit_record WHERE record_id = ANY (%s)", [r["record_id"] for r in records[8:]])
    found = await bench.verdict()
    assert (found.intact, found.first_broken_sequence) == (False, 9)


async def test_a_backdated_record_in_a_quiet_time_is_named_and_never_sealed(bench: SealBench) -> None:
    await bench.sealed()
    bench.lifecycle.own.clock.moment += timedelta(days=3)
    await bench.sealer().seal()  # nothing to seal, and that is noted
    last = (await bench.places())[-1]
    await bench.tamper(
        "INSERT INTO audit_record SELECT tenant_id, gen_random_uuid(), recorded_at + interval '1 day', principal,"
        " action, resource_names, detail, request_id, trace_id FROM audit_record WHERE record_id = %s",
        last["record_id"],
    )
    found = await bench.verdict()
    assert (found.intact, found.first_broken_sequence, found.checked) == (False, 11, 10)
    assert await bench.sealed(2) == 4
    found = await bench.verdict()
    assert (found.intact, found.first_broken_sequence) == (False, 11)
    assert "was inserted" in found.problem


async def test_the_wrong_key_seals_nothing_and_proves_nothing(bench: SealBench) -> None:
    await bench.sealed()
    await bench.act(2)
    assert await bench.sealer("b" * 32).seal() == 0
    assert "another key" in (await bench.verdict(key="b" * 32)).problem
    assert await bench.sealer().seal() == 4
    assert (await bench.verdict()).checked == 12


async def test_the_services_can_neither_change_records_nor_seals(bench: SealBench) -> None:
    await bench.sealed()
    with psycopg.connect(bench.lifecycle.urls.service, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, false)", [str(bench.lifecycle.own.scope.tenant_id)])
        for table in ("audit_record", "audit_seal"):
            for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET tenant_id = tenant_id"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())
        assert connection.execute("SELECT count(DISTINCT tenant_id) FROM audit_seal").fetchone() == (1,)


async def test_sequences_in_the_list_are_those_of_the_seals(bench: SealBench) -> None:
    await bench.sealed()
    for at in range(2):
        await bench.lifecycle.own.remember(f"not sealed yet {at}")
    log = PostgresAuditLog(bench.lifecycle.database)
    tenant_id = bench.lifecycle.own.scope.tenant_id
    sequences: list[int] = []
    page = PageRequest(size=5)
    while True:
        found = await log.records(tenant_id, AuditFilter(), page)
        sequences += [record.sequence for record in found.rows]
        if not found.next_after:
            break
        page = PageRequest(size=5, after=found.next_after)
    assert sequences == list(range(12, 0, -1))


async def test_two_workers_seal_each_record_once(bench: SealBench) -> None:
    await bench.act()
    await asyncio.gather(*(bench.sealer().seal() for _ in range(3)))
    await bench.sealer().seal()
    found = await bench.verdict()
    assert (found.intact, found.checked) == (True, 10)
