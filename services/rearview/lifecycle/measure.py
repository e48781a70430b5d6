"""A round that keeps the metrics of the platform as a whole: its queue, its dead letters, its tiers.

Every replica measures the same, so dashboards take the maximum over replicas, never their sum.
"""

import time
from collections.abc import Callable, Sequence

from rearview.lifecycle.job_ages import JobAges
from rearview.ports.platform_statistics import PlatformStatistics, QueueFigures
from rearview.telemetry.metrics import Metrics

TASKS = (
    *("index_session", "close_session_windows", "merge_fresh_units", "clear_working_memory"),
    *("summarise_fact", "restate_fact", "refresh_units", "rehydrate_memory"),
    *("purge", "sweep", "operation", "erase_tenant"),
)
"""Shown at zero before their first job; a task that is not among them shows once it has one."""


class PlatformMeasures:
    """Reads the statistics and sets gauges."""

    def __init__(
        self, statistics: PlatformStatistics, metrics: Metrics, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._statistics = statistics
        self._monotonic = monotonic
        self._ages = JobAges()
        self._jobs = metrics.gauge("queue_jobs", "Jobs in the queue, by task and state.", ("task", "state"))
        self._oldest = metrics.gauge(
            "queue_oldest_seconds", "For how long the oldest waiting job has been known to wait.", ("task",)
        )
        self._dead = metrics.gauge("dead_letters", "Jobs that failed for good.", ("task",))
        self._units = metrics.gauge("tier_units", "Search units, by tier.", ("tier",))
        self._bytes = metrics.gauge("tier_bytes", "Bytes of the tables and indexes of a tier.", ("tier",))
        self._segments = metrics.gauge("cold_segments", "Cold segments in the catalog.")
        self._cold = metrics.gauge("cold_memories", "Cold memories, as of the last vacuum or analyze.")
        self._memories = metrics.gauge("memories", "Memories of every tier.")
        self._known = set(TASKS)

    async def measure(self) -> int:
        """Set all gauges; return 0: there is nothing to be told of it. Raises: Unavailable."""
        queue = await self._statistics.queue()
        moment = self._monotonic()
        self._ages.note(moment, queue.last_id)
        self._set_queue(queue.tasks, moment)
        stored = await self._statistics.stored()
        for tier, units, size in (
            ("hot", stored.hot_units, stored.hot_bytes),
            ("warm", stored.warm_units, stored.warm_bytes),
        ):
            self._units.labels(tier).set(units)
            self._bytes.labels(tier).set(size)
        self._segments.set(stored.cold_segments)
        self._cold.set(stored.cold_memories)
        self._memories.set(stored.memories)
        return 0

    def _set_queue(self, tasks: Sequence[QueueFigures], moment: float) -> None:
        found = {one.task: one for one in tasks}
        self._known |= found.keys()
        for task in self._known:
            one = found.get(task) or QueueFigures(task, 0, 0, 0, 0, None, 0.0)
            for state, count in (("waiting", one.waiting), ("scheduled", one.scheduled), ("running", one.running)):
                self._jobs.labels(task, state).set(count)
            self._dead.labels(task).set(one.dead)
            age = 0.0 if one.oldest_id is None else self._ages.age_seconds(moment, one.oldest_id)
            self._oldest.labels(task).set(max(age, one.overdue_seconds))
        oldest = [one.oldest_id for one in tasks if one.oldest_id is not None]
        if oldest:
            self._ages.forget_before(min(oldest))
