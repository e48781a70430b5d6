"""A service's process: the gRPC server with health, reflection and channelz, and a shutdown that loses no call."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import grpc
import grpc.aio
import structlog
import uvloop
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from rearview.domain.errors import Unavailable
from rearview.rpc.channel import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES
from rearview.rpc.garbage import spare_what_is_loaded
from rearview.rpc.interceptors import KnownHandlers, RequestSizeInterceptor

T = TypeVar("T")

LIVENESS = "liveness"
"""The health service's name for the process itself, SERVING from the start, whatever it depends on."""

_MAX_PROBES = 16

_log = structlog.get_logger(__name__)


async def serve(
    *,
    service: str,
    listen: str,
    credentials: grpc.ServerCredentials | None = None,
    health_port: int | None = None,
    register: Callable[[grpc.aio.Server], Sequence[str]],
    interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
    drain_seconds: float = 10.0,
    notice_seconds: float = 0.0,
    max_message_bytes: int = MAX_REQUEST_BYTES,
    max_concurrent_calls: int | None = None,
    with_channelz: bool = True,
    on_started: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
    readiness: Callable[[], Awaitable[bool]] | None = None,
    readiness_interval_seconds: float = 5.0,
) -> None:
    """Serve until SIGTERM, SIGINT or `stop`, then drain and return.

    Served in plain unless `credentials` are given. With a `health_port` health alone is served there in plain too.
    `register` adds the servicers and returns the full names of their services. `interceptors` run in the given order,
    outermost first; the check of `max_message_bytes` is added inside of them. `on_started` is told the port.
    Health is SERVING while `readiness`, asked every interval, answers true; without it, from the start. That of
    LIVENESS does not depend on it: a process that waits for its database should not be restarted for that.
    Draining: health turns NOT_SERVING, `notice_seconds` pass in which calls are still taken (load balancers need to
    see it), then new calls are refused and those under way have `drain_seconds` to finish.

    Raises:
        Unavailable: the address cannot be bound.
    """
    server = grpc.aio.server(
        interceptors=[KnownHandlers(), *interceptors, RequestSizeInterceptor(max_message_bytes)],
        options=_options(max_message_bytes),
        maximum_concurrent_rpcs=max_concurrent_calls,
    )
    names = list(register(server))
    health_servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    if with_channelz:
        channelz.add_channelz_servicer(server)
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    spare_what_is_loaded()
    port = _bind(server, listen, credentials)
    probed = (
        None if health_port is None else _health_alone(health_servicer, f"{listen.rpartition(':')[0]}:{health_port}")
    )
    await _set_health(health_servicer, (LIVENESS,), ready=True)
    await _set_health(health_servicer, (*names, ""), ready=readiness is None)
    await server.start()
    if probed is not None:
        await probed.start()
    reporting = None
    if readiness is not None:
        reporting = asyncio.create_task(
            _report_health(health_servicer, (*names, ""), readiness, readiness_interval_seconds)
        )
    _log.info("serving", service=service, listen=listen, port=port)
    if on_started:
        on_started(port)

    stopping = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Only the main thread may handle signals; elsewhere `stop` is the way.
        with suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, stopping.set)
    try:
        await stopping.wait()
    finally:
        _log.info("draining", service=service, drain_seconds=drain_seconds)
        if reporting is not None:
            reporting.cancel()
            await asyncio.gather(reporting, return_exceptions=True)
        await health_servicer.enter_graceful_shutdown()
        if notice_seconds:
            await asyncio.sleep(notice_seconds)
        await server.stop(drain_seconds)
        if probed is not None:
            await probed.stop(0)
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)
        _log.info("stopped", service=service)


async def _report_health(
    servicer: Any, names: Sequence[str], readiness: Callable[[], Awaitable[bool]], interval_seconds: float
) -> None:
    known: bool | None = None
    while True:
        try:
            ready = await readiness()
        except Exception as error:  # noqa: BLE001 - whatever it is, a service that cannot tell is not ready
            _log.error("readiness could not be told", exc_info=error)
            ready = False
        if ready is not known:
            await _set_health(servicer, names, ready=ready)
            (_log.info if ready else _log.warning)("ready" if ready else "not ready")
            known = ready
        await asyncio.sleep(interval_seconds)


async def _set_health(servicer: Any, names: Sequence[str], *, ready: bool) -> None:
    status = health_pb2.HealthCheckResponse
    for name in names:
        await servicer.set(name, status.SERVING if ready else status.NOT_SERVING)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a process's main coroutine on uvloop and return its result."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def _health_alone(servicer: Any, listen: str) -> grpc.aio.Server:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)], maximum_concurrent_rpcs=_MAX_PROBES)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    _bind(server, listen, None)
    return server


def _bind(server: grpc.aio.Server, listen: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        port = server.add_insecure_port(listen) if credentials is None else server.add_secure_port(listen, credentials)
    except RuntimeError:
        port = 0
    if not port:
        raise Unavailable(f"{listen} cannot be bound; is another process listening there?", dependency="listen")
    return port


def _options(max_message_bytes: int) -> list[tuple[str, int]]:
    return [
        # Twice the documented limit, so that the documented error can be given; see RequestSizeInterceptor.
        ("grpc.max_receive_message_length", 2 * max_message_bytes),
        ("grpc.max_send_message_length", MAX_RESPONSE_BYTES),
        # Two processes on one port would share its calls silently.
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        # Who pings more often is disconnected at the third ping that comes too soon.
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 2),
        ("grpc.keepalive_permit_without_calls", 1),
        # Connections end now and then, so that clients find replicas that were added later.
        ("grpc.max_connection_age_ms", 30 * 60_000),
        # An export under way is not cut off by that: a stream may take half an hour.
        ("grpc.max_connection_age_grace_ms", 30 * 60_000),
        ("grpc.enable_channelz", 1),
    ]
