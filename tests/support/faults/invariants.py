"""What must hold of a tenant's memories whatever was killed, and how it is looked for."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

import grpc
from minio.datatypes import Object
from redis.asyncio import Redis

from rearview.v1 import memory_pb2, memory_service_pb2, recall_pb2
from tests.support.faults.world import PARENT, World, mark_of
from tests.support.running_gateway import bearer
from tests.support.tier_bench import misplaced

ONCE, BYTES, FORGOTTEN, ORPHANS, AUDIT = "once", "same bytes", "forgotten", "no orphan", "audit"
INVARIANTS = (ONCE, BYTES, FORGOTTEN, ORPHANS, AUDIT)

Problems = list[tuple[str, str]]
"""Invariants that do not hold, with what was found."""


async def readable(world: World) -> Problems:
    """Look, through the public API and at the rows, for what was acknowledged and for what was forgotten."""
    problems: Problems = [(ONCE, f"not in the one place of its tier: {row}") for row in await misplaced(world.writing)]
    problems += [(ONCE, f"{row['memory_id']} has {row['n']} units") for row in await _doubled(world)]
    listed = await _listed(world)
    names = Counter(memory.name.rpartition("/")[2] for memory in listed)
    content = {memory.name.rpartition("/")[2]: memory.content for memory in listed}
    problems += [(FORGOTTEN, each) for memory in listed if (each := world.forbidden(memory))]
    for memory_id, text in world.kept.items():
        if names[str(memory_id)] != 1:
            problems.append((ONCE, f"{memory_id} is listed {names[str(memory_id)]} times"))
        elif content[str(memory_id)] != text:
            problems.append((BYTES, f"{memory_id} is listed with {content[str(memory_id)]!r} instead of {text!r}"))
    for memory_id, text in _sample(world, world.kept, 1):
        if (found := await world.get(memory_id)) != text:
            problems.append((BYTES, f"{memory_id} reads {found!r} instead of {text!r}"))
        answer = await world.recall(text)
        hits = [hit.memory.name.rpartition("/")[2] for hit in answer.hits if hit.HasField("memory")]
        if hits.count(str(memory_id)) != 1:
            problems.append((ONCE, f"{memory_id} is recalled {hits.count(str(memory_id))} times"))
        problems += [(FORGOTTEN, each)] if (each := world.forbidden(answer)) else []
    for memory_id, text in _sample(world, world.gone, 1):
        problems += [(FORGOTTEN, each)] if (each := world.forbidden(await world.recall(text))) else []
        problems += [(FORGOTTEN, f"{memory_id}: {each}") for each in await _read_anyway(world, memory_id)]
    return problems + await _turns(world)


async def erased(world: World) -> Problems:
    """Look, in every table, object and key of the tenant, for what was forgotten and has been purged."""
    problems: Problems = []
    for trace in world.traces:
        problems += [(FORGOTTEN, f"{trace}: {each}") for each in await _trace_of(world, trace)]
    states = await world.writing.rows(
        "SELECT state, count(*) AS n FROM forget_receipt WHERE tenant_id = %s AND state <> 3 GROUP BY 1",
        world.scope.tenant_id,
    )
    problems += [(FORGOTTEN, f"receipts are not verified: {states}")] if states else []
    counts = await world.writing.rows(
        "SELECT receipt_id FROM forget_receipt r WHERE tenant_id = %s AND state = 3 AND ("
        " cardinality(memory_ids) <> (SELECT sum((p ->> 'count')::int) FROM jsonb_array_elements(places) p"
        " WHERE p ->> 'place' = 'postgres.memory') OR cardinality(event_ids) <> (SELECT sum((p ->> 'count')::int)"
        " FROM jsonb_array_elements(places) p WHERE p ->> 'place' = 'postgres.event'))",
        world.scope.tenant_id,
    )
    problems += [(FORGOTTEN, f"receipts whose counts are wrong: {counts}")] if counts else []
    marks = sorted(world.marks | {mark_of(text) for text in world.gone.values()})
    if not marks:
        return problems
    tables = await world.writing.rows(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'"
        " AND table_name <> 'recall_trace'"  # whoever asks for a text has it in the trace of the question
    )
    union = " UNION ALL ".join(
        f"SELECT '{row['table_name']}' AS place FROM {row['table_name']} t"
        " WHERE t.tenant_id = %(tenant)s AND to_jsonb(t)::text ~ %(marks)s"
        for row in tables
    ).replace("%(tenant)s", f"'{world.scope.tenant_id}'").replace("%(marks)s", f"'{'|'.join(marks)}'")  # fmt: skip
    problems += [(FORGOTTEN, f"in the table {row['place']}") for row in await world.writing.rows(union)]
    ids = [memory_id.bytes for memory_id in world.gone]
    for version in _versions(world):
        if version.is_delete_marker:
            continue
        data = world.bench.objects.get_object(
            bucket_name=world.bench.bucket.bucket,
            object_name=str(version.object_name),
            version_id=version.version_id,
        ).read()
        found = any(each in data for each in ids)
        problems += [(FORGOTTEN, f"in the object {version.object_name}, {version.version_id}")] if found else []
    for key, value in await _keys(world):
        problems += [(FORGOTTEN, f"in the key {key}")] if any(mark in value for mark in marks) else []
    return problems


async def no_orphans(world: World) -> Problems:
    """Compare the tenant's objects with the catalog."""
    catalog = {
        row["object_key"]
        for row in await world.writing.rows(
            "SELECT object_key FROM cold_segment WHERE tenant_id = %s", world.scope.tenant_id
        )
    }
    stored = objects_of(world)
    problems: Problems = [(ORPHANS, f"an object that no catalog names: {key}") for key in sorted(stored - catalog)]
    return problems + [(ONCE, f"an object is missing: {key}") for key in sorted(catalog - stored)]


async def audit_verifies(world: World) -> Problems:
    """Verify the tenant's audit log, all of which has been sealed."""
    tenant_id = world.scope.tenant_id
    verdict = await world.bench.sealing.verifier.verify(tenant_id, 1)
    records = await world.writing.count("audit_record", "tenant_id = %s", tenant_id)
    if not verdict.intact:
        return [(AUDIT, f"record {verdict.first_broken_sequence}: {verdict.problem}")]
    return [] if verdict.checked == records else [(AUDIT, f"{verdict.checked} of {records} records are sealed")]


def objects_of(world: World) -> set[str]:
    """Return the keys of everything that lies in the tenant's place, in any version, delete markers included."""
    return {str(each.object_name) for each in _versions(world)}


def _versions(world: World) -> list[Object]:
    listed = world.bench.objects.list_objects(
        bucket_name=world.bench.bucket.bucket,
        prefix=f"{world.scope.tenant_id}/",
        recursive=True,
        include_version=True,
    )
    return list(listed)


def _sample(world: World, known: Mapping[UUID, str], most: int) -> list[tuple[UUID, str]]:
    return world.chance.sample(list(known.items()), min(most, len(known)))


async def _listed(world: World) -> list[memory_pb2.Memory]:
    request = memory_service_pb2.ListMemoriesRequest(parent=PARENT, page_size=1_000)
    answer = await world.bench.gateway.memories.ListMemories(request, metadata=bearer(world.key), timeout=60)
    return list(answer.memories)


async def _doubled(world: World) -> list[dict[str, object]]:
    tables = ("search_unit_1", "search_unit_fresh_1", "search_unit_warm_1")
    union = " UNION ALL ".join(f"SELECT memory_id FROM {table} WHERE memory_id = ANY (%s)" for table in tables)
    ids = list(world.kept)
    return await world.writing.rows(
        f"SELECT memory_id, count(*) AS n FROM ({union}) u GROUP BY 1 HAVING count(*) > 1", ids, ids, ids
    )


async def _read_anyway(world: World, memory_id: UUID) -> list[str]:
    stubs, name, key = world.bench.gateway.memories, f"{PARENT}/memories/{memory_id}", bearer(world.key)
    got = stubs.GetMemory(memory_service_pb2.GetMemoryRequest(name=name), metadata=key, timeout=60)
    chained = stubs.ListMemoryHistory(memory_service_pb2.ListMemoryHistoryRequest(name=name), metadata=key, timeout=60)
    found = []
    for method, answer in (("GetMemory", got), ("ListMemoryHistory", chained)):
        try:
            await answer
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                found.append(f"{method} answers {error.code()}")
        else:
            found.append(f"{method} returns it")
    return found


async def _trace_of(world: World, trace: str) -> list[str]:
    request = recall_pb2.GetRecallTraceRequest(name=trace)
    try:
        stored = await world.bench.gateway.memories.GetRecallTrace(request, metadata=bearer(world.key), timeout=60)
    except grpc.aio.AioRpcError as error:
        return [] if error.code() is grpc.StatusCode.NOT_FOUND else [str(error.code())]
    named = world.forbidden(stored)
    return [named] if named else []


async def _turns(world: World) -> Problems:
    problems: Problems = []
    for session_id, turns in world.turns.items():
        name = f"{PARENT}/sessions/{session_id}"
        request = memory_service_pb2.ListEventsRequest(parent=name, page_size=1_000)
        answer = await world.bench.gateway.memories.ListEvents(request, metadata=bearer(world.key), timeout=60)
        stored = [(event.name.rpartition("/")[2], event.content) for event in answer.events]
        expected = [(str(event_id), text) for event_id, text in turns.items()]
        if sorted(stored) != sorted(expected):
            missing = Counter(expected) - Counter(stored)
            problems.append((ONCE, f"{session_id} has {len(stored)} turns instead of {len(expected)}: {missing}"))
    return problems


async def _keys(world: World) -> list[tuple[str, str]]:
    # In bytes: answers are packed.
    found: list[tuple[str, str]] = []
    async with Redis.from_url(world.bench.config.redis_url.get_secret_value()) as client:
        readers: Mapping[bytes | str, Callable[[bytes], Awaitable[object]]] = {
            b"string": client.get,
            b"hash": client.hgetall,
            b"list": lambda key: client.lrange(key, 0, -1),
        }
        async for key in client.scan_iter(f"*{world.scope.tenant_id}*", count=1_000):
            kind = await client.type(key)
            if kind in readers:
                found.append((str(key), str(await readers[kind](key))))
    return found
