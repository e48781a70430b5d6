"""Calls about tiers and the audit log: policies, sweeps, rehydration, verification."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from google.protobuf import empty_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.client.call import LIFECYCLE_SERVICE, NAMESPACE_SERVICE, Call, Defaults, Pages, call, read
from rearview.client.values import namespace_name, resource_name
from rearview.rpc.convert.times import duration_to_proto
from rearview.v1 import lifecycle_pb2, namespace_pb2


def get_namespace_policy(defaults: Defaults, *, namespace: str | None = None) -> Call[lifecycle_pb2.LifecyclePolicy]:
    """Read when memories of a namespace move between tiers."""
    request = namespace_pb2.GetNamespacePolicyRequest(name=namespace_name(defaults, namespace))
    return read(NAMESPACE_SERVICE, "GetNamespacePolicy", request, lifecycle_pb2.LifecyclePolicy)


def update_namespace_policy(
    defaults: Defaults,
    *,
    namespace: str | None = None,
    warm_after: timedelta | None = None,
    cold_after: timedelta | None = None,
    max_hot_memories: int | None = None,
    hot_priority_floor: float | None = None,
    expire_after: Mapping[str, timedelta] | None = None,
    event_retention: timedelta | None = None,
    trace_retention: timedelta | None = None,
    value_floor: float | None = None,
    value_grace: timedelta | None = None,
    etag: str = "",
) -> Call[lifecycle_pb2.LifecyclePolicy]:
    """Override the tenant's lifecycle policy in a namespace; what is not given stays as it is. Admin.

    `expire_after` is keyed by the names of memory types, in lower case.
    """
    policy = lifecycle_pb2.LifecyclePolicy(
        warm_after=None if warm_after is None else duration_to_proto(warm_after),
        cold_after=None if cold_after is None else duration_to_proto(cold_after),
        max_hot_memories=max_hot_memories or 0,
        hot_priority_floor=hot_priority_floor or 0.0,
        expire_after={name: duration_to_proto(age) for name, age in (expire_after or {}).items()},
        event_retention=None if event_retention is None else duration_to_proto(event_retention),
        trace_retention=None if trace_retention is None else duration_to_proto(trace_retention),
        value_floor=value_floor or 0.0,
        value_grace=None if value_grace is None else duration_to_proto(value_grace),
        etag=etag,
    )
    given = {
        "warm_after": warm_after,
        "cold_after": cold_after,
        "max_hot_memories": max_hot_memories,
        "hot_priority_floor": hot_priority_floor,
        "expire_after": expire_after,
        "event_retention": event_retention,
        "trace_retention": trace_retention,
        "value_floor": value_floor,
        "value_grace": value_grace,
    }
    request = namespace_pb2.UpdateNamespacePolicyRequest(
        name=namespace_name(defaults, namespace),
        policy=policy,
        update_mask=FieldMask(paths=[name for name, value in given.items() if value is not None]),
    )
    return call(NAMESPACE_SERVICE, "UpdateNamespacePolicy", request, lifecycle_pb2.LifecyclePolicy, repeatable=not etag)


def tier_stats(
    defaults: Defaults, *, namespace: str | None = None, whole_tenant: bool = False
) -> Call[lifecycle_pb2.GetTierStatsResponse]:
    """Count the memories of each tier, of a namespace or of the whole tenant. Admin."""
    name = "" if whole_tenant else namespace_name(defaults, namespace)
    request = lifecycle_pb2.GetTierStatsRequest(namespace=name)
    return read(LIFECYCLE_SERVICE, "GetTierStats", request, lifecycle_pb2.GetTierStatsResponse)


def run_sweep(
    defaults: Defaults, *, namespace: str | None = None, whole_tenant: bool = False, dry_run: bool = False
) -> Call[lifecycle_pb2.Operation]:
    """Apply the lifecycle policy now, or (`dry_run`) count what it would move. Returns at once. Admin."""
    name = "" if whole_tenant else namespace_name(defaults, namespace)
    request = lifecycle_pb2.RunSweepRequest(namespace=name, dry_run=dry_run)
    return call(LIFECYCLE_SERVICE, "RunSweep", request, lifecycle_pb2.Operation, repeatable=True)


def verify_audit(defaults: Defaults, *, start_sequence: int = 0) -> Call[lifecycle_pb2.VerifyAuditResponse]:
    """Compare audit records with their seals, a bounded number a call. Admin."""
    del defaults  # the log is the tenant's
    request = lifecycle_pb2.VerifyAuditRequest(start_sequence=start_sequence)
    return read(LIFECYCLE_SERVICE, "VerifyAudit", request, lifecycle_pb2.VerifyAuditResponse)


def set_legal_hold(
    defaults: Defaults,
    name: str = "",
    *,
    held: bool,
    reason: str,
    subject: str = "",
    namespace: str | None = None,
) -> Call[empty_pb2.Empty]:
    """Hold a memory or session (by its full name), or without a name a whole namespace or a subject in it, or lift such
    a hold: nothing held is forgotten, purged or expires. Admin."""
    request = lifecycle_pb2.SetLegalHoldRequest(
        name=name or namespace_name(defaults, namespace), held=held, reason=reason, subject=subject
    )
    return call(LIFECYCLE_SERVICE, "SetLegalHold", request, empty_pb2.Empty, repeatable=held)


def list_legal_holds(
    defaults: Defaults, *, namespace: str | None = None, whole_tenant: bool = False, page_size: int = 0
) -> Pages[lifecycle_pb2.LegalHold]:
    """Iterate over the holds that stand in a namespace or in the whole tenant, newest first. Admin."""
    name = "" if whole_tenant else namespace_name(defaults, namespace)
    request = lifecycle_pb2.ListLegalHoldsRequest(namespace=name, page_size=page_size)
    return Pages(
        read(LIFECYCLE_SERVICE, "ListLegalHolds", request, lifecycle_pb2.ListLegalHoldsResponse),
        lambda response: response.legal_holds,
    )


def list_dead_letters(defaults: Defaults, *, page_size: int = 0) -> Pages[lifecycle_pb2.DeadLetter]:
    """Iterate over the tenant's jobs that failed for good, newest first. Admin."""
    del defaults  # jobs are the tenant's
    request = lifecycle_pb2.ListDeadLettersRequest(page_size=page_size)
    return Pages(
        read(LIFECYCLE_SERVICE, "ListDeadLetters", request, lifecycle_pb2.ListDeadLettersResponse),
        lambda response: response.dead_letters,
    )


def replay_dead_letter(defaults: Defaults, dead_letter: str) -> Call[lifecycle_pb2.DeadLetter]:
    """Run a job that failed for good again. Admin."""
    del defaults  # jobs are the tenant's
    request = lifecycle_pb2.ReplayDeadLetterRequest(name=resource_name("deadLetters", dead_letter))
    return call(LIFECYCLE_SERVICE, "ReplayDeadLetter", request, lifecycle_pb2.DeadLetter, repeatable=False)


def get_operation(defaults: Defaults, operation: str) -> Call[lifecycle_pb2.Operation]:
    """Read how far an operation has come. Admin."""
    del defaults  # operations are of the tenant
    request = lifecycle_pb2.GetOperationRequest(name=resource_name("operations", operation))
    return read(LIFECYCLE_SERVICE, "GetOperation", request, lifecycle_pb2.Operation)


def rehydrate(defaults: Defaults, memories: Sequence[str]) -> Call[lifecycle_pb2.Operation]:
    """Bring memories back to the hot tier, by name. Returns at once. Admin."""
    del defaults  # the names tell the namespaces
    request = lifecycle_pb2.RehydrateRequest(names=memories)
    return call(LIFECYCLE_SERVICE, "Rehydrate", request, lifecycle_pb2.Operation, repeatable=True)


def rescan_redactions(defaults: Defaults, *, dry_run: bool = False) -> Call[lifecycle_pb2.Operation]:
    """Rewrite what is stored by the tenant's redaction policy, or (`dry_run`) count what that would rewrite. Returns at
    once. Admin."""
    del defaults  # all texts of the tenant
    request = lifecycle_pb2.RescanRedactionsRequest(dry_run=dry_run)
    return call(LIFECYCLE_SERVICE, "RescanRedactions", request, lifecycle_pb2.Operation, repeatable=True)


def list_model_generations(defaults: Defaults) -> Call[lifecycle_pb2.ListModelGenerationsResponse]:
    """List the embedding models that memories have vectors of. Admin."""
    del defaults  # models are the platform's
    request = lifecycle_pb2.ListModelGenerationsRequest()
    return read(LIFECYCLE_SERVICE, "ListModelGenerations", request, lifecycle_pb2.ListModelGenerationsResponse)


def start_reembedding(defaults: Defaults, model: str) -> Call[lifecycle_pb2.Operation]:
    """Embed the tenant's memories with another configured model, as `kind:model`. Returns at once. Admin."""
    del defaults  # all memories of the tenant
    request = lifecycle_pb2.StartReembeddingRequest(model=model)
    return call(LIFECYCLE_SERVICE, "StartReembedding", request, lifecycle_pb2.Operation, repeatable=False)
