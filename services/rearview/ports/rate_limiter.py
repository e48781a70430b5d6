"""Buckets of tokens that the replicas of a service share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from rearview.domain.token_bucket import Rate


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of a tenant: the tenant's own, with an empty name, or that of a key, by its id."""

    name: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Refused:
    """The bucket of those asked that takes longest to hold a token again, and how long that is."""

    bucket: Bucket
    wait_seconds: float


class RateLimiter(Protocol):
    """Takes tokens."""

    async def take(self, tenant_id: UUID, buckets: Sequence[Bucket]) -> Refused | None:
        """Take a token out of every bucket, or out of none and say which one lacks it.

        Raises:
            Unavailable: the buckets cannot be reached.
        """
        ...
