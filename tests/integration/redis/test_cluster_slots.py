"""What a Redis Cluster asks of clients: no command, script or transaction touches keys of two slots.

A Valkey with cluster mode on, of one node that has all slots, refuses what crosses slots as a large cluster does.
"""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from redis import Redis
from redis.exceptions import ClusterCrossSlotError
from redis.exceptions import ConnectionError as RedisConnectionError

from rearview.adapters.redis.access_counter import COUNTED_TENANTS, RedisAccessCounter
from rearview.adapters.redis.access_counts import RedisAccessCounts
from rearview.adapters.redis.answer_cache import RedisAnswerCache
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.adapters.redis.handed_out import RedisHandedOut
from rearview.adapters.redis.namespace_erasure import RedisNamespaceErasure
from rearview.adapters.redis.rate_limiter import RedisRateLimiter
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.canonical_query import CanonicalQuery
from rearview.domain.event import Event, EventRole, WorkingTurn
from rearview.domain.ids import new_id
from rearview.domain.token_bucket import Rate
from rearview.embedded.valkey_server import find_program
from rearview.ports.answer_cache import AnswerKeys, CachedAnswer
from rearview.ports.clock import SystemClock
from rearview.ports.epochs import Epoch
from rearview.ports.forgetting import ForgottenTurns
from rearview.ports.rate_limiter import Bucket
from rearview.ports.working_memory import SessionKey
from tests.support.client_steps import eventually
from tests.support.ports import free_port

SLOTS = 16_384
NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
KINDS = {"wm", "wmf", "ho", "acc", "acct", "rate", "ans", "ansm", "ansi", COUNTED_TENANTS}
KEYS = AnswerKeys("exact", "meaning")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The URL of a cluster of one node."""
    port, options = free_port(), {"dir": tmp_path, "bind": "127.0.0.1", "save": "", "cluster-enabled": "yes"}
    options |= {"port": port, "cluster-port": free_port()}
    command = [find_program(), *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        with Redis.from_url(url, decode_responses=True) as client:
            eventually(lambda: answers_to_ping(client), bool, "the cluster to answer")
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
            info = eventually(
                lambda: str(client.execute_command("CLUSTER", "INFO")), lambda said: "state:ok" in said, "the cluster"
            )
            assert f"cluster_slots_ok:{SLOTS}" in info
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def answers_to_ping(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisConnectionError:
        return False


async def use(redis: RedisConnection, answers: RedisConnection, tenant: UUID) -> None:
    """Everything that the services keep in Redis, once, for one tenant; nothing is erased."""
    namespaces = [new_id(), new_id()]
    session = SessionKey(tenant, namespaces[0], "chat")
    turn = WorkingTurn(Event(new_id(), EventRole.USER, "说点什么", NOW, sequence=1, created_at=NOW), 0.5)
    memory = RedisWorkingMemory(redis, SystemClock())
    await memory.append(session, [turn])
    await memory.refill(session, [turn])
    await memory.forget(session, [new_id()], through_sequence=0)
    assert (await memory.last_turns(session, 1)).turns
    handed_out = RedisHandedOut(redis)
    await handed_out.record(tenant, namespaces, ["a", "b"], NOW)
    assert await handed_out.known(tenant, namespaces[1], ["a"], now=NOW)
    await RedisAccessCounter(redis).count(tenant, {one: [new_id()] for one in namespaces}, NOW)
    limiter, rate = RedisRateLimiter(answers), Rate(per_second=1, burst_seconds=10)
    assert await limiter.take(tenant, [Bucket("", rate), Bucket("key", rate)]) is None
    cache = RedisAnswerCache(answers, max_entries=10)
    stored = datetime.now(UTC)
    answer = CachedAnswer(
        answer=b"{}",
        query=CanonicalQuery(("T:昨天", "a1b2"), precision="day"),
        stored_at=stored,
        expires_at=stored + timedelta(hours=1),
        last_turn="",
        epochs={namespaces[0]: Epoch(3, {1: 7})},
        asked={},
    )
    await cache.keep(tenant, KEYS, answer)
    assert (await cache.look(tenant, KEYS, session)).exact


async def erase(redis: RedisConnection, tenant: UUID, namespace: UUID) -> None:
    """Everything that takes something out again, for one tenant."""
    counts = RedisAccessCounts(redis)
    batch = await counts.take(tenant, limit=1)
    assert batch is not None
    await counts.confirm(batch)
    erasure = RedisErasure(redis)
    await erasure.erase_turns([ForgottenTurns(SessionKey(tenant, namespace, "chat"), (new_id(),), 1)])
    await erasure.erase_access_counts(tenant, namespace, [new_id()])
    await erasure.left(tenant, namespace, [new_id()])
    assert await erasure.erase_answers(tenant) >= 1
    await RedisHandedOut(redis).clear(tenant, namespace)
    whole = RedisNamespaceErasure(redis)
    await whole.erase_namespace(tenant, namespace)
    await whole.erase_tenant(tenant)


async def test_nothing_that_the_services_do_crosses_slots(cluster: str) -> None:
    tenants = [new_id(), new_id()]
    async with (
        RedisConnection(cluster, timeout_seconds=60) as redis,
        RedisConnection(cluster, decode=False, timeout_seconds=60) as answers,
    ):
        for tenant in tenants:
            await use(redis, answers, tenant)
        with Redis.from_url(cluster, decode_responses=True) as client:
            keys = {str(key) for key in client.keys("*")}
            slots = {key: int(str(client.execute_command("CLUSTER", "KEYSLOT", key))) for key in keys}
        assert {key.partition(":")[0] for key in keys} == KINDS
        for tenant in tenants:
            assert len({slots[key] for key in keys if f"{{{tenant}}}" in key}) == 1
        assert {key for key in keys if not any(f"{{{tenant}}}" in key for tenant in tenants)} == {COUNTED_TENANTS}
        for tenant in tenants:
            turns = next(key for key in keys if key.startswith(f"wm:{{{tenant}}}"))
            await erase(redis, tenant, UUID(turns.split(":")[2]))
        with Redis.from_url(cluster, decode_responses=True) as client:
            assert client.keys("*") == [COUNTED_TENANTS]


def test_this_server_refuses_what_crosses_slots(cluster: str) -> None:
    with Redis.from_url(cluster) as client, pytest.raises(ClusterCrossSlotError):
        client.mget("wm:{a}:1", "wm:{b}:1")
