"""After a restore, before anything is served: what the tombstone ledger names is forgotten again."""

from collections import Counter
from collections.abc import Callable, Mapping

from rearview.domain.errors import Conflict
from rearview.domain.tombstone_ledger import ForgetEntry, Ledger
from rearview.ports.clock import Clock
from rearview.ports.forgetting import NotHot
from rearview.ports.ledger_replay import LedgerReplay, Replayed
from rearview.ports.tiering import Rehydrator

_MOST_ATTEMPTS = 5


class LedgerReplayer:
    """Replays a ledger. Doing it again, or after being killed anywhere, ends the same."""

    def __init__(self, replay: LedgerReplay, rehydrator: Rehydrator, clock: Clock) -> None:
        self._replay = replay
        self._rehydrator = rehydrator
        self._clock = clock

    async def replay(self, ledger: Ledger, on_entry: Callable[[int], None] = lambda _count: None) -> Mapping[str, int]:
        """Forget and delete what the ledger names; return how many entries led to what. `on_entry` is told after each.

        The rows are tombstoned when this returns; the jobs of the lifecycle service and of the writer erase them.

        Raises:
            Conflict: something else writes to the database.
            Unavailable: a store cannot be reached. To be repeated.
        """
        counts = Counter(dict.fromkeys((each.value for each in Replayed), 0))
        for entry in ledger.in_order():
            if isinstance(entry, ForgetEntry):
                counts[(await self._forget(entry)).value] += 1
            else:
                counts[(await self._replay.delete(entry, now=self._clock.now())).value] += 1
            on_entry(1)
        return counts

    async def _forget(self, entry: ForgetEntry) -> Replayed:
        for _ in range(_MOST_ATTEMPTS):
            try:
                return await self._replay.forget(entry, now=self._clock.now())
            except NotHot as cold:  # episodes that lose turns are written anew, which cold ones cannot be
                await self._rehydrator.rehydrate(entry.tenant_id, entry.namespace_id, cold.memory_ids)
        raise Conflict("episodes went cold again; repeat the replay", retry_after_seconds=0.5)
