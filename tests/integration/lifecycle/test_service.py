"""The lifecycle as a service: its methods over gRPC, and the process from start to end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest

from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.domain.errors import (
    CredentialMissing,
    FeatureNotOffered,
    InvalidFields,
    InvalidPageToken,
    NamespaceDenied,
    NotFound,
    RoleInsufficient,
)
from rearview.domain.forget import ForgetState
from rearview.domain.ids import new_id
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.internal.v1.lifecycle_service_pb2_grpc import LifecycleServiceStub
from rearview.lifecycle.app import run_lifecycle
from rearview.lifecycle.config import LifecycleConfig
from rearview.rpc.channel import open_channel
from rearview.v1 import lifecycle_pb2 as pb
from rearview.v1 import memory_pb2
from tests.support.grpc_errors import failure_of
from tests.support.lifecycle_bench import LifecycleBench, elsewhere
from tests.support.signed_stub import signed
from tests.support.stack import BucketAddress
from tests.support.tier_bench import storage
from tests.support.waiting import wait_until
from tests.support.writer_fixtures import WriterBench

if TYPE_CHECKING:
    from rearview.internal.v1.lifecycle_service_pb2_grpc import LifecycleServiceAsyncStub

KEY = "k" * 32


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, and calls in the name of a tenant's administrator."""

    stub: "LifecycleServiceAsyncStub"

    def caller(self, bench: WriterBench) -> Caller:
        reached = {bench.scope.namespace: NamespaceAccess(bench.scope.namespace_id, Access.WRITE)}
        return Caller(bench.scope.tenant_id, "chief", Role.ADMIN, reached, request_id="r-1")

    async def call(self, method: str, request: Any, caller: Caller | None) -> Any:
        metadata = signed(caller, KEY, "lifecycle", method) if caller else ()
        return await getattr(self.stub, method)(request, metadata=metadata, timeout=30)


@asynccontextmanager
async def running_service(lifecycle: LifecycleBench, bucket: BucketAddress) -> AsyncIterator[Service]:
    config = LifecycleConfig.model_validate(
        {
            "database_url": lifecycle.urls.service,
            "redis_url": lifecycle.redis_url,
            "internal_key": KEY,
            "listen": "127.0.0.1:0",
            "drain_counts_seconds": 0.1,
            "log_level": "warning",
            **storage(bucket),
        }
    )
    stop = asyncio.Event()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run_lifecycle(config, on_started=port.set_result, stop=stop))
    try:
        async with open_channel(f"127.0.0.1:{await port}") as channel:
            yield Service(LifecycleServiceStub(channel))
    finally:
        stop.set()
        await task


@pytest.fixture
async def service(lifecycle: LifecycleBench, bucket: BucketAddress) -> AsyncIterator[Service]:
    async with running_service(lifecycle, bucket) as running:
        yield running


async def test_a_forget_is_purged_and_counts_are_drained_by_the_running_service(
    lifecycle: LifecycleBench, service: Service
) -> None:
    own = lifecycle.own
    await own.append(["王芳的生日是三月八号", "Her favourite colour is green"])
    kept = (await own.remember("The library closes at eight")).memory.memory_id
    await RedisAccessCounter(lifecycle.redis).count(
        own.scope.tenant_id, {own.scope.namespace_id: [kept]}, datetime.now(UTC)
    )
    forgotten = await lifecycle.forget_session()

    async def purged() -> bool:
        return (await lifecycle.receipt(forgotten)).state is ForgetState.VERIFIED

    async def drained() -> bool:
        return await own.count("memory_stats", "access_count = 1") == 1

    await wait_until(purged, "the purge")
    await wait_until(drained, "the access counts")
    assert await lifecycle.tables_with("王芳", "favourite colour") == set()


async def test_audit_records_come_newest_first_by_pages_and_filters(
    lifecycle: LifecycleBench, service: Service
) -> None:
    own, caller = lifecycle.own, service.caller(lifecycle.own)
    for number in range(5):
        await own.remember(f"Note {number}: the plant needs water")
        await lifecycle.other.remember(f"Note {number}")
    memory_id = (await own.rows("SELECT memory_id FROM memory WHERE tenant_id = %s", own.scope.tenant_id))[0]
    await lifecycle.forget_memories(memory_id["memory_id"])

    whole = await service.call("ListAuditRecords", pb.ListAuditRecordsRequest(), caller)
    assert [record.action for record in whole.audit_records] == ["memory.forget", *["memory.remember"] * 5]
    assert [record.sequence for record in whole.audit_records] == [6, 5, 4, 3, 2, 1]
    assert whole.audit_records[1].principal == "tester"
    assert whole.next_page_token == ""

    paged: list[int] = []
    request = pb.ListAuditRecordsRequest(page_size=4)
    while True:
        page = await service.call("ListAuditRecords", request, caller)
        paged += [record.sequence for record in page.audit_records]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert paged == [6, 5, 4, 3, 2, 1]

    forgets = await service.call("ListAuditRecords", pb.ListAuditRecordsRequest(action="memory.forget"), caller)
    assert [record.sequence for record in forgets.audit_records] == [6]
    late = pb.ListAuditRecordsRequest()
    late.start_time.FromDatetime(own.clock.moment + timedelta(days=1))
    assert not (await service.call("ListAuditRecords", late, caller)).audit_records
    early = pb.ListAuditRecordsRequest()
    early.end_time.CopyFrom(whole.audit_records[2].time)
    found = await service.call("ListAuditRecords", early, caller)
    assert [record.sequence for record in found.audit_records] == [3, 2, 1]


async def test_bad_pages_are_refused(lifecycle: LifecycleBench, service: Service) -> None:
    caller = service.caller(lifecycle.own)
    code, error = await failure_of(
        service.call("ListAuditRecords", pb.ListAuditRecordsRequest(page_size=-1, action="a" * 65), caller)
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, InvalidFields)
    assert {violation.field for violation in error.violations} == {"page_size", "action"}
    for number in range(2):
        await lifecycle.own.remember(f"Note {number}")
    first = await service.call("ListAuditRecords", pb.ListAuditRecordsRequest(page_size=1), caller)
    other_filter = pb.ListAuditRecordsRequest(action="memory.remember", page_token=first.next_page_token)
    _, error = await failure_of(service.call("ListAuditRecords", other_filter, caller))
    assert isinstance(error, InvalidPageToken)


async def test_tiers_are_counted_by_namespace_and_tenant(lifecycle: LifecycleBench, service: Service) -> None:
    own, caller = lifecycle.own, service.caller(lifecycle.own)
    await own.remember("猫叫咪呜")
    await elsewhere(own, "second").remember("The dog is called Rex")
    await lifecycle.other.remember("Not ours")
    gone = await own.remember("Soon forgotten")
    await lifecycle.forget_memories(gone.memory.memory_id)

    tenant = await service.call("GetTierStats", pb.GetTierStatsRequest(), caller)
    assert [(tier.tier, tier.memory_count) for tier in tenant.tiers] == [
        (memory_pb2.TIER_HOT, 2),
        (memory_pb2.TIER_WARM, 0),
        (memory_pb2.TIER_COLD, 0),
    ]
    assert tenant.tiers[0].size_bytes == len("猫叫咪呜".encode()) + len("The dog is called Rex")
    notes = await service.call("GetTierStats", pb.GetTierStatsRequest(namespace="namespaces/notes"), caller)
    assert (notes.tiers[0].memory_count, notes.tiers[0].size_bytes) == (1, len("猫叫咪呜".encode()))
    _, error = await failure_of(
        service.call("GetTierStats", pb.GetTierStatsRequest(namespace="namespaces/second"), caller)
    )
    assert isinstance(error, NamespaceDenied), "the identity does not list it"


async def test_model_generations_have_the_tenants_units(lifecycle: LifecycleBench, service: Service) -> None:
    for number in range(3):
        await lifecycle.own.remember(f"Note {number}: the bus leaves at noon")
    await lifecycle.other.remember("Not ours")
    answer = await service.call("ListModelGenerations", pb.ListModelGenerationsRequest(), service.caller(lifecycle.own))
    (generation,) = answer.model_generations
    assert (generation.model, generation.dimension, generation.current) == ("hashed-pairs", 32, True)
    assert generation.answering
    assert generation.name.startswith("modelGenerations/")
    assert generation.unit_count == 3


async def dead_letter(bench: WriterBench, task: str, **arguments: str) -> int:
    """Make a job of this tenant that has failed for good."""
    tenant = str(bench.scope.tenant_id)
    job = await bench.rows(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, attempts)"
        " VALUES (%s, %s, %s, 'failed', 15) RETURNING id",
        task,
        task,
        json.dumps({"tenant_id": tenant, **arguments}),
    )
    await bench.rows(
        "INSERT INTO job_failure (tenant_id, job_id, error, failed_at)"
        " VALUES (%s, %s, 'ValueError at there.py:7', now())",
        tenant,
        job[0]["id"],
    )
    return int(job[0]["id"])


async def test_dead_letters_are_listed_and_run_again(lifecycle: LifecycleBench, service: Service) -> None:
    own, caller = lifecycle.own, service.caller(lifecycle.own)
    namespace = {"namespace_id": str(own.scope.namespace_id)}
    session = await dead_letter(own, "index_session", session_id="chat", **namespace)
    merge = await dead_letter(own, "merge_fresh_units", **namespace)
    await own.append(["The secret of the attic"])
    await own.rows("DELETE FROM procrastinate_jobs WHERE status = 'todo'")
    forgotten = await lifecycle.forget_session()
    await own.rows("DELETE FROM procrastinate_jobs WHERE status = 'todo'")
    purge = await dead_letter(own, "purge", receipt_id=str(forgotten.receipt_id))
    await dead_letter(lifecycle.other, "purge", receipt_id=str(new_id()))

    first = await service.call("ListDeadLetters", pb.ListDeadLettersRequest(page_size=2), caller)
    second = await service.call(
        "ListDeadLetters", pb.ListDeadLettersRequest(page_size=2, page_token=first.next_page_token), caller
    )
    letters = [*first.dead_letters, *second.dead_letters]
    assert second.next_page_token == ""
    assert [(letter.name, letter.task, letter.resource_name) for letter in letters] == [
        (f"deadLetters/{purge}", "purge", f"forgetReceipts/{forgotten.receipt_id}"),
        (f"deadLetters/{merge}", "merge_fresh_units", "namespaces/notes"),
        (f"deadLetters/{session}", "index_session", "namespaces/notes/sessions/chat"),
    ]
    assert {(letter.error, letter.attempts) for letter in letters} == {("ValueError at there.py:7", 15)}

    replayed = await service.call("ReplayDeadLetter", pb.ReplayDeadLetterRequest(name=letters[0].name), caller)
    assert replayed == letters[0]

    async def purged() -> bool:
        return (await lifecycle.receipt(forgotten)).state is ForgetState.VERIFIED

    await wait_until(purged, "the replayed purge")
    left = await service.call("ListDeadLetters", pb.ListDeadLettersRequest(), caller)
    assert [letter.name for letter in left.dead_letters] == [letters[1].name, letters[2].name]
    audited = (
        await own.rows("SELECT principal, resource_names FROM audit_record WHERE action = 'dead_letter.replay'")
    )[0]
    assert audited == {"principal": "chief", "resource_names": [letters[0].name, letters[0].resource_name]}


async def test_nobody_replays_anothers_dead_letter_or_one_that_is_none(
    lifecycle: LifecycleBench, service: Service
) -> None:
    caller = service.caller(lifecycle.own)
    others = await dead_letter(lifecycle.other, "purge", receipt_id=str(new_id()))
    for name in (f"deadLetters/{others}", "deadLetters/0", "deadLetters/99999999999999999999", "deadLetters/abc"):
        code, error = await failure_of(service.call("ReplayDeadLetter", pb.ReplayDeadLetterRequest(name=name), caller))
        assert code is grpc.StatusCode.NOT_FOUND, name
        assert isinstance(error, NotFound)
    _, error = await failure_of(service.call("ReplayDeadLetter", pb.ReplayDeadLetterRequest(name="x/1"), caller))
    assert isinstance(error, InvalidFields)
    assert await lifecycle.own.count("procrastinate_jobs", "id = %s AND status = 'failed'", others) == 1


async def test_what_is_not_offered_says_so(lifecycle: LifecycleBench, service: Service) -> None:
    call = service.call("VerifyAudit", pb.VerifyAuditRequest(), service.caller(lifecycle.own))
    code, error = await failure_of(call)
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert isinstance(error, FeatureNotOffered)
    assert error.metadata["feature"] == "VerifyAudit"


@pytest.mark.parametrize("model", ["", "onnx:nobody", "多语言模型"])
async def test_memories_are_embedded_with_configured_models_only(
    lifecycle: LifecycleBench, service: Service, model: str
) -> None:
    request = pb.StartReembeddingRequest(model=model)
    _, error = await failure_of(service.call("StartReembedding", request, service.caller(lifecycle.own)))
    assert isinstance(error, InvalidFields)
    assert [violation.field for violation in error.violations] == ["model"]
    assert "REARVIEW_NEXT_EMBEDDER" in error.violations[0].description
    assert await lifecycle.own.count("operation") == 0
    assert await lifecycle.own.count("tenant_generation") == 0


async def test_nobody_is_answered_without_a_tenants_identity(lifecycle: LifecycleBench, service: Service) -> None:
    _, error = await failure_of(service.call("ListAuditRecords", pb.ListAuditRecordsRequest(), None))
    assert isinstance(error, CredentialMissing)
    operator = Caller(None, "operator", Role.OPERATOR)
    for method, message in (
        ("ListAuditRecords", pb.ListAuditRecordsRequest()),
        ("ListDeadLetters", pb.ListDeadLettersRequest()),
        ("GetTierStats", pb.GetTierStatsRequest()),
        ("ListModelGenerations", pb.ListModelGenerationsRequest()),
        ("ReplayDeadLetter", pb.ReplayDeadLetterRequest(name="deadLetters/1")),
    ):
        _, error = await failure_of(service.call(method, message, operator))
        assert isinstance(error, RoleInsufficient), method


def settings(lifecycle: LifecycleBench) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("REARVIEW_")},
        "PYTHONPATH": ":".join(path for path in sys.path if path),
        "REARVIEW_DATABASE_URL": lifecycle.urls.service,
        "REARVIEW_REDIS_URL": lifecycle.redis_url,
        "REARVIEW_INTERNAL_KEY": KEY,
        "REARVIEW_LISTEN": "127.0.0.1:0",
    }


async def start_process(environment: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rearview.lifecycle", env=environment, stderr=asyncio.subprocess.PIPE
    )


async def test_a_process_purges_and_ends_cleanly(lifecycle: LifecycleBench, bucket: BucketAddress) -> None:
    objects = {f"REARVIEW_{name}".upper(): str(value) for name, value in storage(bucket).items()}
    process = await start_process(settings(lifecycle) | objects)
    assert process.stderr is not None
    try:
        while b'"serving"' not in (line := await process.stderr.readline()):
            assert line, "the process ended before it served"
        await lifecycle.own.append(["赵敏住在大都的一座老房子里"])
        forgotten = await lifecycle.forget_session()

        async def purged() -> bool:
            return (await lifecycle.receipt(forgotten)).state is ForgetState.VERIFIED

        await wait_until(purged, "the purge")
        process.send_signal(signal.SIGTERM)
        rest = await process.stderr.read()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert "赵敏" not in rest.decode()
    assert await lifecycle.own.count("procrastinate_workers") == 0


async def test_all_bad_settings_are_reported_and_none_is_printed(lifecycle: LifecycleBench) -> None:
    environment = settings(lifecycle) | {
        "REARVIEW_INTERNAL_KEY": "hunter2",
        "REARVIEW_LISTEN": "nowhere",
        "REARVIEW_PURGE_BATCH": "0",
    }
    del environment["REARVIEW_REDIS_URL"]
    process = await start_process(environment)
    _, said = await process.communicate()
    assert process.returncode == 2
    complained = {line.partition(":")[0] for line in said.decode().splitlines()}
    assert complained == {
        "REARVIEW_INTERNAL_KEY",
        "REARVIEW_LISTEN",
        "REARVIEW_PURGE_BATCH",
        "REARVIEW_REDIS_URL",
    }
    assert "hunter2" not in said.decode()


async def test_a_legal_hold_is_set_and_lifted(lifecycle: LifecycleBench, service: Service) -> None:
    own, caller = lifecycle.own, service.caller(lifecycle.own)
    await own.remember("The plant needs water")
    name = f"namespaces/{own.scope.namespace}"
    for held in (True, False):
        await service.call("SetLegalHold", pb.SetLegalHoldRequest(name=name, held=held, reason="case 12"), caller)
        assert await own.count("legal_hold") == int(held)
    bad = pb.SetLegalHoldRequest(name=f"{name}/sessions/chat", held=True, subject="x" * 201)
    code, error = await failure_of(service.call("SetLegalHold", bad, caller))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, InvalidFields)
    assert {violation.field for violation in error.violations} == {"subject", "reason"}
    stranger = pb.SetLegalHoldRequest(name="namespaces/elsewhere", held=True, reason="case 12")
    _, error = await failure_of(service.call("SetLegalHold", stranger, caller))
    assert isinstance(error, NamespaceDenied)


async def test_holds_that_stand_are_listed_newest_first(lifecycle: LifecycleBench, service: Service) -> None:
    own, caller = lifecycle.own, service.caller(lifecycle.own)
    await own.remember("韩梅梅的合同在柜子里")
    [memory] = await own.rows("SELECT memory_id FROM memory")
    name = f"namespaces/{own.scope.namespace}"
    held = f"{name}/memories/{memory['memory_id']}"
    for resource, subject in ((name, ""), (held, ""), (name, "韩梅梅")):
        request = pb.SetLegalHoldRequest(name=resource, held=True, reason="case 17 案件", subject=subject)
        await service.call("SetLegalHold", request, caller)
    listed = []
    token = ""
    for expected in (2, 1):
        page = pb.ListLegalHoldsRequest(namespace=name, page_size=2, page_token=token)
        answer = await service.call("ListLegalHolds", page, caller)
        assert len(answer.legal_holds) == expected
        listed += answer.legal_holds
        token = answer.next_page_token
    assert token == ""
    assert [hold.resource_name for hold in listed] == [name, held, name]
    assert [bool(hold.subject) for hold in listed] == [True, False, False]
    assert {hold.principal for hold in listed} == {"chief"}
    assert len({hold.name for hold in listed}) == 3
    await service.call("SetLegalHold", pb.SetLegalHoldRequest(name=held, held=False, reason="closed"), caller)
    everywhere = await service.call("ListLegalHolds", pb.ListLegalHoldsRequest(), caller)
    assert held not in [hold.resource_name for hold in everywhere.legal_holds]
    code, _ = await failure_of(service.call("ListLegalHolds", pb.ListLegalHoldsRequest(page_size=-1), caller))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
