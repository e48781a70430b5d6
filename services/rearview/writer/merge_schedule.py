"""When closed units are moved to the main index: a minute after they came, or at once when many have."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

MERGE_DELAY = timedelta(minutes=1)
MANY_UNITS = 500
_MOST_NAMESPACES = 10_000


@dataclass(slots=True)
class _Planned:
    run_at: datetime
    units_since: int


class MergeSchedule:
    """Keeps each namespace from getting a job for every write. Knows of this process's writes only; forgetting one of
    them (a restart, too many namespaces) costs a superfluous job, which finds nothing to do."""

    def __init__(self, delay: timedelta = MERGE_DELAY, many_units: int = MANY_UNITS) -> None:
        self._delay = delay
        self._many_units = many_units
        self._planned: OrderedDict[tuple[UUID, UUID], _Planned] = OrderedDict()

    def due(self, tenant_id: UUID, namespace_id: UUID, units: int, now: datetime) -> datetime | None:
        """Return when a merge must run for a write of so many units; None when one that is planned will do."""
        if units <= 0:
            return None
        planned = self._planned.get((tenant_id, namespace_id))
        if planned is not None and planned.units_since + units > self._many_units:
            return now
        # Half the delay is left for this write to commit before the planned job looks.
        if planned is not None and now + self._delay / 2 < planned.run_at:
            return None
        return now + self._delay

    def committed(
        self, tenant_id: UUID, namespace_id: UUID, units: int, run_at: datetime | None, now: datetime
    ) -> None:
        """Note that a write has committed, with the merge at `run_at` if it planned one."""
        key = (tenant_id, namespace_id)
        planned = self._planned.get(key)
        if run_at is not None:
            self._planned[key] = _Planned(run_at, 0 if run_at <= now else units)
            self._planned.move_to_end(key)
        elif planned is not None:
            planned.units_since += units
        while len(self._planned) > _MOST_NAMESPACES:
            self._planned.popitem(last=False)
