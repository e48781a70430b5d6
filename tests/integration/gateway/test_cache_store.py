"""Epochs with additions in PostgreSQL, and answers in Valkey."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
import pytest_asyncio

from rearview.adapters.postgres.consequences import bump_epoch
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.epochs import PostgresEpochs
from rearview.adapters.redis.answer_cache import RedisAnswerCache
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.domain.addition import Addition, AskedIn
from rearview.domain.canonical_query import CanonicalQuery
from rearview.domain.errors import Unavailable
from rearview.domain.ids import new_id
from rearview.ports.answer_cache import MAX_ANSWER_BYTES, AnswerKeys, CachedAnswer
from rearview.ports.epochs import Epoch
from tests.support.stack import DatabaseUrls

TENANT, NAMESPACE = new_id(), new_id()
KEYS = AnswerKeys("exact", "meaning")


@pytest_asyncio.fixture
async def store(database: DatabaseUrls) -> AsyncIterator[Database]:
    async with Database(database.service, max_connections=2, vectors=False) as store:
        yield store


async def _bump(database: Database, tenant: UUID, *, breaking: bool = False, addition: Addition | None = None) -> None:
    async with database.transaction(tenant) as connection:
        await bump_epoch(connection, tenant, NAMESPACE, breaking=breaking, addition=addition)


async def test_each_addition_between_two_readings_is_known(store: Database) -> None:
    tenant, epochs = new_id(), PostgresEpochs(store, 2)
    before = await epochs.read(tenant, [NAMESPACE])
    assert before == {NAMESPACE: Epoch()}
    vectors = np.array([[0.5, 0.25], [1.0, -1.0]], dtype=np.float32)
    await _bump(store, tenant, addition=Addition("s", frozenset({1}), frozenset({2}), vectors, (4, 8)))
    await _bump(store, tenant, addition=Addition("t", frozenset({3}), pending_to=7, indexed_to=5))
    after = await epochs.read(tenant, [NAMESPACE])
    found = await epochs.additions(tenant, before, after)
    assert found is not None
    first, second = sorted(found[NAMESPACE], key=lambda addition: addition.session_id)
    assert (first.keywords, first.entities, first.languages) == (frozenset({1}), frozenset({2}), (4, 8))
    assert np.array_equal(first.vectors, vectors)
    assert (second.keywords, second.pending_to, second.indexed_to) == (frozenset({3}), 7, 5)
    assert await epochs.additions(tenant, after, after) == {}


async def test_an_addition_that_was_not_noted_or_has_left_the_ring_is_unknown(store: Database) -> None:
    tenant, epochs = new_id(), PostgresEpochs(store, 2)
    before = await epochs.read(tenant, [NAMESPACE])
    await _bump(store, tenant)
    assert await epochs.additions(tenant, before, await epochs.read(tenant, [NAMESPACE])) is None
    before = await epochs.read(tenant, [NAMESPACE])
    for _ in range(40):
        await _bump(store, tenant, addition=Addition("s"))
    assert await epochs.additions(tenant, before, await epochs.read(tenant, [NAMESPACE])) is None


async def test_a_break_empties_the_rings_and_other_tenants_see_nothing(store: Database) -> None:
    tenant, epochs = new_id(), PostgresEpochs(store, 2)
    before = await epochs.read(tenant, [NAMESPACE])
    await _bump(store, tenant, addition=Addition("s"))
    after = await epochs.read(tenant, [NAMESPACE])
    async with store.transaction(new_id()) as connection:
        rows = await connection.execute("SELECT count(*) FROM namespace_addition")
        assert await rows.fetchone() == (0,)
    await _bump(store, tenant, breaking=True)
    assert await epochs.additions(tenant, before, after) is None
    assert (await epochs.read(tenant, [NAMESPACE]))[NAMESPACE].breaking == 1


@pytest_asyncio.fixture
async def redis(redis_url: str) -> AsyncIterator[RedisConnection]:
    async with RedisConnection(redis_url, decode=False) as connection:
        yield connection


def _answer(seconds: float = 60.0, answer: bytes = b"answer") -> CachedAnswer:
    now = datetime.now(UTC)
    asked = AskedIn(
        frozenset({1}), frozenset(), True, frozenset({"s"}), np.array([0.5, 1.0], dtype=np.float32), {4: 0.25}
    )
    return CachedAnswer(
        answer=answer,
        query=CanonicalQuery(("T:昨天", "a1b2"), precision="day"),
        stored_at=now,
        expires_at=now + timedelta(seconds=seconds),
        last_turn="",
        epochs={NAMESPACE: Epoch(3, {1: 7})},
        asked={NAMESPACE: asked},
    )


async def test_an_answer_comes_back_under_its_words_and_under_its_meaning(redis: RedisConnection) -> None:
    tenant, cache = new_id(), RedisAnswerCache(redis, max_entries=10)
    kept = _answer()
    await cache.keep(tenant, KEYS, kept)
    exact = (await cache.look(tenant, KEYS, None)).exact
    similar = (await cache.look(tenant, AnswerKeys("other", "meaning"), None)).similar
    for found in (exact, similar):
        assert found is not None
        assert (found.answer, found.query, found.epochs, found.expires_at) == (
            kept.answer,
            kept.query,
            kept.epochs,
            kept.expires_at,
        )
        assert np.array_equal(found.asked[NAMESPACE].vector, kept.asked[NAMESPACE].vector)
        assert found.asked[NAMESPACE].noise_cosines == {4: 0.25}
    assert (await cache.look(new_id(), KEYS, None)).exact is None


async def test_entries_are_bounded_in_number_size_and_time(redis: RedisConnection) -> None:
    tenant, cache = new_id(), RedisAnswerCache(redis, max_entries=2)
    await cache.keep(tenant, AnswerKeys("large", None), _answer(answer=b"x" * MAX_ANSWER_BYTES))
    assert (await cache.look(tenant, AnswerKeys("large", None), None)).exact is None
    for name, seconds in (("first", 10.0), ("second", 20.0), ("third", 0.2)):
        await cache.keep(tenant, AnswerKeys(name, None), _answer(seconds))
    found = {name: (await cache.look(tenant, AnswerKeys(name, None), None)).exact for name in ("first", "second")}
    assert all(found.values())  # the third expired first and made room
    await cache.keep(tenant, AnswerKeys("short", None), _answer(0.05))
    await asyncio.sleep(0.1)
    assert (await cache.look(tenant, AnswerKeys("short", None), None)).exact is None


async def test_a_purge_erases_a_tenants_answers(redis: RedisConnection) -> None:
    tenant, other, cache = new_id(), new_id(), RedisAnswerCache(redis, max_entries=10)
    await cache.keep(tenant, KEYS, _answer())
    await cache.keep(other, KEYS, _answer())
    assert await RedisErasure(redis).erase_answers(tenant) == 1
    assert (await cache.look(tenant, KEYS, None)).exact is None
    assert (await cache.look(other, KEYS, None)).exact is not None


async def test_without_redis_it_says_so() -> None:
    async with RedisConnection("redis://127.0.0.1:1/0", decode=False, timeout_seconds=0.2) as away:
        with pytest.raises(Unavailable):
            await RedisAnswerCache(away, max_entries=1).look(TENANT, replace(KEYS), None)
