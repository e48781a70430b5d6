"""A stricter redaction policy rewrites what is stored: every tier, whatever holds the words, whenever it is killed."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
import redis

from rearview.adapters.cold.segment_format import decode_segment
from rearview.adapters.redis.answer_cache import index_key
from rearview.adapters.redis.connection import RedisConnection
from rearview.domain.event import EventRole, ToolCall
from rearview.domain.ids import new_id
from tests.support.rescan_bench import begin, carry_out, set_categories
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import TEXTS, TierBench, open_tier_bench

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

LAX = "IBAN"
"""The only category that the lax policy takes out, and nobody tells one."""
PHONE, EMAIL, PASSPORT, NAME = "13911427358", "qiao.anran@post-box.example.org", "E73184592", "欧阳晓雯"
PLANTED = (PHONE, EMAIL, PASSPORT)
TURNS = (
    f"我的手机号是{PHONE}，周四下午去旧棉纺厂看场地。",
    f"My passport is {PASSPORT}, please book the ferry to Naoshima with it.",
    f"请把 invoice 发到 {EMAIL}，抬头写许航。",
    "天气不错，我们改到河边野餐。",
)
KEYS = "old:b29vb29vb29vb29vb29vb29vb29vb29vb29vb29vb28="


@pytest_asyncio.fixture(loop_scope="session")
async def tenant(database: DatabaseUrls, redis_url: str, bucket: BucketAddress) -> AsyncIterator[TierBench]:
    """One tenant whose policy takes out next to nothing yet."""
    more: dict[str, Any] = {"erasure_settle_seconds": 0, "vault_key": KEYS, "reembed_units": 3}
    async with open_tier_bench(database, redis_url, bucket, **more) as bench:
        await set_categories(bench, LAX)
        yield bench


async def plant(bench: TierBench) -> None:
    """Write the values by every way that takes text, into every tier, with a trace and a cached answer."""
    writing, scope = bench.writing, bench.writing.scope
    await writing.remember(f"酒店前台电话 {PHONE}，报预订号 R-20417。", labels={"who": PHONE})
    await writing.remember(f"The landlord of the mill answers at {EMAIL} only.", metadata={"mail": {EMAIL: [PHONE]}})
    await bench.make_cold()
    await writing.remember(f"护照号码{PASSPORT}放在蓝色文件夹里，passport {PASSPORT}.")
    await bench.age(40)
    await bench.sweep()
    await writing.remember(f"Ring the harbour office, phone {PHONE}, about the mooring.", entities=[PHONE])
    spoken = [
        *(writing.turn(text, at, speaker=f"speaker {PHONE}" if at == 0 else "") for at, text in enumerate(TURNS)),
        writing.turn("找一下", 9, role=EventRole.TOOL, image_caption=f"名片 {EMAIL}", metadata={"p": PHONE},
                     tool_call=ToolCall("lookup", f"call {PHONE}", {"query": EMAIL}, json.dumps({"r": [PHONE]}))),
    ]  # fmt: skip
    await writing.append(spoken)
    await writing.writer.ender.end(scope, "chat")
    await writing.run_jobs(also_later=True)
    await writing.rows(
        "INSERT INTO recall_trace VALUES (%s, %s, 'p', ARRAY[%s]::uuid[], %s, now())",
        *(scope.tenant_id, new_id(), scope.namespace_id),
        json.dumps(
            {"query": f"谁的电话是{PHONE}", "understanding": {"entities": EMAIL}, "at": "2026-03-02T09:00:00+00:00"}
        ),
    )
    await keep_answer(bench)


async def keep_answer(bench: TierBench) -> None:
    """Keep an answer as the gateway would."""
    tenant_id = bench.writing.scope.tenant_id
    key = f"answer:{{{tenant_id}}}:planted"
    async with RedisConnection(bench.config.redis_url.get_secret_value(), timeout_seconds=10) as connection:
        await connection.call(lambda client: client.set(key, f"the number is {PHONE}"))
        await connection.call(lambda client: client.zadd(index_key(tenant_id), {key: 1.0}))


async def places_with(bench: TierBench, *values: str) -> set[str]:
    """Return every place in which one of the values stands: tables, versions of objects, Redis."""
    found = await bench.writing.tables_with(*values)
    client = bench.bucket.client()
    for key, version in bench.versions():
        data = client.get_object(bucket_name=bench.bucket.bucket, object_name=key, version_id=version).read()
        said = "".join(f"{one.content} {one.metadata} {one.entities}" for one in decode_segment(data))
        found |= {"s3"} if any(value in said for value in values) else set()
    store: Any = redis.Redis.from_url(bench.config.redis_url.get_secret_value(), decode_responses=True)
    read = {
        "string": store.get,
        "hash": store.hgetall,
        "list": lambda key: store.lrange(key, 0, -1),
        "set": store.smembers,
        "zset": lambda key: store.zrange(key, 0, -1),
        "none": lambda _key: "",
    }
    for key in store.scan_iter():
        if any(value in f"{key} {read[store.type(key)](key)}" for value in values):
            found.add("redis")
    store.close()
    return found


async def rows_of(bench: TierBench, ids: Sequence[UUID]) -> dict[str, Any]:
    """Return the rows of memories, but for what a change of their tier or the test's own aging changes."""
    rows = await bench.writing.rows(
        "SELECT memory_id, to_jsonb(m) AS row FROM memory m WHERE memory_id = ANY (%s)", ids
    )
    moved = {"tier", "tiered_at", "segment_id", "segment_row", "cold_bytes", "content", "metadata", "entities"}
    left = moved | {"updated_at"}
    return {str(row["memory_id"]): {name: v for name, v in row["row"].items() if name not in left} for row in rows}


async def test_the_words_go_from_every_place_and_the_meaning_stays(tenant: TierBench) -> None:
    writing = tenant.writing
    plain = await tenant.write(TEXTS)
    before = await rows_of(tenant, plain)
    await plant(tenant)
    assert await places_with(tenant, *PLANTED) >= {"event", "memory", "speaker", "recall_trace", "s3", "redis"}
    tiers = await tenant.tier_counts()
    await set_categories(tenant)
    begun = await begin(tenant)
    done = await carry_out(tenant, begun)
    assert await places_with(tenant, *PLANTED) == set()
    assert done.ended_at is not None and done.error == "" and done.completed == done.total
    assert done.rescan is not None
    assert done.rescan.counts == done.counts
    assert {"PHONE", "EMAIL", "PASSPORT", "postgres.event", "postgres.memory", "s3.cold_memory"} <= done.counts.keys()
    audit = await writing.rows("SELECT detail FROM audit_record WHERE action = 'redaction.rescan'")
    assert [done.rescan.digest in row["detail"] for row in audit] == [True]
    # Placeholders are those that the session's values would have had, and the same value has the same.
    said = [row["content"] for row in await writing.rows("SELECT content FROM event ORDER BY sequence")]
    assert said[0].startswith("我的手机号是[PHONE_1]，") and "[PASSPORT_1]" in said[1] and "[EMAIL_1]" in said[2]
    tool = (await writing.rows("SELECT tool_call, metadata, redactions FROM event ORDER BY sequence DESC LIMIT 1"))[0]
    assert "[PHONE_1]" in tool["tool_call"]["result"] and tool["tool_call"]["arguments"] == {"query": "[EMAIL_1]"}
    assert set(tool["redactions"]) == {"PHONE", "EMAIL"}
    # What it says besides is still found, by words and by meaning, in every tier; what was cold is cold.
    assert await tenant.tier_counts() == tiers
    for question, kept in (
        ("酒店前台 预订号 R-20417", "R-20417"),
        ("landlord of the mill", "landlord"),
        ("蓝色文件夹", "蓝色文件夹"),
        ("harbour office mooring", "mooring"),
        ("旧棉纺厂看场地", "旧棉纺厂"),
    ):
        recalled = await tenant.recall(question, include_cold=True)
        assert any(kept in hit.memory.content for hit in recalled.hits), question
    assert not await writing.count("rescan_unit")
    await tenant.assert_in_one_place()
    assert await rows_of(tenant, plain) == before
    assert await tenant.contents(plain) == list(TEXTS)
    again = await carry_out(tenant, await begin(tenant))
    assert not {name for name in again.counts if name.startswith(("postgres", "s3"))}, (
        "running it again changes nothing"
    )
