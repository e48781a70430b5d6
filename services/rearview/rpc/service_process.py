"""The process of a service: how it starts and ends, and what stands around everything that it serves."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
import grpc.aio
from pydantic import ValidationError

from rearview.domain.errors import RearviewError
from rearview.rpc.call_context import current_caller
from rearview.rpc.certificates import CertificateFiles
from rearview.rpc.interceptors import (
    AccessLogInterceptor,
    ErrorInterceptor,
    IncomingCall,
    LoadSheddingInterceptor,
    MetricsInterceptor,
    RefusedStreamInterceptor,
    TracingInterceptor,
)
from rearview.rpc.server import run, serve
from rearview.rpc.service_config import ServiceConfig, problems_of
from rearview.rpc.settings import host_of
from rearview.rpc.tls import server_credentials
from rearview.telemetry.logs import configure_logging
from rearview.telemetry.metrics import Metrics, RequestMetrics, start_metrics_server
from rearview.telemetry.tracing import Tracing, open_tracing

BAD_CONFIGURATION = 2
CANNOT_START = 1

C = TypeVar("C", bound=ServiceConfig)


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A service's configuration, metrics and traces, with which it serves."""

    service: str
    config: ServiceConfig
    metrics: Metrics
    tracing: Tracing

    async def serve(
        self,
        register: Callable[[grpc.aio.Server], Sequence[str]],
        identity: grpc.aio.ServerInterceptor,
        *,
        party_of: Callable[[IncomingCall], str] | None = None,
        on_started: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        readiness: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """Serve until SIGTERM, SIGINT or `stop`, then drain; see `rpc.server.serve`.

        `identity` proves who calls; errors, traces, metrics and the access log stand around it, and within it calls
        wait for the turn of their tenant. With `party_of` they wait before it, for the turn of whom it names.

        Raises:
            InvalidFields: the certificate files are no good.
            Unavailable: the address cannot be bound.
        """
        shedding = LoadSheddingInterceptor(self.service, self.config.gate_limits, self.metrics, party_of or _tenant_of)
        await serve(
            service=self.service,
            listen=self.config.listen,
            credentials=_credentials(self.config),
            health_port=self.config.health_port,
            register=register,
            interceptors=[
                ErrorInterceptor(),
                RefusedStreamInterceptor(),
                TracingInterceptor(self.tracing),
                MetricsInterceptor(RequestMetrics(self.metrics)),
                AccessLogInterceptor(),
                *((identity, shedding) if party_of is None else (shedding, identity)),
            ],
            drain_seconds=self.config.drain_seconds,
            max_concurrent_calls=self.config.max_concurrent_calls,
            on_started=on_started,
            stop=stop,
            readiness=readiness,
        )


def _tenant_of(_: IncomingCall) -> str:
    return str(current_caller().tenant_id or "")


def _credentials(config: ServiceConfig) -> grpc.ServerCredentials | None:
    if config.tls_cert_file is None or config.tls_key_file is None:
        return None
    files = CertificateFiles(config.tls_cert_file, config.tls_key_file, config.tls_client_ca_file)
    return server_credentials(files, mutual=config.tls_client_ca_file is not None)


@contextmanager
def service_process(service: str, config: ServiceConfig) -> Iterator[ServiceProcess]:
    """Yield a service's process with its metrics and traces open; they are closed after everything opened within.

    Raises:
        OSError: the metrics port cannot be bound.
    """
    with ExitStack() as stack:
        tracing = open_tracing(service)
        stack.callback(tracing.close)
        metrics = Metrics(service)
        if config.metrics_port is not None:
            host = host_of(config.listen)
            stack.callback(start_metrics_server(config.metrics_port, metrics, host=host).close)
        yield ServiceProcess(service, config, metrics, tracing)


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> AsyncIterator[None]:
    """Run `work` beside what is served. It is cancelled as soon as the process is told to stop; should it end before,
    the process stops as well: one that serves and does not work would look healthy.

    Raises what `work` raises, at the end.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: stopping.set())
    watcher = asyncio.create_task(_cancel_when(stopping, task))
    try:
        yield
    finally:
        task.cancel()
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _cancel_when(stopping: asyncio.Event, task: asyncio.Task[None]) -> None:
    await stopping.wait()
    task.cancel()


def run_service(service: str, config_type: type[C], main: Callable[[C], Coroutine[Any, Any, None]]) -> int:
    """Run a service, configured by the environment, to its end.

    Returns the exit code of the process: 0 after a shutdown, 2 for a bad configuration, 1 if it cannot start.
    """
    try:
        config = config_type()  # type: ignore[call-arg]  # the environment gives the arguments
    except ValidationError as error:
        for problem in problems_of(error):
            sys.stderr.write(f"{problem}\n")
        return BAD_CONFIGURATION
    configure_logging(service, level=config.log_level, log_format=config.log_format)
    try:
        run(main(config))
    except (RearviewError, OSError) as error:
        sys.stderr.write(f"the {service} cannot start: {error}\n")
        return CANNOT_START
    return 0
