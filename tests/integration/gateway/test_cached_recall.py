"""The gateway's cache over a real database and Valkey; the retriever behind it is recorded."""

from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.internal.v1 import retriever_service_pb2
from rearview.v1 import memory_pb2, recall_pb2
from tests.support.running_gateway import RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

QUESTION = "我妈妈的生日礼物在哪里"


def _found(*hits: recall_pb2.RecallHit, degraded: tuple[str, ...] = ()) -> retriever_service_pb2.RecallResponse:
    return retriever_service_pb2.RecallResponse(answer=recall_pb2.RecallResponse(hits=hits, degraded=degraded))


async def _ask(
    gateway: RunningGateway, key: str, query: str = QUESTION, **fields: object
) -> tuple[bool, recall_pb2.RecallResponse]:
    """Return whether the retriever was asked, and the answer."""
    before = len(gateway.retriever.calls)
    request = recall_pb2.RecallRequest(parent="namespaces/default", query=query, **fields)  # type: ignore[arg-type]
    answer = await gateway.memories.Recall(request, metadata=bearer(key))
    return len(gateway.retriever.calls) > before, answer


async def test_an_answer_is_given_again_within_its_scope(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin = await gateway.new_tenant("cached")
        gateway.retriever.answers["Recall"] = _found(recall_pb2.RecallHit(citation="[1]"))
        assert (await _ask(gateway, admin))[0]
        asked, answer = await _ask(gateway, admin)
        assert not asked
        assert answer.cache.hit
        assert answer.hits[0].citation == "[1]"
        gateway.embedder.queries.clear()
        assert not (await _ask(gateway, admin, "请问我母亲的生日礼物在哪儿？"))[0]
        assert gateway.embedder.queries == []  # the same canonical words need no vector
        assert (await _ask(gateway, admin, "我妈妈的生日礼物在哪里", top_k=3))[0]
        assert (await _ask(gateway, admin, no_cache=True))[0]
        other = await gateway.new_key(admin, "somebody-else", "ADMIN")
        assert (await _ask(gateway, other))[0]
        assert (await _ask(gateway, await gateway.new_tenant("other")))[0]


async def test_a_day_named_by_its_distance_is_another_one_tomorrow(database: DatabaseUrls, redis_url: str) -> None:
    today = datetime(2026, 3, 2, 10, tzinfo=UTC)
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin = await gateway.new_tenant("days")
        gateway.retriever.answers["Recall"] = _found()
        for query in ("我昨天买了什么水果", "What fruit did I buy yesterday"):
            for day, expected in ((0, True), (0, False), (1, True)):
                moment = Timestamp()
                moment.FromDatetime(today + timedelta(days=day))
                assert (await _ask(gateway, admin, query, reference_time=moment))[0] is expected


async def test_what_is_incomplete_or_about_to_expire_is_not_kept(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin = await gateway.new_tenant("incomplete")
        gateway.retriever.answers["Recall"] = _found(degraded=("vector",))
        assert [(await _ask(gateway, admin))[0] for _ in range(2)] == [True, True]
        past = Timestamp()
        past.FromDatetime(datetime.now(UTC) - timedelta(seconds=1))
        expired = recall_pb2.RecallHit(memory=memory_pb2.Memory(expire_time=past))
        gateway.retriever.answers["Recall"] = _found(expired)
        assert [(await _ask(gateway, admin))[0] for _ in range(2)] == [True, True]
        gateway.retriever.answers["Recall"] = _found()
        assert [(await _ask(gateway, admin, "13812345678 是谁的电话"))[0] for _ in range(2)] == [True, True]


async def test_without_redis_recall_goes_on(database: DatabaseUrls) -> None:
    async with running_gateway(database, redis_url="redis://127.0.0.1:1/0") as gateway:
        admin = await gateway.new_tenant("alone")
        assert [(await _ask(gateway, admin))[0] for _ in range(5)] == [True] * 5


@pytest.mark.parametrize(("cosine", "shared"), [(0.0, True), (1.0, False)])
async def test_the_ends_of_the_threshold_are_thresholds_too(
    database: DatabaseUrls, redis_url: str, cosine: float, shared: bool
) -> None:
    async with running_gateway(database, redis_url=redis_url, cache_cosine=cosine) as gateway:
        admin = await gateway.new_tenant("ends")
        gateway.retriever.answers["Recall"] = _found(recall_pb2.RecallHit(citation="[1]"))
        assert (await _ask(gateway, admin, "Where is Bob's phone in the kitchen"))[0]
        assert not (await _ask(gateway, admin, "Where is Bob's phone in the kitchen"))[0]
        assert (await _ask(gateway, admin, "In the kitchen, where is Bob's phone?"))[0] is not shared
