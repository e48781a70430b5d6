"""The vector index compared with an exact search, now and then, apart from the requests."""

from __future__ import annotations

from rearview.ports.recall_store import IndexRecall
from rearview.retriever.index_sampler import IndexSampler
from tests.integration.retriever.conftest import Bench
from tests.support.indexed_library import Library

ALWAYS_THE_INDEX = """
CREATE OR REPLACE FUNCTION rearview_exact_is_quicker(p_index text, p_rows bigint) RETURNS boolean LANGUAGE sql STABLE
AS 'SELECT false'
"""
MAIN = "search_unit"


async def test_what_the_index_misses_is_seen(bench: Bench, library: Library) -> None:
    for text in (
        "预算是12000元",
        "我对花生过敏",
        "The offsite is in Lisbon",
        "椅子要带扶手",
        "Peanuts are off the menu",
    ):
        await library.memory(text)
    library.index(table=MAIN)
    samples: list[IndexRecall] = []
    async with IndexSampler(bench.store, interval_seconds=3_600, on_sample=samples.append) as sampler:
        recall = bench.with_parts(sampler=sampler)
        await recall.ask("预算是多少", library.scope)
        await sampler.settled()
        assert samples == []  # the scan was exact: there is nothing to compare

        library.connection.execute(ALWAYS_THE_INDEX)
        await recall.ask("预算是多少", library.scope)
        await sampler.settled()
        assert samples == [IndexRecall(1.0, 1.0)]

        await recall.ask("where is the offsite", library.scope)
        await sampler.settled()
        assert len(samples) == 1, "the interval has not passed"


async def test_an_index_that_finds_less_has_a_smaller_share(bench: Bench, library: Library) -> None:
    for text in ("预算是12000元", "我对花生过敏", "会议改到周五", "椅子要带扶手"):
        await library.memory(text)
    library.index(table=MAIN)
    library.connection.execute(ALWAYS_THE_INDEX)
    # Stands for an index that lost a unit: the list that it answers lacks the nearest one.
    library.connection.execute(
        f"""ALTER FUNCTION rearview_nearest_zh_{library.ordinal}(uuid, uuid, halfvec, int2[], uuid[], int, boolean)
            RENAME TO rearview_all_nearest"""
    )
    library.connection.execute(
        f"""CREATE FUNCTION rearview_nearest_zh_{library.ordinal}(
              uuid, uuid, halfvec, int2[], uuid[], int, exact boolean)
            RETURNS TABLE (unit_id uuid, distance float8) LANGUAGE sql STABLE AS $$
              SELECT n.unit_id, n.distance FROM rearview_all_nearest($1, $2, $3, $4, $5, $6, true) n
              ORDER BY n.distance OFFSET CASE WHEN exact THEN 0 ELSE 1 END $$"""
    )
    samples: list[IndexRecall] = []
    async with IndexSampler(bench.store, interval_seconds=3_600, on_sample=samples.append) as sampler:
        await bench.with_parts(sampler=sampler).ask("预算是多少", library.scope)
        await sampler.settled()
    assert samples == [IndexRecall(0.75, 0.75)]


async def test_nothing_is_compared_when_it_is_switched_off(bench: Bench, library: Library) -> None:
    await library.memory("预算是12000元")
    library.index(table=MAIN)
    library.connection.execute(ALWAYS_THE_INDEX)
    samples: list[IndexRecall] = []
    async with IndexSampler(bench.store, interval_seconds=0, on_sample=samples.append) as sampler:
        await bench.with_parts(sampler=sampler).ask("预算是多少", library.scope)
        await sampler.settled()
    assert samples == []
