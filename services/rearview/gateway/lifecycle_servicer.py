"""LifecycleService: each call is authorised here and done by the lifecycle service."""

from typing import TYPE_CHECKING, Any, TypeVar

import grpc.aio
from google.protobuf import empty_pb2

from rearview.gateway.authorize import Authorizer
from rearview.gateway.backend import Backend
from rearview.v1 import lifecycle_pb2 as pb
from rearview.v1.lifecycle_pb2_grpc import LifecycleServiceServicer

if TYPE_CHECKING:  # the generated code has these types in its hints only
    from rearview.internal.v1.lifecycle_service_pb2_grpc import LifecycleServiceAsyncStub

Request = TypeVar("Request")
Response = TypeVar("Response")


class LifecycleServicer(LifecycleServiceServicer):
    """Forwards; requests and answers stay as they are."""

    def __init__(self, authorizer: Authorizer, lifecycle: Backend, stub: "LifecycleServiceAsyncStub") -> None:
        self._authorizer = authorizer
        self._lifecycle = lifecycle
        self._stub = stub

    async def GetTierStats(self, request: pb.GetTierStatsRequest, context: Any) -> pb.GetTierStatsResponse:
        """Forward."""
        return await self._forward(self._stub.GetTierStats, request)

    async def RunSweep(self, request: pb.RunSweepRequest, context: Any) -> pb.Operation:
        """Forward."""
        return await self._forward(self._stub.RunSweep, request)

    async def GetOperation(self, request: pb.GetOperationRequest, context: Any) -> pb.Operation:
        """Forward."""
        return await self._forward(self._stub.GetOperation, request)

    async def Rehydrate(self, request: pb.RehydrateRequest, context: Any) -> pb.Operation:
        """Forward."""
        return await self._forward(self._stub.Rehydrate, request)

    async def SetLegalHold(self, request: pb.SetLegalHoldRequest, context: Any) -> empty_pb2.Empty:
        """Forward."""
        return await self._forward(self._stub.SetLegalHold, request)

    async def ListLegalHolds(self, request: pb.ListLegalHoldsRequest, context: Any) -> pb.ListLegalHoldsResponse:
        """Forward."""
        return await self._forward(self._stub.ListLegalHolds, request)

    async def ListModelGenerations(
        self, request: pb.ListModelGenerationsRequest, context: Any
    ) -> pb.ListModelGenerationsResponse:
        """Forward."""
        return await self._forward(self._stub.ListModelGenerations, request)

    async def StartReembedding(self, request: pb.StartReembeddingRequest, context: Any) -> pb.Operation:
        """Forward."""
        return await self._forward(self._stub.StartReembedding, request)

    async def RescanRedactions(self, request: pb.RescanRedactionsRequest, context: Any) -> pb.Operation:
        """Forward."""
        return await self._forward(self._stub.RescanRedactions, request)

    async def ListDeadLetters(self, request: pb.ListDeadLettersRequest, context: Any) -> pb.ListDeadLettersResponse:
        """Forward."""
        return await self._forward(self._stub.ListDeadLetters, request)

    async def ReplayDeadLetter(self, request: pb.ReplayDeadLetterRequest, context: Any) -> pb.DeadLetter:
        """Forward."""
        return await self._forward(self._stub.ReplayDeadLetter, request)

    async def ListAuditRecords(self, request: pb.ListAuditRecordsRequest, context: Any) -> pb.ListAuditRecordsResponse:
        """Forward."""
        return await self._forward(self._stub.ListAuditRecords, request)

    async def VerifyAudit(self, request: pb.VerifyAuditRequest, context: Any) -> pb.VerifyAuditResponse:
        """Forward."""
        return await self._forward(self._stub.VerifyAudit, request)

    async def _forward(self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request) -> Response:
        return await self._lifecycle.call(method, request, await self._authorizer.caller_of(request))
