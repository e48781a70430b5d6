"""Verifying a purge: nothing left anywhere is said on the receipt, anything left is not."""

from datetime import UTC, datetime

import pytest

from rearview.adapters.postgres.erasure_check import PostgresErasureCheck
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.erasure import RedisErasure
from rearview.domain.errors import Conflict
from rearview.domain.forget import Forget, ForgetLastTurns, ForgetReceipt, ForgetState
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.clock import SystemClock
from tests.support.lifecycle_bench import LifecycleBench

SAID = [
    "We want to see the temples and the bamboo grove in Kyoto in April",
    "在京都我们还想去岚山看竹林，大概四月去",
    "My sister Zanzibarquartz lives in Kyoto and works as a cook",
]


async def verify(lifecycle: LifecycleBench, receipt: ForgetReceipt) -> bool:
    verifier = PurgeVerifier(PostgresErasureCheck(lifecycle.database), RedisErasure(lifecycle.redis), SystemClock())
    return await verifier.verify(lifecycle.own.scope.tenant_id, receipt.receipt_id)


async def purged_session(lifecycle: LifecycleBench) -> ForgetReceipt:
    await lifecycle.own.append(SAID)
    await lifecycle.own.run_jobs()
    receipt = await lifecycle.forget_session()
    assert not await verify(lifecycle, receipt), "nothing is verified before its purge"
    await lifecycle.purge(receipt)
    return await lifecycle.receipt(receipt)


async def test_a_purge_that_left_nothing_is_verified_once(lifecycle: LifecycleBench) -> None:
    receipt = await purged_session(lifecycle)
    assert await verify(lifecycle, receipt)
    assert not await verify(lifecycle, receipt)
    after = await lifecycle.receipt(receipt)
    assert (after.state, after.digest, after.places) == (ForgetState.VERIFIED, receipt.digest, receipt.places)
    assert after.verified_at is not None
    records = await lifecycle.own.rows("SELECT detail FROM audit_record WHERE action = 'memory.verify_purge'")
    assert [receipt.digest in record["detail"] for record in records] == [True]


@pytest.mark.parametrize("place", ["postgres.memory_stats", "postgres.recall_trace", "redis.access_counts",
                                   "redis.working_memory"])  # fmt: skip
async def test_what_is_left_is_found_and_the_receipt_stays(lifecycle: LifecycleBench, place: str) -> None:
    own = lifecycle.own
    receipt = await purged_session(lifecycle)
    erased, tenant_id, namespace_id = receipt.memory_ids[0], own.scope.tenant_id, own.scope.namespace_id
    key = f"wm:{{{tenant_id}}}:{namespace_id}:chat"
    if place == "postgres.memory_stats":
        await own.rows("INSERT INTO memory_stats VALUES (%s, %s, %s)", tenant_id, namespace_id, erased)
    elif place == "postgres.recall_trace":
        await own.rows(
            "INSERT INTO recall_trace VALUES (%s, gen_random_uuid(), 'p', ARRAY[%s]::uuid[],"
            " jsonb_build_object('name', 'namespaces/notes/memories/' || %s::text), now())",
            tenant_id, namespace_id, erased,
        )  # fmt: skip
    elif place == "redis.access_counts":
        await RedisAccessCounter(lifecycle.redis).count(tenant_id, {namespace_id: [erased]}, datetime.now(UTC))
    else:
        event_id = (await own.rows("SELECT event_ids[1] AS id FROM forget_receipt"))[0]["id"]
        await lifecycle.redis.call(lambda client: client.rpush(key, f'{{"id": "{event_id}"}}'))
    with pytest.raises(Conflict, match=place):
        await verify(lifecycle, receipt)
    assert (await lifecycle.receipt(receipt)).state is ForgetState.PURGED


@pytest.mark.parametrize("place", ["postgres.memory_stats", "redis.access_counts"])
async def test_what_was_written_beside_the_purge_is_erased_by_the_next_attempt(
    lifecycle: LifecycleBench, place: str
) -> None:
    own = lifecycle.own
    receipt = await purged_session(lifecycle)
    erased, tenant_id, namespace_id = receipt.memory_ids[0], own.scope.tenant_id, own.scope.namespace_id
    if place == "postgres.memory_stats":
        await own.rows("INSERT INTO memory_stats VALUES (%s, %s, %s)", tenant_id, namespace_id, erased)
    else:
        await RedisAccessCounter(lifecycle.redis).count(tenant_id, {namespace_id: [erased]}, datetime.now(UTC))
    await lifecycle.purge(receipt)
    assert await verify(lifecycle, receipt)
    after = await lifecycle.receipt(receipt)
    assert after.state is ForgetState.VERIFIED
    counted = {erased.place: erased.count for erased in receipt.places}
    assert {one.place: one.count for one in after.places} == {**counted, place: counted[place] + 1}


async def test_turns_around_forgotten_ones_are_made_anew_before_it_is_verified(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await own.append(SAID)
    await own.run_jobs()
    receipt = await own.writer.forgetter.forget(
        own.scope, Forget("notes", ForgetLastTurns("chat", 1), skip_grace_period=True)
    )
    await lifecycle.purge(receipt)
    assert await lifecycle.tables_with("Zanzibarquartz") == set()
    with pytest.raises(Conflict, match="stale_units"):
        await verify(lifecycle, receipt)
    await own.run_jobs(["refresh_units"])
    assert await verify(lifecycle, receipt)
    assert await own.count("event") == len(SAID) - 1
