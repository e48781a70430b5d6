"""Reading one memory."""

from uuid import UUID

from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.ports.clock import Clock
from rearview.ports.memory_reader import MemoryReader
from rearview.ports.recall_side_effects import RecallRecorder


class GetMemory:
    """Reads a memory by name; that counts as an access."""

    def __init__(self, memories: MemoryReader, recorder: RecallRecorder, clock: Clock) -> None:
        self._memories = memories
        self._recorder = recorder
        self._clock = clock

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return the memory, in whatever state but tombstoned.

        Raises:
            NotFound: there is none, or it was forgotten.
            Unavailable: the store does not answer.
        """
        memory = await self._memories.get(scope, memory_id)
        self._recorder.count_accesses(scope.tenant_id, {scope.namespace_id: {memory_id}}, self._clock.now())
        return memory
