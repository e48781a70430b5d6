"""Undoing a supersession: the value that was superseded holds again."""

from uuid import UUID

from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.writing import RequestKey
from rearview.ports.clock import Clock
from rearview.ports.fact_histories import FactHistories


class SupersessionUndoer:
    """The use case of `UndoSupersession`."""

    def __init__(self, histories: FactHistories, clock: Clock) -> None:
        self._histories = histories
        self._clock = clock

    async def undo(self, scope: Scope, memory_id: UUID, request: RequestKey | None) -> Memory:
        """Make a superseded value the active one again and return it; what had replaced it becomes history.

        Raises:
            NotFound: there is no such memory, or it was forgotten.
            PreconditionFailed: it is no fact, or is active.
            RequestIdReused: the request id stands for another request.
            Unavailable: repeat the request.
        """
        return await self._histories.undo(scope, memory_id, request=request, now=self._clock.now())
