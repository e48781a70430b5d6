"""Reading working memory."""

from dataclasses import replace

from rearview.domain.importance import AGE_WEIGHT
from rearview.domain.principal import Scope
from rearview.ports.memory_reader import EventReader
from rearview.ports.working_memory import RecentTurns, SessionKey, WorkingTurns


class GetWorkingMemory:
    """Reads the last turns of a session, each with its importance now."""

    def __init__(self, recent_turns: RecentTurns, events: EventReader) -> None:
        self._recent_turns = recent_turns
        self._events = events

    async def last_turns(self, scope: Scope, session_id: str, max_turns: int) -> WorkingTurns:
        """Return the newest turns, oldest first. Importance falls with age: 1 / (1 + 0.3 * turns since).

        Raises:
            NotFound: there is no such session.
            Unavailable: the event log does not answer.
        """
        await self._events.require_session(scope, session_id)
        working = await self._recent_turns.last_turns(
            SessionKey(scope.tenant_id, scope.namespace_id, session_id), max_turns
        )
        newest = len(working.turns) - 1
        return replace(
            working,
            turns=tuple(
                replace(turn, importance=turn.importance / (1.0 + AGE_WEIGHT * (newest - place)))
                for place, turn in enumerate(working.turns)
            ),
        )
