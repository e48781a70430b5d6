"""Memories whose value has fallen, as PostgreSQL knows what it depends on."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Connection, dict_rows
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.fall_rule import FallRule
from rearview.domain.falling import Valued, fallen
from rearview.domain.memory import MemoryType, Tier

_SQL = load_queries("expiry")


async def read_fallen(
    connection: Connection, place: Mapping[str, Any], tier: Tier, rule: FallRule, *, limit: int
) -> list[UUID]:
    """Return memories of a tier whose value has fallen, the least valued first, among `limit` that may; among the
    `memory_ids` of the place, if any. From the cold tier only episodes fall."""
    types = [int(MemoryType.EPISODE)] if tier is Tier.COLD else None
    parameters = {
        "memory_ids": None,
        **place,
        "tier": int(tier),
        "types": types,
        "cutoff": rule.cutoff,
        "below_priority": rule.below_priority,
        "limit": limit,
    }
    rows = await (await dict_rows(connection, _SQL["valued"], parameters)).fetchall()
    return fallen([Valued(**row) for row in rows], rule)
