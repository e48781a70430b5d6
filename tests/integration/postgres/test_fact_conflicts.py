"""Writers that contradict each other at the same moment: one active value, and the whole history.

Fifty interleavings; a thousand with REARVIEW_TEST_PROFILE=thorough.
"""

import asyncio
import os
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.facts import FactWriter
from rearview.adapters.postgres.generations import register_generation
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.domain.consistency import HeldValue
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Fact, Memory, MemoryState, MemoryType, Origin, Trust
from rearview.domain.principal import Scope
from rearview.domain.unit_projection import SearchUnit, UnitProjection
from rearview.ports.stated_facts import SourceEvent, StatedFact
from tests.support.hash_embedder import DIMENSION, HashEmbedder
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import add_namespace

WRITERS = 10
THOROUGH = os.environ.get("REARVIEW_TEST_PROFILE") == "thorough"
INTERLEAVINGS = 1_000 if THOROUGH else 50
START = datetime(2026, 1, 1, tzinfo=UTC)
SEED = 20_260_301


def stated(subject: str, attribute: str, value: str, minute: int) -> StatedFact:
    moment = START + timedelta(minutes=minute)
    memory = Memory(
        memory_id=new_id(),
        type=MemoryType.FACT,
        content=f"{attribute} {value}",
        occurred_at=moment,
        occurred_until=moment,
        created_at=moment,
        updated_at=moment,
        origin=Origin.USER,
        trust=Trust.TRUSTED,
        valid_from=moment,
        fact=Fact(subject, attribute, value, single_valued=True, value_key=value),
    )
    event = SourceEvent("chat", new_id(), minute)
    held = HeldValue(memory.memory_id, value, moment, event.event_id, moment, single_valued=True)
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[0] = 1.0
    bag = KeywordBag.of((1,))
    unit = SearchUnit(memory.memory_id, moment, memory.type, UnitProjection(memory.memory_id, vector, {1: 1.0}, True))
    return StatedFact(held, memory, event, unit, bag)


@pytest.mark.timeout(1_400 if THOROUGH else 120)
@pytest.mark.asyncio(loop_scope="function")
async def test_ten_writers_at_once_leave_one_active_value_and_the_whole_history(database: DatabaseUrls) -> None:
    chance = random.Random(SEED)
    scope = Scope(tenant_id=new_id(), namespace_id=new_id(), namespace="notes", principal="tester")
    add_namespace(database.superuser, scope)
    async with Database(database.service, max_connections=WRITERS, vectors=False) as store:
        facts = FactWriter(SearchUnits(await register_generation(store, HashEmbedder().generation)))

        async def write(batch: list[StatedFact], delay_seconds: float) -> None:
            await asyncio.sleep(delay_seconds)
            async with store.transaction(scope.tenant_id) as connection:
                await facts.write(connection, scope.tenant_id, scope.namespace_id, batch, batch[0].memory.created_at)

        for number in range(INTERLEAVINGS):
            # Two attributes, met in either order: writers that wait for each other would never end.
            batches = []
            for minute in range(WRITERS):
                batch = [stated(f"user/{number}", name, f"v{minute}", minute) for name in ("budget", "rent")]
                chance.shuffle(batch)
                batches.append(batch)
            chance.shuffle(batches)
            async with asyncio.timeout(60):
                await asyncio.gather(*(write(batch, chance.uniform(0, 0.01)) for batch in batches))

        async with store.transaction(scope.tenant_id) as connection:
            cursor = await connection.execute(
                "SELECT fact_subject, fact_attribute, array_agg(fact_value ORDER BY fact_told_at) AS vals,"
                " array_agg(state ORDER BY fact_told_at) AS states, array_agg(valid_to ORDER BY fact_told_at) AS ends,"
                " array_agg(superseded_by ORDER BY fact_told_at) AS successors,"
                " array_agg(memory_id ORDER BY fact_told_at) AS ids FROM memory GROUP BY 1, 2"
            )
            histories = await cursor.fetchall()
    assert len(histories) == 2 * INTERLEAVINGS
    superseded = [int(MemoryState.SUPERSEDED)] * (WRITERS - 1)
    for _, _, values, states, ends, successors, ids in histories:
        assert values == [f"v{minute}" for minute in range(WRITERS)]
        assert states == [*superseded, int(MemoryState.ACTIVE)]
        assert ends == [*(START + timedelta(minutes=minute) for minute in range(1, WRITERS)), None]
        assert successors == [*ids[1:], None]
