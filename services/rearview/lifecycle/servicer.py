"""The lifecycle's methods on the wire: convert, ask, convert."""

from typing import Any
from uuid import UUID

import grpc.aio
from google.protobuf import empty_pb2

from rearview.domain.errors import CredentialInvalid, FeatureNotOffered
from rearview.domain.names import parse_namespace
from rearview.domain.principal import Access, Caller
from rearview.internal.v1 import lifecycle_service_pb2_grpc
from rearview.lifecycle.legal_holds import LegalHolds
from rearview.lifecycle.operations import OperationWork
from rearview.lifecycle.verify_audit import AuditVerifier
from rearview.ports.administration import AuditLog, DeadLetters, Statistics
from rearview.ports.clock import Clock
from rearview.rpc.call_context import current_caller
from rearview.rpc.convert.legal_holds import (
    legal_holds_to_proto,
    list_legal_holds_from_proto,
    set_legal_hold_from_proto,
)
from rearview.rpc.convert.lifecycle import (
    audit_records_to_proto,
    audit_verdict_to_proto,
    dead_letter_to_proto,
    dead_letters_to_proto,
    generations_to_proto,
    job_id_from_name,
    list_audit_from_proto,
    list_dead_letters_from_proto,
    operation_id_from_name,
    operation_to_proto,
    rehydrate_from_proto,
    tier_stats_namespace_from_proto,
    tier_stats_to_proto,
    verify_audit_from_proto,
)
from rearview.rpc.scopes import scope_of
from rearview.v1 import lifecycle_pb2 as pb

Context = grpc.aio.ServicerContext[Any, Any]


class LifecycleServicer(lifecycle_service_pb2_grpc.LifecycleServiceServicer):
    """`rearview.internal.v1.LifecycleService`. Reads without rules of their own go straight to their ports."""

    def __init__(
        self,
        audit: AuditLog,
        letters: DeadLetters,
        statistics: Statistics,
        operations: OperationWork,
        holds: LegalHolds,
        clock: Clock,
        page_key: bytes,
        verifier: AuditVerifier | None,
    ) -> None:
        """Take the parts; without a key of the seals there is no `verifier`."""
        self._audit = audit
        self._letters = letters
        self._statistics = statistics
        self._operations = operations
        self._holds = holds
        self._clock = clock
        self._page_key = page_key
        self._verifier = verifier

    async def GetTierStats(self, request: pb.GetTierStatsRequest, context: Context) -> pb.GetTierStatsResponse:
        """Count the memories of each tier."""
        caller = current_caller()
        name = tier_stats_namespace_from_proto(request)
        namespace_id = scope_of(caller, name.namespace, Access.READ).namespace_id if name else None
        return tier_stats_to_proto(await self._statistics.tiers(_tenant_of(caller), namespace_id))

    async def ListModelGenerations(
        self, request: pb.ListModelGenerationsRequest, context: Context
    ) -> pb.ListModelGenerationsResponse:
        """List the embedding model generations with the tenant's units."""
        return generations_to_proto(await self._statistics.generations(_tenant_of(current_caller())))

    async def ListAuditRecords(
        self, request: pb.ListAuditRecordsRequest, context: Context
    ) -> pb.ListAuditRecordsResponse:
        """List audit records, newest first."""
        tenant_id = _tenant_of(current_caller())
        wanted, page = list_audit_from_proto(request, self._page_key)
        records = await self._audit.records(tenant_id, wanted, page)
        return audit_records_to_proto(request, records, self._page_key)

    async def ListDeadLetters(self, request: pb.ListDeadLettersRequest, context: Context) -> pb.ListDeadLettersResponse:
        """List jobs of the tenant that failed for good."""
        tenant_id = _tenant_of(current_caller())
        page = list_dead_letters_from_proto(request, self._page_key)
        return dead_letters_to_proto(request, await self._letters.letters(tenant_id, page), self._page_key)

    async def ReplayDeadLetter(self, request: pb.ReplayDeadLetterRequest, context: Context) -> pb.DeadLetter:
        """Run such a job again."""
        caller = current_caller()
        job_id = job_id_from_name(request.name)
        letter = await self._letters.replay(caller, _tenant_of(caller), job_id, now=self._clock.now())
        return dead_letter_to_proto(letter)

    async def RunSweep(self, request: pb.RunSweepRequest, context: Context) -> pb.Operation:
        """Begin a sweep."""
        caller = current_caller()
        name = parse_namespace(request.namespace, "namespace") if request.namespace else None
        namespace_id = scope_of(caller, name.namespace, Access.WRITE).namespace_id if name else None
        begun = await self._operations.begin_sweep(caller, _tenant_of(caller), namespace_id, dry_run=request.dry_run)
        return operation_to_proto(begun)

    async def GetOperation(self, request: pb.GetOperationRequest, context: Context) -> pb.Operation:
        """Say how far an operation has come."""
        tenant_id = _tenant_of(current_caller())
        return operation_to_proto(await self._operations.get(tenant_id, operation_id_from_name(request.name)))

    async def Rehydrate(self, request: pb.RehydrateRequest, context: Context) -> pb.Operation:
        """Begin to bring memories back."""
        caller = current_caller()
        memories: dict[UUID, list[UUID]] = {}
        for name in rehydrate_from_proto(request):
            namespace_id = scope_of(caller, name.namespace, Access.WRITE).namespace_id
            memories.setdefault(namespace_id, []).append(name.memory)
        return operation_to_proto(await self._operations.begin_rehydration(caller, _tenant_of(caller), memories))

    async def SetLegalHold(self, request: pb.SetLegalHoldRequest, context: Context) -> empty_pb2.Empty:
        """Set or lift a legal hold."""
        command = set_legal_hold_from_proto(request)
        await self._holds.set(scope_of(current_caller(), command.namespace, Access.WRITE), command)
        return empty_pb2.Empty()

    async def ListLegalHolds(self, request: pb.ListLegalHoldsRequest, context: Context) -> pb.ListLegalHoldsResponse:
        """List the holds that stand, newest first."""
        caller = current_caller()
        name, page = list_legal_holds_from_proto(request, self._page_key)
        namespace_id = scope_of(caller, name.namespace, Access.READ).namespace_id if name else None
        holds = await self._holds.standing(_tenant_of(caller), namespace_id, page)
        return legal_holds_to_proto(request, holds, self._page_key)

    async def StartReembedding(self, request: pb.StartReembeddingRequest, context: Context) -> pb.Operation:
        """Begin to embed the tenant's memories with another model."""
        caller = current_caller()
        begun = await self._operations.begin_reembedding(caller, _tenant_of(caller), request.model)
        return operation_to_proto(begun)

    async def RescanRedactions(self, request: pb.RescanRedactionsRequest, context: Context) -> pb.Operation:
        """Begin to rewrite what is stored by the redaction policy."""
        caller = current_caller()
        begun = await self._operations.begin_rescan(caller, _tenant_of(caller), dry_run=request.dry_run)
        return operation_to_proto(begun)

    async def VerifyAudit(self, request: pb.VerifyAuditRequest, context: Context) -> pb.VerifyAuditResponse:
        """Compare the audit records with their seals."""
        start = verify_audit_from_proto(request)
        if self._verifier is None:
            raise FeatureNotOffered("the audit log is not sealed: REARVIEW_AUDIT_KEY is not set", feature="VerifyAudit")
        return audit_verdict_to_proto(await self._verifier.verify(_tenant_of(current_caller()), start))


def _tenant_of(caller: Caller) -> UUID:
    if caller.tenant_id is None:
        raise CredentialInvalid("the caller belongs to no tenant")
    return caller.tenant_id
