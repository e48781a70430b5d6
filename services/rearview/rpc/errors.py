"""Domain errors on the wire and back, so that the tree crosses every hop unchanged.

An error travels as `google.rpc.Status` with `ErrorInfo` (reason, domain, metadata), `BadRequest` for field violations,
`QuotaFailure` for limits, and `RetryInfo`. What grpc itself reports (nobody listens, deadline, message size) comes back
as the same tree.
"""

import re
from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import quote

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from rearview.domain import errors
from rearview.domain.errors import FieldViolation, RearviewError

M = TypeVar("M", bound=Message)

ERROR_DOMAIN = "rearview"
STATUS_DETAILS_KEY = "grpc-status-details-bin"
INTERNAL_MESSAGE = "an internal error occurred; its request id finds it in the logs"

# Peers accept 8 KiB of trailing metadata by default and drop what is larger, so an error has to fit: details are
# base64 on the wire, the message is percent-encoded.
_MAX_DETAILS_BYTES = 3_072
_MAX_MESSAGE_BYTES = 1_536
_MAX_TEXT_CHARACTERS = 200

_CODES: dict[type[RearviewError], grpc.StatusCode] = {
    errors.InvalidRequest: grpc.StatusCode.INVALID_ARGUMENT,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.Conflict: grpc.StatusCode.ABORTED,
    errors.PreconditionFailed: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
    errors.DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.FeatureNotOffered: grpc.StatusCode.UNIMPLEMENTED,
    errors.InternalError: grpc.StatusCode.INTERNAL,
    RearviewError: grpc.StatusCode.INTERNAL,
}
# For codes that arrive without a known reason, from grpc itself, a proxy, or a newer version.
_CLASS_OF_CODE: dict[int, type[RearviewError]] = {
    code_pb2.CANCELLED: errors.Unavailable,
    code_pb2.INVALID_ARGUMENT: errors.InvalidRequest,
    code_pb2.OUT_OF_RANGE: errors.InvalidRequest,
    code_pb2.UNAUTHENTICATED: errors.CredentialInvalid,
    code_pb2.PERMISSION_DENIED: errors.PermissionDenied,
    code_pb2.NOT_FOUND: errors.NotFound,
    code_pb2.ALREADY_EXISTS: errors.AlreadyExists,
    code_pb2.ABORTED: errors.Conflict,
    code_pb2.FAILED_PRECONDITION: errors.PreconditionFailed,
    code_pb2.RESOURCE_EXHAUSTED: errors.Overloaded,
    code_pb2.UNAVAILABLE: errors.Unavailable,
    code_pb2.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    code_pb2.UNIMPLEMENTED: errors.FeatureNotOffered,
}
# grpc's own words; the sides are those of the transport, so CLIENT is the caller.
_TOO_LARGE = re.compile(r"(?:(CLIENT|SERVER): )?(Sent|Received) message larger than max \((\d+) vs\. (\d+)\)")
_INFLATES_TOO_LARGE = "Decompressed message larger than max"

_WHOLE = re.compile(r"[0-9]{1,18}")


def _tree(root: type[RearviewError]) -> Iterator[type[RearviewError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


_CLASS_OF_REASON: dict[str, type[RearviewError]] = {
    kind.reason: kind for kind in _tree(RearviewError) if "reason" in vars(kind) and kind is not RearviewError
}


def code_of(error: RearviewError) -> grpc.StatusCode:
    """Return the gRPC status code of an error."""
    return next(_CODES[kind] for kind in type(error).__mro__ if kind in _CODES)


def to_status(error: RearviewError) -> status_pb2.Status:
    """Return the error as it goes over the wire, small enough for every peer.

    Of an InternalError only the request id is told; violations that find no room are counted, not listed.
    """
    code = code_of(error)
    hidden = code is grpc.StatusCode.INTERNAL
    metadata = {key: value for key, value in error.metadata.items() if not hidden or key == "request_id"}
    status = status_pb2.Status(
        code=code.value[0], message=INTERNAL_MESSAGE if hidden else _fitting_message(error.message)
    )
    _add(
        status,
        error_details_pb2.ErrorInfo(
            reason=error.reason,
            domain=ERROR_DOMAIN,
            metadata={key: _shortened(value) for key, value in metadata.items()},
        ),
    )
    if error.retry_after_seconds is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromNanoseconds(round(max(error.retry_after_seconds, 0.0) * 1e9))
        _add(status, retry)
    if isinstance(error, errors.RateLimited | errors.QuotaExceeded):
        _add(status, _quota_failure(error))
    if isinstance(error, errors.InvalidFields):
        _add(status, _bad_request(error.violations, _MAX_DETAILS_BYTES - status.ByteSize()))
    return status


def from_status(status: status_pb2.Status) -> RearviewError:
    """Return the error that `to_status` was given, as far as it was told."""
    info = _detail(status, error_details_pb2.ErrorInfo())
    kind = _CLASS_OF_CODE.get(status.code, errors.InternalError)
    metadata: dict[str, str] = {}
    if info is not None and info.domain == ERROR_DOMAIN:
        kind = _CLASS_OF_REASON.get(info.reason, kind) if info.reason != errors.InternalError.reason else kind
        metadata = {key: value for key, value in info.metadata.items() if key not in _RESERVED}
    bad_request = _detail(status, error_details_pb2.BadRequest())
    if kind is errors.InvalidFields:
        found = bad_request.field_violations if bad_request is not None else ()
        return errors.InvalidFields(*(FieldViolation(v.field, v.description) for v in found))
    retry = _detail(status, error_details_pb2.RetryInfo())
    return kind(
        status.message,
        retry_after_seconds=retry.retry_delay.ToNanoseconds() / 1e9 if retry is not None else None,
        **metadata,
    )


def from_rpc_error(error: grpc.RpcError, *, dependency: str = "rearview") -> RearviewError:
    """Return the domain error of a failed call, for grpc and grpc.aio alike.

    `dependency` names the peer in errors that grpc itself made: Unavailable when nobody answers, DeadlineExceeded,
    RequestTooLarge for a message over a limit, Overloaded when the peer takes no more calls.
    """
    code = getattr(error, "code", lambda: None)()
    if not isinstance(code, grpc.StatusCode):
        return errors.InternalError("the call failed without a status")
    status = _status_in(getattr(error, "trailing_metadata", lambda: None)())
    if status is not None and status.code == code.value[0]:
        return from_status(status)
    return _made_by_grpc(code, str(getattr(error, "details", lambda: "")() or ""), dependency)


def from_code(code: int, reason: str, message: str) -> RearviewError:
    """Return the error of a result that carries code, reason and message itself, as those of batches do."""
    status = status_pb2.Status(code=code, message=message)
    _add(status, error_details_pb2.ErrorInfo(reason=reason, domain=ERROR_DOMAIN))
    error = from_status(status)
    if isinstance(error, errors.InvalidFields):
        error = errors.InvalidFields(FieldViolation("", message))
    return error


def trailers(status: status_pb2.Status) -> tuple[tuple[str, bytes], ...]:
    """Return the trailing metadata in which a rich status travels."""
    return ((STATUS_DETAILS_KEY, status.SerializeToString()),)


_RESERVED = frozenset({"message", "retry_after_seconds", "self"})


def _made_by_grpc(code: grpc.StatusCode, details: str, dependency: str) -> RearviewError:
    too_large = _TOO_LARGE.search(details)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and too_large:
        side, direction, size_bytes, limit_bytes = too_large.groups()
        of_answer = (side, direction) in {("CLIENT", "Received"), ("SERVER", "Sent")}
        what = "the answer is larger than this side accepts; ask for less" if of_answer else "the request is too large"
        return errors.RequestTooLarge(
            f"{what}: {size_bytes} bytes of at most {limit_bytes}", size_bytes=size_bytes, limit_bytes=limit_bytes
        )
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _INFLATES_TOO_LARGE in details:
        return errors.RequestTooLarge("the message is compressed and inflates beyond the limit")
    kind = _CLASS_OF_CODE.get(code.value[0], errors.InternalError)
    if kind is errors.Unavailable:
        return errors.Unavailable(f"{dependency} does not answer", dependency=dependency)
    if kind is errors.DeadlineExceeded:
        return errors.DeadlineExceeded(f"{dependency} did not answer within the deadline", stage=dependency)
    if kind is errors.Overloaded:
        return errors.Overloaded(
            f"{dependency} takes no more calls at present", retry_after_seconds=1.0, service=dependency
        )
    if kind is errors.FeatureNotOffered:
        return errors.FeatureNotOffered(f"{dependency} does not offer this method", feature="method")
    if kind is errors.InternalError:
        return errors.InternalError(f"{dependency} failed")
    return kind(details or code.name.lower().replace("_", " "))


def _bad_request(violations: tuple[FieldViolation, ...], room_bytes: int) -> error_details_pb2.BadRequest:
    listed = error_details_pb2.BadRequest()
    for index, violation in enumerate(violations):
        entry = error_details_pb2.BadRequest.FieldViolation(
            field=_shortened(violation.field), description=_shortened(violation.description)
        )
        # 160 bytes stay free for the envelope and for the line that says how many were left out.
        if listed.ByteSize() + entry.ByteSize() > room_bytes - 160:
            listed.field_violations.add(field="", description=f"and {len(violations) - index} more")
            break
        listed.field_violations.append(entry)
    return listed


def _quota_failure(error: RearviewError) -> error_details_pb2.QuotaFailure:
    limited = error.metadata
    limit = limited.get("limit", "")
    failure = error_details_pb2.QuotaFailure()
    failure.violations.add(
        subject=limited.get("subject", "tenant"),
        description=_shortened(error.message),
        quota_id=limited.get("quota", ""),
        quota_value=int(limit) if _WHOLE.fullmatch(limit) else 0,
    )
    return failure


def _status_in(metadata: object) -> status_pb2.Status | None:
    try:
        for key, value in metadata or ():  # type: ignore[attr-defined]
            if key == STATUS_DETAILS_KEY:
                return status_pb2.Status.FromString(value)
    except (DecodeError, TypeError, ValueError):
        return None
    return None


def _add(status: status_pb2.Status, detail: Message) -> None:
    status.details.add().Pack(detail)


def _detail(status: status_pb2.Status, wanted: M) -> M | None:
    for detail in status.details:
        try:
            if detail.Is(wanted.DESCRIPTOR) and detail.Unpack(wanted):
                return wanted
        except DecodeError:
            return None
    return None


def _shortened(text: str) -> str:
    clean = _encodable(text)
    return clean if len(clean) <= _MAX_TEXT_CHARACTERS else clean[: _MAX_TEXT_CHARACTERS - 1] + "…"


def _fitting_message(text: str) -> str:
    clean = _encodable(text)
    if len(quote(clean)) <= _MAX_MESSAGE_BYTES:
        return clean
    low, high = 0, len(clean)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(quote(clean[:middle])) <= _MAX_MESSAGE_BYTES - 9 else (low, middle - 1)
    return clean[:low] + "…"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
