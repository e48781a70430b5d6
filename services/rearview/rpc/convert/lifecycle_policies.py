"""Lifecycle policies: of tenants, as part of their policy, and of namespaces."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from google.protobuf.duration_pb2 import Duration

from rearview.domain.errors import FeatureNotOffered
from rearview.domain.lifecycle_policy import (
    FIELDS,
    MAX_AGE,
    MAX_HOT_MEMORIES,
    LifecycleChanges,
    LifecyclePolicy,
    LifecycleValues,
    NamespaceLifecycle,
)
from rearview.rpc.convert.requests import etag_of, mask_from_proto, version_from_etag
from rearview.rpc.convert.times import duration_from_proto, duration_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import lifecycle_pb2, namespace_pb2

SHORTEST_AGE = timedelta(seconds=1)
_LATER = frozenset({"expire_after", "event_retention", "trace_retention"})


def update_namespace_policy_from_proto(request: namespace_pb2.UpdateNamespacePolicyRequest) -> LifecycleChanges:
    """Return what is to change.

    Raises:
        InvalidFields: with every bad field.
        FeatureNotOffered: the mask names a part of policies that this version does not have.
    """
    found = Violations()
    refuse_later(request.update_mask.paths)
    mask = mask_from_proto(request.update_mask.paths, FIELDS, "update_mask", found)
    values = lifecycle_values_from_proto(request.policy, mask, "policy", found)
    version = version_from_etag(request.policy.etag, "policy.etag", found)
    found.raise_if_any()
    return LifecycleChanges(mask, values, version)


def refuse_later(fields: Sequence[str]) -> None:
    """Raises: FeatureNotOffered, for fields that nothing follows yet."""
    for field in fields:
        if field in _LATER:
            raise FeatureNotOffered(f"{field!r} of lifecycle policies is not offered yet", feature=f"policy.{field}")


def lifecycle_values_from_proto(
    policy: lifecycle_pb2.LifecyclePolicy, mask: frozenset[str], field: str, found: Violations
) -> LifecycleValues:
    """Return the values of the fields in the mask; an unset field takes the level above."""

    def age(name: Literal["warm_after", "cold_after"]) -> timedelta | None:
        if name not in mask or not policy.HasField(name):
            return None
        duration: Duration = getattr(policy, name)
        return duration_from_proto(duration, f"{field}.{name}", found, low=SHORTEST_AGE, high=MAX_AGE)

    most = policy.max_hot_memories if "max_hot_memories" in mask else 0
    if not 0 <= most <= MAX_HOT_MEMORIES:
        found.add(f"{field}.max_hot_memories", f"must be from 1 to {MAX_HOT_MEMORIES}")
    floor = policy.hot_priority_floor if "hot_priority_floor" in mask else 0.0
    floor = found.fraction(floor, f"{field}.hot_priority_floor")
    return LifecycleValues(age("warm_after"), age("cold_after"), most or None, floor or None)


def lifecycle_to_proto(policy: LifecyclePolicy) -> lifecycle_pb2.LifecyclePolicy:
    """Return the message of what is in force."""
    return lifecycle_pb2.LifecyclePolicy(
        warm_after=duration_to_proto(policy.warm_after),
        cold_after=duration_to_proto(policy.cold_after),
        max_hot_memories=policy.max_hot_memories,
        hot_priority_floor=policy.hot_priority_floor,
    )


def namespace_lifecycle_to_proto(stored: NamespaceLifecycle) -> lifecycle_pb2.LifecyclePolicy:
    """Return the message of what is in force in a namespace, with the version of its own values."""
    message = lifecycle_to_proto(stored.policy)
    message.version = stored.version
    message.etag = etag_of(stored.version)
    return message
