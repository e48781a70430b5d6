"""Too many calls at the gateway: fair, before any work, and gone when nobody waits for them."""

from __future__ import annotations

import asyncio

import grpc
import psycopg

from rearview.domain.errors import Overloaded
from rearview.v1 import memory_service_pb2, recall_pb2
from tests.integration.gateway.test_recall_faults import PATIENT_SECONDS, platform
from tests.support.grpc_errors import failure_of
from tests.support.hash_embedder import HashEmbedder
from tests.support.running_gateway import bearer, running_gateway
from tests.support.stack import DatabaseUrls
from tests.support.waiting import wait_until

SESSIONS = memory_service_pb2.ListSessionsRequest(parent="namespaces/default")
_WAITING_FOR_A_LOCK = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'rearview_service'"
    " AND state = 'active' AND wait_event_type = 'Lock'"
)


async def test_one_tenant_floods_and_another_is_served(database: DatabaseUrls) -> None:
    async with running_gateway(database, max_running_calls=2, max_waiting_calls=6, call_wait_seconds=60.0) as gateway:
        noisy, calm = [bearer(await gateway.new_tenant(name)) for name in ("noisy", "calm")]
        for each in (noisy, calm):
            await gateway.memories.ListSessions(SESSIONS, metadata=each)  # from now on it is known whose they are
        gateway.retriever.delay_seconds = 0.3
        flood = [asyncio.ensure_future(gateway.memories.ListSessions(SESSIONS, metadata=noisy)) for _ in range(60)]
        await wait_until(lambda: sum(call.done() for call in flood) >= 50, "the flood to be sent away")
        await gateway.memories.ListSessions(SESSIONS, metadata=calm, timeout=PATIENT_SECONDS)
        assert any(not call.done() for call in flood), "it did not have to wait for those that came before"
        stranger, _ = await failure_of(
            gateway.memories.ListSessions(SESSIONS, metadata=bearer("rv_aaaaaaaa_" + "b" * 43))
        )
        assert stranger in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAUTHENTICATED)
        errors = [error for error in await asyncio.gather(*flood, return_exceptions=True) if error is not None]
        refused = [error for error in errors if isinstance(error, grpc.aio.AioRpcError)]
        assert {error.code() for error in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert len(refused) >= 50


async def test_a_full_gateway_refuses_before_it_looks_at_the_credential(database: DatabaseUrls) -> None:
    async with running_gateway(database, max_running_calls=1, max_waiting_calls=0) as gateway:
        admin = bearer(await gateway.new_tenant("acme"))
        gateway.retriever.delay_seconds = PATIENT_SECONDS
        gateway.retriever.arrived.clear()
        under_way = gateway.memories.ListSessions(SESSIONS, metadata=admin)
        await asyncio.wait_for(gateway.retriever.arrived.wait(), PATIENT_SECONDS)
        code, error = await failure_of(gateway.memories.ListSessions(SESSIONS))
        assert (code, type(error)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, Overloaded)
        assert error.retry_after_seconds
        under_way.cancel()
        await asyncio.wait_for(gateway.retriever.cut_off.wait(), PATIENT_SECONDS)
        gateway.retriever.delay_seconds = 0
        await gateway.memories.ListSessions(SESSIONS, metadata=admin)


async def test_a_recall_that_is_cancelled_stops_its_statement(database: DatabaseUrls, redis_url: str) -> None:
    async with platform(database, redis_url, HashEmbedder()) as faulty:
        request = recall_pb2.RecallRequest(parent="namespaces/notes", query="我对什么过敏 peanuts", no_cache=True)
        with (
            psycopg.connect(database.superuser) as holder,
            psycopg.connect(database.superuser, autocommit=True) as watcher,
        ):

            def waiting() -> int:
                row = watcher.execute(_WAITING_FOR_A_LOCK).fetchone()
                return 0 if row is None else int(row[0])

            holder.execute("LOCK TABLE search_unit_fresh_1 IN ACCESS EXCLUSIVE MODE")
            call = faulty.gateway.memories.Recall(request, metadata=bearer(faulty.key), timeout=PATIENT_SECONDS)
            await wait_until(lambda: waiting() > 0, "the recall's statement")
            call.cancel()
            await wait_until(lambda: waiting() == 0, "its end")
            holder.rollback()
        answer = await faulty.ask("我对什么过敏 peanuts", no_cache=True)
        assert not answer.degraded, "its connection serves the next"
