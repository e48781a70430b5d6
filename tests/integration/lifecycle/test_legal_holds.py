"""What a legal hold stands on survives a forget, an expiry and a purge; everything else goes: over real stores."""

from datetime import timedelta
from uuid import UUID

import pytest

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.legal_holds import PostgresLegalHolds
from rearview.adapters.postgres.policies import PostgresPolicyStore, RememberedPolicies
from rearview.domain.errors import InvalidFields, LegalHold, NotFound
from rearview.domain.forget import (
    Forget,
    ForgetFilter,
    ForgetMemories,
    ForgetReceipt,
    ForgetSession,
    ForgetState,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.ids import new_id
from rearview.domain.legal_hold import HoldScope, HoldTarget, SetHold
from rearview.domain.recall import MemoryFilter
from rearview.domain.subject_names import SubjectNames
from rearview.language.aliases import canonical, common_words, spellings
from rearview.language.pii import PatternRedactor
from rearview.lifecycle.legal_holds import LegalHolds
from rearview.lifecycle.sweep import EVENTS, EXPIRED
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.tier_bench import TierBench
from tests.support.writer_fixtures import WriterBench

pytestmark = pytest.mark.asyncio(loop_scope="session")

ABOUT_HER = "王芳的生日是三月八号，她喜欢不加坚果的蛋糕。"
ABOUT_HIM = "Tom Lee signed the contract in Hangzhou on Monday."
OTHER = "The library closes at eight on Fridays."


async def hold(
    bench: WriterBench, scope: HoldScope, target: str = "", *, held: bool = True, reason: str = "Az. 4 O 12/26"
) -> None:
    """Set or lift a hold in the namespace of a bench."""
    async with Database(bench.superuser_url, vectors=False) as database:
        holds = LegalHolds(
            PostgresLegalHolds(database),
            PatternRedactor(),
            RememberedPolicies(PostgresPolicyStore(database)),
            SubjectNames(canonical, spellings, common_words()),
            bench.clock,
        )
        command = SetHold(bench.scope.namespace, HoldTarget(scope, target), f"namespaces/notes/{target}", held, reason)
        await holds.set(bench.scope, command)


async def forget(bench: WriterBench, target: ForgetTarget) -> ForgetReceipt:
    """Forget without a grace period."""
    command = Forget(bench.scope.namespace, target, skip_grace_period=True)
    return await bench.writer.forgetter.forget(bench.scope, command)


async def told(bench: WriterBench) -> dict[str, UUID]:
    """Tell about two people and a library, each in a session; return the memories by what they say."""
    for session, text in (("hers", ABOUT_HER), ("his", ABOUT_HIM), ("library", OTHER)):
        await bench.append([text], session)
    await bench.run_jobs(also_later=True)
    rows = await bench.rows(
        "SELECT memory_id, content FROM memory WHERE type = 1 AND tenant_id = %s", bench.scope.tenant_id
    )
    found = {text: row["memory_id"] for text in (ABOUT_HER, ABOUT_HIM, OTHER) for row in rows if text in row["content"]}
    assert found.keys() == {ABOUT_HER, ABOUT_HIM, OTHER}
    return found


async def stored(bench: WriterBench) -> dict[str, list[str]]:
    """Return everything that a forget would change."""
    tables = await bench.tables()
    names = ("memory", "event", "session", "tombstone", "forget_receipt", "memory_event", "audit_record")
    return {name: sorted(map(str, tables[name])) for name in names}


@pytest.mark.parametrize(
    ("scope", "target", "held_text"),
    [
        (HoldScope.MEMORY, "", ABOUT_HER),
        (HoldScope.SESSION, "hers", ABOUT_HER),
        (HoldScope.SUBJECT, "王芳", ABOUT_HER),
        (HoldScope.SUBJECT, "tom  LEE", ABOUT_HIM),
        (HoldScope.NAMESPACE, "", ABOUT_HER),
    ],
)
async def test_a_forget_of_what_is_held_says_so_and_changes_nothing(
    lifecycle: LifecycleBench, scope: HoldScope, target: str, held_text: str
) -> None:
    own = lifecycle.own
    memories = await told(own)
    await hold(own, scope, str(memories[held_text]) if scope is HoldScope.MEMORY else target)
    before = await stored(own)
    session, subject = ("hers", "王芳") if held_text == ABOUT_HER else ("his", "Tom Lee")
    targets: list[ForgetTarget] = [
        ForgetMemories((memories[held_text], memories[OTHER])),
        ForgetSession(session),
        ForgetSubject(subject),
        ForgetFilter(MemoryFilter(session_id=session)),
    ]
    for each in targets:
        with pytest.raises(LegalHold) as refused:
            await forget(own, each)
        assert refused.value.metadata["hold"].startswith("legalHolds/")
        assert refused.value.metadata["resource_name"].startswith("namespaces/notes/")
    assert await stored(own) == before

    if scope is HoldScope.NAMESPACE:
        with pytest.raises(LegalHold):
            await forget(own, ForgetMemories((memories[OTHER],)))
    else:
        assert (await forget(own, ForgetMemories((memories[OTHER],)))).memory_count >= 1
    await hold(own, scope, str(memories[held_text]) if scope is HoldScope.MEMORY else target, held=False)
    assert (await forget(own, ForgetMemories((memories[held_text],)))).state is ForgetState.TOMBSTONED


async def test_a_hold_is_of_its_tenant_alone(lifecycle: LifecycleBench) -> None:
    await told(lifecycle.own)
    await told(lifecycle.other)
    await hold(lifecycle.own, HoldScope.SUBJECT, "王芳")
    await hold(lifecycle.own, HoldScope.NAMESPACE)
    assert (await forget(lifecycle.other, ForgetSubject("王芳"))).memory_count >= 1


async def test_a_purge_waits_until_the_hold_is_lifted(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    memories = await told(own)
    receipt = await forget(own, ForgetSession("hers"))
    await hold(own, HoldScope.MEMORY, str(memories[ABOUT_HER]))
    assert not await lifecycle.purge(receipt)
    assert (await lifecycle.receipt(receipt)).state is ForgetState.TOMBSTONED
    assert "event" in await lifecycle.tables_with("王芳")
    overdue = "SELECT receipt_id FROM rearview_overdue_purges('1 second', 10)"
    await own.rows("DELETE FROM procrastinate_jobs")
    await own.rows("UPDATE forget_receipt SET purge_after = now() - interval '1 hour'")
    assert await own.rows(overdue) == []

    await hold(own, HoldScope.MEMORY, str(memories[ABOUT_HER]), held=False)
    assert [row["receipt_id"] for row in await own.rows(overdue)] == [receipt.receipt_id]
    assert await lifecycle.purge(receipt)
    assert (await lifecycle.receipt(receipt)).state is ForgetState.PURGED
    assert await lifecycle.tables_with("王芳") == set()


async def test_a_purge_that_has_begun_goes_on(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    memories = await told(own)
    receipt = await forget(own, ForgetSession("hers"))
    store = PostgresErasure(lifecycle.database)
    assert await store.begin(own.scope.tenant_id, receipt.receipt_id, now=own.clock.now()) is not None
    await hold(own, HoldScope.MEMORY, str(memories[ABOUT_HER]))
    assert await lifecycle.purge(receipt)


async def test_nothing_held_expires_and_it_goes_once_the_hold_is_lifted(tiers: TierBench) -> None:
    own = tiers.writing
    end = own.clock.moment + timedelta(days=1)
    held = (await own.remember(ABOUT_HER, expires_at=end)).memory.memory_id
    await own.remember(OTHER, expires_at=end)
    await own.append(["还没有别人说过的话：王芳搬家了"], "hers")
    await own.append([ABOUT_HIM], "his")
    await own.run_jobs(also_later=True)
    await own.rows("UPDATE event SET created_at = created_at - interval '400 days'")
    await hold(own, HoldScope.SUBJECT, "王芳")
    own.clock.moment += timedelta(days=2)

    swept = await tiers.sweep()
    assert (swept.counts[EXPIRED], swept.counts[EVENTS]) == (1, 1)
    assert await own.count("memory", "memory_id = %s AND state = 1", held) == 1
    assert [row["session_id"] for row in await own.rows("SELECT session_id FROM event")] == ["hers"]
    answer = await tiers.recall("王芳的生日", include_cold=True)
    assert ABOUT_HER not in [hit.memory.content for hit in answer.hits if hit.memory], "held, and expired all the same"

    await hold(own, HoldScope.SUBJECT, "王芳", held=False)
    swept = await tiers.sweep()
    assert (swept.counts[EXPIRED], swept.counts[EVENTS]) == (2, 1), "and the fact that was read from it"
    assert await own.count("memory", "memory_id = %s AND state = 1", held) == 0


async def test_holds_are_set_once_and_audited_without_names(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await told(own)
    for _ in range(2):
        await hold(own, HoldScope.SUBJECT, "王芳", reason="court order, call 13812345678")
    await hold(own, HoldScope.SUBJECT, "王芳", held=False)
    records = await own.rows("SELECT * FROM audit_record WHERE action LIKE 'legal_hold.%%' ORDER BY recorded_at")
    assert [record["action"] for record in records] == ["legal_hold.set", "legal_hold.lift"]
    assert records[0]["detail"] == "scope=subject reason=court order, call [PHONE]"
    assert records[0]["resource_names"][0] == records[1]["resource_names"][0]
    assert await own.count("legal_hold") == 0


async def test_what_is_not_there_cannot_be_held_or_freed(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await told(own)
    for scope, target in ((HoldScope.MEMORY, str(new_id())), (HoldScope.SESSION, "nobody")):
        with pytest.raises(NotFound):
            await hold(own, scope, target)
    with pytest.raises(NotFound):
        await hold(own, HoldScope.NAMESPACE, held=False)
    with pytest.raises(InvalidFields) as refused:
        await hold(own, HoldScope.SUBJECT, "13812345678")
    assert [violation.field for violation in refused.value.violations] == ["subject"]
    assert await own.count("legal_hold") == 0
