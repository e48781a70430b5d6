"""Waiting for a server to answer, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
from grpc_health.v1 import health_pb2

from rearview.embedded.errors import NotReady
from rearview.embedded.process_spec import ReadyCheck

CHECK_METHOD = "/grpc.health.v1.Health/Check"
POLL_SECONDS = 0.1
HEALTH_TIMEOUT_SECONDS = 2.0


async def wait_until_ready(check: ReadyCheck, timeout_seconds: float) -> None:
    """Repeat the check until it passes.

    Raises:
        NotReady: it did not within the time; the message holds the last reason.
    """
    reason = "no answer"
    try:
        async with asyncio.timeout(timeout_seconds):
            while True:
                try:
                    await check()
                except NotReady as error:
                    reason = str(error)
                else:
                    return
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise NotReady(f"not ready after {timeout_seconds:g} s: {reason}") from None


def probe_in_thread(probe: Callable[[], None], *failures: type[Exception]) -> ReadyCheck:
    """Return a ready check that runs a blocking probe in a worker thread; the named failures mean "not yet"."""

    async def check() -> None:
        try:
            await asyncio.to_thread(probe)
        except failures as error:
            raise NotReady(str(error)) from error

    return check


def grpc_health(address: str, service: str = "") -> ReadyCheck:
    """Return a ready check that asks the standard gRPC health service at `host:port`."""

    async def check() -> None:
        await check_grpc_health(address, service)

    return check


async def check_grpc_health(address: str, service: str = "") -> None:
    """Ask once.

    Raises:
        NotReady: no answer, or another one than SERVING.
    """
    async with grpc.aio.insecure_channel(address) as channel:
        check = channel.unary_unary(
            CHECK_METHOD,
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        try:
            answer = await check(health_pb2.HealthCheckRequest(service=service), timeout=HEALTH_TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise NotReady(
                f"health check at {address}: {error.code().name} {error.details() or ''}".rstrip()
            ) from error
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        state = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
        raise NotReady(f"health check at {address}: {state}")
