"""Lifecycle requests and answers."""

from uuid import UUID

from rearview.domain.audit import AuditFilter, AuditRecord, AuditVerdict
from rearview.domain.dead_letter import DeadLetter
from rearview.domain.errors import NotFound
from rearview.domain.names import (
    MemoryName,
    NamespaceName,
    parse_identified,
    parse_memory,
    parse_named,
    parse_namespace,
)
from rearview.domain.operation import Operation
from rearview.domain.paging import Page, PageRequest
from rearview.domain.rescan import RescanReceipt
from rearview.domain.tier_statistics import GenerationStatistics, TierStatistics
from rearview.rpc.convert.requests import NIL, next_page_token, page_from_proto
from rearview.rpc.convert.times import optional_time_to_proto, time_from_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import lifecycle_pb2, memory_pb2

DEAD_LETTERS = "deadLetters"
GENERATIONS = "modelGenerations"
MAX_ACTION_CHARACTERS = 64
OPERATIONS = "operations"
MAX_REHYDRATED = 10_000
_LARGEST_JOB = 2**63 - 1


def tier_stats_namespace_from_proto(request: lifecycle_pb2.GetTierStatsRequest) -> NamespaceName | None:
    """Return the namespace; None for the whole tenant. Raises: InvalidFields."""
    return parse_namespace(request.namespace, "namespace") if request.namespace else None


def tier_stats_to_proto(tiers: list[TierStatistics]) -> lifecycle_pb2.GetTierStatsResponse:
    """Return the answer."""
    return lifecycle_pb2.GetTierStatsResponse(
        tiers=[
            lifecycle_pb2.TierStats(
                tier=memory_pb2.Tier.ValueType(found.tier),
                memory_count=found.memory_count,
                size_bytes=found.size_bytes,
            )
            for found in tiers
        ]
    )


def generations_to_proto(generations: list[GenerationStatistics]) -> lifecycle_pb2.ListModelGenerationsResponse:
    """Return the answer."""
    return lifecycle_pb2.ListModelGenerationsResponse(
        model_generations=[
            lifecycle_pb2.ModelGeneration(
                name=f"{GENERATIONS}/{found.generation_id}",
                model=found.model,
                dimension=found.dimension,
                current=found.current,
                answering=found.answering,
                unit_count=found.unit_count,
                create_time=time_to_proto(found.created_at),
            )
            for found in generations
        ]
    )


def list_audit_from_proto(
    request: lifecycle_pb2.ListAuditRecordsRequest, key: bytes
) -> tuple[AuditFilter, PageRequest]:
    """Return which records are asked for.

    Raises:
        InvalidFields: with every bad field.
        InvalidPageToken: the token was not made for this request.
    """
    found = Violations()
    start = time_from_proto(request.start_time, "start_time", found) if request.HasField("start_time") else None
    end = time_from_proto(request.end_time, "end_time", found) if request.HasField("end_time") else None
    if start is not None and end is not None and start >= end:
        found.add("end_time", "must be after start_time")
    action = found.text(request.action, "action", max_characters=MAX_ACTION_CHARACTERS)
    page = page_from_proto(request, request.page_size, request.page_token, key, found)
    found.raise_if_any()
    return AuditFilter(action=action, start=start, end=end), page


def audit_records_to_proto(
    request: lifecycle_pb2.ListAuditRecordsRequest, page: Page[AuditRecord], key: bytes
) -> lifecycle_pb2.ListAuditRecordsResponse:
    """Return the answer."""
    return lifecycle_pb2.ListAuditRecordsResponse(
        audit_records=[
            lifecycle_pb2.AuditRecord(
                sequence=record.sequence,
                time=time_to_proto(record.recorded_at),
                principal=record.principal,
                action=record.action,
                resource_names=record.resource_names,
                detail=record.detail,
                request_id=record.request_id,
            )
            for record in page.rows
        ],
        next_page_token=next_page_token(request, page.next_after, key),
    )


def verify_audit_from_proto(request: lifecycle_pb2.VerifyAuditRequest) -> int:
    """Return the sequence to begin with, from 1. Raises: InvalidFields."""
    found = Violations()
    if request.start_sequence < 0:
        found.add("start_sequence", "must be the sequence of a record, or 0 for the first")
    found.raise_if_any()
    return max(1, request.start_sequence)


def audit_verdict_to_proto(verdict: AuditVerdict) -> lifecycle_pb2.VerifyAuditResponse:
    """Return the answer."""
    return lifecycle_pb2.VerifyAuditResponse(
        intact=verdict.intact,
        checked_count=verdict.checked,
        first_broken_sequence=verdict.first_broken_sequence,
        problem=verdict.problem,
        next_sequence=verdict.next_sequence,
        sealed_until_time=optional_time_to_proto(verdict.sealed_until),
    )


def list_dead_letters_from_proto(request: lifecycle_pb2.ListDeadLettersRequest, key: bytes) -> PageRequest:
    """Return which page is asked for.

    Raises:
        InvalidFields: the size is out of range.
        InvalidPageToken: the token was not made for this request.
    """
    found = Violations()
    page = page_from_proto(request, request.page_size, request.page_token, key, found)
    found.raise_if_any()
    return page


def dead_letters_to_proto(
    request: lifecycle_pb2.ListDeadLettersRequest, page: Page[DeadLetter], key: bytes
) -> lifecycle_pb2.ListDeadLettersResponse:
    """Return the answer."""
    return lifecycle_pb2.ListDeadLettersResponse(
        dead_letters=[dead_letter_to_proto(letter) for letter in page.rows],
        next_page_token=next_page_token(request, page.next_after, key),
    )


def dead_letter_to_proto(letter: DeadLetter) -> lifecycle_pb2.DeadLetter:
    """Return the letter's message."""
    return lifecycle_pb2.DeadLetter(
        name=f"{DEAD_LETTERS}/{letter.job_id}",
        task=letter.task,
        resource_name=letter.resource_name,
        error=letter.error,
        attempts=letter.attempts,
        fail_time=optional_time_to_proto(letter.failed_at),
    )


def job_id_from_name(name: str) -> int:
    """Return the number of `deadLetters/{dead_letter}`.

    Raises:
        InvalidFields: the name has another form.
        NotFound: it is no number, so no dead letter has it.
    """
    number = parse_named(name, DEAD_LETTERS, "name")
    if not number.isascii() or not number.isdecimal() or int(number) > _LARGEST_JOB:
        raise NotFound("there is no such dead letter", resource_name=name)
    return int(number)


def rehydrate_from_proto(request: lifecycle_pb2.RehydrateRequest) -> list[MemoryName]:
    """Return the memories. Raises: InvalidFields, with every bad field."""
    found = Violations()
    if not 0 < len(request.names) <= MAX_REHYDRATED:
        found.add("names", f"must name from 1 to {MAX_REHYDRATED} memories")
        found.raise_if_any()
    nobody = MemoryName("", NIL)
    names = [found.attempt(nobody, parse_memory, name, f"names[{at}]") for at, name in enumerate(request.names)]
    found.raise_if_any()
    return list(dict.fromkeys(names))


def operation_id_from_name(name: str) -> UUID:
    """Return the id of `operations/{operation}`. Raises: InvalidFields."""
    return parse_identified(name, OPERATIONS, "name")


def operation_to_proto(operation: Operation) -> lifecycle_pb2.Operation:
    """Return the operation's message."""
    return lifecycle_pb2.Operation(
        name=f"{OPERATIONS}/{operation.operation_id}",
        kind=operation.kind.value,
        done=operation.ended_at is not None,
        completed=operation.completed,
        total=operation.total,
        counts=operation.counts,
        error=operation.error,
        start_time=time_to_proto(operation.started_at),
        end_time=optional_time_to_proto(operation.ended_at),
        rescan_receipt=_receipt_to_proto(operation.rescan) if operation.rescan else None,
    )


def _receipt_to_proto(receipt: RescanReceipt) -> lifecycle_pb2.RescanReceipt:
    return lifecycle_pb2.RescanReceipt(
        policy_version=receipt.policy_version,
        categories=receipt.categories,
        counts=receipt.counts,
        verify_time=time_to_proto(receipt.verified_at),
        digest=receipt.digest,
    )
