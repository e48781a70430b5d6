"""Tenants' policies."""

from rearview.domain.errors import FeatureNotOffered
from rearview.domain.lifecycle_policy import DEFAULT_LIFECYCLE, FIELDS
from rearview.domain.redaction import PolicyChanges, TenantPolicy
from rearview.domain.text import PiiCategory
from rearview.rpc.convert.lifecycle import OPERATIONS
from rearview.rpc.convert.lifecycle_policies import lifecycle_to_proto, lifecycle_values_from_proto
from rearview.rpc.convert.requests import etag_of, mask_from_proto, version_from_etag
from rearview.rpc.convert.violations import Violations
from rearview.v1 import tenant_pb2

_LIFECYCLE = "lifecycle."
_FIELDS = frozenset(
    {"redaction", "redaction.categories", "redaction.vault", "lifecycle", *(_LIFECYCLE + field for field in FIELDS)}
)
_LATER = ("profiles", "default_profile")


def update_policy_from_proto(request: tenant_pb2.UpdatePolicyRequest) -> PolicyChanges:
    """Return what is to change.

    Raises:
        InvalidFields: a category is unknown, or the mask or the etag is wrong.
        FeatureNotOffered: the mask names a part of policies that this version does not have.
    """
    found = Violations()
    paths = request.update_mask.paths
    for path in paths:
        part = path.partition(".")[0]
        if part in _LATER:
            raise FeatureNotOffered(f"the part {part!r} of policies is not offered yet", feature=f"policy.{part}")
    mask = mask_from_proto(paths, _FIELDS, "update_mask", found)
    lifecycle = FIELDS if "lifecycle" in mask else frozenset(f for f in FIELDS if _LIFECYCLE + f in mask)
    redaction = request.policy.redaction
    changes = PolicyChanges(
        categories=_categories(redaction, found) if mask & {"redaction", "redaction.categories"} else None,
        vault=redaction.vault if mask & {"redaction", "redaction.vault"} else None,
        version=version_from_etag(request.policy.etag, "policy.etag", found),
        lifecycle_mask=lifecycle,
        lifecycle=lifecycle_values_from_proto(request.policy.lifecycle, lifecycle, "policy.lifecycle", found),
    )
    found.raise_if_any()
    return changes


def policy_to_proto(policy: TenantPolicy) -> tenant_pb2.TenantPolicy:
    """Return the policy's message; `categories` says what is redacted, also where that is the default."""
    categories = [category.value for category in PiiCategory if category in policy.redaction.categories]
    return tenant_pb2.TenantPolicy(
        redaction=tenant_pb2.RedactionPolicy(categories=categories, vault=policy.redaction.vault),
        lifecycle=lifecycle_to_proto(policy.lifecycle.over(DEFAULT_LIFECYCLE)),
        version=policy.version,
        etag=etag_of(policy.version),
        rescan=f"{OPERATIONS}/{policy.rescan_id}" if policy.rescan_id else "",
    )


def _categories(redaction: tenant_pb2.RedactionPolicy, found: Violations) -> tuple[PiiCategory, ...]:
    chosen: dict[PiiCategory, None] = {}
    for at, name in enumerate(redaction.categories):
        if name in PiiCategory.__members__:
            chosen[PiiCategory(name)] = None
        else:
            field = f"policy.redaction.categories[{at}]"
            found.add(field, f"{name[:63]!r} is no category; known are {', '.join(PiiCategory)}")
    return tuple(chosen)
