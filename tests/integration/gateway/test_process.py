"""The gateway as a process: its configuration, its health, its end."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import psycopg
from grpc_health.v1 import health_pb2, health_pb2_grpc
from psycopg import sql

from rearview.adapters.postgres.database import Database
from rearview.gateway.dependencies import Dependencies, health_probe
from rearview.rpc.channel import open_channel
from rearview.telemetry.metrics import Metrics
from rearview.v1 import memory_service_pb2, namespace_pb2, recall_pb2
from tests.support.grpc_errors import failure_of
from tests.support.hash_embedder import HashEmbedder
from tests.support.ports import free_port
from tests.support.recording_backend import RecordingBackend, three_backends
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls
from tests.support.waiting import wait_until

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def run_process(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `python -m rearview.gateway` with this configuration until it ends."""
    return subprocess.run(
        [sys.executable, "-m", "rearview.gateway"],
        env={**without_settings(), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_all_bad_settings_are_reported_and_none_is_printed() -> None:
    ended = run_process(
        {
            "REARVIEW_INTERNAL_KEY": "hunter2",
            "REARVIEW_OPERATOR_KEY": "letmein",
            "REARVIEW_WRITER_ADDRESS": "nowhere",
            "REARVIEW_EMBEDDER": "magic:8ball",
            "REARVIEW_LOG_LEVEL": "loud",
        }
    )
    assert ended.returncode == 2
    complained = {line.partition(":")[0] for line in ended.stderr.splitlines()}
    assert complained == {
        "REARVIEW_DATABASE_URL",
        "REARVIEW_OPERATOR_DATABASE_URL",
        "REARVIEW_INTERNAL_KEY",
        "REARVIEW_OPERATOR_KEY",
        "REARVIEW_WRITER_ADDRESS",
        "REARVIEW_RETRIEVER_ADDRESS",
        "REARVIEW_LIFECYCLE_ADDRESS",
        "REARVIEW_EMBEDDER",
        "REARVIEW_LOG_LEVEL",
    }
    for secret in ("hunter2", "letmein"):
        assert secret not in ended.stderr + ended.stdout


async def test_a_process_serves_and_ends_cleanly(database: DatabaseUrls, e5_folder: Path, tmp_path: Path) -> None:
    internal_key, port, metrics_port = secrets.token_urlsafe(32), free_port(), free_port()
    async with three_backends(internal_key) as behind:
        with (tmp_path / "log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "rearview.gateway",
                env={
                    **without_settings(),
                    "REARVIEW_LISTEN": f"127.0.0.1:{port}",
                    "REARVIEW_METRICS_PORT": str(metrics_port),
                    "REARVIEW_DATABASE_URL": database.service,
                    "REARVIEW_OPERATOR_DATABASE_URL": database.operator,
                    "REARVIEW_INTERNAL_KEY": internal_key,
                    "REARVIEW_OPERATOR_KEY": OPERATOR_KEY,
                    "REARVIEW_WRITER_ADDRESS": behind["writer"].address,
                    "REARVIEW_RETRIEVER_ADDRESS": behind["retriever"].address,
                    "REARVIEW_LIFECYCLE_ADDRESS": behind["lifecycle"].address,
                    "REARVIEW_MODEL_DIR": str(e5_folder.parent),
                },
                stderr=log,
            )
        try:
            async with open_channel(f"127.0.0.1:{port}") as channel:
                health: Any = health_pb2_grpc.HealthStub(channel)
                async for answer in health.Watch(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=120):
                    if answer.status == SERVING:
                        break
                running = RunningGateway(
                    port, channel, behind["writer"], behind["retriever"], behind["lifecycle"], HashEmbedder()
                )
                admin = await running.new_tenant("acme")
                recall = recall_pb2.RecallRequest(parent="namespaces/default", query="李雷的秘密 birthday")
                await running.memories.Recall(recall, metadata=(*bearer(admin), ("x-request-id", "walk-7")))
            (vector,) = behind["retriever"].last.request.vectors
            assert len(vector.values) == 384 * 4
            metrics = await asyncio.to_thread(read, f"http://127.0.0.1:{metrics_port}/metrics")
            assert 'rearview_gateway_requests_total{code="OK",method="Recall"} 1.0' in metrics
            assert 'rearview_gateway_dependency_up{dependency="postgresql"} 1.0' in metrics
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    logged = (tmp_path / "log").read_text()
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line.get("method") == "rearview.v1.MemoryService/Recall"]
    assert (line["event"], line["code"], line["principal"], line["role"]) == ("call", "OK", "admin", "admin")
    assert line["tenant"] == str(behind["retriever"].last.caller.tenant_id)
    assert line["request_id"] == behind["retriever"].last.request_id == "walk-7"
    assert line["trace_id"] in behind["retriever"].last.traceparent
    for never in ("李雷", "birthday", admin.split("_")[2], OPERATOR_KEY.split("_", 2)[2]):
        assert never not in logged + metrics


def read(url: str) -> str:
    """Return what is served at a local URL."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def without_settings() -> dict[str, str]:
    """Return this process's environment without any setting of the product."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REARVIEW_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(sys.path)}


async def test_health_follows_postgresql(database: DatabaseUrls) -> None:
    pool = Database(database.service, max_connections=2, acquire_timeout_seconds=1.0, vectors=False)
    async with pool:
        dependencies = Dependencies({"postgresql": pool.ping}, {}, Metrics("gateway"))
        assert await dependencies.ready()
        block(database, allow=False)
        try:
            assert not await dependencies.ready()
        finally:
            block(database, allow=True)
        await wait_until(dependencies.ready, "the pool to find its way back")


def block(database: DatabaseUrls, *, allow: bool) -> None:
    """Shut everybody out of a database, or let them in again."""
    with psycopg.connect(database.superuser.rpartition("/")[0] + "/postgres", autocommit=True) as connection:
        name = sql.Identifier(database.name)
        connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(name, sql.Literal(allow)))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,)
        )


async def test_a_service_behind_that_is_down_is_told_but_does_not_count() -> None:
    backend = RecordingBackend("writer", "k" * 32)
    async with backend.serving(), open_channel(backend.address) as channel:
        metrics = Metrics("gateway")
        dependencies = Dependencies({}, {"writer": health_probe(channel)}, metrics)
        assert await dependencies.ready()
        up = {"dependency": "writer"}
        assert metrics.registry.get_sample_value("rearview_gateway_dependency_up", up) == 1.0
        await backend.die()
        assert await dependencies.ready()
        assert metrics.registry.get_sample_value("rearview_gateway_dependency_up", up) == 0.0


async def test_it_serves_when_its_dependencies_answer(gateway: RunningGateway) -> None:
    stub: Any = health_pb2_grpc.HealthStub(gateway.channel)
    for service in ("", "rearview.v1.MemoryService", "rearview.v1.TenantService"):
        async for answer in stub.Watch(health_pb2.HealthCheckRequest(service=service)):
            if answer.status == SERVING:
                break
            assert answer.status == NOT_SERVING


async def test_calls_under_way_end_before_it_does(database: DatabaseUrls) -> None:
    async with running_gateway(database) as gateway:
        admin = bearer(await gateway.new_tenant("acme"))
        gateway.writer.delay_seconds = 0.3
        call = asyncio.ensure_future(
            gateway.memories.EndSession(
                memory_service_pb2.EndSessionRequest(name="namespaces/default/sessions/s1"), metadata=admin
            )
        )
        await gateway.writer.arrived.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await call
    assert gateway.embedder.closed


async def test_without_postgresql_callers_hear_which_part_is_down(database: DatabaseUrls) -> None:
    async with running_gateway(database) as gateway:
        admin = bearer(await gateway.new_tenant("acme"))
        block(database, allow=False)
        try:
            code, error = await failure_of(
                gateway.namespaces.ListNamespaces(namespace_pb2.ListNamespacesRequest(), metadata=admin)
            )
        finally:
            block(database, allow=True)
    assert (code, error.metadata) == (grpc.StatusCode.UNAVAILABLE, {"dependency": "postgresql"})
