"""Every error of the tree crosses the wire unchanged, and always fits."""

from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain import errors
from rearview.domain.errors import FieldViolation, InvalidFields, RearviewError
from rearview.rpc.errors import code_of, from_code, from_rpc_error, from_status, to_status, trailers
from rearview.v1 import error_reason_pb2
from tests.unit.rpc.strategies import few, texts


def _leaves(kind: type[RearviewError] = RearviewError) -> list[type[RearviewError]]:
    return [c for child in kind.__subclasses__() for c in (child, *_leaves(child))]


WITH_REASON = sorted(
    {k for k in _leaves() if "reason" in vars(k) and k not in (InvalidFields, errors.InternalError)},
    key=lambda k: k.__name__,
)


class FakeRpcError(grpc.RpcError):
    """What grpc raises, for both of its flavours."""

    def __init__(self, code: Any, details: str, metadata: Any = ()) -> None:
        self._parts = (code, details, metadata)

    def code(self) -> Any:
        return self._parts[0]

    def details(self) -> str:
        return self._parts[1]

    def trailing_metadata(self) -> Any:
        return self._parts[2]


@pytest.mark.parametrize("kind", [errors.RateLimited, errors.QuotaExceeded])
def test_an_error_about_a_limit_names_it_and_its_value(kind: type[RearviewError]) -> None:
    status = to_status(kind("配额 used up", retry_after_seconds=2.0, quota="max_memories", limit="8", subject="key"))
    failure = error_details_pb2.QuotaFailure()
    assert [detail.Unpack(failure) for detail in status.details] == [False, False, True]
    (violation,) = failure.violations
    assert (violation.quota_id, violation.quota_value, violation.subject) == ("max_memories", 8, "key")
    assert violation.description == "配额 used up"


@pytest.mark.parametrize("kind", WITH_REASON)
@few
@given(
    message=texts,
    retry=st.none() | st.floats(min_value=0, max_value=1e6, width=32),
    metadata=st.dictionaries(st.sampled_from(["resource_name", "limit", "state", "dependency"]), texts, max_size=3),
)
def test_an_error_comes_back_as_it_went(
    kind: type[RearviewError], message: str, retry: float | None, metadata: dict[str, str]
) -> None:
    back = from_status(to_status(kind(message, retry_after_seconds=retry, **metadata)))
    assert type(back) is kind
    assert back.message == message
    assert back.metadata == metadata
    assert back.retry_after_seconds == (None if retry is None else pytest.approx(retry, abs=1e-8))


@few
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8))
def test_violations_come_back_in_order(pairs: list[tuple[str, str]]) -> None:
    back = from_status(to_status(InvalidFields(*(FieldViolation(*pair) for pair in pairs))))
    assert isinstance(back, InvalidFields)
    assert [(v.field, v.description) for v in back.violations] == pairs


@few
@given(
    st.lists(st.tuples(st.text(max_size=400), st.text(max_size=3_000)), max_size=100),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text(max_size=5_000)),
)
def test_no_error_outgrows_the_trailing_metadata_of_a_peer(
    pairs: list[tuple[str, str]], metadata: dict[str, str]
) -> None:
    for error in (
        InvalidFields(*(FieldViolation(*p) for p in pairs)),
        errors.NotFound("错" * 5_000, retry_after_seconds=None, **metadata),
    ):
        status = to_status(error)
        ((_, octets),) = trailers(status)
        on_the_wire = len(octets) * 4 / 3 + len(status.message.encode()) * 3
        assert on_the_wire < 8_000
        assert type(from_status(status)) is type(error)


def test_violations_that_find_no_room_are_counted() -> None:
    status = to_status(InvalidFields(*(FieldViolation(f"events[{i}].content", "太长" * 90) for i in range(100))))
    assert len(status.SerializeToString()) * 4 / 3 + len(status.message.encode()) * 3 < 8_000
    back = from_status(status)
    assert isinstance(back, InvalidFields)
    listed = len(back.violations) - 1
    assert listed >= 1
    assert back.violations[-1].description == f"and {100 - listed} more"


def test_internal_errors_tell_nothing_but_the_request_id() -> None:
    status = to_status(errors.InternalError("列 password 泄露", request_id="r-1", detail="secret"))
    assert "secret" not in str(status)
    assert "password" not in str(status)
    back = from_status(status)
    assert isinstance(back, errors.InternalError)
    assert back.metadata == {"request_id": "r-1"}
    assert "KeyError" not in str(to_status(RearviewError("KeyError: 'x'")))


def test_every_reason_is_documented() -> None:
    documented = {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.keys()}  # noqa: SIM118
    assert {kind.reason for kind in _leaves()} <= documented
    assert documented - {kind.reason for kind in _leaves()} == {"UNSPECIFIED"}


@few
@given(st.binary(max_size=200), st.sampled_from(list(grpc.StatusCode)), st.text(max_size=100))
def test_whatever_a_peer_sends_becomes_an_error_of_the_tree(octets: bytes, code: grpc.StatusCode, details: str) -> None:
    error = from_rpc_error(FakeRpcError(code, details, (("grpc-status-details-bin", octets),)), dependency="writer")
    assert isinstance(error, RearviewError)


@few
@given(st.integers(-5, 100), st.text(max_size=30), st.text(max_size=30))
def test_a_result_with_code_and_reason_becomes_an_error_of_the_tree(code: int, reason: str, message: str) -> None:
    assert isinstance(from_code(code, reason, message), RearviewError)


def test_the_reason_of_a_batch_result_decides_the_class() -> None:
    assert type(from_code(5, "RESOURCE_NOT_FOUND", "没有")) is errors.NotFound
    bad = from_code(3, "INVALID_FIELD", "content: is required")
    assert isinstance(bad, InvalidFields)
    assert "is required" in str(bad)


@pytest.mark.parametrize(
    ("code", "details", "kind", "metadata"),
    [
        (grpc.StatusCode.UNAVAILABLE, "refused", errors.Unavailable, {"dependency": "writer"}),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", errors.DeadlineExceeded, {"stage": "writer"}),
        (grpc.StatusCode.CANCELLED, "", errors.Unavailable, {"dependency": "writer"}),
        (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "Concurrent RPC limit exceeded!",
            errors.Overloaded,
            {"service": "writer"},
        ),
        (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "SERVER: Received message larger than max (9 vs. 4)",
            errors.RequestTooLarge,
            {"size_bytes": "9", "limit_bytes": "4"},
        ),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Decompressed message larger than max", errors.RequestTooLarge, {}),
        (grpc.StatusCode.UNIMPLEMENTED, "Method not found!", errors.FeatureNotOffered, {"feature": "method"}),
        (grpc.StatusCode.UNKNOWN, "?", errors.InternalError, {}),
    ],
)
def test_what_grpc_itself_reports_is_of_the_tree(
    code: grpc.StatusCode, details: str, kind: type[RearviewError], metadata: dict[str, str]
) -> None:
    error = from_rpc_error(FakeRpcError(code, details), dependency="writer")
    assert type(error) is kind
    assert error.metadata == metadata


def test_a_reason_of_a_newer_version_falls_back_on_the_code() -> None:
    status = to_status(errors.NotFound("x"))
    newer = status_pb2.Status.FromString(
        status.SerializeToString().replace(b"RESOURCE_NOT_FOUND", b"RESOURCE_NOT_FOUNX")
    )
    assert type(from_status(newer)) is errors.NotFound


def test_classes_between_keep_their_code() -> None:
    assert code_of(errors.PermissionDenied("no")) is grpc.StatusCode.PERMISSION_DENIED
    assert type(from_status(to_status(errors.PermissionDenied("no")))) is errors.PermissionDenied
