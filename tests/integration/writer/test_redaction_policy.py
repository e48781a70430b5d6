"""A tenant's policy: what is redacted, and whether originals are kept, sealed."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.originals import PostgresOriginalStore
from rearview.adapters.postgres.policies import PostgresPolicyStore, RememberedPolicies
from rearview.adapters.vault.aes_gcm_sealer import AesGcmSealer
from rearview.domain.errors import EtagMismatch, FeatureNotOffered, NotFound, PreconditionFailed
from rearview.domain.forget import Forget, ForgetSession
from rearview.domain.ids import new_id
from rearview.domain.names import EventName, MemoryName
from rearview.domain.principal import Caller, Role
from rearview.domain.redaction import PolicyChanges, RedactionPolicy, parse_vault_keys
from rearview.domain.text import PiiCategory
from rearview.language.pii import PatternRedactor
from rearview.ports.embedder import Embedder
from rearview.retriever.reveal_redacted import RevealRedacted
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import SetClock, WriterBench

KEYS = "old:" + base64.b64encode(b"o" * 32).decode()
ROTATED = "new:" + base64.urlsafe_b64encode(b"\xff" * 32).decode() + "," + KEYS


@pytest_asyncio.fixture(loop_scope="session")
async def calls(database: DatabaseUrls) -> AsyncIterator[Database]:
    async with Database(database.service, max_connections=2, vectors=False) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def sealing(
    writer_config: WriterConfig, bench: WriterBench, real_embedder: Embedder
) -> AsyncIterator[WriterBench]:
    """A writer that has a key of the vault."""
    config = writer_config.model_copy(update={"vault_key": type(writer_config.internal_key)(KEYS)})
    async with open_writer(config, embedder=real_embedder, clock=SetClock()) as writer:
        yield replace(bench, writer=writer)


def revealing(calls: Database, keys: str = KEYS) -> RevealRedacted:
    return RevealRedacted(
        PostgresOriginalStore(calls), AesGcmSealer(parse_vault_keys(keys)), PatternRedactor(), SetClock()
    )


async def set_policy(bench: WriterBench, calls: Database, **changes: Any) -> int:
    caller = Caller(tenant_id=bench.scope.tenant_id, principal="boss", role=Role.ADMIN)
    return (await PostgresPolicyStore(calls).update(caller, PolicyChanges(**changes), bench.clock.now())).version


async def test_a_policy_says_which_categories_go(bench: WriterBench, calls: Database) -> None:
    await set_policy(bench, calls, categories=(PiiCategory.EMAIL, PiiCategory.PERSON, PiiCategory.DATE_OF_BIRTH))
    stored = await bench.append(
        ["我叫欧阳晓雯，电话13812345678，邮箱a@example.com", "My name is Kevin Marsh, born on May 7, 1990"]
    )
    assert [event.content for event in stored] == [
        "我叫[PERSON_1]，电话13812345678，邮箱[EMAIL_1]",
        "My name is [PERSON_2], born on [DATE_OF_BIRTH_1]",
    ]


async def test_a_change_is_seen_when_the_remembered_policy_is_old(bench: WriterBench, calls: Database) -> None:
    now = 0.0
    policies = RememberedPolicies(PostgresPolicyStore(calls), seconds=2.0, monotonic_seconds=lambda: now)
    assert await policies.redaction(bench.scope.tenant_id) == RedactionPolicy()
    await set_policy(bench, calls, categories=(PiiCategory.IP,))
    now = 1.9
    assert await policies.redaction(bench.scope.tenant_id) == RedactionPolicy()
    now = 2.1
    assert await policies.redaction(bench.scope.tenant_id) == RedactionPolicy((PiiCategory.IP,))
    assert await policies.redaction(new_id()) == RedactionPolicy()


async def test_changes_are_versioned_audited_and_break_cached_answers(bench: WriterBench, calls: Database) -> None:
    assert await set_policy(bench, calls, categories=(PiiCategory.IP,), version=0) == 1
    assert await set_policy(bench, calls, vault=True, version=1) == 2
    with pytest.raises(EtagMismatch):
        await set_policy(bench, calls, vault=False, version=1)
    policy = await PostgresPolicyStore(calls).get(bench.scope.tenant_id)
    assert (policy.redaction, policy.version) == (RedactionPolicy((PiiCategory.IP,), vault=True), 2)
    assert await bench.count("audit_record", "action = 'policy.update' AND principal = 'boss'") == 2
    assert (await bench.rows("SELECT sum(breaking) AS n FROM namespace_epoch"))[0]["n"] == 2


async def test_nothing_is_kept_unless_the_policy_says_so(sealing: WriterBench, calls: Database) -> None:
    event = (await sealing.append(["电话13812345678"]))[0]
    assert await sealing.count("event_original") == 0
    with pytest.raises(PreconditionFailed, match="nothing"):
        await revealing(calls).reveal(sealing.scope, EventName("notes", "chat", event.event_id), "test")
    with pytest.raises(FeatureNotOffered):
        await RevealRedacted(PostgresOriginalStore(calls), None, PatternRedactor(), SetClock()).reveal(
            sealing.scope, EventName("notes", "chat", event.event_id), "test"
        )


async def test_sealed_originals_are_shown_under_audit_and_go_with_what_they_belong_to(
    sealing: WriterBench, calls: Database
) -> None:
    await set_policy(sealing, calls, vault=True)
    said = ["我的号码是13812345678，记得打", "Mail li@example.com or call +86 138-1234-5678", "没有隐私"]
    events = await sealing.append(said)
    explicit = (await sealing.remember("备用号 13987654321")).memory
    assert await sealing.count("event_original") == 2
    assert not [
        value for value in ("13812345678", "li@example.com", "13987654321") if value in await sealing.every_text()
    ]

    reveal = revealing(calls, ROTATED)
    names = [EventName("notes", "chat", event.event_id) for event in events]
    assert [await reveal.reveal(sealing.scope, name, "案件 13700000000") for name in names[:2]] == said[:2]
    assert await reveal.reveal(sealing.scope, MemoryName("notes", explicit.memory_id), "check") == "备用号 13987654321"
    audits = await sealing.rows("SELECT detail, resource_names FROM audit_record WHERE action = 'redacted.reveal'")
    assert {row["detail"] for row in audits} == {"案件 [PHONE]", "check"}
    assert {name for row in audits for name in row["resource_names"]} >= {str(name) for name in names[:2]}

    await sealing.run_jobs(also_later=True)
    episodes = await sealing.rows("SELECT m.memory_id, m.content FROM memory m WHERE content LIKE %s", "%[PHONE_1]%")
    assert episodes
    shown = await reveal.reveal(sealing.scope, MemoryName("notes", episodes[0]["memory_id"]), "episode")
    assert "13812345678" in shown
    assert "[PHONE" not in shown

    await sealing.writer.forgetter.forget(sealing.scope, Forget("notes", ForgetSession("chat")))
    with pytest.raises(NotFound):
        await reveal.reveal(sealing.scope, names[0], "after forgetting")
    await sealing.rows("DELETE FROM event")
    await sealing.rows("DELETE FROM memory")
    assert await sealing.count("event_original") == await sealing.count("memory_original") == 0


async def test_a_seal_opens_only_where_it_belongs_and_with_its_key(sealing: WriterBench, calls: Database) -> None:
    await set_policy(sealing, calls, vault=True)
    one, two = await sealing.append(["电话13812345678", "电话13987654321"])
    name = EventName("notes", "chat", one.event_id)
    other_keys = "old:" + base64.b64encode(b"x" * 32).decode()
    with pytest.raises(PreconditionFailed, match="changed"):
        await revealing(calls, other_keys).reveal(sealing.scope, name, "wrong key")
    with pytest.raises(PreconditionFailed, match="not configured"):
        await revealing(calls, other_keys.replace("old", "another")).reveal(sealing.scope, name, "lost key")
    await sealing.rows(
        "UPDATE event_original o SET sealed = x.sealed FROM event_original x WHERE o.event_id = %s AND x.event_id = %s",
        one.event_id,
        two.event_id,
    )
    with pytest.raises(PreconditionFailed, match="changed"):
        await revealing(calls).reveal(sealing.scope, name, "swapped")
