"""A pool that is closed leaves no connection open, whatever was under way."""

import asyncio

import pytest
import redis
import redis.asyncio

from rearview.adapters.redis.connection import RedisConnection
from rearview.domain.errors import Unavailable
from tests.support.client_steps import eventually

NAME = "closing"


def names_of_clients(redis_url: str) -> list[str]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        return [each["name"] for each in client.client_list()]


async def waits(client: redis.asyncio.Redis) -> None:
    await client.blpop(["nothing-comes"], timeout=0.2)


async def test_a_call_under_way_ends_before_the_pool_is_closed_and_opens_no_other_connection(redis_url: str) -> None:
    url = f"{redis_url}{'&' if '?' in redis_url else '?'}client_name={NAME}"
    async with RedisConnection(url, timeout_seconds=1.0) as connection:
        calls = [asyncio.create_task(connection.call(waits)) for _ in range(3)]
        await asyncio.to_thread(
            eventually,
            lambda: names_of_clients(redis_url).count(NAME),
            lambda names: names == len(calls),
            "a connection a call",
        )
    assert all(call.done() for call in calls)
    await asyncio.gather(*calls)
    assert NAME not in names_of_clients(redis_url)


async def test_nothing_is_asked_of_a_pool_that_is_closed(redis_url: str) -> None:
    async with RedisConnection(redis_url) as connection:
        await connection.call(redis.asyncio.Redis.ping)
    with pytest.raises(Unavailable, match="Redis does not answer"):
        await connection.call(redis.asyncio.Redis.ping)
