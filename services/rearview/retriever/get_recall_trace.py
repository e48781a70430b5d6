"""Reading the trace of a recall."""

import asyncio
import time
from collections.abc import Collection
from uuid import UUID

from rearview.domain.errors import NotFound
from rearview.domain.ids import made_at
from rearview.domain.recall import RecallTrace
from rearview.ports.recall_side_effects import RecallTraceStore

YOUNG_SECONDS = 5.0
PAUSES_SECONDS = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
"""A trace is written after its recall was answered: one that is young and not there is looked for again."""


class GetRecallTrace:
    """Reads traces of the caller's own tenant."""

    def __init__(self, traces: RecallTraceStore) -> None:
        self._traces = traces

    async def get(
        self, tenant_id: UUID, principal: str, readable_namespaces: Collection[UUID], trace_id: UUID
    ) -> RecallTrace:
        """Return a trace whose namespaces the caller may all read.

        The gateway looks up which namespaces a trace has, and lists those that the caller reaches. A trace that was
        not written yet when it looked has none; then it is for whoever made the recall.

        Raises:
            NotFound: there is none, or the caller may not read all of its namespaces.
            Unavailable: the store does not answer.
        """
        name = f"recallTraces/{trace_id}"
        found = await self._find(tenant_id, trace_id)
        if found is None:
            raise NotFound(f"{name} does not exist", resource_name=name)
        recalled_by, namespace_ids, trace = found
        own = not readable_namespaces and recalled_by == principal
        if not own and not namespace_ids.issubset(readable_namespaces):
            raise NotFound(f"{name} does not exist", resource_name=name)
        return trace

    async def _find(self, tenant_id: UUID, trace_id: UUID) -> tuple[str, frozenset[UUID], RecallTrace] | None:
        found = await self._traces.read(tenant_id, trace_id)
        for pause in PAUSES_SECONDS:
            if found is not None or time.time() - made_at(trace_id) > YOUNG_SECONDS:
                break
            await asyncio.sleep(pause)
            found = await self._traces.read(tenant_id, trace_id)
        return found
