"""A whole stack: the plan of what runs, and the one foreground process that runs it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime

from rearview.adapters.postgres.provision import Provision, provision
from rearview.embedded import environment
from rearview.embedded.backup.marker import refuse_unfinished_restore
from rearview.embedded.bootstrap import ensure_tenant
from rearview.embedded.child_process import OnLine
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.environment import ServicePorts, StackAddresses
from rearview.embedded.errors import StackError
from rearview.embedded.folder_lock import FolderLock
from rearview.embedded.log_rotation import RotatingLog
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import PortLease, PortNeed, allocate
from rearview.embedded.postgres_server import PostgresServer
from rearview.embedded.postgres_software import PostgresSoftware
from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.process_spec import Spec, TaskSpec
from rearview.embedded.restart_policy import RestartPolicy
from rearview.embedded.s3_server import PORT_NEEDS as S3_PORT_NEEDS
from rearview.embedded.s3_server import S3Server
from rearview.embedded.secrets import SecretsFile
from rearview.embedded.stack_status import ProcessState, ProcessStatus, StackState, StackStatus
from rearview.embedded.supervisor import Supervisor
from rearview.embedded.valkey_server import ValkeyServer
from rearview.embedded.wiring import SERVICES, ServiceContext, Wiring

GATEWAY_PORT = 50051
SUPERVISOR_LOG = "supervisor"
PORT_NEEDS = (
    PortNeed("postgres"),
    PortNeed("valkey"),
    *S3_PORT_NEEDS,
    *(PortNeed(service, preferred=GATEWAY_PORT if service == "gateway" else None) for service in SERVICES),
    *(PortNeed(f"{service}_metrics") for service in SERVICES),
)

Work = Callable[[], Coroutine[None, None, None]]
"""What a stack is started for, where it is not to stay."""
OnEvent = Callable[[StackStatus, ProcessStatus | None], None]
"""Receives the whole status and the process that changed; None when the stack as a whole did."""


class Stack:
    """One data folder's stack. `run` is the life of the supervisor process."""

    def __init__(
        self,
        folder: DataFolder,
        wiring: Wiring,
        *,
        on_event: OnEvent | None = None,
        on_line: OnLine | None = None,
        log_level: str = "info",
        policy: RestartPolicy | None = None,
    ) -> None:
        self._folder = folder
        self._wiring = wiring
        self._on_event = on_event
        self._on_line = on_line
        self._log_level = log_level
        self._policy = policy
        self._status = StackStatus(supervisor_pid=os.getpid())

    async def run(self, work: Work | None = None) -> None:
        """Start the stack, keep it alive until SIGTERM or SIGINT, stop it in order. With `work` it lives until that is
        done, and what the work raises leaves it.

        Raises:
            AlreadyRunning: another supervisor holds the folder.
            RestoreUnfinished: a restore into the folder is to be ended first; its own work may run.
            StackError: the stack could not start; whatever had started is stopped again.
        """
        self._folder.create()
        with FolderLock(self._folder), contextlib.closing(RotatingLog(self._folder.log_file(SUPERVISOR_LOG))) as log:
            self._log = log
            records = ProcessRecords(self._folder.process_records)
            self._tell(StackState.STARTING)
            try:
                if work is None:
                    refuse_unfinished_restore(self._folder)
                left = await asyncio.to_thread(records.stop_leftovers)
                if left:
                    self._note(f"stopped what an earlier supervisor left running: {', '.join(left)}")
                with allocate(PORT_NEEDS, self._folder.ports_file) as ports:
                    await self._supervise(self._plan(ports), records, work)
            except BaseException as error:
                self._tell(StackState.FAILED, str(error) or type(error).__name__)
                raise

    async def _supervise(self, specs: list[Spec], records: ProcessRecords, work: Work | None) -> None:
        supervisor = Supervisor(
            specs,
            log_folder=self._folder.logs,
            records=records,
            on_change=self._process_changed,
            on_line=self._on_line,
            policy=self._policy,
        )
        self._status.processes = supervisor.statuses
        stop_requested = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop_requested.set)
        starting = asyncio.create_task(supervisor.start())
        stopping = asyncio.create_task(stop_requested.wait())
        failure: BaseException | None = None
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                failure = starting.exception()
                if failure is None:
                    self._tell(StackState.READY)
                    failure = await _done_or_stopped(work, stopping)
        finally:
            starting.cancel()
            stopping.cancel()
            self._tell(StackState.STOPPING, str(failure or ""))
            await supervisor.stop()
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)
        if failure is not None:
            raise failure
        self._tell(StackState.STOPPED)

    def _plan(self, ports: PortLease) -> list[Spec]:
        """Return what runs: the three servers, the tasks between, the services, the first tenant, the endpoints."""
        secrets_file = SecretsFile(self._folder.secrets_file)
        secrets = secrets_file.load_or_create()
        addresses = StackAddresses(
            postgres_port=ports["postgres"], valkey_port=ports["valkey"], s3_port=ports["s3"], secrets=secrets
        )
        software = PostgresSoftware.prepare(self._folder.postgres_data)
        postgres = PostgresServer(
            self._folder,
            software,
            port=ports["postgres"],
            superuser_password=secrets.postgres_superuser_password,
            superuser_url=addresses.superuser_url,
        )
        valkey = ValkeyServer(
            self._folder, port=ports["valkey"], password=secrets.valkey_password, url=addresses.redis_url
        )
        s3 = S3Server(self._folder, ports=dict(ports.as_mapping()), addresses=addresses)
        roles = {
            environment.OWNER_ROLE: secrets.postgres_owner_password,
            environment.SERVICE_ROLE: secrets.postgres_service_password,
            environment.OPERATOR_ROLE: secrets.postgres_operator_password,
        }
        wanted = Provision(environment.DATABASE, environment.OWNER_ROLE, roles)
        specs: list[Spec] = [
            postgres.spec(),
            valkey.spec(),
            s3.spec(),
            TaskSpec("database", lambda: provision(addresses.superuser_url, wanted), depends_on=["postgres"]),
        ]
        wiring = self._wiring
        prepared = ["database", "valkey", "s3"]
        if wiring.migrate is not None:
            migrate = wiring.migrate
            specs.append(TaskSpec("migrations", lambda: migrate(addresses), depends_on=["database"]))
            prepared.append("migrations")
        if wiring.build_models is not None:
            build_models = wiring.build_models
            specs.append(TaskSpec("models", lambda: build_models(self._folder.models)))
            prepared.append("models")
        service_ports = {name: ServicePorts(ports[name], ports[f"{name}_metrics"]) for name in SERVICES}
        services = []
        if wiring.services is not None:
            context = ServiceContext(addresses, service_ports, self._folder.models, self._log_level)
            services = [replace(spec, depends_on=[*prepared, *spec.depends_on]) for spec in wiring.services(context)]
            specs += services
        gateway = service_ports["gateway"].address if any(spec.name == "gateway" for spec in services) else None

        def write_endpoints() -> None:
            keys = None
            if gateway is not None and wiring.tenant_id is not None:
                keys = ensure_tenant(gateway, secrets.operator_key, wiring.tenant_id, secrets_file)
            Endpoints(
                postgres_superuser_url=addresses.superuser_url,
                postgres_owner_url=addresses.owner_url,
                postgres_service_url=addresses.service_url,
                postgres_operator_url=addresses.operator_url,
                redis_url=addresses.redis_url,
                s3_endpoint=addresses.s3_endpoint,
                s3_access_key=secrets.s3_access_key,
                s3_secret_key=secrets.s3_secret_key,
                s3_bucket=environment.BUCKET,
                gateway=gateway,
                operator_key=secrets.operator_key if gateway else None,
                tenant=keys.tenant_id if keys else None,
                admin_key=keys.admin_key if keys else None,
                api_key=keys.api_key if keys else None,
                metrics={spec.name: f"127.0.0.1:{service_ports[spec.name].metrics}" for spec in services},
            ).write(self._folder.endpoints_file)

        specs.append(TaskSpec("endpoints", write_endpoints, depends_on=[spec.name for spec in specs]))
        return specs

    def _tell(self, state: StackState, message: str = "") -> None:
        self._status.state = state
        self._status.message = message
        self._note(f"stack {state}" + (f": {message}" if message else ""))
        self._publish(None)

    def _process_changed(self, process: ProcessStatus) -> None:
        pid = f" (pid {process.pid})" if process.pid is not None else ""
        text = f": {process.message}" if process.message and process.state is not ProcessState.DONE else ""
        self._note(f"{process.name} {process.state}{pid}{text}")
        self._publish(process)

    def _publish(self, process: ProcessStatus | None) -> None:
        # Supervision goes on without a status file or a console, for example on a full disk.
        with contextlib.suppress(OSError):
            self._status.write(self._folder.status_file)
        if self._on_event is not None:
            with contextlib.suppress(OSError):
                self._on_event(self._status, process)

    def _note(self, text: str) -> None:
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        with contextlib.suppress(OSError):
            self._log.write(f"{moment} {text}\n".encode())


async def _done_or_stopped(work: Work | None, stopping: asyncio.Task[bool]) -> BaseException | None:
    """Wait for the work's end, or for a signal; return why the work did not come to its end."""
    if work is None:
        await stopping
        return None
    working = asyncio.create_task(work())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        return working.exception()
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await working
    return StackError("stopped on the way")
