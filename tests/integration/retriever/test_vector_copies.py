"""Copies of vectors: whatever is written meanwhile, they lead to what an exact scan finds."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore, search_parameters
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.adapters.postgres.vector_source import PostgresVectorSource
from rearview.adapters.vector_copies.asked_copies import AskedCopies
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType
from rearview.domain.recall import MemoryFilter
from rearview.ports.recall_store import Generation, Search
from rearview.ports.vector_copies import CopyPlace
from tests.integration.retriever.conftest import Bench, memory_ids
from tests.support.indexed_library import MAIN, Library, open_library
from tests.support.stack import DatabaseUrls

UNITS = 1_200
CHINESE, ENGLISH = 4, 8
NOW = datetime(2024, 3, 20, 8, tzinfo=UTC)


@pytest.fixture
async def reading(database: DatabaseUrls) -> AsyncIterator[Database]:
    """Connections of the service, as copies are read by."""
    async with Database(database.service, max_connections=2, settings=dict(RECALL_SETTINGS)) as pool:
        await pool.ping()
        yield pool


class Shelf:
    """Units of a namespace, written as the writer does."""

    def __init__(self, library: Library, seed: int) -> None:
        self.library = library
        self.random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        tenant, namespace, n = library.scope.tenant_id, library.scope.namespace_id, library.ordinal
        self.place = CopyPlace(tenant, namespace, n)
        self.main, self.fresh, self.warm = f"search_unit_{n}", f"search_unit_fresh_{n}", f"search_unit_warm_{n}"
        # Small namespaces are scanned, and to keep the vector index of these would take most of the time.
        library.connection.execute(f"DROP INDEX IF EXISTS {self.main}_vector_zh, {self.main}_vector_other")

    def add(self, count: int, table: str, connection: psycopg.Connection | None = None) -> None:
        rows = [
            (new_id(), self.random.choice((CHINESE, ENGLISH, CHINESE | ENGLISH, 0)), vector)
            for vector in self._numbers.normal(size=(count, 384)).round(4).tolist()
        ]
        (connection or self.library.connection).execute(
            f"""INSERT INTO {table} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, flags, type, closed,
                                     created_at, embedding, sv)
                SELECT %s, %s, r.id, r.id, now(), r.flags, 1, true, now(), r.vector::halfvec, '{{1:1}}/1000000000'
                FROM unnest(%s::uuid[], %s::int2[], %s::text[]) AS r (id, flags, vector)""",
            [
                *self.place[:2],
                [row[0] for row in rows],
                [row[1] for row in rows],
                [str(row[2]).replace(" ", "") for row in rows],
            ],
        )

    def count(self) -> None:
        self.library.connection.execute(
            """INSERT INTO namespace_statistics (tenant_id, namespace_id, units, chinese_units, english_units)
               VALUES (%s, %s, %s, 9, 9)""",
            [*self.place[:2], UNITS],
        )

    def some(self, table: str, count: int) -> list[UUID]:
        found = self.library.connection.execute(
            f"SELECT unit_id FROM {table} WHERE namespace_id = %s ORDER BY md5(unit_id::text || %s) LIMIT %s",
            [self.place.namespace_id, str(self.random.random()), count],
        )
        return [row[0] for row in found.fetchall()]

    def change(self, change: str, units: Sequence[UUID]) -> None:
        self.library.connection.execute(
            f"{change} WHERE namespace_id = %s AND unit_id = ANY (%s)", [self.place.namespace_id, list(units)]
        )

    def embed_anew(self, count: int) -> None:
        for unit_id in self.some(self.main, count):
            vector = self.vector().round(4).tolist()
            self.change(f"UPDATE {self.main} SET embedding = '{vector}'::halfvec", [unit_id])

    def merge(self, count: int) -> None:
        self.library.connection.execute(
            f"""WITH moved AS (DELETE FROM {self.fresh} WHERE unit_id = ANY (%s) RETURNING *)
                INSERT INTO {self.main} SELECT * FROM moved""",
            [self.some(self.fresh, count)],
        )

    def make_warm(self, table: str, count: int) -> None:
        """Move units as a sweep does."""
        units = load_queries("tier_units", self.place.ordinal)
        moved = {
            **dict(zip(("tenant_id", "namespace_id"), self.place[:2], strict=True)),
            "memory_ids": self.some(table, count),
        }
        with self.library.connection.transaction():
            for name in ("warm_from_fresh", "copied", "warm_from_main", "not_copied"):
                self.library.connection.execute(units[name], moved)

    def make_fresh(self, count: int) -> None:
        moved = {
            **dict(zip(("tenant_id", "namespace_id"), self.place[:2], strict=True)),
            "memory_ids": self.some(self.warm, count),
        }
        self.library.connection.execute(load_queries("tier_units", self.place.ordinal)["fresh_from_warm"], moved)

    def vector(self) -> NDArray[np.float32]:
        vector = self._numbers.normal(size=384).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def search(self) -> Search:
        return Search(self.library.scope, {}, self.vector(), "", NOW)


async def by_copy_and_exact(database: Database, shelf: Shelf, copies: AskedCopies) -> tuple[list[object], list[object]]:
    """The lists of nearest units, as recall gets them and of a scan, as of one moment."""
    search = shelf.search()
    assert search.vector is not None
    near = await copies.nearest(shelf.place, search.vector, 2 * search.limit)
    assert near is not None
    statement = numbered(load_queries("recall", shelf.place.ordinal)["nearest"])
    parameters = search_parameters(search, near)
    found, true = await database.read(
        shelf.place.tenant_id,
        [Reading(statement, {**parameters, "exact": exact}) for exact in (False, True)],
        timeout_seconds=60,
    )
    assert {row[2] for row in found} == {False}
    return [(row[0], row[1]) for row in found], [(row[0], row[1]) for row in true]


async def with_copy(copies: AskedCopies, shelf: Shelf) -> None:
    await copies.settled()  # a renewal on its way may find that the copy is to be given up
    for _ in range(2):
        copies.asked(shelf.place, UNITS)
    await copies.settled()


@pytest.mark.parametrize("renew_seconds", [0.0, 1e9], ids=["renewed", "as-it-was-made"])
async def test_whatever_is_written_the_nearest_are_found(
    library: Library, reading: Database, database: DatabaseUrls, renew_seconds: float
) -> None:
    shelf = Shelf(library, seed=3)
    shelf.add(UNITS, shelf.main)
    shelf.add(200, shelf.fresh)
    shelf.count()
    changes = {
        "added": lambda: shelf.add(7, shelf.fresh),
        "merged": lambda: shelf.merge(20),
        "moved in": lambda: shelf.add(9, shelf.main),
        "superseded": lambda: shelf.change(f"UPDATE {shelf.main} SET state = 1", shelf.some(shelf.main, 9)),
        "restored": lambda: shelf.change(f"UPDATE {shelf.main} SET state = 0", shelf.some(shelf.main, 30)),
        "deleted": lambda: shelf.change(f"DELETE FROM {shelf.main}", shelf.some(shelf.main, 9)),
        "embedded anew": lambda: shelf.embed_anew(5),
        "warm": lambda: shelf.make_warm(shelf.main, 100),
        "fresh and warm": lambda: shelf.make_warm(shelf.fresh, 9),
        "hot again": lambda: shelf.make_fresh(9),
        "warm superseded": lambda: shelf.change(f"UPDATE {shelf.warm} SET state = 1", shelf.some(shelf.warm, 9)),
        "cold": lambda: shelf.change(f"DELETE FROM {shelf.warm}", shelf.some(shelf.warm, 20)),
    }
    async with AskedCopies(
        PostgresVectorSource(reading), capacity_bytes=10_000_000, renew_seconds=renew_seconds
    ) as copies:
        with psycopg.connect(database.superuser) as slow:
            # Began before the copy was made, and commits long after: the copy cannot have seen it.
            shelf.add(30, shelf.main, slow)
            await with_copy(copies, shelf)
            for step in range(42):
                if step == 20:
                    slow.commit()
                await with_copy(copies, shelf)  # one of which much was replaced is made anew
                name = shelf.random.choice(list(changes)) if step else "merged"
                changes[name]()
                found, true = await by_copy_and_exact(reading, shelf, copies)
                assert found == true, (step, name)
                if step % 5 == 0:
                    await copies.settled()


async def test_after_too_many_changes_the_database_answers_until_the_copy_knows_them(
    library: Library, reading: Database
) -> None:
    shelf = Shelf(library, seed=4)
    shelf.add(UNITS, shelf.main)
    shelf.count()
    async with AskedCopies(PostgresVectorSource(reading), capacity_bytes=10_000_000, renew_seconds=0.0) as copies:
        await with_copy(copies, shelf)
        for change in (f"UPDATE {shelf.main} SET state = 1", f"DELETE FROM {shelf.main}"):
            shelf.change(change, shelf.some(shelf.main, 400))
            shelf.add(1_200, shelf.main)
            search = shelf.search()
            assert search.vector is not None
            near = await copies.nearest(shelf.place, search.vector, 200)
            statement = numbered(load_queries("recall", shelf.place.ordinal)["nearest"])
            parameters = {**search_parameters(search, near), "exact": False}
            answer = (await reading.read(shelf.place.tenant_id, [Reading(statement, parameters)], timeout_seconds=60))[
                0
            ]
            assert {row[2] for row in answer} == {True}, "a scan of all"
            await copies.settled()
            found, true = await by_copy_and_exact(reading, shelf, copies)
            assert found == true


async def test_a_copy_of_another_database_is_not_believed(library: Library, reading: Database) -> None:
    shelf = Shelf(library, seed=5)
    shelf.add(UNITS, shelf.main)
    shelf.count()
    async with AskedCopies(PostgresVectorSource(reading), capacity_bytes=10_000_000) as copies:
        await with_copy(copies, shelf)
        search = shelf.search()
        assert search.vector is not None
        near = await copies.nearest(shelf.place, search.vector, 200)
        assert near is not None
        later = replace(near, since=str(2**62))
        statement = numbered(load_queries("recall", shelf.place.ordinal)["nearest"])
        parameters = {**search_parameters(search, later), "exact": False}
        (answer,) = await reading.read(shelf.place.tenant_id, [Reading(statement, parameters)], timeout_seconds=60)
        assert {row[2] for row in answer} == {True}


async def test_moves_to_the_warm_table_are_no_changes_and_what_goes_need_not_be_compared(
    library: Library, reading: Database
) -> None:
    shelf = Shelf(library, seed=9)
    shelf.add(2 * UNITS, shelf.main)
    shelf.count()
    source = PostgresVectorSource(reading)
    async with AskedCopies(source, capacity_bytes=10_000_000) as copies:
        await with_copy(copies, shelf)
        since, _ = await source.changes(shelf.place, "3", 10)
        shelf.make_warm(shelf.main, 2 * UNITS)
        assert (await source.changes(shelf.place, since, 10))[1] == []
        found, true = await by_copy_and_exact(reading, shelf, copies)
        assert found == true
        shelf.change(f"DELETE FROM {shelf.warm}", shelf.some(shelf.warm, UNITS // 2))
        assert len((await source.changes(shelf.place, since, UNITS))[1]) == UNITS // 2
        found, true = await by_copy_and_exact(reading, shelf, copies)
        assert found == true


async def test_statistics_are_made_anew_when_a_table_has_grown(library: Library, reading: Database) -> None:
    shelf = Shelf(library, seed=10)
    analyze = load_queries("tier_units", shelf.place.ordinal)["analyze_warm"]

    async def analyzed() -> bool:
        rows = await reading.rows(shelf.place.tenant_id, analyze, {}, timeout_seconds=60)
        return bool(rows[0][0])

    await analyzed()
    shelf.add(UNITS, shelf.main)
    shelf.make_warm(shelf.main, UNITS)
    assert [await analyzed(), await analyzed()] == [True, False]
    for table in ("memory", "search_unit_warm_1; DROP TABLE memory", "nothing"):
        answer = await reading.rows(
            shelf.place.tenant_id, "SELECT rearview_analyze_grown(%(table)s)", {"table": table}, timeout_seconds=60
        )
        assert answer[0][0] is False


async def test_copies_stay_within_their_bound_and_the_one_asked_longest_ago_goes_first(
    library: Library, reading: Database, database: DatabaseUrls
) -> None:
    shelves = [Shelf(library, seed=6)]
    for name in ("second", "third"):
        other = open_library(database.superuser, library.embedder, tenant=library.scope.tenant_id, name=name)
        other.connection.close()
        shelves.append(Shelf(replace(other, connection=library.connection), seed=6))
    for shelf in shelves:
        shelf.add(UNITS, shelf.main)
    told: list[tuple[int, int]] = []
    one_takes = UNITS * 2 * (384 + 24)  # half of the units are in two lists, and are kept twice while they may grow
    source = PostgresVectorSource(reading)
    async with AskedCopies(
        source, capacity_bytes=int(3.5 * one_takes), on_change=lambda *held: told.append(held)
    ) as copies:
        for shelf in shelves:
            await with_copy(copies, shelf)
        held = [await copies.nearest(shelf.place, shelf.vector(), 5) is not None for shelf in shelves]
    assert held == [False, True, True]
    assert max(told) == (2, max(size for _, size in told))
    assert max(size for _, size in told) <= 3.5 * one_takes
    for too_little in (one_takes, 0):
        async with AskedCopies(source, capacity_bytes=too_little) as copies:
            await with_copy(copies, shelves[0])
            assert await copies.nearest(shelves[0].place, shelves[0].vector(), 5) is None


async def test_a_copy_that_nobody_asks_goes(library: Library, reading: Database) -> None:
    shelf = Shelf(library, seed=8)
    shelf.add(UNITS, shelf.main)
    told: list[tuple[int, int]] = []
    gone = asyncio.Event()

    def on_change(copies: int, size: int) -> None:
        told.append((copies, size))
        if not copies:
            gone.set()

    source = PostgresVectorSource(reading)
    async with AskedCopies(source, capacity_bytes=10_000_000, idle_seconds=2.0, on_change=on_change) as copies:
        await with_copy(copies, shelf)
        await asyncio.wait_for(gone.wait(), 60)
        assert [held for held, _ in told] == [1, 0]
        assert told[-1] == (0, 0)
        assert await copies.nearest(shelf.place, shelf.vector(), 5) is None


async def test_another_tenant_gets_no_vector_and_hears_of_no_change(library: Library, reading: Database) -> None:
    shelf = Shelf(library, seed=7)
    shelf.add(UNITS, shelf.main)
    source = PostgresVectorSource(reading)
    stranger = shelf.place._replace(tenant_id=new_id())
    assert len(await source.page(shelf.place, UUID(int=0), 10)) == 10
    assert len(await source.page(stranger, UUID(int=0), 10)) == 0
    assert len((await source.changes(shelf.place, "3", 10))[1]) == 10
    assert (await source.changes(stranger, "3", 10))[1] == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with reading.transaction(shelf.place.tenant_id) as connection:
            await connection.execute("DELETE FROM unit_change")


async def test_recall_by_a_copy_answers_as_without(bench: Bench, library: Library, reading: Database) -> None:
    texts = (
        "预算是12000元",
        "我对花生过敏",
        "The offsite is in Lisbon",
        "椅子要带扶手",
        "周五的 review 改到 Aurora 会议室",
    )
    for text in texts:
        await library.memory(text)
    superseded = await library.memory("预算是8000元", MemoryType.FACT)
    library.index(table=MAIN)
    async with AskedCopies(PostgresVectorSource(reading), capacity_bytes=10_000_000, least_units=1) as copies:
        store = PostgresRecallStore(bench.database, copies)
        by_copy = bench.with_parts(store=store)
        generation = await store.answering_generation(library.scope.tenant_id)
        assert isinstance(generation, Generation)
        for query in ("预算是多少", "where is the offsite", "review 在哪个会议室"):
            expected = await bench.ask(query, library.scope)
            for _ in range(3):
                answer = await by_copy.ask(query, library.scope)
                assert memory_ids(answer) == memory_ids(expected)
                await copies.settled()
        vector = (await bench.embedder.embed_query("预算"))[: generation.dimension]
        place = CopyPlace(library.scope.tenant_id, library.scope.namespace_id, generation.ordinal)
        assert await copies.nearest(place, vector, 5) is not None
        # What a filter or a time restricts the database finds, and what is forgotten is not found.
        facts = await by_copy.ask("预算是多少", library.scope, filter=MemoryFilter(types=frozenset({MemoryType.FACT})))
        assert memory_ids(facts) == [superseded]
        library.connection.execute("UPDATE memory SET state = 4, content = NULL WHERE memory_id = %s", [superseded])
        assert superseded not in memory_ids(await by_copy.ask("预算是多少", library.scope))
