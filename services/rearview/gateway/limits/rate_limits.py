"""How often a tenant, and a key of it, may call."""

from prometheus_client import Counter

from rearview.domain.errors import RateLimited, Unavailable
from rearview.domain.token_bucket import Rate
from rearview.gateway.authenticate import Credential
from rearview.gateway.limits.local_buckets import LocalBuckets
from rearview.ports.rate_limiter import Bucket, RateLimiter
from rearview.telemetry.metrics import Metrics


class RateLimits:
    """Takes a token for each call, from the buckets that the replicas share.

    Where these cannot be reached, each replica keeps to the limits by buckets of its own: a tenant may then call as
    often as its limit times the number of replicas, and never without limit.
    """

    def __init__(
        self,
        shared: RateLimiter | None,
        metrics: Metrics,
        *,
        default_requests_per_second: int,
        burst_seconds: float,
    ) -> None:
        """Take the shared buckets, None where there are none. Tenants without a rate of their own have the default, of
        which 0 is no limit."""
        self._shared = shared
        self._own = LocalBuckets()
        self._default = default_requests_per_second
        self._burst_seconds = burst_seconds
        self._refused: Counter = metrics.counter(
            "rate_limited", "Calls over a rate limit, by whose limit it was.", ("limit_of",)
        )
        self._local: Counter = metrics.counter(
            "rate_limits_local", "Calls that this replica held against its own buckets, the shared ones being away."
        )
        for limit_of in ("tenant", "key"):
            self._refused.labels(limit_of)

    async def take(self, credential: Credential) -> None:
        """Take a token for a call.

        Raises:
            RateLimited: the tenant or the key has called too often.
        """
        tenant_id = credential.tenant_id
        if tenant_id is None:
            return  # the operator's calls belong to no tenant
        rates = (
            ("", credential.requests_per_second or self._default),
            (credential.key_id, credential.key_requests_per_second),
        )
        buckets = [Bucket(name, Rate(rate, self._burst_seconds)) for name, rate in rates if rate]
        if not buckets:
            return
        if self._shared is None:
            refused = await self._own.take(tenant_id, buckets)
        else:
            try:
                refused = await self._shared.take(tenant_id, buckets)
            except Unavailable:
                self._local.inc()
                refused = await self._own.take(tenant_id, buckets)
        if refused is None:
            return
        limit_of = "key" if refused.bucket.name else "tenant"
        self._refused.labels(limit_of).inc()
        limit = round(refused.bucket.rate.per_second)
        raise RateLimited(
            f"the {limit_of}'s limit of {limit} requests a second is reached",
            retry_after_seconds=refused.wait_seconds,
            limit=str(limit),
            quota="requests_per_second",
            subject=limit_of,
        )
