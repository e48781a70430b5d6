"""Recall with parts missing, slow or of another generation; and what it leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.embedding_errors import ModelUnavailable
from rearview.domain.errors import DeadlineExceeded, EmbeddingGenerationMismatch, InvalidFields, NotFound, Unavailable
from rearview.domain.ids import new_id
from rearview.domain.recall import RecallQuery, Route
from rearview.ports.clock import SystemClock
from rearview.ports.reranker import RerankScores
from rearview.retriever.asked import Asked
from rearview.retriever.course import NEAR_MISSES
from rearview.retriever.get_recall_trace import GetRecallTrace
from rearview.retriever.recall_recorder import BackgroundRecorder
from rearview.retriever.reranking import RerankStage
from tests.integration.retriever.conftest import NOW, Bench, memory_ids
from tests.support.indexed_library import Library


@pytest.fixture
async def filled(library: Library) -> Library:
    for text in ("预算是12000元", "我对花生过敏", "The offsite is in Lisbon", "椅子要带扶手"):
        await library.memory(text)
    library.index()
    return library


class Deaf:
    """Remembers nothing of what was handed out."""

    async def record(self, *args: object) -> None:
        return None

    async def known(self, *args: object, now: object) -> dict[str, datetime]:
        return {}

    async def clear(self, *args: object) -> None:
        return None


async def test_without_a_vector(bench: Bench, filled: Library) -> None:
    recalled = await bench.ask("预算是多少", filled.scope, vector=False)
    assert recalled.degraded == ("vector",)
    assert recalled.hits[0].memory is not None
    assert recalled.hits[0].memory.content == "预算是12000元"
    chosen = await bench.ask("预算", filled.scope, vector=False, disabled_routes=frozenset({Route.VECTOR}))
    assert chosen.degraded == ()


async def test_a_vector_of_another_generation(bench: Bench, filled: Library) -> None:
    asked = Asked(RecallQuery("预算", NOW), [filled.scope], {"another": np.ones(384, dtype=np.float32)})
    with pytest.raises(EmbeddingGenerationMismatch) as raised:
        await bench.recall.recall(asked)
    assert raised.value.metadata == {
        "expected": filled.embedder.generation.generation_id,
        "actual": "another",
    }


async def test_a_vector_of_another_dimension(bench: Bench, filled: Library) -> None:
    generation_id = filled.embedder.generation.generation_id
    asked = Asked(RecallQuery("预算", NOW), [filled.scope], {generation_id: np.ones(3, dtype=np.float32)})
    with pytest.raises(InvalidFields, match="384"):
        await bench.recall.recall(asked)


async def test_a_new_generation_is_noticed(bench: Bench, filled: Library) -> None:
    await bench.ask("预算", filled.scope)
    filled.connection.execute("UPDATE model_generation SET current = false")
    filled.connection.execute("SELECT rearview_register_generation('newer', 'newer', 8, '{}')")
    asked = Asked(RecallQuery("预算", NOW), [filled.scope], {"newer": np.full(8, 8**-0.5, dtype=np.float32)})
    assert (await bench.recall.recall(asked)).hits == ()


async def test_without_redis(bench: Bench, filled: Library) -> None:
    async with RedisConnection("redis://127.0.0.1:1/0") as nowhere:
        lonely = bench.with_parts(working_memory=RedisWorkingMemory(nowhere, SystemClock()))
        recalled = await lonely.ask("预算", filled.scope, session_id="s1")
        assert recalled.degraded == ("working_memory",)
        assert recalled.hits
        without_session = await lonely.ask("预算", filled.scope)
        assert without_session.degraded == ()


async def test_cold_is_said_to_be_left_out_where_anything_is_cold(bench: Bench, filled: Library) -> None:
    assert (await bench.ask("预算", filled.scope, include_cold=True)).degraded == ()
    filled.connection.execute(
        "INSERT INTO cold_segment (tenant_id, namespace_id, segment_id, object_key, generation, memories, units,"
        " index_bytes, total_bytes, block_offsets, first_occurred, last_occurred, created_at)"
        " VALUES (%s, %s, gen_random_uuid(), 'k', 1, 1, 1, 1, 1, '{0,1}', now(), now(), now())",
        [filled.scope.tenant_id, filled.scope.namespace_id],
    )
    recalled = await bench.ask("预算", filled.scope, include_cold=True)
    assert recalled.degraded == ("cold",)
    assert recalled.hits


async def test_the_deadline_is_kept(bench: Bench, filled: Library) -> None:
    with pytest.raises(DeadlineExceeded):
        await bench.ask("预算", filled.scope, time_left_seconds=0.01)
    # Somebody holds the table; the statement is cancelled on the server, and the connection is good again.
    filled.connection.autocommit = False
    filled.connection.execute(f"LOCK TABLE search_unit_fresh_{filled.ordinal} IN ACCESS EXCLUSIVE MODE")
    with pytest.raises(DeadlineExceeded):
        await bench.ask("预算", filled.scope, time_left_seconds=0.4)
    filled.connection.rollback()
    filled.connection.autocommit = True
    assert (await bench.ask("预算", filled.scope)).hits


async def test_an_unknown_profile(bench: Bench, filled: Library) -> None:
    with pytest.raises(InvalidFields, match="profile"):
        await bench.ask("预算", filled.scope, profile="no-such")


class FixedReranker:
    """Prefers passages that hold a word; a stand-in, because no cross-encoder's weights are at hand."""

    name = "fixed"
    seconds_per_pair = 0.0

    def __init__(self, word: str, *, reach: int = 1_000, fails: bool = False) -> None:
        self._word, self._reach, self._fails = word, reach, fails
        self.budgets: list[float] = []

    async def rerank(self, query: str, passages: Sequence[str], *, budget_seconds: float) -> RerankScores:
        self.budgets.append(budget_seconds)
        if self._fails:
            raise ModelUnavailable("not now")
        scores = np.array([float(self._word in passage) for passage in passages], dtype=np.float32)
        scored = min(self._reach, len(passages))
        scores[scored:] = np.nan
        return RerankScores(scores, scored)

    async def close(self) -> None:
        return None


async def test_a_reranker_decides(bench: Bench, filled: Library) -> None:
    reranker = FixedReranker("Lisbon")
    reranked = await bench.with_parts(reranking=RerankStage(reranker)).ask("预算是多少", filled.scope)
    assert reranked.ranker == "fixed"
    assert reranked.degraded == ()
    first = reranked.hits[0]
    assert first.memory is not None
    assert first.memory.content == "The offsite is in Lisbon"
    assert first.score.rerank_score == 1.0
    assert first.score.relevance >= 0.7
    assert reranker.budgets[0] <= 0.5
    off = await bench.with_parts(reranking=RerankStage(reranker)).ask("预算是多少", filled.scope, rerank=False)
    assert off.ranker == "features"


async def test_a_reranker_that_fails_or_runs_out_of_time(bench: Bench, filled: Library) -> None:
    for reranker in (FixedReranker("Lisbon", fails=True), FixedReranker("Lisbon", reach=1)):
        recalled = await bench.with_parts(reranking=RerankStage(reranker)).ask("预算是多少", filled.scope)
        assert recalled.degraded == ("rerank",)
        assert recalled.hits


async def test_a_trace_tells_of_what_was_looked_at_and_of_near_misses(bench: Bench, library: Library) -> None:
    for at in range(60):
        await library.memory(f"第{at}个书架放着第{at}册书")
    library.index()
    recalled = await bench.ask("书架上放着什么", library.scope, top_k=3)
    await bench.recorder.settled()
    stored = await bench.traces.read(library.scope.tenant_id, recalled.trace_id)
    assert stored is not None
    candidates = stored[2].candidates
    assert NEAR_MISSES + len(recalled.hits) <= len(candidates) < 60
    assert [c.score.total for c in candidates] == sorted((c.score.total for c in candidates), reverse=True)
    assert len({c.resource_name for c in candidates}) == len(candidates)
    assert [c.resource_name.rpartition("/")[2] for c in candidates if c.rank] == list(map(str, memory_ids(recalled)))


async def test_trace_and_access_counts(bench: Bench, filled: Library) -> None:
    recalled = await bench.ask("我的手机是13812345678，预算是多少", filled.scope, explain_plan=True)
    await bench.recorder.settled()
    assert bench.losses == []
    scope = filled.scope
    reading = GetRecallTrace(bench.traces)
    trace = await reading.get(scope.tenant_id, scope.principal, {scope.namespace_id}, recalled.trace_id)
    assert "13812345678" not in trace.query
    assert "[PHONE]" in trace.query
    assert trace.namespaces == ("notes",)
    assert trace.route_counts["vector"] == 4
    assert set(trace.stage_milliseconds) == {"understand", "routes", "fuse", "load", "pack"}
    assert "Function Scan" in trace.plan
    returned = [c for c in trace.candidates if c.rank]
    assert [c.rank for c in returned] == list(range(1, len(recalled.hits) + 1))
    assert returned[0].score == recalled.hits[0].score
    assert returned[0].resource_name == f"namespaces/notes/memories/{memory_ids(recalled)[0]}"

    field = f"{scope.namespace_id}/{memory_ids(recalled)[0]}"
    counts, times, tenants = await bench.redis.call(
        lambda client: asyncio.gather(
            client.hget(f"acc:{{{scope.tenant_id}}}", field),
            client.hget(f"acct:{{{scope.tenant_id}}}", field),
            client.smembers("acc_tenants"),
        )
    )
    assert int(counts or 0) == 1
    assert float(times or 0) > 1.7e9
    assert tenants == {str(scope.tenant_id)}

    with pytest.raises(NotFound):
        await reading.get(scope.tenant_id, "someone", set(), recalled.trace_id)
    with pytest.raises(NotFound):
        await reading.get(scope.namespace_id, scope.principal, {scope.namespace_id}, recalled.trace_id)
    assert await reading.get(scope.tenant_id, scope.principal, set(), recalled.trace_id) == trace


async def test_a_trace_that_is_not_written_yet_is_waited_for(bench: Bench, filled: Library) -> None:
    scope = filled.scope
    recalled = await bench.ask("预算是多少", scope)
    await bench.recorder.settled()
    stored = await bench.traces.read(scope.tenant_id, recalled.trace_id)
    assert stored is not None
    written_later = replace(stored[2], trace_id=new_id())
    reading = asyncio.create_task(
        GetRecallTrace(bench.traces).get(scope.tenant_id, scope.principal, set(), written_later.trace_id)
    )
    await asyncio.sleep(0.1)
    assert not reading.done()
    await bench.traces.write(scope.tenant_id, scope.principal, [scope.namespace_id], written_later)
    assert await reading == written_later


async def test_a_full_queue_drops_and_counts_and_the_answer_comes_all_the_same(bench: Bench, filled: Library) -> None:
    class StuckTraces:
        async def write(self, *args: object) -> None:
            await asyncio.Event().wait()

        async def read(self, *args: object) -> None:
            return None

    class BrokenCounter:
        async def count(self, *args: object) -> None:
            raise Unavailable("no", dependency="redis")

    losses: list[str] = []
    async with BackgroundRecorder(
        StuckTraces(), BrokenCounter(), Deaf(), on_loss=losses.append, capacity=2, workers=1, drain_seconds=0.05
    ) as recorder:
        stuck = bench.with_parts(recorder=recorder)
        for _ in range(4):
            assert (await stuck.ask("预算", filled.scope)).hits
    # One trace is stuck in its worker; of the other eleven deeds two wait, and are lost at the end.
    assert len(losses) == 11


async def test_a_failing_counter_is_counted_as_a_loss(bench: Bench, filled: Library) -> None:
    class BrokenCounter:
        async def count(self, *args: object) -> None:
            raise Unavailable("no", dependency="redis")

    losses: list[str] = []
    async with BackgroundRecorder(bench.traces, BrokenCounter(), Deaf(), on_loss=losses.append) as recorder:
        await bench.with_parts(recorder=recorder).ask("预算", filled.scope)
        await recorder.settled()
    assert losses == ["accesses"]
