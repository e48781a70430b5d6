"""Token buckets of this replica alone, for when those that all replicas share cannot be reached."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from uuid import UUID

from rearview.domain.token_bucket import take
from rearview.ports.rate_limiter import Bucket, Refused

MOST_BUCKETS = 20_000


class LocalBuckets:
    """The `RateLimiter` port in memory. Of more than `most` buckets, those not used for longest are full again."""

    def __init__(self, *, most: int = MOST_BUCKETS, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._monotonic = monotonic
        self._full_at: OrderedDict[tuple[UUID, str], float] = OrderedDict()

    async def take(self, tenant_id: UUID, buckets: Sequence[Bucket]) -> Refused | None:
        """Take a token out of every bucket or of none; see `RateLimiter.take`."""
        now = self._monotonic()
        asked = [take(self._full_at.get((tenant_id, bucket.name), now), now, bucket.rate) for bucket in buckets]
        refused = [Refused(bucket, wait) for bucket, (wait, _) in zip(buckets, asked, strict=True) if wait]
        if refused:
            return max(refused, key=lambda one: one.wait_seconds)
        for bucket, (_, full_at) in zip(buckets, asked, strict=True):
            self._full_at[tenant_id, bucket.name] = full_at
            self._full_at.move_to_end((tenant_id, bucket.name))
        while len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return None
