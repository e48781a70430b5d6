"""The writer as a process: it is killed in the middle of its work and loses and doubles nothing; it ends in order."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rearview.writer.config import WriterConfig
from tests.support.writer_fixtures import WriterBench

SENTENCES = (
    "The train to Harbour Street leaves at {n} past nine",
    "第{n}号会议室今天下午有人用",
    "我们把 deadline 挪到 {n} 号了",
    "Grandmother's recipe needs {n} spoons of sugar and two lemons",
)
SESSIONS = [f"s{number}" for number in range(6)]
TURNS = 30


@asynccontextmanager
async def process(config: WriterConfig, models_dir: Path, **settings: str) -> AsyncIterator[Process]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "REARVIEW_DATABASE_URL": config.database_url.get_secret_value(),
        "REARVIEW_REDIS_URL": config.redis_url.get_secret_value(),
        "REARVIEW_INTERNAL_KEY": config.internal_key.get_secret_value(),
        "REARVIEW_MODEL_DIR": str(models_dir),
        "REARVIEW_LISTEN": "127.0.0.1:0",
        "REARVIEW_INDEX_BATCH_EVENTS": "8",
        "REARVIEW_LOG_LEVEL": "warning",
        **settings,
    }
    running = await asyncio.create_subprocess_exec(sys.executable, "-m", "rearview.writer", env=environment)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()


async def until(condition: Callable[[int], bool], bench: WriterBench, table: str, where: str) -> None:
    async with asyncio.timeout(120):
        while not condition(await bench.count(table, where)):  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.02)


async def test_a_worker_killed_in_the_middle_of_a_batch_loses_and_doubles_nothing(
    bench: WriterBench, writer_config: WriterConfig, models_dir: Path
) -> None:
    total = TURNS * len(SESSIONS)
    for at, session in enumerate(SESSIONS):
        # No session says what another says: that would be a repetition, and no memory of its own.
        numbers = range(TURNS * at, TURNS * (at + 1))
        await bench.append([SENTENCES[n % len(SENTENCES)].format(n=n) for n in numbers], session)
        await bench.writer.ender.end(bench.scope, session)

    for share in (0.1, 0.4):
        async with process(writer_config, models_dir, REARVIEW_WRITER_ROLE="work") as worker:
            await until(lambda n: n >= share * total, bench, "event", "outcome <> 1")  # noqa: B023
            worker.send_signal(signal.SIGKILL)
            await worker.wait()
    assert await bench.count("event", "outcome = 1") > 0
    async with process(writer_config, models_dir, REARVIEW_WRITER_ROLE="work") as worker:
        await until(lambda n: n == len(SESSIONS), bench, "session", f"window_closed AND indexed_sequence = {TURNS}")
        await until(lambda n: n == 0, bench, "procrastinate_jobs", "task_name = 'index_session'")
        worker.send_signal(signal.SIGTERM)
        assert await worker.wait() == 0

    kept = await bench.count("event", "outcome = 2")
    assert kept == total
    assert await bench.count("memory_event") == kept
    units = "(SELECT unit_id, closed FROM search_unit_fresh_1 UNION ALL SELECT unit_id, closed FROM search_unit_1) u"
    assert await bench.count(units) == kept
    assert await bench.count(units, "closed") == kept
    assert (await bench.rows("SELECT units FROM namespace_statistics"))[0]["units"] == kept
    contents = await bench.rows("SELECT content FROM memory WHERE type = 1")
    episodes = await bench.count("memory_event l JOIN memory m USING (memory_id)", "m.type = 1")
    assert sum(len(row["content"].splitlines()) for row in contents) == episodes


async def test_a_bad_configuration_is_told_whole_and_shows_no_secret(
    writer_config: WriterConfig, models_dir: Path
) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "REARVIEW_INTERNAL_KEY": "short-secret",
        "REARVIEW_WRITER_ROLE": "both",
        "REARVIEW_WORKER_CONCURRENCY": "0",
    }
    for name in ("REARVIEW_DATABASE_URL", "REARVIEW_REDIS_URL"):
        environment.pop(name, None)
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rearview.writer", env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await running.communicate()
    assert running.returncode == 2
    told = errors.decode()
    for name in ("DATABASE_URL", "REDIS_URL", "INTERNAL_KEY", "WRITER_ROLE", "WORKER_CONCURRENCY"):
        assert f"REARVIEW_{name}: " in told
    assert "short-secret" not in told
