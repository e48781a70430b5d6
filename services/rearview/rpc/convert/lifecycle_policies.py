"""Lifecycle policies: of tenants, as part of their policy, and of namespaces."""

from datetime import timedelta
from typing import Literal

from google.protobuf.duration_pb2 import Duration

from rearview.domain.lifecycle_policy import (
    FIELDS,
    MAX_AGE,
    MAX_HOT_MEMORIES,
    LifecycleChanges,
    LifecyclePolicy,
    LifecycleValues,
    NamespaceLifecycle,
)
from rearview.domain.memory import MemoryType
from rearview.rpc.convert.requests import etag_of, mask_from_proto, version_from_etag
from rearview.rpc.convert.times import duration_from_proto, duration_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import lifecycle_pb2, namespace_pb2

SHORTEST_AGE = timedelta(seconds=1)
SHORTEST_EVENT_RETENTION = timedelta(days=1)
"""Working memory holds turns for as long, whatever becomes of their events."""
_Age = Literal["warm_after", "cold_after", "event_retention", "trace_retention", "value_grace"]
_TYPES = {kind.name.lower(): kind for kind in MemoryType}


def update_namespace_policy_from_proto(request: namespace_pb2.UpdateNamespacePolicyRequest) -> LifecycleChanges:
    """Return what is to change.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    mask = mask_from_proto(request.update_mask.paths, FIELDS, "update_mask", found)
    values = lifecycle_values_from_proto(request.policy, mask, "policy", found)
    version = version_from_etag(request.policy.etag, "policy.etag", found)
    found.raise_if_any()
    return LifecycleChanges(mask, values, version)


def lifecycle_values_from_proto(
    policy: lifecycle_pb2.LifecyclePolicy, mask: frozenset[str], field: str, found: Violations
) -> LifecycleValues:
    """Return the values of the fields in the mask; an unset field takes the level above."""

    def age(name: _Age, low: timedelta = SHORTEST_AGE) -> timedelta | None:
        if name not in mask or not policy.HasField(name):
            return None
        duration: Duration = getattr(policy, name)
        return duration_from_proto(duration, f"{field}.{name}", found, low=low, high=MAX_AGE)

    def ages() -> dict[MemoryType, timedelta] | None:
        if "expire_after" not in mask or not policy.expire_after:
            return None
        for name in sorted(set(policy.expire_after) - _TYPES.keys()):
            found.add(f"{field}.expire_after", f"{name[:63]!r} is no type; types are {', '.join(_TYPES)}")
        return {
            kind: duration_from_proto(
                policy.expire_after[name], f"{field}.expire_after[{name}]", found, low=SHORTEST_AGE, high=MAX_AGE
            )
            for name, kind in _TYPES.items()
            if name in policy.expire_after
        }

    most = policy.max_hot_memories if "max_hot_memories" in mask else 0
    if not 0 <= most <= MAX_HOT_MEMORIES:
        found.add(f"{field}.max_hot_memories", f"must be from 1 to {MAX_HOT_MEMORIES}")
    floor = policy.hot_priority_floor if "hot_priority_floor" in mask else 0.0
    floor = found.fraction(floor, f"{field}.hot_priority_floor")
    value = policy.value_floor if "value_floor" in mask else 0.0
    value = found.fraction(value, f"{field}.value_floor")
    return LifecycleValues(
        warm_after=age("warm_after"),
        cold_after=age("cold_after"),
        max_hot_memories=most or None,
        hot_priority_floor=floor or None,
        expire_after=ages(),
        event_retention=age("event_retention", SHORTEST_EVENT_RETENTION),
        trace_retention=age("trace_retention"),
        value_floor=value or None,
        value_grace=age("value_grace"),
    )


def lifecycle_to_proto(policy: LifecyclePolicy) -> lifecycle_pb2.LifecyclePolicy:
    """Return the message of what is in force."""
    return lifecycle_pb2.LifecyclePolicy(
        warm_after=duration_to_proto(policy.warm_after),
        cold_after=duration_to_proto(policy.cold_after),
        max_hot_memories=policy.max_hot_memories,
        hot_priority_floor=policy.hot_priority_floor,
        expire_after={kind.name.lower(): duration_to_proto(age) for kind, age in policy.expire_after.items()},
        event_retention=duration_to_proto(policy.event_retention),
        trace_retention=duration_to_proto(policy.trace_retention),
        value_floor=policy.value_floor,
        value_grace=duration_to_proto(policy.value_grace),
    )


def namespace_lifecycle_to_proto(stored: NamespaceLifecycle) -> lifecycle_pb2.LifecyclePolicy:
    """Return the message of what is in force in a namespace, with the version of its own values."""
    message = lifecycle_to_proto(stored.policy)
    message.version = stored.version
    message.etag = etag_of(stored.version)
    return message
