"""How often a tenant and a key may call, by buckets in Valkey and, where it is away, by those of a replica."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.rpc import error_details_pb2, status_pb2

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.rate_limiter import RedisRateLimiter
from rearview.domain.errors import RateLimited
from rearview.domain.ids import new_id
from rearview.domain.token_bucket import Rate
from rearview.gateway.limits.local_buckets import LocalBuckets
from rearview.ports.rate_limiter import Bucket, RateLimiter
from rearview.rpc.errors import STATUS_DETAILS_KEY, from_rpc_error
from rearview.v1 import lifecycle_pb2, namespace_pb2, tenant_pb2
from tests.support.ports import free_port
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

LISTING = namespace_pb2.ListNamespacesRequest()
SLOW = Rate(per_second=0.001, burst_seconds=10_000)  # ten at once, and none more while a test runs


async def _admitted(limiters: Iterable[RateLimiter], buckets: list[Bucket], tenant: Any, calls: int) -> int:
    takers = [limiter.take(tenant, buckets) for _ in range(calls) for limiter in limiters]
    return sum(refused is None for refused in await asyncio.gather(*takers))


async def test_replicas_share_a_bucket_and_never_let_one_more_through(redis_url: str) -> None:
    tenant, other, tenants = new_id(), new_id(), [Bucket("", SLOW)]
    async with (
        RedisConnection(redis_url, decode=False, timeout_seconds=30) as one,
        RedisConnection(redis_url, decode=False, timeout_seconds=30) as two,
    ):
        replicas = [RedisRateLimiter(one), RedisRateLimiter(two)]
        assert await _admitted(replicas, tenants, tenant, 25) == 10
        refused = await replicas[0].take(tenant, tenants)
        assert refused is not None
        assert 0 < refused.wait_seconds <= 1000
        assert await replicas[0].take(other, tenants) is None, "another tenant's bucket is another"
        keys = await one.call(lambda client: client.keys("rate:*"))
        assert {key.decode() for key in keys if isinstance(key, bytes)} == {f"rate:{{{tenant}}}", f"rate:{{{other}}}"}
        lifetimes = [await one.call(lambda client, key=key: client.pttl(key)) for key in keys]  # type: ignore[misc]
        assert all(0 < lifetime <= 10_001_000 for lifetime in lifetimes), "none stays for ever"


@pytest.mark.parametrize("kind", ["shared", "local"])
async def test_a_call_that_one_bucket_refuses_takes_nothing_from_the_other(redis_url: str, kind: str) -> None:
    tenant, few = new_id(), Rate(per_second=0.001, burst_seconds=2_000)
    async with RedisConnection(redis_url, decode=False, timeout_seconds=30) as redis:
        limiter: RateLimiter = RedisRateLimiter(redis) if kind == "shared" else LocalBuckets()
        both = [Bucket("", SLOW), Bucket("key", few)]
        assert await _admitted([limiter], both, tenant, 20) == 2
        refused = await limiter.take(tenant, both)
        assert refused is not None
        assert refused.bucket.name == "key"
        assert await _admitted([limiter], [Bucket("", SLOW)], tenant, 20) == 8


async def test_local_buckets_are_bounded() -> None:
    limiter = LocalBuckets(most=3)
    for _ in range(50):
        await limiter.take(new_id(), [Bucket("", SLOW), Bucket("key", SLOW)])
    assert len(limiter._full_at) == 3


async def test_over_the_limit_of_the_tenant(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url, cache_seconds=0) as gateway:
        limited = bearer(await gateway.new_tenant("busy", requests_per_second=1))
        free = bearer(await gateway.new_tenant("calm"))
        outcomes = await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=limited), 40)
        assert outcomes["OK"] >= 1
        assert outcomes["RATE_LIMITED"] >= 1
        assert set(outcomes) == {"OK", "RATE_LIMITED"}
        assert await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=free), 40) == {"OK": 40}
        error, status = await _refusal(gateway, limited)
        assert error.metadata == {"limit": "1", "quota": "requests_per_second", "subject": "tenant"}
        assert error.retry_after_seconds is not None
        assert 0 < error.retry_after_seconds <= 1
        assert status.violations[0].quota_id == "requests_per_second"
        assert status.violations[0].quota_value == 1

        raised = tenant_pb2.UpdateTenantRequest(
            tenant=tenant_pb2.Tenant(name="tenants/busy", quotas=tenant_pb2.Quotas(requests_per_second=100_000)),
            update_mask=FieldMask(paths=["quotas"]),
        )
        await gateway.tenants.UpdateTenant(raised, metadata=bearer(OPERATOR_KEY))
        assert await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=limited), 40) == {"OK": 40}


async def test_over_the_limit_of_a_key(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url, cache_seconds=0) as gateway:
        admin = await gateway.new_tenant("acme")
        limited = bearer(await gateway.new_key(admin, "agent", requests_per_second=1))
        outcomes = await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=limited), 40)
        assert outcomes["RATE_LIMITED"] >= 1
        error, _ = await _refusal(gateway, limited)
        assert error.metadata["subject"] == "key"
        assert await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=bearer(admin)), 20) == {
            "OK": 20
        }
        listed = await gateway.tenants.ListApiKeys(tenant_pb2.ListApiKeysRequest(), metadata=bearer(admin))
        (key,) = [key for key in listed.api_keys if key.principal == "agent"]
        assert key.requests_per_second == 1
        made = await gateway.tenants.RotateApiKey(tenant_pb2.RotateApiKeyRequest(name=key.name), metadata=bearer(admin))
        assert made.api_key.requests_per_second == 1, "a successor may not call more often"


@pytest.mark.parametrize("redis", ["away", "none"])
async def test_without_redis_a_replica_keeps_the_limit_by_itself(database: DatabaseUrls, redis: str) -> None:
    away: dict[str, Any] = {"redis_url": f"redis://127.0.0.1:{free_port()}/0"} if redis == "away" else {}
    async with running_gateway(database, cache_seconds=0, default_requests_per_second=1, **away) as gateway:
        admin = bearer(await gateway.new_tenant("acme"))
        outcomes = await _outcomes(lambda: gateway.namespaces.ListNamespaces(LISTING, metadata=admin), 40)
        assert set(outcomes) == {"OK", "RATE_LIMITED"}
        listing = tenant_pb2.ListTenantsRequest()
        assert await _outcomes(lambda: gateway.tenants.ListTenants(listing, metadata=bearer(OPERATOR_KEY)), 20) == {
            "OK": 20
        }, "the operator's calls are no tenant's"


async def test_what_is_refused_reaches_no_service(database: DatabaseUrls, redis_url: str) -> None:
    async with running_gateway(database, redis_url=redis_url, cache_seconds=0) as gateway:
        admin = bearer(await gateway.new_tenant("busy", requests_per_second=1))
        records = lifecycle_pb2.ListAuditRecordsRequest()
        outcomes = await _outcomes(lambda: gateway.lifecycles.ListAuditRecords(records, metadata=admin), 40)
        assert outcomes["RATE_LIMITED"] >= 1
        assert len(gateway.lifecycle.calls) == 40 - outcomes["RATE_LIMITED"]


async def _outcomes(call: Callable[[], Awaitable[object]], times: int) -> Counter[str]:
    async def one() -> str:
        try:
            await call()
        except grpc.aio.AioRpcError as error:
            return from_rpc_error(error).reason
        return "OK"

    return Counter(await asyncio.gather(*(one() for _ in range(times))))


async def _refusal(gateway: RunningGateway, metadata: Any) -> tuple[RateLimited, error_details_pb2.QuotaFailure]:
    """Call until a call is refused; return the error and what it says of the quota."""
    while True:
        calls = (gateway.namespaces.ListNamespaces(LISTING, metadata=metadata) for _ in range(20))
        for refused in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(refused, grpc.aio.AioRpcError):
                assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
                error = from_rpc_error(refused)
                assert isinstance(error, RateLimited)
                (details,) = [value for key, value in refused.trailing_metadata() or () if key == STATUS_DETAILS_KEY]
                failure = error_details_pb2.QuotaFailure()
                assert any(detail.Unpack(failure) for detail in status_pb2.Status.FromString(details).details)
                return error, failure
