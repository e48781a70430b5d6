"""Interceptors and server, over real calls of every kind."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import grpc
import grpc.aio
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from rearview.domain import errors
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.rpc.call_context import (
    begin_call,
    current_caller,
    current_request_id,
    outgoing_metadata,
    time_left_seconds,
)
from rearview.rpc.channel import open_channel
from rearview.rpc.errors import from_rpc_error
from rearview.rpc.identity import identity_metadata, sign_identity
from rearview.rpc.interceptors import (
    AccessLogInterceptor,
    ErrorInterceptor,
    IdentityInterceptor,
    MetricsInterceptor,
    RefusedStreamInterceptor,
)
from rearview.rpc.internal_keys import InternalKeys, parse_internal_keys
from rearview.rpc.server import LIVENESS, serve
from rearview.telemetry.logs import configure_logging
from rearview.telemetry.metrics import Metrics, RequestMetrics
from rearview.v1 import memory_service_pb2 as messages
from rearview.v1 import memory_service_pb2_grpc
from tests.support.grpc_server import running_server
from tests.unit.rpc.obedient_servicer import (
    SERVICE,
    failure,
    get,
    new_servicer,
    register,
    until_failure,
    untyped,
)
from tests.unit.telemetry.logging_state import restored_logging

KEYS = parse_internal_keys("k" * 32)
RULES = {f"/{SERVICE}/{method}": Role.WRITE for method in ("GetMemory", "EndSession", "ImportMemories")}
CALLER = Caller(UUID(int=7), "agent", Role.WRITE, {"default": NamespaceAccess(UUID(int=9), Access.READ)})


def identity_for(method: str, keys: InternalKeys = KEYS, service: str = "tester") -> Any:
    return identity_metadata(sign_identity(CALLER, keys, service, f"/{SERVICE}/{method}"))


async def test_request_ids_are_taken_if_sane_and_returned_always() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor()]) as (address, _),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        call = get(stub, "", metadata=(("x-request-id", "abc.D-1_2"),))
        assert (await call).name == "abc.D-1_2"
        assert dict(await call.trailing_metadata())["x-request-id"] == "abc.D-1_2"
        assert 0 < servicer.seen["left"] < 21  # gRPC reads its own clock, which may lag behind by a tenth
        for insane in ("x" * 129, "a b", "a/b"):
            made = (await get(stub, "", metadata=(("x-request-id", insane),))).name
            assert UUID(made).version == 7
        raw, _ = await failure(get(stub, "missing", metadata=(("x-request-id", "r1"),)))
        assert dict(raw.trailing_metadata())["x-request-id"] == "r1"


async def test_traces_are_continued_and_passed_on() -> None:
    servicer = new_servicer()
    incoming = f"00-{'a' * 32}-{'b' * 16}-01"
    async with (
        running_server(register(servicer), [ErrorInterceptor()]) as (address, _),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        await get(stub, "", metadata=(("traceparent", incoming),))
        out = dict(servicer.seen["out"])["traceparent"]
        assert out.startswith(f"00-{'a' * 32}-")
        assert out.endswith("-01")
        assert "b" * 16 not in out
        await get(stub, "", metadata=(("traceparent", "garbage"),))
        assert "a" * 32 not in dict(servicer.seen["out"])["traceparent"]


async def test_failures_of_every_kind_of_call_arrive_typed(capfd: pytest.CaptureFixture[str]) -> None:
    async with (
        running_server(register(new_servicer()), [ErrorInterceptor(), AccessLogInterceptor()]) as (
            address,
            _,
        ),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        _, missing = await failure(get(stub, "missing"))
        assert (type(missing), missing.message) == (errors.NotFound, "没有这条记忆")
        assert missing.metadata == {"resource_name": "namespaces/a/memories/x"}

        raw, bug = await failure(get(stub, "bug", metadata=(("x-request-id", "r9"),)))
        assert (type(bug), bug.metadata) == (errors.InternalError, {"request_id": "r9"})
        assert "hunter2" not in str(raw.details()) + str(raw.trailing_metadata())

        _, leaked = await failure(get(stub, "leaked cancellation"))
        assert type(leaked) is errors.InternalError
        raw, _ = await failure(get(stub, "abort"))
        assert (raw.code(), raw.details()) == (grpc.StatusCode.DATA_LOSS, "as it is")
        _, undefined = await failure(stub.Remember(messages.RememberRequest()))
        assert (type(undefined), undefined.metadata) == (errors.FeatureNotOffered, {"feature": "Remember"})
        _, unknown = await failure(untyped(channel.unary_unary, f"/{SERVICE}/Nothing")(b""))
        assert type(unknown) is errors.FeatureNotOffered

        lines, ended = await until_failure(stub.ExportMemories(messages.ExportMemoriesRequest(include_history=True)))
        assert len(lines) == 3
        assert len({line.split()[0] for line in lines}) == 1
        assert type(from_rpc_error(ended)) is errors.InvalidFields

        sent = [messages.ImportMemoriesRequest(line=line) for line in ("1", "2", "bad")]
        assert (await stub.ImportMemories(iter(sent[:2]))).stored_count == 2
        _, refused = await failure(stub.ImportMemories(iter(sent)))
        assert type(refused) is errors.InvalidFields
    written = capfd.readouterr()
    assert "hunter2" not in written.out + written.err


async def test_who_is_still_sending_hears_why_the_stream_was_refused() -> None:
    async def lines(pause_seconds: float) -> AsyncIterator[messages.ImportMemoriesRequest]:
        for line in ("bad", "1", "2"):
            yield messages.ImportMemoriesRequest(line=line)
            await asyncio.sleep(pause_seconds)

    around = [ErrorInterceptor(), RefusedStreamInterceptor(), IdentityInterceptor("tester", KEYS, RULES)]
    async with (
        running_server(register(new_servicer()), around) as (address, _),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        refusals = {errors.InvalidFields: identity_for("ImportMemories"), errors.CredentialMissing: ()}
        for reason, metadata in refusals.items():
            for attempt in range(100):
                _, refused = await failure(stub.ImportMemories(lines(attempt % 5 / 2_000), metadata=metadata))
                assert type(refused) is reason


async def test_an_internal_error_of_a_service_behind_keeps_its_request_id() -> None:
    behind, front = new_servicer(), new_servicer()
    async with (
        running_server(register(behind), [ErrorInterceptor()]) as (inner, _),
        open_channel(inner) as inner_channel,
    ):
        front.elsewhere = memory_service_pb2_grpc.MemoryServiceStub(inner_channel)
        async with running_server(register(front), [ErrorInterceptor()]) as (outer, _), open_channel(outer) as channel:
            stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
            _, error = await failure(get(stub, "pass on", metadata=(("x-request-id", "r7"),)))
    assert (type(error), error.metadata) == (errors.InternalError, {"request_id": "behind"})


async def test_the_service_itself_reports_the_deadline_and_stops_the_work() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor()]) as (address, _),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        raw, error = await failure(get(stub, "forever", timeout=0.4))
        assert raw.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert isinstance(error, errors.DeadlineExceeded)
        await asyncio.wait_for(servicer.cancelled.wait(), 10)
        lines, ended = await until_failure(
            stub.ExportMemories(messages.ExportMemoriesRequest(parent="forever"), timeout=0.4)
        )
        assert len(lines) == 3
        assert ended.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_no_step_of_the_work_outlasts_the_deadline() -> None:
    begin_call("", 0.05)
    with pytest.raises(errors.DeadlineExceeded):
        await asyncio.wait_for(ErrorInterceptor().within_limits(asyncio.Event().wait()), 10)
    begin_call("", None)
    assert await ErrorInterceptor().within_limits(asyncio.sleep(0, "done")) == "done"


async def test_a_reader_that_stops_ends_the_stream() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor(), AccessLogInterceptor()]) as (address, _),
        open_channel(address) as channel,
    ):
        stream = memory_service_pb2_grpc.MemoryServiceStub(channel).ExportMemories(
            messages.ExportMemoriesRequest(parent="forever")
        )
        await anext(aiter(stream))
        stream.cancel()
        await asyncio.wait_for(servicer.cancelled.wait(), 10)


async def test_a_caller_that_hangs_up_cancels_the_work() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor(), AccessLogInterceptor()]) as (
            address,
            _,
        ),
        open_channel(address) as channel,
    ):
        call = get(memory_service_pb2_grpc.MemoryServiceStub(channel), "forever")
        running = asyncio.ensure_future(call)
        await asyncio.wait_for(servicer.entered.wait(), 10)
        running.cancel()
        await asyncio.wait_for(servicer.cancelled.wait(), 10)


async def test_only_signed_identities_are_served() -> None:
    interceptors = [ErrorInterceptor(), IdentityInterceptor("tester", KEYS, RULES)]
    async with running_server(register(new_servicer()), interceptors) as (address, _), open_channel(address) as channel:
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)

        def end(metadata: Any = ()) -> Any:
            return stub.EndSession(messages.EndSessionRequest(), metadata=metadata, timeout=20)

        assert (await end(identity_for("EndSession"))).name == "agent"
        assert type((await failure(end()))[1]) is errors.CredentialMissing
        assert type((await failure(end((("rearview-identity", "x.y.z"),))))[1]) is errors.CredentialInvalid
        assert (
            type((await failure(end(identity_for("EndSession", parse_internal_keys("x" * 32)))))[1])
            is errors.CredentialInvalid
        )
        for elsewhere in (identity_for("GetMemory"), identity_for("EndSession", service="other")):
            assert type((await failure(end(elsewhere)))[1]) is errors.CredentialInvalid
        health = untyped(health_pb2_grpc.HealthStub, channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING


async def test_nobody_calls_outside_of_a_call() -> None:
    with pytest.raises(errors.CredentialMissing):
        current_caller()
    assert (time_left_seconds(), current_request_id(), outgoing_metadata()) == (None, "", ())


async def test_a_message_that_is_too_large_is_the_documented_error_on_either_side_of_the_transport_limit() -> None:
    async with (
        running_server(register(new_servicer()), [ErrorInterceptor()], max_message_bytes=1_000) as (
            address,
            _,
        ),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        for size in (1_500, 5_000):
            _, error = await failure(get(stub, "x" * size))
            assert type(error) is errors.RequestTooLarge
            assert int(error.metadata["size_bytes"]) > size
        raw, error = await failure(untyped(channel.unary_unary, f"/{SERVICE}/GetMemory")(b"\xff\xff"))
        assert (raw.code(), type(error)) == (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidFields)
        large = [messages.ImportMemoriesRequest(line="x" * 1_500)]
        assert type((await failure(stub.ImportMemories(iter(large))))[1]) is errors.RequestTooLarge
        async with open_channel(address, max_request_bytes=500) as narrow:
            narrow_stub = memory_service_pb2_grpc.MemoryServiceStub(narrow)
            assert type((await failure(get(narrow_stub, "x" * 600)))[1]) is errors.RequestTooLarge


async def test_calls_beyond_the_limit_are_refused_as_overload() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor()], max_concurrent_calls=1) as (
            address,
            _,
        ),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        first = asyncio.ensure_future(get(stub, "wait"))
        await asyncio.wait_for(servicer.entered.wait(), 10)
        assert type((await failure(get(stub, "")))[1]) is errors.Overloaded
        servicer.release.set()
        await first


async def test_calls_are_counted_by_method_and_code_only() -> None:
    metrics = Metrics("test")
    async with (
        running_server(register(new_servicer()), [ErrorInterceptor(), MetricsInterceptor(RequestMetrics(metrics))]) as (
            address,
            _,
        ),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        await get(stub, "")
        await failure(get(stub, "missing"))
        await failure(get(stub, "bug"))
        await failure(get(stub, "abort"))
        await failure(get(stub, "forever", timeout=0.3))
        await untyped(health_pb2_grpc.HealthStub, channel).Check(health_pb2.HealthCheckRequest())

    def count(code: str) -> float | None:
        return metrics.registry.get_sample_value("rearview_test_requests_total", {"method": "GetMemory", "code": code})

    codes = ("OK", "NOT_FOUND", "INTERNAL", "DATA_LOSS", "DEADLINE_EXCEEDED")
    assert {code: count(code) for code in codes} == dict.fromkeys(codes, 1.0)
    assert metrics.registry.get_sample_value("rearview_test_request_seconds_count", {"method": "GetMemory"}) == 5
    assert metrics.registry.get_sample_value("rearview_test_requests_in_progress") == 0
    assert metrics.registry.get_sample_value("rearview_test_requests_total", {"method": "Check", "code": "OK"}) is None


async def test_draining_reports_it_first_and_finishes_what_is_under_way() -> None:
    servicer = new_servicer()
    async with (
        running_server(register(servicer), [ErrorInterceptor()]) as (address, stop),
        open_channel(address) as channel,
    ):
        stub, health = memory_service_pb2_grpc.MemoryServiceStub(channel), untyped(health_pb2_grpc.HealthStub, channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE))
        states = aiter(watch)
        assert (await anext(states)).status == health_pb2.HealthCheckResponse.SERVING
        slow = asyncio.ensure_future(get(stub, "wait", metadata=(("x-request-id", "slow"),)))
        await asyncio.wait_for(servicer.entered.wait(), 10)
        stop.set()
        assert (await anext(states)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        _, refused = await failure(get(stub, ""))
        assert isinstance(refused, errors.Unavailable)
        servicer.release.set()
        assert (await slow).name == "slow"


async def test_a_process_that_is_not_ready_is_alive() -> None:
    async def never() -> bool:
        return False

    async with (
        running_server(register(new_servicer()), readiness=never) as (address, _),
        open_channel(address) as channel,
    ):
        health = untyped(health_pb2_grpc.HealthStub, channel)
        whole = await health.Check(health_pb2.HealthCheckRequest())
        alive = await health.Check(health_pb2.HealthCheckRequest(service=LIVENESS))
    assert whole.status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert alive.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_and_channelz_answer() -> None:
    async with (
        running_server(register(new_servicer()), [ErrorInterceptor()]) as (address, _),
        open_channel(address) as channel,
    ):
        reflection = untyped(reflection_pb2_grpc.ServerReflectionStub, channel)
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        async for answer in reflection.ServerReflectionInfo(asked):
            assert SERVICE in {service.name for service in answer.list_services_response.service}
        servers = await untyped(channelz_pb2_grpc.ChannelzStub, channel).GetServers(channelz_pb2.GetServersRequest())
        assert servers.server


async def test_an_address_in_use_is_named() -> None:
    async with running_server(register(new_servicer())) as (address, _):
        with pytest.raises(errors.Unavailable, match=address):
            await serve(service="second", listen=address, register=register(new_servicer()))


async def test_the_access_log_has_one_line_a_call_and_no_content() -> None:
    stream = io.StringIO()
    with restored_logging():
        configure_logging("test", stream=stream)
        interceptors = [ErrorInterceptor(), AccessLogInterceptor(), IdentityInterceptor("tester", KEYS, RULES)]
        async with (
            running_server(register(new_servicer()), interceptors) as (address, _),
            open_channel(address) as channel,
        ):
            stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
            metadata = (*identity_for("GetMemory"), ("x-request-id", "r5"))
            await failure(get(stub, "bug", metadata=metadata))
            await failure(get(stub, "missing"))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    assert [(c["method"], c["code"], c["tenant"], c["principal"], c["role"]) for c in calls] == [
        ("rearview.v1.MemoryService/GetMemory", "INTERNAL", str(UUID(int=7)), "agent", "write"),
        ("rearview.v1.MemoryService/GetMemory", "UNAUTHENTICATED", "", "", ""),
    ]
    assert calls[0]["request_id"] == "r5"
    assert len(calls[0]["trace_id"]) == 32
    assert calls[1]["reason"] == "CREDENTIAL_MISSING"
    (unexpected,) = [line for line in lines if line["event"] == "unexpected error"]
    assert "ValueError" in unexpected["exception"]
    assert "GetMemory" in unexpected["exception"]
    assert "hunter2" not in stream.getvalue()
