"""The retriever's methods on the wire: convert, call the use case, convert."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rearview.domain.errors import CredentialInvalid, FeatureNotOffered
from rearview.domain.names import parse_event, parse_identified, parse_memory, parse_namespace
from rearview.domain.principal import Access, Scope
from rearview.internal.v1 import retriever_service_pb2, retriever_service_pb2_grpc
from rearview.ports.clock import Clock
from rearview.ports.memory_reader import EventReader, MemoryReader
from rearview.retriever.asked import Asked
from rearview.retriever.export_memories import ExportMemories
from rearview.retriever.get_forget_receipt import GetForgetReceipt
from rearview.retriever.get_memory import GetMemory
from rearview.retriever.get_recall_trace import GetRecallTrace
from rearview.retriever.get_working_memory import GetWorkingMemory
from rearview.retriever.list_memories import ListMemories
from rearview.retriever.recall import Recall
from rearview.retriever.reveal_redacted import RevealRedacted
from rearview.rpc.call_context import current_caller, time_left_seconds
from rearview.rpc.convert.events import (
    capture_trace_to_proto,
    event_to_proto,
    list_events_from_proto,
    session_to_proto,
    working_memory_from_proto,
    working_memory_to_proto,
)
from rearview.rpc.convert.forgets import forget_receipt_to_proto, receipt_id_from_name
from rearview.rpc.convert.memories import list_history_from_proto, list_memories_from_proto, memory_to_proto
from rearview.rpc.convert.query_vectors import query_vectors_from_proto
from rearview.rpc.convert.recalls import (
    TRACES,
    recall_from_proto,
    recall_namespaces_from_proto,
    recall_trace_to_proto,
    recalled_to_proto,
)
from rearview.rpc.convert.requests import next_page_token, page_from_proto
from rearview.rpc.convert.reveals import reveal_redacted_from_proto
from rearview.rpc.convert.violations import Violations
from rearview.rpc.scopes import scope_of
from rearview.v1 import event_pb2, forget_pb2, memory_pb2, recall_pb2
from rearview.v1 import memory_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class UseCases:
    """What the servicer calls. Lists without rules of their own are read straight from their port."""

    recall: Recall
    get_memory: GetMemory
    list_memories: ListMemories
    get_working_memory: GetWorkingMemory
    get_recall_trace: GetRecallTrace
    get_forget_receipt: GetForgetReceipt
    reveal_redacted: RevealRedacted
    export_memories: ExportMemories
    memories: MemoryReader
    events: EventReader


class RetrieverServicer(retriever_service_pb2_grpc.RetrieverServiceServicer):
    """Serves `rearview.internal.v1.RetrieverService`. Errors leave as domain errors; the interceptor maps them."""

    def __init__(self, use_cases: UseCases, clock: Clock, page_key: bytes) -> None:
        self._use = use_cases
        self._clock = clock
        self._page_key = page_key

    async def Recall(
        self, request: retriever_service_pb2.RecallRequest, context: Any
    ) -> retriever_service_pb2.RecallResponse:
        """Recall from each of the named namespaces."""
        query = recall_from_proto(request.request, self._clock.now())
        asked = Asked(
            query=query,
            scopes=[_readable(name) for name in recall_namespaces_from_proto(request.request)],
            vectors=query_vectors_from_proto(request.vectors, "vectors"),
            time_left_seconds=time_left_seconds(),
        )
        recalled = await self._use.recall.recall(asked)
        return retriever_service_pb2.RecallResponse(
            answer=recalled_to_proto(recalled, include_metadata=query.include_metadata),
            noise_cosines=recalled.noise_cosines,
        )

    async def GetRecallTrace(self, request: recall_pb2.GetRecallTraceRequest, context: Any) -> recall_pb2.RecallTrace:
        """Read a trace."""
        trace_id = parse_identified(request.name, TRACES, "name")
        trace = await self._use.get_recall_trace.get(_tenant(), current_caller().principal, _readable_ids(), trace_id)
        return recall_trace_to_proto(trace)

    async def GetMemory(self, request: pb.GetMemoryRequest, context: Any) -> memory_pb2.Memory:
        """Read a memory."""
        name = parse_memory(request.name, "name")
        memory = await self._use.get_memory.get(_readable(name.namespace), name.memory)
        return memory_to_proto(memory, name.namespace)

    async def ListMemories(self, request: pb.ListMemoriesRequest, context: Any) -> pb.ListMemoriesResponse:
        """List memories."""
        wanted = list_memories_from_proto(request, self._page_key)
        page = await self._use.list_memories.page(
            _readable(wanted.namespace), wanted.filter, wanted.states, wanted.page, wanted.as_of
        )
        return pb.ListMemoriesResponse(
            memories=[memory_to_proto(memory, wanted.namespace, request.view) for memory in page.rows],
            next_page_token=next_page_token(request, page.next_after, self._page_key),
        )

    async def ListMemoryHistory(
        self, request: pb.ListMemoryHistoryRequest, context: Any
    ) -> pb.ListMemoryHistoryResponse:
        """List what a memory superseded and was superseded by."""
        name, page_request = list_history_from_proto(request, self._page_key)
        page = await self._use.memories.history(_readable(name.namespace), name.memory, page_request)
        return pb.ListMemoryHistoryResponse(
            memories=[memory_to_proto(memory, name.namespace) for memory in page.rows],
            next_page_token=next_page_token(request, page.next_after, self._page_key),
        )

    async def GetForgetReceipt(
        self, request: forget_pb2.GetForgetReceiptRequest, context: Any
    ) -> forget_pb2.ForgetReceipt:
        """Read a receipt."""
        receipt_id = receipt_id_from_name(request.name)
        return forget_receipt_to_proto(await self._use.get_forget_receipt.get(_tenant(), _readable_ids(), receipt_id))

    async def GetWorkingMemory(self, request: pb.GetWorkingMemoryRequest, context: Any) -> event_pb2.WorkingMemory:
        """Read the last turns of a session."""
        name, max_turns = working_memory_from_proto(request)
        working = await self._use.get_working_memory.last_turns(_readable(name.namespace), name.session, max_turns)
        return working_memory_to_proto(working.turns, name.namespace, name.session, working.expires_at)

    async def ListEvents(self, request: pb.ListEventsRequest, context: Any) -> pb.ListEventsResponse:
        """List the events of a session."""
        name, page_request = list_events_from_proto(request, self._page_key)
        page = await self._use.events.events(
            _readable(name.namespace), name.session, page_request, newest_first=request.newest_first
        )
        return pb.ListEventsResponse(
            events=[event_to_proto(event, name.namespace, name.session) for event in page.rows],
            next_page_token=next_page_token(request, page.next_after, self._page_key),
        )

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Any) -> pb.ListSessionsResponse:
        """List the sessions of a namespace."""
        found = Violations()
        page_request = page_from_proto(request, request.page_size, request.page_token, self._page_key, found)
        namespace = parse_namespace(request.parent, "parent").namespace
        found.raise_if_any()
        page = await self._use.events.sessions(_readable(namespace), page_request)
        return pb.ListSessionsResponse(
            sessions=[session_to_proto(session, namespace) for session in page.rows],
            next_page_token=next_page_token(request, page.next_after, self._page_key),
        )

    async def GetCaptureTrace(self, request: pb.GetCaptureTraceRequest, context: Any) -> event_pb2.CaptureTrace:
        """Read what became of an event."""
        name = parse_event(request.name, "name")
        trace = await self._use.events.capture_trace(_readable(name.namespace), name.session, name.event)
        return capture_trace_to_proto(trace, name)

    async def RevealRedacted(self, request: pb.RevealRedactedRequest, context: Any) -> pb.RevealRedactedResponse:
        """Show what redaction replaced. The gateway lets admins through only."""
        name, reason = reveal_redacted_from_proto(request)
        content = await self._use.reveal_redacted.reveal(_readable(name.namespace), name, reason)
        return pb.RevealRedactedResponse(content=content)

    async def ExportMemories(
        self, request: pb.ExportMemoriesRequest, context: Any
    ) -> AsyncIterator[pb.ExportMemoriesResponse]:
        """Stream a namespace."""
        scope = _readable(parse_namespace(request.parent, "parent").namespace)
        if request.HasField("filter"):
            raise FeatureNotOffered("an export is of a whole namespace", feature="ExportMemories.filter")
        async for line in self._use.export_memories.lines(scope, include_history=request.include_history):
            yield pb.ExportMemoriesResponse(line=line)


def _readable(namespace: str) -> Scope:
    return scope_of(current_caller(), namespace, Access.READ)


def _readable_ids() -> frozenset[UUID]:
    return frozenset(
        reached.namespace_id for reached in current_caller().namespaces.values() if reached.access.includes(Access.READ)
    )


def _tenant() -> UUID:
    tenant_id = current_caller().tenant_id
    if tenant_id is None:
        raise CredentialInvalid("the operator belongs to no tenant and reads no memories")
    return tenant_id
