"""The rounds over all tenants, each in bounded steps."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from rearview.ports.upkeep import Upkeep

_MOST_STEPS = 1_000


@dataclass(frozen=True, slots=True)
class UpkeepRules:
    """When something counts as left behind. The writer sees to the first two itself; these are for what it lost."""

    session_silent: timedelta = timedelta(minutes=10)
    units_unmerged: timedelta = timedelta(minutes=10)
    purge_overdue: timedelta = timedelta(minutes=15)
    generation_kept: timedelta = timedelta(days=1)
    step: int = 500


class UpkeepRounds:
    """Looks after what nobody calls for."""

    def __init__(self, upkeep: Upkeep, rules: UpkeepRules) -> None:
        self._upkeep = upkeep
        self._rules = rules

    async def expire(self) -> int:
        """Delete outcomes of requests older than a day, recall traces older than a week, and what tells of vectors that
        changed more than half an hour ago; return how many.

        Raises:
            Unavailable: the database cannot be reached; what is left comes next time.
        """
        step = self._rules.step
        requests = await self._until_less(lambda: self._upkeep.expire_requests(limit=step))
        changes = await self._until_less(lambda: self._upkeep.expire_unit_changes(limit=step))
        return requests + changes + await self._until_less(lambda: self._upkeep.expire_recall_traces(limit=step))

    async def drop_generations(self) -> int:
        """Drop the search tables of models that nothing needs any more; return of how many. Raises: Unavailable."""
        return await self._upkeep.drop_generations(superseded=self._rules.generation_kept)

    async def enqueue_left_behind(self) -> int:
        """Enqueue jobs for silent sessions, unmerged units and overdue purges that have none; return how many.

        Raises:
            Unavailable: the database cannot be reached.
        """
        rules, upkeep = self._rules, self._upkeep
        sessions = await upkeep.close_silent_sessions(silent=rules.session_silent, limit=rules.step)
        namespaces = await upkeep.merge_old_units(age=rules.units_unmerged, limit=rules.step)
        return sessions + namespaces + await upkeep.resume_purges(overdue=rules.purge_overdue, limit=rules.step)

    async def _until_less(self, step: Callable[[], Awaitable[int]]) -> int:
        total = 0
        for _ in range(_MOST_STEPS):
            done = await step()
            total += done
            if done < self._rules.step:
                break
        return total
