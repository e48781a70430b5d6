"""What a tenant may store: counted with what others write at the same time, and refused without a trace."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from rearview.adapters.postgres.event_log import PostgresEventLog
from rearview.adapters.postgres.memory_store import PostgresMemoryStore
from rearview.domain.errors import QuotaExceeded, RearviewError
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.principal import Scope
from rearview.domain.writing import Remembered, UpdateMemory
from rearview.ports.embedder import Embedder
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import SetClock, WriterBench, request_key

# None of them states a fact, which would be a memory more.
TEXTS = [
    "花园里的灯又坏了",
    "The garage code is 4711",
    "周五 meeting 改到三点",
    "西湖边的茶馆关门了",
    "The old bridge is closed for repairs",
    "十五号停水",
    "The Aurora launch is in October",
    "家里的 WiFi 在客厅",
    "The station has new lockers",
    "楼下的花店在九月开张",
]


@pytest_asyncio.fixture
async def limited(
    database: DatabaseUrls, writer_config: WriterConfig, real_embedder: Embedder, scope: Scope
) -> AsyncIterator[WriterBench]:
    """A writer whose tenants may store three memories and a thousand bytes unless they have quotas of their own."""
    config = writer_config.model_copy(update={"default_max_memories": 3, "default_max_bytes": 1_000})
    async with open_writer(config, embedder=real_embedder, clock=SetClock()) as writer:
        yield WriterBench(writer, scope, SetClock(), database.superuser)


async def test_memories_remembered_at_once_stay_within_the_quota(limited: WriterBench) -> None:
    store = limited.writer.keeper._store
    assert isinstance(store, PostgresMemoryStore)
    await limited.open_connections(store._database)
    results = await asyncio.gather(*(limited.remember(text) for text in TEXTS), return_exceptions=True)
    refused = [result for result in results if isinstance(result, QuotaExceeded)]
    assert (len(refused), await limited.count("memory")) == (7, 3)
    assert {(error.metadata["quota"], error.metadata["limit"]) for error in refused} == {("max_memories", "3")}
    assert all(error.retry_after_seconds for error in refused)
    assert (await limited.rows("SELECT memories FROM namespace_statistics"))[0]["memories"] == 3
    assert await limited.count("audit_record", "action = 'memory.remember'") == 3
    kept = {row["content"] for row in await limited.rows("SELECT content FROM memory")}
    assert not await limited.tables_with(*(text for text in TEXTS if text not in kept)), "nothing of it is stored"


async def test_turns_count_before_they_are_memories(limited: WriterBench) -> None:
    log = limited.writer.appender._log
    assert isinstance(log, PostgresEventLog)
    await limited.open_connections(log._database)
    appends = (limited.append([text], f"chat-{at}") for at, text in enumerate(TEXTS))
    results = await asyncio.gather(*appends, return_exceptions=True)
    assert sum(isinstance(result, QuotaExceeded) for result in results) == 7
    assert await limited.count("event") == 3
    assert await limited.count("session") == 3
    assert await limited.count("procrastinate_jobs", "task_name = 'index_session'") == 3
    with pytest.raises(QuotaExceeded):
        await limited.remember(TEXTS[0])


async def test_a_request_that_was_carried_out_is_answered_again_when_the_quota_is_full(limited: WriterBench) -> None:
    key = request_key("AppendEvents", "once")
    turns = [limited.turn(text) for text in TEXTS[:3]]
    first = await limited.append(turns, request=key)
    assert await limited.append(turns, request=key) == first
    with pytest.raises(QuotaExceeded):
        await limited.append([TEXTS[3]])


async def test_bytes_are_those_of_the_text(limited: WriterBench) -> None:
    await limited.append(["花" * 300])
    with pytest.raises(QuotaExceeded) as caught:
        await limited.append(["a" * 101])
    assert caught.value.metadata == {"quota": "max_bytes", "limit": "1000", "used": "1001"}
    await limited.append(["a" * 100])


async def test_forgetting_makes_room_and_changing_may_not_take_more(limited: WriterBench) -> None:
    results = await limited.writer.keeper.remember_all(limited.scope, [limited.command(text) for text in TEXTS])
    kept = [result.memory for result in results if isinstance(result, Remembered)]
    assert len(kept) < len(TEXTS)
    with pytest.raises(QuotaExceeded) as caught:
        await limited.writer.updater.update(
            limited.scope, UpdateMemory("notes", kept[0].memory_id, frozenset({"content"}), "长" * 400)
        )
    assert caught.value.metadata["quota"] == "max_bytes"
    stored = await limited.rows("SELECT content FROM memory WHERE memory_id = %s", kept[0].memory_id)
    assert stored[0]["content"] == kept[0].content
    await limited.writer.forgetter.forget(
        limited.scope, Forget("notes", ForgetMemories(tuple(memory.memory_id for memory in kept)))
    )
    await limited.remember(TEXTS[-1])


async def test_a_tenants_own_quota_goes_before_the_default(limited: WriterBench) -> None:
    await limited.rows("UPDATE tenant SET max_memories = 5")
    commands = [limited.command(text) for text in TEXTS]
    results = await limited.writer.keeper.remember_all(limited.scope, commands)
    outcomes = [result.reason if isinstance(result, RearviewError) else "stored" for result in results]
    assert set(outcomes) == {"stored", "QUOTA_EXCEEDED"}, "each of a batch is answered by itself"
    # What states a fact may take two.
    assert 4 <= await limited.count("memory") <= 5
