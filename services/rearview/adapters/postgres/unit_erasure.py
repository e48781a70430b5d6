"""Erasing search units of every model generation, and taking them out of the counts of BM25."""

from collections import Counter
from collections.abc import Collection
from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.generations import search_generations
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.search_unit import UnitFlag

_COUNTS = load_queries("unit_erasure", 0)


async def erase_units(
    connection: Connection,
    tenant_id: UUID,
    namespace_id: UUID,
    *,
    memory_ids: Collection[UUID] = (),
    event_ids: Collection[UUID] = (),
) -> int:
    """Erase the units of memories and of events in the caller's transaction; return how many there were.

    Only the terms that a unit kept are known, so terms that were cut stay counted; they were the common ones.
    """
    place = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "memory_ids": list(memory_ids),
        "event_ids": list(event_ids),
    }
    # A unit that stands in the tables of two generations was counted once.
    erased: dict[UUID, tuple[list[int] | None, bool, int]] = {}
    for ordinal in await search_generations(connection):
        statements = load_queries("unit_erasure", ordinal)
        for name in ("erase_fresh_units", "erase_main_units", "erase_warm_units"):
            for unit_id, *counted in await (await connection.execute(statements[name], place)).fetchall():
                erased.setdefault(unit_id, tuple(counted))
    if erased:
        await lower_counts(connection, tenant_id, namespace_id, erased.values())
    return len(erased)


async def lower_counts(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, erased: Collection[tuple[list[int] | None, bool, int]]
) -> None:
    """Take units that are gone out of the counts: the keywords of each, whether it was counted, its flags."""
    counted = [keywords or () for keywords, was_counted, _ in erased if was_counted]
    frequencies = Counter(keyword for keywords in counted for keyword in keywords)
    keywords = sorted(frequencies)
    # Languages are counted when a unit comes, bags when its window closes.
    languages = [UnitFlag(flags) for _, _, flags in erased]
    place = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "keywords": keywords,
        "counts": [frequencies[keyword] for keyword in keywords],
        "units": len(counted),
        "chinese_units": sum(1 for flags in languages if UnitFlag.CHINESE in flags),
        "english_units": sum(1 for flags in languages if UnitFlag.ENGLISH in flags),
    }
    for name in ("lock_keywords", "lower_keywords", "drop_keywords", "lower_statistics"):
        await connection.execute(_COUNTS[name], place)
