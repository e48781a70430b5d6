"""The errors of Rearview, one tree. Each carries a documented reason and crosses every RPC hop unchanged.

The reasons are those of `rearview.v1.ErrorReason`, without its prefix; `rpc.errors` maps each class to a gRPC status
code once. Messages are for people and never hold stored content, secrets or another tenant's names.
"""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field of a request, by its path (`events[2].content`), and how to mend it."""

    field: str
    description: str


class RearviewError(Exception):
    """Root of the tree. `reason` is machine-readable, `metadata` holds the keys documented with the reason."""

    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, *, retry_after_seconds: float | None = None, **metadata: str) -> None:
        super().__init__(message)
        self.message = message
        self.metadata = metadata
        self.retry_after_seconds = retry_after_seconds


class InvalidRequest(RearviewError):
    """The request can never succeed as it stands."""


class InvalidFields(InvalidRequest):
    """Fields are missing, malformed or out of range; `violations` names each one."""

    reason = "INVALID_FIELD"

    def __init__(self, *violations: FieldViolation) -> None:
        super().__init__("; ".join(f"{v.field}: {v.description}" for v in violations))
        self.violations = violations


def invalid_field(field: str, description: str) -> InvalidFields:
    """Return the error for one bad field."""
    return InvalidFields(FieldViolation(field, description))


class InvalidPageToken(InvalidRequest):
    reason = "INVALID_PAGE_TOKEN"


class RequestTooLarge(InvalidRequest):
    reason = "REQUEST_TOO_LARGE"


class RequestIdReused(InvalidRequest):
    reason = "REQUEST_ID_REUSED"


class InvalidConfirmationToken(InvalidRequest):
    reason = "INVALID_CONFIRMATION_TOKEN"


class Unauthenticated(RearviewError):
    """Nobody is known to be calling."""


class CredentialMissing(Unauthenticated):
    reason = "CREDENTIAL_MISSING"


class CredentialInvalid(Unauthenticated):
    reason = "CREDENTIAL_INVALID"


class CredentialExpired(Unauthenticated):
    reason = "CREDENTIAL_EXPIRED"


class PermissionDenied(RearviewError):
    """The caller is known and may not."""


class RoleInsufficient(PermissionDenied):
    reason = "ROLE_INSUFFICIENT"


class NamespaceDenied(PermissionDenied):
    reason = "NAMESPACE_DENIED"


class TenantDisabled(PermissionDenied):
    reason = "TENANT_DISABLED"


class NotFound(RearviewError):
    reason = "RESOURCE_NOT_FOUND"


class AlreadyExists(RearviewError):
    reason = "RESOURCE_EXISTS"


class Conflict(RearviewError):
    """A concurrent write won; read again and repeat."""

    reason = "WRITE_CONFLICT"


class EtagMismatch(Conflict):
    reason = "ETAG_MISMATCH"


class PreconditionFailed(RearviewError):
    """The resource is not in a state that allows the call."""

    reason = "STATE_FORBIDS"


class LegalHold(PreconditionFailed):
    reason = "LEGAL_HOLD"


class EmbeddingGenerationMismatch(PreconditionFailed):
    reason = "EMBEDDING_GENERATION_MISMATCH"


class NamespaceNotEmpty(PreconditionFailed):
    reason = "NAMESPACE_NOT_EMPTY"


class ResourceExhausted(RearviewError):
    """Too much is asked; `retry_after_seconds` says when to come back."""


class RateLimited(ResourceExhausted):
    reason = "RATE_LIMITED"


class QuotaExceeded(ResourceExhausted):
    reason = "QUOTA_EXCEEDED"


class Overloaded(ResourceExhausted):
    reason = "OVERLOADED"


class Unavailable(RearviewError):
    """A part that is needed does not answer; the same request may succeed later."""

    reason = "DEPENDENCY_UNAVAILABLE"


class ShuttingDown(Unavailable):
    reason = "SHUTTING_DOWN"


class DeadlineExceeded(RearviewError):
    reason = "DEADLINE_EXCEEDED"


class FeatureNotOffered(RearviewError):
    reason = "FEATURE_NOT_OFFERED"


class InternalError(RearviewError):
    """A bug. The message says nothing of what happened; the logs do, under the request id."""

    reason = "INTERNAL"
