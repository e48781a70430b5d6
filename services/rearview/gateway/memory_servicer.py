"""MemoryService: each call is authorised here and done by the writer or the retriever."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import grpc.aio

from rearview.domain.forget import MAX_FOUND_BY_QUERY
from rearview.gateway.authorize import Authorizer, current_epochs
from rearview.gateway.backend import Backend
from rearview.gateway.cache.cached_recall import CachedRecall, Found
from rearview.gateway.embed_query import EmbeddedQuery, QueryEmbedding
from rearview.gateway.first_message import with_first
from rearview.gateway.found_to_forget import found_to_forget
from rearview.gateway.recall_request import check_may_explain, internal_recall_request, own_recall_request
from rearview.internal.v1 import writer_service_pb2
from rearview.ports.clock import Clock
from rearview.rpc.convert.forgets import forget_from_proto
from rearview.rpc.convert.recalls import recall_from_proto
from rearview.v1 import event_pb2, forget_pb2, memory_pb2, recall_pb2
from rearview.v1 import memory_service_pb2 as pb
from rearview.v1.memory_service_pb2_grpc import MemoryServiceServicer

if TYPE_CHECKING:  # the generated code has these types in its hints only
    from rearview.internal.v1.retriever_service_pb2_grpc import RetrieverServiceAsyncStub
    from rearview.internal.v1.writer_service_pb2_grpc import WriterServiceAsyncStub

Request = TypeVar("Request")
Response = TypeVar("Response")


class MemoryServicer(MemoryServiceServicer):
    """Forwards; requests and answers stay as they are, except that a recall gets its vectors and subscriptions."""

    def __init__(
        self,
        authorizer: Authorizer,
        writer: Backend,
        writes: "WriterServiceAsyncStub",
        retriever: Backend,
        reads: "RetrieverServiceAsyncStub",
        embedding: QueryEmbedding,
        clock: Clock,
        cache: CachedRecall | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._writer = writer
        self._writes = writes
        self._retriever = retriever
        self._reads = reads
        self._embedding = embedding
        self._clock = clock
        self._cache = cache

    async def Recall(self, request: recall_pb2.RecallRequest, context: Any) -> recall_pb2.RecallResponse:
        """Answer from the cache, or embed the query, once and here, and forward to the retriever."""
        caller = await self._authorizer.caller_of(request)
        check_may_explain(request, caller)
        query = recall_from_proto(request, self._clock.now())

        async def find(vectors: Sequence[EmbeddedQuery]) -> Found:
            internal = internal_recall_request(request, caller, vectors)
            found = await self._retriever.call(self._reads.Recall, internal, caller)
            return found.answer, dict(found.noise_cosines)

        if self._cache is not None:
            return await self._cache.recall(request, query, caller, find, current_epochs())
        return (await find(await self._embedding.of(query)))[0]

    async def ExportMemories(
        self, request: pb.ExportMemoriesRequest, context: Any
    ) -> AsyncIterator[pb.ExportMemoriesResponse]:
        """Forward to the retriever."""
        caller = await self._authorizer.caller_of(request)
        async for line in self._retriever.download(self._reads.ExportMemories, request, caller):
            yield line

    async def ImportMemories(
        self, request_iterator: AsyncIterator[pb.ImportMemoriesRequest], context: Any
    ) -> pb.ImportMemoriesResponse:
        """Forward to the writer; the first message says into which namespace."""
        first, requests = await with_first(request_iterator)
        caller = await self._authorizer.caller_of(first)
        return await self._writer.upload(self._writes.ImportMemories, requests, caller)

    async def AppendEvents(self, request: pb.AppendEventsRequest, context: Any) -> pb.AppendEventsResponse:
        """Forward to the writer."""
        return await self._write(self._writes.AppendEvents, request)

    async def EndSession(self, request: pb.EndSessionRequest, context: Any) -> event_pb2.Session:
        """Forward to the writer."""
        return await self._write(self._writes.EndSession, request)

    async def Remember(self, request: pb.RememberRequest, context: Any) -> pb.RememberResponse:
        """Forward to the writer."""
        return await self._write(self._writes.Remember, request)

    async def BatchRemember(self, request: pb.BatchRememberRequest, context: Any) -> pb.BatchRememberResponse:
        """Forward to the writer."""
        return await self._write(self._writes.BatchRemember, request)

    async def UpdateMemory(self, request: pb.UpdateMemoryRequest, context: Any) -> memory_pb2.Memory:
        """Forward to the writer."""
        return await self._write(self._writes.UpdateMemory, request)

    async def UndoSupersession(self, request: pb.UndoSupersessionRequest, context: Any) -> memory_pb2.Memory:
        """Forward to the writer."""
        return await self._write(self._writes.UndoSupersession, request)

    async def Forget(self, request: forget_pb2.ForgetRequest, context: Any) -> forget_pb2.ForgetReceipt:
        """Forward to the writer; what a query would forget is searched for here."""
        if not (request.preview and request.query):
            return await self._write(self._writes.Forget, request)
        caller = await self._authorizer.caller_of(request)
        forget_from_proto(request)
        ask = recall_pb2.RecallRequest(
            parent=request.parent, query=request.query, top_k=MAX_FOUND_BY_QUERY, include_cold=True, no_cache=True
        )
        vectors = await self._embedding.of(recall_from_proto(ask, self._clock.now()))
        found = await self._retriever.call(self._reads.Recall, own_recall_request(ask, vectors), caller)
        preview = writer_service_pb2.PreviewFoundRequest(request=request, memories=found_to_forget(found.answer))
        return await self._writer.call(self._writes.PreviewFound, preview, caller)

    async def Restore(self, request: forget_pb2.RestoreRequest, context: Any) -> forget_pb2.ForgetReceipt:
        """Forward to the writer."""
        return await self._write(self._writes.Restore, request)

    async def GetMemory(self, request: pb.GetMemoryRequest, context: Any) -> memory_pb2.Memory:
        """Forward to the retriever."""
        return await self._read(self._reads.GetMemory, request)

    async def ListMemories(self, request: pb.ListMemoriesRequest, context: Any) -> pb.ListMemoriesResponse:
        """Forward to the retriever."""
        return await self._read(self._reads.ListMemories, request)

    async def GetRecallTrace(self, request: recall_pb2.GetRecallTraceRequest, context: Any) -> recall_pb2.RecallTrace:
        """Forward to the retriever."""
        return await self._read(self._reads.GetRecallTrace, request)

    async def GetForgetReceipt(
        self, request: forget_pb2.GetForgetReceiptRequest, context: Any
    ) -> forget_pb2.ForgetReceipt:
        """Forward to the retriever."""
        return await self._read(self._reads.GetForgetReceipt, request)

    async def ListMemoryHistory(
        self, request: pb.ListMemoryHistoryRequest, context: Any
    ) -> pb.ListMemoryHistoryResponse:
        """Forward to the retriever."""
        return await self._read(self._reads.ListMemoryHistory, request)

    async def RevealRedacted(self, request: pb.RevealRedactedRequest, context: Any) -> pb.RevealRedactedResponse:
        """Forward to the retriever."""
        return await self._read(self._reads.RevealRedacted, request)

    async def GetWorkingMemory(self, request: pb.GetWorkingMemoryRequest, context: Any) -> event_pb2.WorkingMemory:
        """Forward to the retriever."""
        return await self._read(self._reads.GetWorkingMemory, request)

    async def ListEvents(self, request: pb.ListEventsRequest, context: Any) -> pb.ListEventsResponse:
        """Forward to the retriever."""
        return await self._read(self._reads.ListEvents, request)

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Any) -> pb.ListSessionsResponse:
        """Forward to the retriever."""
        return await self._read(self._reads.ListSessions, request)

    async def GetCaptureTrace(self, request: pb.GetCaptureTraceRequest, context: Any) -> event_pb2.CaptureTrace:
        """Forward to the retriever."""
        return await self._read(self._reads.GetCaptureTrace, request)

    async def _write(self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request) -> Response:
        return await self._writer.call(method, request, await self._authorizer.caller_of(request))

    async def _read(self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request) -> Response:
        return await self._retriever.call(method, request, await self._authorizer.caller_of(request))
