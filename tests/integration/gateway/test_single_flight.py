"""The same question asked by several at once is searched for once, and a cached answer needs no cross-encoder."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rearview.adapters.postgres.consequences import bump_epoch
from rearview.adapters.postgres.database import Database
from rearview.internal.v1 import retriever_service_pb2
from rearview.ports.reranker import RerankScores
from rearview.v1 import recall_pb2
from tests.integration.gateway.test_recall_faults import PATIENT_SECONDS, STORED, platform, texts_of
from tests.support.hash_embedder import HashEmbedder
from tests.support.running_gateway import RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls
from tests.support.waiting import wait_until

CALLERS = 8
CROSS_ENCODER_SECONDS = 0.3


class SleepingReranker:
    """Stands in for a cross-encoder that takes 300 ms for a query: it sleeps, and scores every passage alike."""

    name = "sleeping"
    seconds_per_pair = 0.0

    def __init__(self) -> None:
        self.calls = 0

    async def rerank(self, query: str, passages: Sequence[str], *, budget_seconds: float) -> RerankScores:
        self.calls += 1
        await asyncio.sleep(CROSS_ENCODER_SECONDS)
        return RerankScores(np.full(len(passages), 0.5, dtype=np.float32), len(passages))

    async def close(self) -> None:
        return None


def _recall(gateway: RunningGateway, key: str, query: str) -> Any:
    request = recall_pb2.RecallRequest(parent="namespaces/default", query=query)
    return gateway.memories.Recall(request, metadata=bearer(key), timeout=PATIENT_SECONDS)


@pytest.mark.parametrize("query", ["我妈妈的生日礼物在哪里", "where is the gift for my mother", "gift 在哪 room"])
async def test_the_same_question_at_once_is_searched_for_once(
    database: DatabaseUrls, redis_url: str, query: str
) -> None:
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin, other = await gateway.new_tenant("acme"), await gateway.new_tenant("other")
        hit = recall_pb2.RecallHit(citation="[1]")
        gateway.retriever.answers["Recall"] = retriever_service_pb2.RecallResponse(
            answer=recall_pb2.RecallResponse(hits=[hit])
        )
        gateway.retriever.delay_seconds = 2.0
        calls = [_recall(gateway, admin, query) for _ in range(CALLERS)]
        others = [_recall(gateway, other, query), _recall(gateway, admin, query + " 2026")]
        answers = await asyncio.gather(*calls, *others)
        assert {answer.hits[0].citation for answer in answers} == {"[1]"}
        assert len(gateway.retriever.calls) == 3, "another tenant's and another question's are their own"


async def test_one_who_hangs_up_takes_nothing_from_the_others(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin, query = await gateway.new_tenant("acme"), "我的护照在哪里"
        gateway.retriever.delay_seconds = 3.0
        first = _recall(gateway, admin, query)
        await asyncio.wait_for(gateway.retriever.arrived.wait(), PATIENT_SECONDS)
        second = _recall(gateway, admin, query)
        await asyncio.sleep(1.0)  # it has joined, or asks for itself if the machine is that slow: both are right
        first.cancel()
        await second
        assert first.cancelled()

        gateway.retriever.delay_seconds = PATIENT_SECONDS
        gateway.retriever.cut_off.clear()
        before = len(gateway.retriever.calls)
        alone = [_recall(gateway, admin, "where is my passport") for _ in range(2)]
        await wait_until(lambda: len(gateway.retriever.calls) > before, "the search")
        for call in alone:
            call.cancel()
        await asyncio.wait_for(gateway.retriever.cut_off.wait(), PATIENT_SECONDS)


async def test_what_was_written_meanwhile_is_searched_for_anew(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url) as gateway, Database(database.service) as store:
        admin, query = await gateway.new_tenant("acme"), "我的护照在哪里 passport"
        gateway.retriever.delay_seconds = 2.0
        before = _recall(gateway, admin, query)
        await asyncio.wait_for(gateway.retriever.arrived.wait(), PATIENT_SECONDS)
        caller = gateway.retriever.last.caller
        assert caller.tenant_id is not None
        async with store.transaction(caller.tenant_id) as connection:
            await bump_epoch(connection, caller.tenant_id, caller.namespaces["default"].namespace_id, breaking=True)
        after = _recall(gateway, admin, query)
        await asyncio.gather(before, after)
        assert len(gateway.retriever.calls) == 2, "the search that was under way may not have seen it"


async def test_a_hit_does_not_call_the_cross_encoder(database: DatabaseUrls, redis_url: str) -> None:
    reranker = SleepingReranker()
    async with platform(database, redis_url, HashEmbedder(), reranker=reranker) as served:
        first = await served.ask("我对什么过敏 花生")
        assert STORED[0] in texts_of(first)
        assert (reranker.calls, first.cache.hit) == (1, False)
        again = await served.ask("我对什么过敏 花生")
        meant = await served.ask("请问我对什么过敏 花生？")
        assert (again.cache.hit, meant.cache.hit) == (True, True)
        assert texts_of(again) == texts_of(first)
        assert reranker.calls == 1
