"""Checks of `rearview doctor` on a running stack: each server, the schema, the model, each service."""

from __future__ import annotations

import asyncio

from rearview.adapters.postgres.probe import PostgresUnreachable, inspect
from rearview.adapters.redis.probe import RedisUnreachable, ping
from rearview.adapters.s3.probe import S3Probe, S3Unreachable
from rearview.embedded.diagnosis import Diagnosis, failed, not_checked, ok, warning
from rearview.embedded.environment import BUCKET, StackAddresses
from rearview.embedded.errors import NotReady, StackError
from rearview.embedded.folder_lock import holder
from rearview.embedded.machine_checks import check_machine, check_ports
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import LOOPBACK
from rearview.embedded.private_files import read_json
from rearview.embedded.readiness import check_grpc_health
from rearview.embedded.secrets import SecretsFile
from rearview.embedded.stack_status import ProcessState, StackStatus, read_status
from rearview.embedded.wiring import SERVICES, Wiring

START = "run: rearview up"


def diagnose(folder: DataFolder, wiring: Wiring) -> list[Diagnosis]:
    """Check every part, running or not, and say what to do for each that is not well."""
    found = check_machine(folder)
    if holder(folder.lock_file) is None:
        return [*found, check_ports(folder), _model(folder), not_checked("stack", "down", START)]
    status = read_status(folder.status_file)
    found += [_model(folder), _supervision(folder, status)]
    try:
        secrets = SecretsFile(folder.secrets_file).load()
    except StackError as error:
        return [*found, failed("secrets", str(error), "restore secrets.json from a backup")]
    ports = {name: port for name, port in (read_json(folder.ports_file) or {}).items() if isinstance(port, int)}
    if secrets is None or not {"postgres", "valkey", "s3"} <= ports.keys():
        return [*found, not_checked("servers", "the stack is only just starting", "repeat in a moment")]
    addresses = StackAddresses(ports["postgres"], ports["valkey"], ports["s3"], secrets)
    running = {process.name for process in status.processes} if status is not None else set()
    found += _postgres(folder, addresses)
    if "migrations" in running:
        found.append(_migrations(folder, addresses, wiring))
    found += [_valkey(folder, addresses), _s3(folder, addresses)]
    found += [_service(folder, service, f"{LOOPBACK}:{ports[service]}") for service in SERVICES if service in running]
    return found


def _supervision(folder: DataFolder, status: StackStatus | None) -> Diagnosis:
    if status is None:
        return not_checked("stack", "the stack is only just starting", "repeat in a moment")
    ill = [
        process
        for process in status.processes
        if process.state in (ProcessState.RESTARTING, ProcessState.CRASH_LOOP, ProcessState.FAILED)
    ]
    if ill:
        finding = "; ".join(f"{process.name} {process.state}: {process.message}" for process in ill)
        logs = " ".join(str(folder.log_file(process.name)) for process in ill)
        return failed("stack", finding, f"read {logs}")
    restarted = [f"{process.name} ({process.restarts})" for process in status.processes if process.restarts]
    if restarted:
        return warning("stack", f"{status.state}; restarted after crashes: {', '.join(restarted)}", "read their logs")
    return ok("stack", f"{status.state}, supervised by process {status.supervisor_pid}")


def _postgres(folder: DataFolder, addresses: StackAddresses) -> list[Diagnosis]:
    try:
        facts = inspect(addresses.service_url)
    except PostgresUnreachable as error:
        return [failed("postgres", str(error), f"read {folder.log_file('postgres')}; then: rearview down, rearview up")]
    found = [ok("postgres", f"{facts.server_version}, {facts.size_bytes // 1024 // 1024} MiB")]
    if facts.vector_version is None:
        found.append(failed("pgvector", "the extension is missing", "run: rearview down, rearview up"))
    else:
        found.append(ok("pgvector", facts.vector_version))
    return found


def _migrations(folder: DataFolder, addresses: StackAddresses, wiring: Wiring) -> Diagnosis:
    if wiring.pending_migrations is None:
        return not_checked("migrations", "nothing here knows them", START)
    try:
        pending = wiring.pending_migrations(addresses)
    except StackError as error:
        return failed("migrations", str(error), f"read {folder.log_file('postgres')}")
    if pending:
        return failed("migrations", f"not applied: {', '.join(pending)}", "run: rearview down, rearview up")
    return ok("migrations", "current")


def _valkey(folder: DataFolder, addresses: StackAddresses) -> Diagnosis:
    try:
        ping(addresses.redis_url)
    except RedisUnreachable as error:
        return failed("valkey", str(error), f"read {folder.log_file('valkey')}; then: rearview down, rearview up")
    return ok("valkey", "answers")


def _s3(folder: DataFolder, addresses: StackAddresses) -> Diagnosis:
    secrets = addresses.secrets
    probe = S3Probe(addresses.s3_endpoint, secrets.s3_access_key, secrets.s3_secret_key, secure=False)
    try:
        probe.round_trip(BUCKET)
    except S3Unreachable as error:
        return failed("s3", str(error), f"read {folder.log_file('s3')}; then: rearview down, rearview up")
    finally:
        probe.close()
    return ok("s3", "put, get and delete work")


def _model(folder: DataFolder) -> Diagnosis:
    graphs = sorted(folder.models.rglob("*.onnx")) if folder.models.is_dir() else []
    if not graphs:
        return not_checked("model", f"not built yet in {folder.models}", START)
    empty = [graph for graph in graphs if graph.stat().st_size == 0]
    if empty:
        return failed("model", f"empty: {empty[0]}", f"delete {folder.models} and start again: it is built anew")
    return ok("model", ", ".join(str(graph.relative_to(folder.models)) for graph in graphs))


def _service(folder: DataFolder, service: str, address: str) -> Diagnosis:
    try:
        asyncio.run(check_grpc_health(address))
    except NotReady as error:
        return failed(service, str(error), f"read {folder.log_file(service)}")
    return ok(service, f"serving at {address}")
