"""Identifiers made in the application, so that they exist before any database row does."""

import os
import time
from uuid import UUID


def new_id(now_milliseconds: int | None = None) -> UUID:
    """Return a UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits.

    Ids made later sort later, to the millisecond, which keeps B-tree inserts at the right edge.
    """
    milliseconds = time.time_ns() // 1_000_000 if now_milliseconds is None else now_milliseconds
    value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)


def made_at(resource_id: UUID) -> float:
    """Return when an id of `new_id` was made, in Unix seconds; of any other id this says nothing."""
    return (resource_id.int >> 80) / 1_000
