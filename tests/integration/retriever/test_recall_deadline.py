"""The deadline is kept whatever is slow, and what was left out is named."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.errors import DeadlineExceeded
from rearview.ports.clock import SystemClock
from tests.integration.retriever.conftest import Bench
from tests.support.indexed_library import Library
from tests.support.slow_link import slow_database
from tests.support.stack import DatabaseUrls

DELAY_SECONDS = 0.2
BUSY_MACHINE_SECONDS = 3.0


async def test_a_database_that_answers_late(bench: Bench, library: Library, database: DatabaseUrls) -> None:
    """Two round trips fit into a deadline of seconds; into half of one they do not, and the caller hears so in time."""
    await library.memory("预算是12000元")
    await library.memory("The offsite is in Lisbon")
    library.index()
    async with (
        slow_database(database, DELAY_SECONDS) as slow,
        Database(slow.service, max_connections=1, settings=dict(RECALL_SETTINGS)) as far,
    ):
        recall = bench.with_parts(store=PostgresRecallStore(far))
        assert (await recall.ask("预算是多少", library.scope)).hits  # opens the connection, which takes its time too
        started = time.monotonic()
        recalled = await recall.ask("预算是多少", library.scope, time_left_seconds=30.0)
        assert recalled.hits
        assert recalled.degraded == ()
        assert time.monotonic() - started >= 2 * DELAY_SECONDS, "the link is slow"
        started = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            await recall.ask("预算是多少", library.scope, time_left_seconds=1.5 * DELAY_SECONDS)
        assert time.monotonic() - started < 1.5 * DELAY_SECONDS + BUSY_MACHINE_SECONDS
        # The connection that was given up answers nobody else's question.
        other = await recall.ask("where is the offsite", library.scope, time_left_seconds=60.0)
        assert other.hits[0].memory is not None
        assert other.hits[0].memory.content == "The offsite is in Lisbon"


async def test_without_vectors_and_redis_what_is_left_out_is_named(bench: Bench, library: Library) -> None:
    await library.memory("预算是12000元")
    library.index()
    async with RedisConnection("redis://127.0.0.1:1/0") as nowhere:
        lonely = replace(bench.with_parts(working_memory=RedisWorkingMemory(nowhere, SystemClock())))
        recalled = await lonely.ask("预算", library.scope, vector=False, session_id="s1", time_left_seconds=30.0)
    assert recalled.hits
    assert set(recalled.degraded) == {"vector", "working_memory"}
