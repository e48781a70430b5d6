"""The queue, dead letters and tiers of all tenants, as the metrics show them."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from rearview.adapters.postgres.platform_statistics import PostgresPlatformStatistics
from rearview.domain.errors import Unavailable
from rearview.lifecycle.measure import TASKS, PlatformMeasures
from rearview.telemetry.metrics import Metrics
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.waiting import wait_until


class Measured:
    """Gauges over a bench's database, with a clock that the test sets."""

    def __init__(self, lifecycle: LifecycleBench) -> None:
        self.now = 100.0
        self._metrics = Metrics("lifecycle")
        self._measures = PlatformMeasures(
            PostgresPlatformStatistics(lifecycle.database), self._metrics, monotonic=lambda: self.now
        )

    async def measure(self) -> None:
        assert await self._measures.measure() == 0

    def value(self, name: str, **labels: str) -> float | None:
        return self._metrics.registry.get_sample_value(f"rearview_lifecycle_{name}", labels)

    def jobs(self, state: str, task: str = "sweep") -> float | None:
        return self.value("queue_jobs", task=task, state=state)


async def _enqueue(lifecycle: LifecycleBench, run_at: datetime | None = None) -> None:
    tenant_id = lifecycle.own.scope.tenant_id
    async with lifecycle.database.transaction(tenant_id) as connection:
        await connection.execute(
            "SELECT rearview_enqueue('sweep', NULL, %s, %s)", [json.dumps({"tenant_id": str(tenant_id)}), run_at]
        )


async def test_jobs_are_told_by_state_and_the_oldest_by_its_age(lifecycle: LifecycleBench) -> None:
    measured = Measured(lifecycle)
    await measured.measure()
    assert [measured.jobs(state) for state in ("waiting", "scheduled", "running")] == [0, 0, 0]
    assert measured.value("queue_oldest_seconds", task="sweep") == 0

    await _enqueue(lifecycle)
    await measured.measure()
    measured.now += 40.0
    await _enqueue(lifecycle, datetime.now(UTC) + timedelta(hours=1))
    await _enqueue(lifecycle)
    await measured.measure()
    assert (measured.jobs("waiting"), measured.jobs("scheduled")) == (2, 1)
    assert measured.value("queue_oldest_seconds", task="sweep") == 40.0

    await lifecycle.own.rows("UPDATE procrastinate_jobs SET status = 'failed' WHERE scheduled_at IS NULL")
    await measured.measure()
    assert measured.value("dead_letters", task="sweep") == 2
    assert (measured.jobs("waiting"), measured.value("queue_oldest_seconds", task="sweep")) == (0, 0)


async def test_a_job_for_later_is_as_old_as_it_is_overdue_not_as_its_id(lifecycle: LifecycleBench) -> None:
    measured = Measured(lifecycle)
    await _enqueue(lifecycle, datetime.now(UTC) + timedelta(hours=1))
    await measured.measure()
    measured.now += 3_600.0
    due = datetime.now(UTC) - timedelta(seconds=20)
    await lifecycle.own.rows("UPDATE procrastinate_jobs SET scheduled_at = %s", due)
    await measured.measure()
    age = measured.value("queue_oldest_seconds", task="sweep")
    assert age is not None
    assert 20 <= age < 1_800
    assert measured.jobs("waiting") == 1


async def test_what_is_stored_is_told_by_tier(lifecycle: LifecycleBench) -> None:
    measured = Measured(lifecycle)
    await lifecycle.own.append(["奶奶的红烧肉要先炒冰糖。", "The train to Kyoto leaves at nine"])
    await lifecycle.own.run_jobs()

    # A connection tells what it has counted when it ends, or after ten idle seconds.
    await lifecycle.own.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    async def counted() -> bool:
        with suppress(Unavailable):
            await measured.measure()
        return bool(measured.value("tier_units", tier="hot")) and bool(measured.value("memories"))

    await wait_until(counted, "the database to have counted the new rows")
    assert (measured.value("tier_bytes", tier="hot") or 0) > 0
    assert measured.value("tier_units", tier="warm") == 0
    assert measured.value("cold_segments") == 0


async def test_every_task_is_shown_from_the_start(lifecycle: LifecycleBench) -> None:
    assert set(lifecycle.own.writer.handlers) | {"purge", "sweep", "operation", "erase_tenant"} == set(TASKS)
