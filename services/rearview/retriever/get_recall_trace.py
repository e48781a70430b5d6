"""Reading the trace of a recall."""

from collections.abc import Collection
from uuid import UUID

from rearview.domain.errors import NotFound
from rearview.domain.recall import RecallTrace
from rearview.ports.recall_side_effects import RecallTraceStore


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
        found = await self._traces.read(tenant_id, trace_id)
        if found is None:
            raise NotFound(f"{name} does not exist", resource_name=name)
        recalled_by, namespace_ids, trace = found
        own = not readable_namespaces and recalled_by == principal
        if not own and not namespace_ids.issubset(readable_namespaces):
            raise NotFound(f"{name} does not exist", resource_name=name)
        return trace
